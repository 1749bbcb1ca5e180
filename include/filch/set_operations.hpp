// Set operations on sorted ranges. The rules of merge.hpp hold. Elements may repeat: of elements that are equal,
// those of both inputs are paired.
//
// Complexity of all: at most 2 (n + m) - 1 calls of comp, and O(log(n + m)) for each piece given away, and once more
// where n + m exceeds 2^16. Each piece given away allocates as many elements as it reads, and moves what it has
// written to the output. Without memory it is run when the pieces below it have ended. None is given away where an
// input gives rvalue references, or its elements do not convert to the output's value type.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/set_merging.hpp>

namespace filch::inline FILCH_ABI {

/// Writes the elements that at least one input has. Those of both are copied from the first one. Returns the end of
/// the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, std::random_access_iterator Out,
          class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
Out set_union(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out, Comp comp = {}) {
  detail::never_stopped never;
  return detail::set_operate_to<detail::union_rule, Sched>(never, detail::input_of(first, last),
                                                           detail::input_of(first2, last2), out, comp);
}
/// The same with the output [out, out_last). Ends before an element for which that has no room. Returns where it
/// ended in each.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Out,
          sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::ranges::set_union_result<Iterator, Iterator2, Out> set_union(Iterator first, Sentinel last, Iterator2 first2,
                                                                  Sentinel2 last2, Out out, OutSentinel out_last,
                                                                  Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_bounded<detail::union_rule, Sched>(never, detail::input_of(first, last),
                                                                detail::input_of(first2, last2),
                                                                detail::input_of(out, out_last), comp, proj, proj2);
}
/// The same for ranges. Ends before an element for which the output has no room. Returns where it ended in each
/// range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          sized_random_access_range OutRange, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
detail::ends_of_sets<Range, Range2, OutRange> set_union(Range&& range, Range2&& range2, OutRange&& out,
                                                        Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_ranges<detail::union_rule, Sched>(never, static_cast<Range&&>(range),
                                                               static_cast<Range2&&>(range2),
                                                               static_cast<OutRange&&>(out), comp, proj, proj2);
}
/// All with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          std::random_access_iterator Out, class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
std::optional<Out> set_union(Token const& token, Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2,
                             Out out, Comp comp = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_to<detail::union_rule, Sched>(stop, detail::input_of(first, last),
                                                             detail::input_of(first2, last2), out, comp);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          class Out, sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::optional<std::ranges::set_union_result<Iterator, Iterator2, Out>> set_union(Token const& token, Iterator first,
                                                                                 Sentinel last, Iterator2 first2,
                                                                                 Sentinel2 last2, Out out,
                                                                                 OutSentinel out_last, Comp comp = {},
                                                                                 Proj proj = {}, Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_bounded<detail::union_rule, Sched>(stop, detail::input_of(first, last),
                                                                  detail::input_of(first2, last2),
                                                                  detail::input_of(out, out_last), comp, proj, proj2);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, sized_random_access_range OutRange, class Comp = std::less<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::optional<detail::ends_of_sets<Range, Range2, OutRange>> set_union(Token const& token, Range&& range,
                                                                       Range2&& range2, OutRange&& out,
                                                                       Comp comp = {}, Proj proj = {},
                                                                       Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_ranges<detail::union_rule, Sched>(stop, static_cast<Range&&>(range),
                                                                 static_cast<Range2&&>(range2),
                                                                 static_cast<OutRange&&>(out), comp, proj, proj2);
  });
}

/// Writes the elements that both inputs have, copied from the first one. Returns the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, std::random_access_iterator Out,
          class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
Out set_intersection(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out, Comp comp = {}) {
  detail::never_stopped never;
  return detail::set_operate_to<detail::intersection_rule, Sched>(never, detail::input_of(first, last),
                                                                  detail::input_of(first2, last2), out, comp);
}
/// The same with the output [out, out_last). Ends before an element for which that has no room. Returns where it
/// ended in each.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Out,
          sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::ranges::set_union_result<Iterator, Iterator2, Out> set_intersection(Iterator first, Sentinel last,
                                                                         Iterator2 first2, Sentinel2 last2, Out out,
                                                                         OutSentinel out_last, Comp comp = {},
                                                                         Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_bounded<detail::intersection_rule, Sched>(
      never, detail::input_of(first, last), detail::input_of(first2, last2), detail::input_of(out, out_last), comp,
      proj, proj2);
}
/// The same for ranges. Ends before an element for which the output has no room. Returns where it ended in each
/// range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          sized_random_access_range OutRange, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
detail::ends_of_sets<Range, Range2, OutRange> set_intersection(Range&& range, Range2&& range2, OutRange&& out,
                                                               Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_ranges<detail::intersection_rule, Sched>(
      never, static_cast<Range&&>(range), static_cast<Range2&&>(range2), static_cast<OutRange&&>(out), comp, proj,
      proj2);
}
/// All with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          std::random_access_iterator Out, class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
std::optional<Out> set_intersection(Token const& token, Iterator first, Sentinel last, Iterator2 first2,
                                    Sentinel2 last2, Out out, Comp comp = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_to<detail::intersection_rule, Sched>(stop, detail::input_of(first, last),
                                                                    detail::input_of(first2, last2), out, comp);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          class Out, sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::optional<std::ranges::set_union_result<Iterator, Iterator2, Out>> set_intersection(
    Token const& token, Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out,
    OutSentinel out_last, Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_bounded<detail::intersection_rule, Sched>(
        stop, detail::input_of(first, last), detail::input_of(first2, last2), detail::input_of(out, out_last), comp,
        proj, proj2);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, sized_random_access_range OutRange, class Comp = std::less<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::optional<detail::ends_of_sets<Range, Range2, OutRange>> set_intersection(Token const& token, Range&& range,
                                                                              Range2&& range2, OutRange&& out,
                                                                              Comp comp = {}, Proj proj = {},
                                                                              Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_ranges<detail::intersection_rule, Sched>(
        stop, static_cast<Range&&>(range), static_cast<Range2&&>(range2), static_cast<OutRange&&>(out), comp, proj,
        proj2);
  });
}

/// Writes the elements of the first input that the second one lacks. Returns the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, std::random_access_iterator Out,
          class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
Out set_difference(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out, Comp comp = {}) {
  detail::never_stopped never;
  return detail::set_operate_to<detail::difference_rule, Sched>(never, detail::input_of(first, last),
                                                                detail::input_of(first2, last2), out, comp);
}
/// The same with the output [out, out_last). Ends before an element for which that has no room. Returns where it
/// ended in each.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Out,
          sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::ranges::set_union_result<Iterator, Iterator2, Out> set_difference(Iterator first, Sentinel last,
                                                                       Iterator2 first2, Sentinel2 last2, Out out,
                                                                       OutSentinel out_last, Comp comp = {},
                                                                       Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_bounded<detail::difference_rule, Sched>(
      never, detail::input_of(first, last), detail::input_of(first2, last2), detail::input_of(out, out_last), comp,
      proj, proj2);
}
/// The same for ranges. Ends before an element for which the output has no room. Returns where it ended in each
/// range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          sized_random_access_range OutRange, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
detail::ends_of_sets<Range, Range2, OutRange> set_difference(Range&& range, Range2&& range2, OutRange&& out,
                                                             Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_ranges<detail::difference_rule, Sched>(never, static_cast<Range&&>(range),
                                                                    static_cast<Range2&&>(range2),
                                                                    static_cast<OutRange&&>(out), comp, proj, proj2);
}
/// All with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          std::random_access_iterator Out, class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
std::optional<Out> set_difference(Token const& token, Iterator first, Sentinel last, Iterator2 first2,
                                  Sentinel2 last2, Out out, Comp comp = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_to<detail::difference_rule, Sched>(stop, detail::input_of(first, last),
                                                                  detail::input_of(first2, last2), out, comp);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          class Out, sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::optional<std::ranges::set_union_result<Iterator, Iterator2, Out>> set_difference(
    Token const& token, Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out,
    OutSentinel out_last, Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_bounded<detail::difference_rule, Sched>(
        stop, detail::input_of(first, last), detail::input_of(first2, last2), detail::input_of(out, out_last), comp,
        proj, proj2);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, sized_random_access_range OutRange, class Comp = std::less<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::optional<detail::ends_of_sets<Range, Range2, OutRange>> set_difference(Token const& token, Range&& range,
                                                                            Range2&& range2, OutRange&& out,
                                                                            Comp comp = {}, Proj proj = {},
                                                                            Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_ranges<detail::difference_rule, Sched>(
        stop, static_cast<Range&&>(range), static_cast<Range2&&>(range2), static_cast<OutRange&&>(out), comp, proj,
        proj2);
  });
}

/// Writes the elements that one input has and the other one lacks. Returns the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, std::random_access_iterator Out,
          class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
Out set_symmetric_difference(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out,
                             Comp comp = {}) {
  detail::never_stopped never;
  return detail::set_operate_to<detail::symmetric_difference_rule, Sched>(never, detail::input_of(first, last),
                                                                          detail::input_of(first2, last2), out, comp);
}
/// The same with the output [out, out_last). Ends before an element for which that has no room. Returns where it
/// ended in each.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Out,
          sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::ranges::set_union_result<Iterator, Iterator2, Out> set_symmetric_difference(Iterator first, Sentinel last,
                                                                                 Iterator2 first2, Sentinel2 last2,
                                                                                 Out out, OutSentinel out_last,
                                                                                 Comp comp = {}, Proj proj = {},
                                                                                 Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_bounded<detail::symmetric_difference_rule, Sched>(
      never, detail::input_of(first, last), detail::input_of(first2, last2), detail::input_of(out, out_last), comp,
      proj, proj2);
}
/// The same for ranges. Ends before an element for which the output has no room. Returns where it ended in each
/// range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          sized_random_access_range OutRange, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
detail::ends_of_sets<Range, Range2, OutRange> set_symmetric_difference(Range&& range, Range2&& range2, OutRange&& out,
                                                                       Comp comp = {}, Proj proj = {},
                                                                       Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::set_operate_ranges<detail::symmetric_difference_rule, Sched>(
      never, static_cast<Range&&>(range), static_cast<Range2&&>(range2), static_cast<OutRange&&>(out), comp, proj,
      proj2);
}
/// All with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          std::random_access_iterator Out, class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
std::optional<Out> set_symmetric_difference(Token const& token, Iterator first, Sentinel last, Iterator2 first2,
                                            Sentinel2 last2, Out out, Comp comp = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_to<detail::symmetric_difference_rule, Sched>(
        stop, detail::input_of(first, last), detail::input_of(first2, last2), out, comp);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          class Out, sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::optional<std::ranges::set_union_result<Iterator, Iterator2, Out>> set_symmetric_difference(
    Token const& token, Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out,
    OutSentinel out_last, Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_bounded<detail::symmetric_difference_rule, Sched>(
        stop, detail::input_of(first, last), detail::input_of(first2, last2), detail::input_of(out, out_last), comp,
        proj, proj2);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, sized_random_access_range OutRange, class Comp = std::less<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::optional<detail::ends_of_sets<Range, Range2, OutRange>> set_symmetric_difference(Token const& token,
                                                                                      Range&& range, Range2&& range2,
                                                                                      OutRange&& out, Comp comp = {},
                                                                                      Proj proj = {},
                                                                                      Proj2 proj2 = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::set_operate_ranges<detail::symmetric_difference_rule, Sched>(
        stop, static_cast<Range&&>(range), static_cast<Range2&&>(range2), static_cast<OutRange&&>(out), comp, proj,
        proj2);
  });
}

/// Does [first, last) have all elements of [first2, last2)? No stretch begins after the answer is known. Allocates
/// nothing.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Comp = std::less<>,
          class Proj = std::identity, class Proj2 = std::identity>
bool includes(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Comp comp = {}, Proj proj = {},
              Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::includes<Sched>(never, detail::input_of(first, last), detail::input_of(first2, last2), comp, proj,
                                 proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Comp = std::less<>, class Proj = std::identity, class Proj2 = std::identity>
bool includes(Range&& range, Range2&& range2, Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::includes<Sched>(never, detail::input_of(range), detail::input_of(range2), comp, proj, proj2);
}
/// Both with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
std::optional<bool> includes(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                             Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::less<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto comp, auto proj, auto proj2) {
        return detail::includes<Sched>(stop, in, in2, comp, proj, proj2);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

}  // namespace filch::inline FILCH_ABI
