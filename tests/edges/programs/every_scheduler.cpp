// Stolen joins of every scheduler: their results, what they throw, and backtraces through them. For programs that are
// compiled or linked in another way than the tests.
#include "eventually.hpp"

#include <unwind.h>
#include <filch/filch.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

using filch_test::gate;

void expect(bool is_right, std::string_view scheduler, char const* what) {
  if (is_right) return;
  std::printf("%s: %s\n", std::string(scheduler).c_str(), what);
  std::exit(1);
}

/// f begins after another worker has begun g.
template <class S, class F, class G> auto join_stolen(F f, G g) {
  if constexpr (std::is_same_v<S, filch::serial>) {
    return filch::join<S>(f, g);
  } else {
    gate begun;
    expect(filch_test::eventually([] { return S::wanted(); }), S::name, "no worker asks");
    return filch::join<S>(
        [&] {
          expect(begun.pass(), S::name, "g was not stolen");
          return f();
        },
        [&] {
          begun.open();
          return g();
        });
  }
}

int frames_here() {
  int frames = 0;
  _Unwind_Backtrace(
      [](_Unwind_Context*, void* n) {
        ++*static_cast<int*>(n);
        return _URC_NO_REASON;
      },
      &frames);
  return frames;
}

/// On each call of so many a destructor.
template <class Call> int below(int depth, int& destroyed, Call call) {
  struct counter {
    int& n;
    ~counter() { ++n; }
  } const c{destroyed};
  return depth == 0 ? call() : below(depth - 1, destroyed, call) + 1;
}

template <class S> void check_thrown(bool by_f, bool by_g) {
  constexpr int k_depth = 5;
  int destroyed = 0;
  std::string text;
  try {
    join_stolen<S>(
        [&] { return below(k_depth, destroyed, [=] { return by_f ? throw std::runtime_error("f") : 1; }); },
        [=] { return by_g ? throw std::logic_error("g") : std::string("g"); });
  } catch (std::exception const& e) {
    text = e.what();
  }
  expect(text == (by_f ? "f" : by_g ? "g" : ""), S::name, "another exception");
  expect(destroyed == k_depth + 1, S::name, "destructors were left out");
}

/// Standard libraries differ on whether a complex number of C is a scalar. It comes in other registers than those.
__extension__ using complex_number = __complex__ float;

template <class S> void check_complex_numbers() {
  auto const number = [](float real, float imaginary) {
    complex_number x{};
    __real__ x = real;
    __imag__ x = imaginary;
    return x;
  };
  auto const is = [](complex_number x, int real, int imaginary) {
    return static_cast<int>(__real__ x) == real && static_cast<int>(__imag__ x) == imaginary;
  };
  auto const [f, g] = join_stolen<S>([=] { return number(1, 2); }, [=] { return number(3, 4); });
  expect(is(f, 1, 2) && is(g, 3, 4), S::name, "another complex number");
}

template <class S> void check() {
  filch::pool_options options;
  options.workers = 2;
  typename S::pool pool(options);
  for (int round = 0; round < 20; ++round) {
    pool.run([] {
      auto const [f, g] = join_stolen<S>(
          [] {
            auto const [inner_f, inner_g] = filch::join<S>(&frames_here, [] { return std::string("inner g"); });
            return inner_g == "inner g" ? inner_f : 0;
          },
          [] { return std::string("a result that lies in memory"); });
      expect(f > 3, S::name, "a backtrace ends early");
      expect(g == "a result that lies in memory", S::name, "another result");
      check_complex_numbers<S>();
      for (bool by_f : {true, false}) {
        for (bool by_g : {true, false}) check_thrown<S>(by_f, by_g);
      }
    });
  }
}

}  // namespace

int main() {
  check<filch::serial>();
  check<filch::direct>();
  check<filch::channel>();
#if FILCH_HAS_CACTUS
  check<filch::cactus>();
  check<filch::implicit>();
#endif
  std::puts("right");
}
