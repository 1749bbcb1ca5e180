#include "asked_closures.hpp"

#include "schedulers.hpp"

#include <type_traits>

namespace filch_test {

static_assert(!std::is_copy_assignable_v<decltype(sum(0, 0))>);
static_assert(!std::is_copy_assignable_v<decltype(adder(nullptr, 0))>);

template <class S> long results_in_other_file() { return results_in_this_file<S>(); }
template <class List> struct of_each;
template <class... S> struct of_each<::testing::Types<S...>> {
  static inline long (*const functions[])() = {&results_in_other_file<S>...};
};
template struct of_each<all_schedulers>;

}  // namespace filch_test
