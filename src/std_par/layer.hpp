// The functions of one scheduler for filch::std_par: loops and forks whose bodies are behind pointers.
#pragma once

#include <filch/detail/pieces.hpp>
#include <filch/detail/scan_engine.hpp>
#include <filch/detail/std_par/calls.hpp>
#include <filch/scheduler.hpp>

#include "runtime/workers_around.hpp"

#include <array>
#include <bit>
#include <utility>

namespace filch::inline FILCH_ABI::std_par {

/// One history for each magnitude of a position's length: a place in a program may run short and long loops in turn.
/// Also one for each magnitude of a small number of positions. The functions behind a std::function have one history,
/// and a loop begins in order after cheap ones: that costs most where the first position is much of the loop.
struct loop_costs {
  static constexpr std::size_t k_magnitudes = 17;
  static constexpr std::size_t k_magnitudes_of_few = 8;
  std::array<detail::loop_history, k_magnitudes> of_magnitude;
  std::array<detail::loop_history, k_magnitudes_of_few> of_few;

  detail::loop_history& of(std::size_t positions, std::size_t tile) noexcept {
    auto const magnitude = static_cast<std::size_t>(std::bit_width(positions));
    if (tile <= 2 && magnitude < k_magnitudes_of_few) return of_few[magnitude];
    return of_magnitude[std::min(static_cast<std::size_t>(std::bit_width(tile)), k_magnitudes - 1)];
  }
};

/// Not exported: of several copies of Filch in one process, a loop needs both functions of the same one.
void cancel() noexcept;
/// Was cancel() called on this thread since the last call? A call that the compiler does not look into: the thread
/// may be another one after the function of a loop.
bool take_cancel() noexcept;

/// A piece of a loop whose pieces have one state.
struct shared_piece {
  static constexpr bool k_ends_all = true;
  decltype(loop::run) function;
  void* state;
  detail::loop_history* costs;

  bool run(std::size_t first, std::size_t last) const noexcept {
    function(state, first, last);
    return !take_cancel();
  }
  shared_piece split(std::size_t, std::size_t) const noexcept { return *this; }
  void merge(shared_piece&) const noexcept {}
  detail::loop_history& history() const noexcept { return *costs; }
};

/// A piece with a state of its own.
class own_piece {
 public:
  own_piece(loop const& functions, void* state, detail::loop_history& costs) noexcept
      : functions_(functions), state_(state), costs_(costs) {}
  own_piece(own_piece const&) = delete;
  own_piece& operator=(own_piece const&) = delete;
  ~own_piece() {
    if (is_owner_) functions_.destroy(state_);
  }

  void run(std::size_t first, std::size_t last) noexcept { functions_.run(state_, first, last); }
  own_piece split(std::size_t, std::size_t) { return own_piece(*this); }
  void merge(own_piece& upper) noexcept { functions_.merge(state_, upper.state_); }
  detail::loop_history& history() const noexcept { return costs_; }

 private:
  explicit own_piece(own_piece& lower)
      : functions_(lower.functions_), state_(functions_.split(lower.state_)), costs_(lower.costs_), is_owner_(true) {}

  loop const& functions_;
  void* state_;
  detail::loop_history& costs_;
  bool is_owner_ = false;
};

/// A value of a scan.
class erased_value {
 public:
  erased_value(scan const& functions, void* value) noexcept : functions_(&functions), value_(value) {}
  erased_value(erased_value const& other) noexcept
      : functions_(other.functions_), value_(functions_->copy(other.value_)) {}
  erased_value(erased_value&& other) noexcept
      : functions_(other.functions_), value_(std::exchange(other.value_, nullptr)) {}
  erased_value& operator=(erased_value other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~erased_value() {
    if (value_ != nullptr) functions_->destroy(value_);
  }
  void* get() const noexcept { return value_; }
  void* release() noexcept { return std::exchange(value_, nullptr); }

 private:
  scan const* functions_;
  void* value_;
};

/// The work of a scan (detail/scan_engine.hpp).
struct erased_scan {
  using carry = erased_value;
  using sum = erased_value;
  static constexpr std::size_t k_turn = 1;
  scan const& functions;
  void* work;
  detail::loop_history& costs;

  erased_scan const& serial() const noexcept { return *this; }
  bool direct(std::size_t first, std::size_t last, carry& at) const noexcept {
    functions.direct(work, first, last, at.get());
    return true;
  }
  void ahead(std::size_t first, std::size_t last, std::optional<sum>& total) const noexcept {
    if (total) {
      functions.ahead(work, first, last, total->get());
    } else {
      total.emplace(functions, functions.begin_ahead(work, first, last));
    }
  }
  static bool can_run_ahead() noexcept { return true; }
  static void about_to_split(std::size_t, std::size_t) noexcept {}
  void again(std::size_t first, std::size_t last, carry& at) const noexcept { direct(first, last, at); }
  carry after(carry at, sum const& total) const noexcept { return both(std::move(at), total); }
  sum both(sum low, sum const& high) const noexcept {
    functions.append(work, low.get(), high.get());
    return low;
  }
  detail::loop_history& history() const noexcept { return costs; }
};

/// The calls of filch::std_par under one scheduler.
template <scheduler Sched> struct layer {
  static void run_loop(std::size_t positions, std::size_t tile, loop const& functions, void* state,
                       loop_costs& costs) {
    if (positions == 1) {  // in no pool
      functions.run(state, 0, 1);
      static_cast<void>(take_cancel());
    } else if (functions.split == nullptr) {
      shared_piece piece{functions.run, state, &costs.of(positions, tile)};
      detail::run_pieces<Sched>(0, positions, piece);
    } else {
      own_piece piece(functions, state, costs.of(positions, tile));
      detail::run_pieces<Sched>(0, positions, piece);
    }
  }

  static void* run_scan(std::size_t positions, std::size_t tile, scan const& functions, void* work, void* value,
                        loop_costs& costs) {
    erased_scan whole{functions, work, costs.of(positions, tile)};
    detail::never_stopped never;
    detail::carrying_piece<Sched, detail::never_stopped, erased_scan> piece(whole, never, positions,
                                                                            erased_value(functions, value));
    detail::run_pieces<Sched>(0, positions, piece, never);
    return piece.last_carry().release();
  }

  static void join(call lower, call upper) {
    Sched::join([lower] { lower.function(lower.argument); }, [upper] { upper.function(upper.argument); });
  }

  static void enter(call whole) {
    detail::inside_pool<Sched>([whole] { whole.function(whole.argument); });
  }

  static std::size_t workers() {
    if constexpr (requires { Sched::works_alone(); }) {  // it has workers
      if (Sched::inside()) return detail::workers_around<Sched>();
    }
    return Sched::default_pool().workers();
  }

  static constexpr scheduler_calls k_calls{run_loop, run_scan, join, enter, workers, cancel};
};

}  // namespace filch::inline FILCH_ABI::std_par
