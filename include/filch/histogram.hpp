// histogram: how many elements fall in each bin.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace filch::inline FILCH_ABI {
namespace detail {

struct free_memory {
  void operator()(void* p) const noexcept { std::free(p); }
};

/// Adds the counts of one array to another one.
template <class To, class From> struct adding_piece {
  To to;
  From from;
  void run(std::size_t first, std::size_t last) const {
    To const end = detail::iterator_after(to, last);
    From j = detail::iterator_after(from, first);
    for (To i = detail::iterator_after(to, first); i != end; ++i, static_cast<void>(++j))
      *i += static_cast<std::iter_value_t<To>>(*j);
  }
  adding_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(adding_piece&) const noexcept {}
};

/// The lowest piece counts in the caller's bins. A piece that the lowest one gave away has memory of its own: counts,
/// if it has more positions than there are bins, else the bin of each position. Without memory it counts when it is
/// merged. A piece that is split off from one without counts works in the memory of that one.
template <class Sched, class Source, class Bins> class bin_counting_piece {
 public:
  using count = std::iter_value_t<Bins>;

  bin_counting_piece(Source const& in, Bins const& bins, std::size_t n_bins)
      : in_(in), bins_(bins), n_bins_(n_bins) {}

  /// Runs stretches. The state of the lowest piece is in registers.
  struct runner_type {
    bin_counting_piece& piece;
    Source in;
    Bins bins;
    bool is_lowest;

    FILCH_INLINE void run(std::size_t first, std::size_t last) const {
      if (is_lowest) [[likely]]
        return add_to(in, bins, first, last);
      piece.run_upper(first, last);
    }
  };
  runner_type runner(std::size_t) { return {*this, in_, bins_, is_lowest_}; }
  void ran(runner_type const&, std::size_t last) noexcept { end_ = last; }
  bin_counting_piece split(std::size_t middle, std::size_t last) const {
    return bin_counting_piece(*this, middle, last);
  }
  std::size_t split_ticks(std::size_t, std::size_t left) const noexcept {
    constexpr std::size_t k_ticks_a_bin = 4;   // cleared, then added
    constexpr std::size_t k_ticks_a_hit = 12;  // written, then counted
    std::size_t const upper = left / 2;
    return upper > n_bins_ ? n_bins_ * k_ticks_a_bin : upper * k_ticks_a_hit;
  }
  void merge(bin_counting_piece& upper) {
    if (is_lowest_) {
      upper.add_all(bins_);
    } else if (counts_ != nullptr) {
      upper.add_all(counts_.get());
    }
    // Positions that did not run have no bin. There are some below `upper` if the loop ended early.
    if (end_ == upper.first_) end_ = upper.end_;
  }

 private:
  bin_counting_piece(bin_counting_piece const& lower, std::size_t middle, std::size_t last)
      : in_(lower.in_),
        bins_(lower.bins_),
        n_bins_(lower.n_bins_),
        is_lowest_(false),
        first_(middle),
        begin_(middle),
        end_(middle) {
    if (!lower.is_lowest_ && lower.counts_ == nullptr) {
      begin_ = lower.begin_;
      hits_ = lower.hits_;
    } else if (last - middle > n_bins_) {
      counts_.reset(static_cast<count*>(std::calloc(n_bins_, sizeof(count))));
    } else {
      own_hits_.reset(new (std::nothrow) std::size_t[last - middle]);
      hits_ = own_hits_.get();
    }
  }

  template <class To>
  FILCH_INLINE static void add_to(Source const& in, To const& to, std::size_t first, std::size_t last) {
    in.each(first, last, [&to](auto&& x) { ++to[static_cast<std::iter_difference_t<To>>(x)]; });
  }
  FILCH_OUTLINE void run_upper(std::size_t first, std::size_t last) const {
    if (counts_ != nullptr) {
      add_to(in_, counts_.get(), first, last);
    } else if (hits_ != nullptr) {
      std::size_t* to = hits_ + (first - begin_);
      in_.each(first, last, [&to](auto&& x) { *to++ = static_cast<std::size_t>(x); });
    }
  }
  /// Adds what this piece has counted.
  template <class To> void add_all(To const& to) const {
    if (counts_ != nullptr) {
      adding_piece<To, count*> all{to, counts_.get()};
      detail::run_pieces<Sched>(0, n_bins_, all);
    } else if (hits_ != nullptr) {
      for (std::size_t i = 0; i < end_ - begin_; ++i) ++to[static_cast<std::iter_difference_t<To>>(hits_[i])];
    } else {
      add_to(in_, to, begin_, end_);
    }
  }

  // Fixed.
  Source in_;
  Bins bins_;
  std::size_t n_bins_;
  bool is_lowest_ = true;
  std::size_t first_ = 0;  // this piece's first position
  std::size_t begin_ = 0;  // the position of hits_[0]
  std::size_t* hits_ = nullptr;
  std::unique_ptr<std::size_t[]> own_hits_;
  // The worker that runs this piece.
  std::size_t end_ = 0;  // end of the positions from first_ on that have run
  std::unique_ptr<count[], free_memory> counts_;
};

/// Can it be the number of a bin? A floating-point number is not rounded for the caller: -0.5 would count in bin 0.
template <class Number>
concept bin_number = !std::is_floating_point_v<std::remove_cvref_t<Number>> &&
                     requires(Number&& number) { static_cast<std::size_t>(static_cast<Number&&>(number)); };

template <class Sched, class Stop, class Iterator, class Bins, class Fn>
void histogram(Stop& stop, input<Iterator> const& in, Bins const& bins, std::size_t n_bins, Fn& bin_of) {
  using count = std::iter_value_t<Bins>;
  static_assert(std::is_integral_v<count> && !std::is_same_v<count, bool>,
                "filch::histogram: the bins must be of an integer type");
  static_assert(
      bin_number<std::invoke_result_t<Fn&, std::iter_reference_t<Iterator>>>,
      "filch::histogram: bin_of must return the number of a bin, an integer; without bin_of the elements are "
      "the numbers");
  elements<Iterator, Fn> const bin_of_each(in.first, bin_of);
  bin_counting_piece<Sched, elements<Iterator, Fn>, Bins> piece(bin_of_each, bins, n_bins);
  detail::run_pieces<Sched>(0, in.length, piece, stop);
}

}  // namespace detail

/// Counts: for every element x of [first, last), adds 1 to bins[bin_of(x)]. The bins are bins[0] to bins[n_bins - 1]
/// of an integer type. bin_of(x) must be an integer from 0 to n_bins - 1: a negative one, perhaps of a char, writes
/// before the bins. The bins keep what they had before.
///
/// No atomic operation is used, so a bin in which most elements fall costs no more than others. Exceptions, pool and
/// thread: as in `for_index`. After an exception the counts are unspecified.
/// Complexity: one call of bin_of for each element. Each piece given away allocates n_bins counts, or a word for each
/// of its elements if they are fewer, and adds them up at its end. Without memory it counts then, so bin_of is called
/// late. Cost: that of `for_index`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Bins, class Fn = std::identity>
  requires std::integral<std::iter_value_t<Bins>>
void histogram(Iterator first, Sentinel last, Bins bins, std::size_t n_bins, Fn bin_of = {}) {
  detail::never_stopped never;
  detail::histogram<Sched>(never, detail::input_of(first, last), bins, n_bins, bin_of);
}
/// The same with a stop token. Returns false, and the counts are unspecified, if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Bins, class Fn = std::identity>
  requires std::integral<std::iter_value_t<Bins>>
bool histogram(Token const& token, Iterator first, Sentinel last, Bins bins, std::size_t n_bins, Fn bin_of = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    detail::histogram<Sched>(stop, detail::input_of(first, last), bins, n_bins, bin_of);
  });
}
/// The same for a range of elements and a range of bins.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Bins,
          class Fn = std::identity>
void histogram(Range&& range, Bins&& bins, Fn bin_of = {}) {
  detail::never_stopped never;
  detail::histogram<Sched>(never, detail::input_of(range), std::ranges::begin(bins), detail::length_of(bins), bin_of);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Bins, class Fn = std::identity>
bool histogram(Token const& token, Range&& range, Bins&& bins, Fn bin_of = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    detail::histogram<Sched>(stop, detail::input_of(range), std::ranges::begin(bins), detail::length_of(bins),
                             bin_of);
  });
}
/// Returns n_bins counts of the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Fn = std::identity>
std::vector<std::size_t> histogram(Range&& range, std::size_t n_bins, Fn bin_of = {}) {
  std::vector<std::size_t> bins(n_bins);
  filch::histogram<Sched>(range, bins, std::move(bin_of));
  return bins;
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Fn = std::identity>
std::optional<std::vector<std::size_t>> histogram(Token const& token, Range&& range, std::size_t n_bins,
                                                  Fn bin_of = {}) {
  std::vector<std::size_t> bins(n_bins);
  if (!filch::histogram<Sched>(token, range, bins, std::move(bin_of))) return {};
  return bins;
}

}  // namespace filch::inline FILCH_ABI
