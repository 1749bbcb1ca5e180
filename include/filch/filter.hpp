// Filters: the elements that a predicate takes, in a range of their own (copy_if.hpp) or at the front of the range.
//
// A form with a stop token as its first argument returns a std::optional of the other form's result. It is
// empty if a stop was requested before the end. The output is unspecified then.
#pragma once

#include <filch/copy_if.hpp>
#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/filtering_in_place.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
Iterator remove_if(Stop& stop, input<Iterator> const& in, Pred& pred, Proj&& proj = Proj{}) {
  removing<Iterator, Pred, std::remove_reference_t<Proj>> work{{in.first, {pred}, {proj}}};
  return in.at(detail::to_the_front<scheduler_for<Sched, Iterator>>(stop, in.length, work));
}
template <class Sched, class Stop, class Iterator, class Equal = std::equal_to<>, class Proj = std::identity>
Iterator unique(Stop& stop, input<Iterator> const& in, Equal&& equal = Equal{}, Proj&& proj = Proj{}) {
  keeping_unique<Iterator, std::remove_reference_t<Equal>, std::remove_reference_t<Proj>> work{
      in.first, {equal}, {proj}};
  return in.at(detail::to_the_front<scheduler_for<Sched, Iterator>>(stop, in.length, work));
}
template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
Iterator partition(Stop& stop, input<Iterator> const& in, Pred& pred, Proj&& proj = Proj{}) {
  partitioning<scheduler_for<Sched, Iterator>, Iterator, Pred, std::remove_reference_t<Proj>> work{
      {in.first, {pred}, {proj}}};
  return in.at(detail::to_the_front<scheduler_for<Sched, Iterator>>(stop, in.length, work));
}
template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
Iterator stable_partition(Stop& stop, input<Iterator> const& in, Pred& pred, Proj&& proj = Proj{}) {
  using projection = std::remove_reference_t<Proj>;
  if (in.length == 0) return in.first;
  raw_buffer<std::iter_value_t<Iterator>> buffer(in.length);
  if (!static_cast<bool>(buffer)) {
    selection<Iterator, Pred, projection> const taken{in.first, {pred}, {proj}};
    return in.at(detail::partition_without_memory(stop, taken, 0, in.length));
  }
  partitioning_stably<Iterator, Pred, projection> work{{in.first, {pred}, {proj}}, std::addressof(buffer)};
  return in.at(detail::to_the_front<scheduler_for<Sched, Iterator>>(stop, in.length, work));
}

}  // namespace detail

/// Moves the elements of [first, last) for which pred(proj(x)) is false to the front, in order. Returns their end.
/// The elements behind it have unspecified values.
///
/// pred is called once for each element. Exceptions, pool and thread: as in `for_index`. After an exception all
/// values of the range are unspecified. Complexity: n calls of pred and proj. On one worker at most n moves, those of
/// std::remove_if. A piece that was given away moves its elements to its own front, and its front is moved down when
/// the piece below has ended: n moves for each level of splits at most. Allocates nothing. Cost: that of `for_index`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator remove_if(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::remove_if<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for a range. Returns the subrange of the elements with unspecified values.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Pred, Range>
std::ranges::borrowed_subrange_t<Range> remove_if(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::remove_if<Sched>(first, end, std::move(pred), std::move(proj));
  });
}
/// Both with a stop token. After a stop the values of the range are unspecified.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto remove_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::behind<Args...>(in, detail::remove_if<Sched>(stop, in, pred, proj...));
      },
      std::forward<Args>(args)...);
}

/// Moves the first element of each group of consecutive equal elements of [first, last) to the front, in order.
/// Returns their end. The elements behind it have unspecified values. `equal` must be an equivalence relation.
///
/// Complexity: n - 1 calls of equal, and the calls of proj for them. Otherwise as `remove_if`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Equal = std::equal_to<>, class Proj = std::identity>
Iterator unique(Iterator first, Sentinel last, Equal equal = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::unique<Sched>(never, detail::input_of(first, last), equal, proj);
}
/// The same for a range. Returns the subrange of the elements with unspecified values.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Equal = std::equal_to<>,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Equal, Range>
std::ranges::borrowed_subrange_t<Range> unique(Range&& range, Equal equal = {}, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::unique<Sched>(first, end, std::move(equal), std::move(proj));
  });
}
/// Both with a stop token. After a stop the values of the range are unspecified.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto unique(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::equal_to<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::behind<First, Arg1, Arg2, Arg3>(in, detail::unique<Sched>(stop, in, fn...));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Reorders [first, last): the elements for which pred(proj(x)) is true come first. Returns the first of the others.
/// The order within both groups is unspecified.
///
/// pred is called once for each element. Exceptions, pool and thread: as in `for_index`. After an exception the
/// elements have any order.
/// Complexity: n calls of pred and proj, at most n swaps on one worker, and n / 2 more for each level of splits.
/// Allocates nothing. Cost: that of `for_index`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator partition(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::partition<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for a range. Returns the subrange of the elements for which pred is false.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Pred, Range>
std::ranges::borrowed_subrange_t<Range> partition(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::partition<Sched>(first, end, std::move(pred), std::move(proj));
  });
}
/// Both with a stop token. After a stop the elements have any order; none is lost.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto partition(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::behind<Args...>(in, detail::partition<Sched>(stop, in, pred, proj...));
      },
      std::forward<Args>(args)...);
}

/// `partition` that keeps the order within both groups.
///
/// Complexity: n calls of pred and proj, at most 2 n moves on one worker, and n for each level of splits. Allocates a
/// buffer of n elements; without memory for it, takes n log(n) moves on the calling worker. Otherwise as
/// `partition`. After an exception some elements have the values of moved-from elements.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator stable_partition(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::stable_partition<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for a range. Returns the subrange of the elements for which pred is false.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Pred, Range>
std::ranges::borrowed_subrange_t<Range> stable_partition(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::stable_partition<Sched>(first, end, std::move(pred), std::move(proj));
  });
}
/// Both with a stop token. After a stop the elements have any order; none is lost. Those in the buffer are moved
/// back.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto stable_partition(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::behind<Args...>(in, detail::stable_partition<Sched>(stop, in, pred, proj...));
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
