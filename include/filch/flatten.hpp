// flatten and remove_duplicates: new vectors of elements.
#pragma once

#include <filch/detail/one_writer.hpp>
#include <filch/for_index.hpp>
#include <filch/group_by.hpp>
#include <filch/transform.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

namespace filch::inline FILCH_ABI {
namespace detail {

template <class Sched, class Stop, class Iterator> auto flatten(Stop& stop, input<Iterator> const& in) {
  using inner = std::remove_reference_t<std::iter_reference_t<Iterator>>;
  std::vector<std::size_t> places(in.length + 1);
  std::size_t n = 0;
  for (std::size_t i = 0; i != in.length; ++i) {
    auto&& range = *in.at(i);  // may be made at each access
    std::size_t const length = detail::length_of(range);
    if (length > std::numeric_limits<std::size_t>::max() - n) throw std::length_error("filch::flatten");
    places[i + 1] = n += length;
  }
  using value = std::ranges::range_value_t<inner>;
  std::vector<value> all(n);
  using sched = scheduler_for<Sched, typename std::vector<value>::iterator>;
  auto copy = [&](std::size_t i) {
    auto&& range = *in.at(i);
    auto part = detail::input_of(range);
    part.length = std::min(part.length, places[i + 1] - places[i]);  // a range made anew may be longer
    std::identity same;
    detail::transform<sched>(
        stop, part, input<decltype(all.begin())>{detail::iterator_after(all.begin(), places[i]), part.length}, same);
  };
  detail::for_index<sched>(stop, std::size_t{0}, in.length, copy);
  return all;
}

/// The value of a key that needs none.
struct no_value {};
template <class Sched, class Stop, class Iterator> auto remove_duplicates(Stop& stop, input<Iterator> const& in) {
  using value = std::iter_value_t<Iterator>;
  static_assert(std::is_default_constructible_v<std::hash<value>> &&
                    std::is_invocable_v<std::equal_to<>, value const&, value const&>,
                "filch::remove_duplicates: the elements need std::hash and ==; reduce_by_key takes other functions");
  std::identity key;
  auto nothing = [](auto&&) { return no_value{}; };
  auto first = [](no_value, no_value) { return no_value{}; };
  auto keys = detail::reduce_by_key<Sched>(stop, in, key, nothing, first);
  std::vector<value> all;
  all.reserve(keys.size());
  for (auto& [x, none] : keys) all.push_back(std::move(x));
  return all;
}

}  // namespace detail

/// The elements of all ranges of [first, last), in order, in a std::vector. Elements of vectors must be
/// default-constructible. Bits, of std::vector<bool>, are copied by one worker. Exceptions, pool, thread and cost: as
/// in `for_index`; also std::bad_alloc. Complexity: n copies, and two accesses to each range and its size. A range
/// that an access makes must be the same each time. A longer one loses its rest; after a shorter one values
/// that were made by default remain.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
  requires sized_random_access_range<std::iter_reference_t<Iterator>>
auto flatten(Iterator first, Sentinel last) {
  detail::never_stopped never;
  return detail::flatten<Sched>(never, detail::input_of(first, last));
}
/// The same for a range of ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
  requires sized_random_access_range<std::ranges::range_reference_t<Range>>
auto flatten(Range&& range) {
  detail::never_stopped never;
  return detail::flatten<Sched>(never, detail::input_of(range));
}
/// Both with a stop token: a std::optional of the vector, empty if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto flatten(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token, [](auto& stop, auto const& in) { return detail::flatten<Sched>(stop, in); },
      std::forward<Args>(args)...);
}

/// The distinct elements of [first, last), in the order in which they come first, in a std::vector. Equal elements
/// need not be neighbours. Elements need std::hash and ==. Complexity, allocation and the rest: as in
/// `reduce_by_key`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
auto remove_duplicates(Iterator first, Sentinel last) {
  detail::never_stopped never;
  return detail::remove_duplicates<Sched>(never, detail::input_of(first, last));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
auto remove_duplicates(Range&& range) {
  detail::never_stopped never;
  return detail::remove_duplicates<Sched>(never, detail::input_of(range));
}
/// Both with a stop token: a std::optional of the vector, empty if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto remove_duplicates(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token, [](auto& stop, auto const& in) { return detail::remove_duplicates<Sched>(stop, in); },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
