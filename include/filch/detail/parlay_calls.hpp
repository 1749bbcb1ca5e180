// The functions that Parlay needs of a scheduler. <filch/parlay.hpp> gives them the names of Parlay.
#pragma once

#include <filch/detail/body.hpp>
#include <filch/detail/lone_waits.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/join.hpp>
#include <filch/stay.hpp>
#include <filch/worker.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// A worker's index is at least the number of workers: this code runs in a pool that is larger than the default one.
[[noreturn]] FILCH_COLD inline void not_parlay_s_pool() noexcept {
  std::fputs("filch: Parlay's functions were called in a pool with more places than the default pool\n", stderr);
  std::abort();
}

/// The stretches of a loop in blocks of `grain` iterations. A position is a block. The blocks of a stretch are one
/// plain loop.
template <class Fn> struct parlay_stretches {
  std::size_t start;
  std::size_t end;
  std::size_t grain;
  body_of<Fn, std::size_t&> f;

  void run(std::size_t first, std::size_t last) const {
    std::size_t i = start + first * grain;
    std::size_t left = std::min((last - first) * grain, end - i);  // the last block may be shorter
    FILCH_UNROLL
    for (; left != 0; --left, ++i) {
      std::size_t own = i;
      static_cast<void>(f(own));
    }
  }
  loop_history& history() const noexcept { return history_with(grain); }
  /// A block of many iterations costs more than an iteration of the same body.
  static loop_history& history_with(std::size_t grain) noexcept {
    return grain == 1 ? history_of<parlay_stretches> : history_of<parlay_stretches*>;
  }
};

/// The loop, with any body. A program has hundreds of bodies: all share one engine, which would be most of the time
/// that they take to compile.
struct parlay_piece {
  using run_function = std::size_t(parlay_piece const&, std::size_t first, std::size_t last, loop_end* end,
                                   loop_plan const& plan);
  std::size_t start;
  std::size_t end;
  std::size_t grain;
  void const* f;  // a body_of, whose type `stretches` knows
  run_function* stretches;
  loop_history* past;

  std::size_t run_stretches(std::size_t first, std::size_t last, never_stopped&, loop_end* cut,
                            loop_plan const& plan) {
    return stretches(*this, first, last, cut, plan);
  }
  parlay_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(parlay_piece&) const noexcept {}
  loop_history& history() const noexcept { return *past; }
};

template <class Sched>
concept has_lone_waits = requires {
  { Sched::lone_waits() } noexcept -> std::same_as<unsigned*>;
};

template <scheduler Sched> struct parlay_calls {
  /// The places of the default pool: every thread that calls Parlay's functions has an index below it.
  static std::size_t num_workers() {
    return Sched::default_pool().places();  // no static: a child of fork() could wait for its guard for ever
  }

  /// How many threads work at once. For the number of blocks of an algorithm, not for arrays with a place a worker.
  static std::size_t workers() { return Sched::default_pool().workers(); }

  /// 0 outside all pools. Not the same before and after a fork if the scheduler moves code.
  static std::size_t worker_id() {
    unsigned const index = Sched::worker_index();
    if (index == k_no_worker) return 0;
    if (index >= num_workers()) [[unlikely]]
      detail::not_parlay_s_pool();
    return index;
  }

  /// Calls f(i) for each i of [start, end). `granularity`: so many neighbouring iterations run one after the other; 0
  /// or less: the costs of iterations decide. `conservative`: see par_do.
  template <class Fn>
  static void parallel_for(std::size_t start, std::size_t end, Fn& f, long granularity, bool conservative) {
    if (end <= start) return;
    std::size_t const grain = granularity < 1 ? 1 : static_cast<std::size_t>(granularity);
    body_of<Fn, std::size_t&> const body{f};
    if (is_conservative(conservative)) [[unlikely]] {
      conservative_for({std::addressof(body), in_order<Fn>}, start, end, granularity);
    } else if (end - start <= grain) {
      in_order<Fn>(std::addressof(body), start, end);
    } else {
      parlay_piece piece{start,
                         end,
                         grain,
                         std::addressof(body),
                         run_stretches<Fn>,
                         std::addressof(parlay_stretches<Fn>::history_with(grain))};
      detail::run_pieces<Sched>(0, (end - start - 1) / grain + 1, piece);
    }
  }

  /// Runs both. `conservative`: the caller may hold a lock that other tasks take. No other task begins on a thread
  /// where this call, or one below it on any thread, waits. A scheduler that moves code runs them in order.
  template <class Left, class Right> static void par_do(Left&& left, Right&& right, bool conservative) {
    if (is_conservative(conservative)) [[unlikely]] {
      auto run_left = [&] { static_cast<void>(std::forward<Left>(left)()); };
      auto run_right = [&] { static_cast<void>(std::forward<Right>(right)()); };
      conservative_do(any_call(run_left), any_call(run_right));
    } else {
      both(std::forward<Left>(left), std::forward<Right>(right));
    }
  }

 private:
  template <class Fn>
  static std::size_t run_stretches(parlay_piece const& piece, std::size_t first, std::size_t last, loop_end* end,
                                   loop_plan const& plan) {
    auto const& body = *static_cast<body_of<Fn, std::size_t&> const*>(piece.f);
    parlay_stretches<Fn> stretches{piece.start, piece.end, piece.grain, body};
    never_stopped never;
    return detail::run_until_wanted<Sched>(first, last, stretches, never, end, plan);
  }
  /// Outlined: compilers do not inline a function of the user's that is called at several places.
  template <class Fn> [[gnu::noinline]] static void in_order(void const* body, std::size_t start, std::size_t end) {
    auto const& f = *static_cast<body_of<Fn, std::size_t&> const*>(body);
    for (std::size_t i = start; i != end; ++i) {
      std::size_t own = i;
      static_cast<void>(f(own));
    }
  }

  // Conservative calls are rare. Those of all functions share one join, or they would be most of what is compiled.
  struct any_call {
    template <class Fn>
    explicit any_call(Fn& f) noexcept : f_(std::addressof(f)), run_([](void* g) { (*static_cast<Fn*>(g))(); }) {}
    void operator()() const { run_(f_); }

   private:
    void* f_;
    void (*run_)(void*);
  };
  struct any_body {
    void const* f;
    void (*in_order)(void const* f, std::size_t start, std::size_t end);
    void operator()(std::size_t start, std::size_t end) const { in_order(f, start, end); }
  };

  /// So is a call below a conservative one.
  static bool is_conservative(bool conservative) noexcept {
    if constexpr (has_lone_waits<Sched>) {
      unsigned const* const lone_waits = Sched::lone_waits();
      return conservative || (lone_waits != nullptr && *lone_waits != 0);
    } else {
      return conservative;
    }
  }
  static void conservative_do(any_call left, any_call right) {
    if constexpr (has_lone_waits<Sched>) {
      detail::inside_pool<Sched>([&] {
        lone_waits_here const here(Sched::lone_waits());
        both(left, [&] {
          lone_waits_here const where_it_runs(Sched::lone_waits());
          right();
        });
      });
    } else {
      filch::stay([&] { both(left, right); });
    }
  }
  /// In halves, of `granularity` iterations at least, or some for each worker.
  static void conservative_for(any_body body, std::size_t start, std::size_t end, long granularity) {
    if constexpr (has_lone_waits<Sched>) {
      constexpr std::size_t k_pieces_a_worker = 16;
      std::size_t const grain = granularity < 1 ? (end - start) / (k_pieces_a_worker * workers()) + 1
                                                : static_cast<std::size_t>(granularity);
      detail::inside_pool<Sched>([&] {
        lone_waits_here const here(Sched::lone_waits());  // a loop that is not cut waits alone, too
        halves(body, start, end, grain);
      });
    } else {
      filch::stay([&] { body(start, end); });
    }
  }
  static void halves(any_body body, std::size_t start, std::size_t end, std::size_t grain) {
    if (end - start <= grain) return body(start, end);
    std::size_t const grains = (end - start - 1) / grain + 1;
    std::size_t const middle = start + grains / 2 * grain;
    auto low = [&] { halves(body, start, middle, grain); };
    auto high = [&] { halves(body, middle, end, grain); };
    conservative_do(any_call(low), any_call(high));
  }
  template <class Left, class Right> FILCH_INLINE static void both(Left&& left, Right&& right) {
    filch::join<Sched>([&] { static_cast<void>(std::forward<Left>(left)()); },
                       [&] { static_cast<void>(std::forward<Right>(right)()); });
  }
};

}  // namespace filch::inline FILCH_ABI::detail
