// The list of the algorithms, with their plain loops and std's sequential algorithms.
#include "algorithm.hpp"
#include "algorithms/list.hpp"

namespace bench {
namespace {

using algorithms::input_of;

template <class A> algorithm describe() {
  algorithm a{
      A::name,
      algorithm_table::sizes,
      {10'000, 10'000'000},
      {1'000, 100'000},
      1.03,
      10'000'000,
      [](std::size_t n) -> std::unique_ptr<algorithm_job> { return std::make_unique<algorithm_job_of<A>>(n); },
      [](algorithm_job& j) { A::plain(input_of<A>(j)); },
      nullptr};
  if constexpr (requires { A::table; }) a.table = A::table;
  if constexpr (requires { A::sizes(); }) a.sizes = A::sizes();
  if constexpr (requires { A::quick_sizes(); }) a.quick_sizes = A::quick_sizes();
  if constexpr (requires { A::most_on_one; }) a.most_on_one = A::most_on_one;
  if constexpr (requires { A::least_with_limit; }) a.least_with_limit = A::least_with_limit;
  if constexpr (requires(typename A::input& in) { A::standard(in); })
    a.standard = [](algorithm_job& j) { A::standard(input_of<A>(j)); };
  return a;
}

}  // namespace

std::vector<algorithm> const& known_algorithms() {
  static std::vector<algorithm> const all = [] {
    std::vector<algorithm> v;
    algorithms::list::for_each([&v]<class A>() { v.push_back(describe<A>()); });
    return v;
  }();
  return all;
}

algorithm const* find_algorithm(std::string_view name) {
  for (algorithm const& a : known_algorithms()) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace bench
