// std::execution::par, which libstdc++ runs on oneTBB.
#include <execution>

#include "../algorithms/list.hpp"

#include <oneapi/tbb/task_arena.h>

namespace bench {

#ifdef __cpp_lib_parallel_algorithm

namespace {

class par_pool final : public algorithm_pool {
 public:
  explicit par_pool(unsigned workers) : arena_(static_cast<int>(workers)) {}
  algorithm_call find(std::string_view name) const override {
    algorithm_call found = nullptr;
    algorithms::list::for_each([&]<class A>() {
      if constexpr (requires(typename A::input& in) { A::standard(in, std::execution::par); }) {
        if (A::name == name)
          found = [](algorithm_job& j) { A::standard(algorithms::input_of<A>(j), std::execution::par); };
      }
    });
    return found;
  }
  void call_from(std::function<void()> const& f) override { arena_.execute(f); }

 private:
  tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<algorithm_pool> make_par_pool(unsigned workers) { return std::make_unique<par_pool>(workers); }

#else

std::unique_ptr<algorithm_pool> make_par_pool(unsigned) { return nullptr; }

#endif

}  // namespace bench
