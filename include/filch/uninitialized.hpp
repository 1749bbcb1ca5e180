// Objects in raw memory: uninitialized_copy, _move, _fill, _default_construct, _value_construct, destroy, and their
// forms with a number of objects.
//
// The rules of transform.hpp hold. If a constructor throws, or a stop was requested before the end, all objects that
// were made are destroyed. Destructors must not throw.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/bounded.hpp>
#include <filch/detail/converting.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/standard.hpp>

#include <new>

namespace filch::inline FILCH_ABI {
namespace detail {

template <class Iterator> using value_of_place = std::remove_reference_t<std::iter_reference_t<Iterator>>;
/// The same without const and volatile.
template <class Iterator> using made_value = std::remove_cv_t<value_of_place<Iterator>>;

/// Makes objects: make(position, where). Destroys those that it has made, unless it is released.
template <class Out, class Make> class constructing_piece {
 public:
  constructing_piece(Out const& out, Make const& make, std::size_t begin = 0)
      : out_(out), make_(make), begin_(begin), end_(begin) {}
  constructing_piece(constructing_piece const&) = delete;
  constructing_piece& operator=(constructing_piece const&) = delete;
  ~constructing_piece() {
    if constexpr (!std::is_trivially_destructible_v<value_of_place<Out>>) {
      for (; begin_ != end_; ++begin_) std::destroy_at(std::addressof(*detail::iterator_after(out_, begin_)));
    }
  }
  void run(std::size_t first, std::size_t last) {
    std::size_t at = first;
    try {
      for (Out to = detail::iterator_after(out_, at); at != last; ++at, static_cast<void>(++to))
        make_(at, static_cast<void*>(const_cast<std::remove_cv_t<value_of_place<Out>>*>(std::addressof(*to))));
    } catch (...) {
      end_ = at;
      throw;
    }
    end_ = last;
  }
  constructing_piece split(std::size_t middle, std::size_t) const { return constructing_piece(out_, make_, middle); }
  /// After an exception there may be a gap: then both destroy their own.
  void merge(constructing_piece& upper) noexcept {
    if (end_ != upper.begin_) return;
    end_ = upper.end_;
    upper.release();
  }
  void release() noexcept { begin_ = end_; }

 private:
  Out out_;
  Make make_;
  std::size_t begin_;  // the objects of [begin_, end_) are there
  std::size_t end_;
};

template <class Sched, class Stop, class Out, class Make>
void construct(Stop& stop, input<Out> const& out, std::size_t n, Make const& make) {
  constructing_piece<Out, Make> piece(out.first, make);
  detail::run_pieces<Sched>(0, n, piece, stop);
  if (!stop.was_seen()) piece.release();
}

template <class Sched, class Stop, class Iterator, class Out>
std::size_t uninitialized_copy(Stop& stop, input<Iterator> const& in, input<Out> const& out) {
  std::size_t const n = std::min(in.length, out.length);
  detail::construct<Sched>(stop, out, n, [from = in.first](std::size_t i, void* at) {
    ::new (at) made_value<Out>(detail::assigned_to<made_value<Out>&>(*detail::iterator_after(from, i)));
  });
  return n;
}
template <class Sched, class Stop, class Iterator, class Out>
std::size_t uninitialized_move(Stop& stop, input<Iterator> const& in, input<Out> const& out) {
  std::size_t const n = std::min(in.length, out.length);
  detail::construct<Sched>(stop, out, n, [from = in.first](std::size_t i, void* at) {
    ::new (at) made_value<Out>(
        detail::assigned_to<made_value<Out>&>(std::ranges::iter_move(detail::iterator_after(from, i))));
  });
  return n;
}
template <class Sched, class Stop, class Out, class Value>
void uninitialized_fill(Stop& stop, input<Out> const& out, Value const& value) {
  detail::construct<Sched>(stop, out, out.length, [&value](std::size_t, void* at) {
    ::new (at) made_value<Out>(detail::assigned_to<made_value<Out>&>(value));
  });
}
template <class Sched, class Stop, class Out>
void uninitialized_default_construct(Stop& stop, input<Out> const& out) {
  detail::construct<Sched>(stop, out, out.length, [](std::size_t, void* at) { ::new (at) made_value<Out>; });
}
template <class Sched, class Stop, class Out> void uninitialized_value_construct(Stop& stop, input<Out> const& out) {
  detail::construct<Sched>(stop, out, out.length, [](std::size_t, void* at) { ::new (at) made_value<Out>(); });
}

template <class Iterator> struct destroying_piece {
  Iterator begin;
  void run(std::size_t first, std::size_t last) const noexcept {
    for (Iterator i = detail::iterator_after(begin, first); first != last; ++first, static_cast<void>(++i))
      std::destroy_at(std::addressof(*i));
  }
  destroying_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(destroying_piece&) const noexcept {}
};
template <class Sched, class Stop, class Iterator> void destroy(Stop& stop, input<Iterator> const& in) {
  if constexpr (!std::is_trivially_destructible_v<value_of_place<Iterator>>) {
    destroying_piece<Iterator> piece{in.first};
    detail::run_pieces<Sched>(0, in.length, piece, stop);
  } else {
    static_cast<void>(stop);
  }
}

}  // namespace detail

/// Copies the elements of [first, last) to new objects in the raw memory from `out` on. Returns their end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out>
Out uninitialized_copy(Iterator first, Sentinel last, Out out) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::iterator_after(out,
                                detail::uninitialized_copy<Sched>(never, in, detail::input<Out>{out, in.length}));
}
/// The same with the memory [out, out_last). The shorter one bounds it. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel>
std::ranges::in_out_result<Iterator, Out> uninitialized_copy(Iterator first, Sentinel last, Out out,
                                                             OutSentinel out_last) {
  return detail::with_bounds(detail::input_of(first, last), detail::input_of(out, out_last),
                             [](auto const&... ends) { filch::uninitialized_copy<Sched>(ends...); });
}
/// The same for ranges. The shorter one bounds it.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
uninitialized_copy(Range&& range, OutRange&& out) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  std::size_t const n = detail::uninitialized_copy<Sched>(never, in, to);
  return {in.at(n), to.at(n)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool uninitialized_copy(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out) {
        static_cast<void>(detail::uninitialized_copy<Sched>(stop, in, out));
      },
      std::forward<Args>(args)...);
}
/// `uninitialized_copy` of n elements from `first` on. Returns the end of the objects.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator, std::random_access_iterator Out>
Out uninitialized_copy_n(Iterator first, std::iter_difference_t<Iterator> n, Out out) {
  return filch::uninitialized_copy<Sched>(first, n > 0 ? first + n : first, out);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator,
          std::random_access_iterator Out>
bool uninitialized_copy_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n, Out out) {
  return filch::uninitialized_copy<Sched>(token, first, n > 0 ? first + n : first, out);
}

/// Moves the elements of [first, last) to new objects in the raw memory from `out` on. Returns their end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out>
Out uninitialized_move(Iterator first, Sentinel last, Out out) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::iterator_after(out,
                                detail::uninitialized_move<Sched>(never, in, detail::input<Out>{out, in.length}));
}
/// The same with the memory [out, out_last). The shorter one bounds it. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel>
std::ranges::in_out_result<Iterator, Out> uninitialized_move(Iterator first, Sentinel last, Out out,
                                                             OutSentinel out_last) {
  return detail::with_bounds(detail::input_of(first, last), detail::input_of(out, out_last),
                             [](auto const&... ends) { filch::uninitialized_move<Sched>(ends...); });
}
/// The same for ranges. The shorter one bounds it.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
uninitialized_move(Range&& range, OutRange&& out) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  std::size_t const n = detail::uninitialized_move<Sched>(never, in, to);
  return {in.at(n), to.at(n)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool uninitialized_move(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out) {
        static_cast<void>(detail::uninitialized_move<Sched>(stop, in, out));
      },
      std::forward<Args>(args)...);
}
/// `uninitialized_move` of n elements from `first` on. Returns the end of the objects.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator, std::random_access_iterator Out>
Out uninitialized_move_n(Iterator first, std::iter_difference_t<Iterator> n, Out out) {
  return filch::uninitialized_move<Sched>(first, n > 0 ? first + n : first, out);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator,
          std::random_access_iterator Out>
bool uninitialized_move_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n, Out out) {
  return filch::uninitialized_move<Sched>(token, first, n > 0 ? first + n : first, out);
}

/// Makes copies of `value` in the raw memory [first, last). Returns the end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value>
Iterator uninitialized_fill(Iterator first, Sentinel last, Value const& value) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::uninitialized_fill<Sched>(never, in, value);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value>
std::ranges::borrowed_iterator_t<Range> uninitialized_fill(Range&& range, Value const& value) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::uninitialized_fill<Sched>(never, in, value);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool uninitialized_fill(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value) { detail::uninitialized_fill<Sched>(stop, in, value); },
      std::forward<Args>(args)...);
}
/// `uninitialized_fill` of n objects from `first` on. Returns their end.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator, class Value>
Iterator uninitialized_fill_n(Iterator first, std::iter_difference_t<Iterator> n, Value const& value) {
  return filch::uninitialized_fill<Sched>(first, n > 0 ? first + n : first, value);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator,
          class Value>
bool uninitialized_fill_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n,
                          Value const& value) {
  return filch::uninitialized_fill<Sched>(token, first, n > 0 ? first + n : first, value);
}

/// Makes objects in the raw memory [first, last), by default-initialization. Returns the end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator uninitialized_default_construct(Iterator first, Sentinel last) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::uninitialized_default_construct<Sched>(never, in);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
std::ranges::borrowed_iterator_t<Range> uninitialized_default_construct(Range&& range) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::uninitialized_default_construct<Sched>(never, in);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool uninitialized_default_construct(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token, [](auto& stop, auto const& in) { detail::uninitialized_default_construct<Sched>(stop, in); },
      std::forward<Args>(args)...);
}
/// `uninitialized_default_construct` of n objects from `first` on. Returns their end.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator>
Iterator uninitialized_default_construct_n(Iterator first, std::iter_difference_t<Iterator> n) {
  return filch::uninitialized_default_construct<Sched>(first, n > 0 ? first + n : first);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator>
bool uninitialized_default_construct_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n) {
  return filch::uninitialized_default_construct<Sched>(token, first, n > 0 ? first + n : first);
}

/// Makes objects in the raw memory [first, last), by value-initialization. Returns the end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator uninitialized_value_construct(Iterator first, Sentinel last) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::uninitialized_value_construct<Sched>(never, in);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
std::ranges::borrowed_iterator_t<Range> uninitialized_value_construct(Range&& range) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::uninitialized_value_construct<Sched>(never, in);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool uninitialized_value_construct(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token, [](auto& stop, auto const& in) { detail::uninitialized_value_construct<Sched>(stop, in); },
      std::forward<Args>(args)...);
}
/// `uninitialized_value_construct` of n objects from `first` on. Returns their end.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator>
Iterator uninitialized_value_construct_n(Iterator first, std::iter_difference_t<Iterator> n) {
  return filch::uninitialized_value_construct<Sched>(first, n > 0 ? first + n : first);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator>
bool uninitialized_value_construct_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n) {
  return filch::uninitialized_value_construct<Sched>(token, first, n > 0 ? first + n : first);
}

/// Destroys the objects of [first, last). Returns the end. After a stop some are left.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator destroy(Iterator first, Sentinel last) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::destroy<Sched>(never, in);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
std::ranges::borrowed_iterator_t<Range> destroy(Range&& range) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::destroy<Sched>(never, in);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool destroy(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token, [](auto& stop, auto const& in) { detail::destroy<Sched>(stop, in); }, std::forward<Args>(args)...);
}
/// `destroy` of n objects from `first` on. Returns their end.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator>
Iterator destroy_n(Iterator first, std::iter_difference_t<Iterator> n) {
  return filch::destroy<Sched>(first, n > 0 ? first + n : first);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator>
bool destroy_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n) {
  return filch::destroy<Sched>(token, first, n > 0 ? first + n : first);
}

}  // namespace filch::inline FILCH_ABI
