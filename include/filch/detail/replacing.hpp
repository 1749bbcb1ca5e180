// Elements that satisfy a condition get another value.
#pragma once

#include <filch/detail/filtering_in_place.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/one_writer.hpp>
#include <filch/detail/writing.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// The ends of an input and of an output.
struct filter_ends {
  std::size_t in;
  std::size_t out;
};

/// Assigns a value where pred(proj(x)).
template <class Iterator, class Pred, class Proj, class Value>
struct replacing_piece : selection<Iterator, Pred, Proj> {
  static constexpr bool k_long_stretches = true;
  Value const& value;
  void run(std::size_t first, std::size_t last) const {
    Iterator i = this->at(first);
    FILCH_UNROLL_FILTER
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) {
      if (this->takes(i)) *i = detail::assigned_to<std::iter_reference_t<Iterator>>(value);
    }
  }
  replacing_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(replacing_piece&) const noexcept {}
};
template <class Sched, class Stop, class Iterator, class Pred, class Value, class Proj = std::identity>
void replace_if(Stop& stop, input<Iterator> const& in, Pred&& pred, Value const& value, Proj&& proj = Proj{}) {
  constant<Value> const own{value};  // it may be an element
  replacing_piece<Iterator, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>, Value> piece{
      {in.first, {pred}, {proj}}, own.value};
  detail::run_pieces<scheduler_for<Sched, Iterator>>(0, in.length, piece, stop);
}
template <class Sched, class Stop, class Iterator, class Value, class Value2, class Proj = std::identity>
void replace(Stop& stop, input<Iterator> const& in, Value const& old_value, Value2 const& new_value,
             Proj&& proj = Proj{}) {
  constant<Value> const before{old_value};  // it may be an element, too
  detail::replace_if<Sched>(stop, in, equal_to<Value>{before.value}, new_value, proj);
}

/// The elements from `begin` on, with a value in place of those that a test takes: each as it is, not converted to
/// the other's type.
template <class Iterator, class Pred, class Proj, class Value> struct replaced_elements {
  using reference = std::iter_reference_t<Iterator>;
  static constexpr bool is_arithmetic = false;
  /// No branch, so that the loop is one of vectors.
  static constexpr bool selects = std::is_arithmetic_v<Value> && std::is_same_v<Value, std::iter_value_t<Iterator>>;
  Iterator begin;
  projected_of<Iterator, Pred, Proj> test;
  std::conditional_t<selects, Value, Value const&> value;

  template <class Callee> FILCH_INLINE void each(std::size_t first, std::size_t last, Callee g) const {
    Iterator i = detail::iterator_after(begin, first);
    FILCH_UNROLL
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) pass(g, *i);
  }

 private:
  template <class Callee> FILCH_INLINE void pass(Callee& g, reference&& x) const {
    if constexpr (selects) {
      Value const own = static_cast<Value>(x);
      g(takes(x) ? value : own);
    } else if (takes(x)) {
      g(value);
    } else {
      g(static_cast<reference&&>(x));
    }
  }
  /// The test gets a copy of an element that the iterator makes: it may move from that.
  FILCH_INLINE bool takes(std::remove_reference_t<reference>& x) const {
    if constexpr (std::is_reference_v<reference>) {
      return test(static_cast<reference>(x));
    } else {
      return test(reference(std::as_const(x)));
    }
  }
};
template <class Sched, class Stop, class Iterator, class Out, class Pred, class Value, class Proj = std::identity>
filter_ends replace_copy_if(Stop& stop, input<Iterator> const& in, input<Out> const& out, Pred&& pred,
                            Value const& value, Proj&& proj = Proj{}) {
  constant<Value> const own{value};  // it may be an element of the output
  replaced_elements<Iterator, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>, Value> const source{
      in.first, {{proj}, {pred}}, own.value};
  std::size_t const n = detail::write_source<Sched>(stop, source, std::min(in.length, out.length), out.first);
  return {n, n};
}
template <class Sched, class Stop, class Iterator, class Out, class Value, class Value2, class Proj = std::identity>
filter_ends replace_copy(Stop& stop, input<Iterator> const& in, input<Out> const& out, Value const& old_value,
                         Value2 const& new_value, Proj&& proj = Proj{}) {
  constant<Value> const before{old_value};  // it may be an element of the output, too
  return detail::replace_copy_if<Sched>(stop, in, out, equal_to<Value>{before.value}, new_value, proj);
}

}  // namespace filch::inline FILCH_ABI::detail
