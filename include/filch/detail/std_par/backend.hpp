// The eight functions, the buffer and the cancellation that libstdc++'s parallel algorithms call. C++17. Their names
// and parameters are libstdc++'s: pstl/parallel_backend_serial.h says what they mean.
#pragma once

#include <filch/detail/std_par/scans.hpp>
#include <filch/detail/std_par/sorts.hpp>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

// By default as hidden as its type, where a program hides what it does not export.
__attribute__((visibility("default"))) extern scheduler_calls const FILCH_STD_PAR_CALLS;

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch

// Version 17 of libstdc++'s copy passes the backend's tag before the policy.
#if _PSTL_VERSION >= 17000
#define FILCH_STD_PAR_TEMPLATE template <class Tag, class Policy,
#define FILCH_STD_PAR_POLICY Tag, Policy&&
#else
#define FILCH_STD_PAR_TEMPLATE template <class Policy,
#define FILCH_STD_PAR_POLICY Policy&&
#endif

// NOLINTBEGIN(bugprone-reserved-identifier): libstdc++'s names.
namespace __pstl {
namespace __filch_backend {

inline constexpr filch::std_par::scheduler_calls const& k_calls = filch::std_par::FILCH_STD_PAR_CALLS;

template <class Value> class __buffer {
 public:
  explicit __buffer(std::size_t n) : memory_(n) {
    if (!memory_) throw std::bad_alloc();
  }
  explicit operator bool() const noexcept { return true; }
  Value* get() const noexcept { return memory_.get(); }

 private:
  filch::std_par::buffer<Value> memory_;
};

inline void __cancel_execution() noexcept { k_calls.cancel(); }

FILCH_STD_PAR_TEMPLATE class Index,
    class Body > void __parallel_for(FILCH_STD_PAR_POLICY, Index first, Index last, Body body) {
  filch::std_par::run_range(k_calls, first, last, body);
}

FILCH_STD_PAR_TEMPLATE class Value, class Index, class Body,
    class Reduction > Value __parallel_reduce(FILCH_STD_PAR_POLICY, Index first, Index last, Value const& identity,
                                              Body const& body, Reduction const& reduction) {
  return filch::std_par::reduce_range(k_calls, first, last, identity, body, reduction);
}

FILCH_STD_PAR_TEMPLATE class Index, class Unary, class Value, class Combine,
    class Reduce > Value __parallel_transform_reduce(FILCH_STD_PAR_POLICY, Index first, Index last, Unary unary,
                                                     Value initial, Combine combine, Reduce reduce) {
  return filch::std_par::sum_range(k_calls, first, last, unary, std::move(initial), combine, reduce);
}

FILCH_STD_PAR_TEMPLATE class Index, class Value, class Reduce, class Combine, class Scan,
    class Apex > void __parallel_strict_scan(FILCH_STD_PAR_POLICY, Index n, Value initial, Reduce reduce,
                                             Combine combine, Scan scan, Apex apex) {
  filch::std_par::strict_scan_range(k_calls, n, initial, reduce, combine, scan, apex);
}

FILCH_STD_PAR_TEMPLATE class Index, class Unary, class Value, class Combine, class Reduce,
    class Scan > Value __parallel_transform_scan(FILCH_STD_PAR_POLICY, Index n, Unary unary, Value initial,
                                                 Combine combine, Reduce reduce, Scan scan) {
  return filch::std_par::scan_range(k_calls, n, unary, std::move(initial), combine, reduce, scan);
}

FILCH_STD_PAR_TEMPLATE class Iterator, class Compare,
    class Leaf > void __parallel_stable_sort(FILCH_STD_PAR_POLICY, Iterator first, Iterator last, Compare less,
                                             Leaf leaf, std::size_t wanted = 0) {
  filch::std_par::sort_range(k_calls, first, last, less, leaf, wanted);
}

FILCH_STD_PAR_TEMPLATE class First, class Second, class Out, class Compare,
    class Leaf > void __parallel_merge(FILCH_STD_PAR_POLICY, First first1, First last1, Second first2, Second last2,
                                       Out out, Compare less, Leaf leaf) {
  auto const part = [&](First from1, First to1, Second from2, Second to2, Out to) {
    leaf(from1, to1, from2, to2, to, less);
  };
  auto whole = [&]() noexcept {
    if (k_calls.workers() == 1) {
      part(first1, last1, first2, last2, out);
    } else {
      filch::std_par::merge_ranges(k_calls, first1, last1, first2, last2, out, less, part);
    }
  };
  k_calls.enter(filch::std_par::as_call(whole));
}

FILCH_STD_PAR_TEMPLATE class Lower,
    class Upper > void __parallel_invoke(FILCH_STD_PAR_POLICY, Lower&& lower, Upper&& upper) {
  filch::std_par::fork(k_calls, lower, upper);
}

}  // namespace __filch_backend
namespace __par_backend = __filch_backend;
}  // namespace __pstl
// NOLINTEND(bugprone-reserved-identifier)

#undef FILCH_STD_PAR_TEMPLATE
#undef FILCH_STD_PAR_POLICY
