// The low end of a stack: its header, and behind it the records of offers. Both are laid out for
// src/arch/x86_64/continuation.S. Words and invariants: protocol.md.
#pragma once

#include <filch/implicit.hpp>

#include "runtime/exceptions_in_flight.hpp"
#include "runtime/fiber/open_range.hpp"
#include "schedulers/implicit/unwind/walk.hpp"
#include "schedulers/implicit/words.hpp"

#include <unwind.h>

#include <new>

namespace filch::inline FILCH_ABI::detail {

class implicit_frame;
struct implicit_member;

/// A continuation, or a spawned task, that was offered.
struct alignas(64) implicit_record : implicit_offer {
  enum class kind : unsigned char {
    join,     // a join frame on a stack of the pool
    spawned,  // a task of a scope
    outside,  // a join frame of a thread outside all pools
  };

  // owner, before it offers
  kind what = kind::join;
  // the taker of the offer
  bool has_entered_pad = false;  // `state` is valid, else `frame`
  union {
    implicit_state state;  // how the frame continues at its landing pad
    join_frame frame{};    // how its landing pad is entered
  };
  std::uint64_t* return_slot = nullptr;        // join: where f's return address lies
  runtime::exceptions_in_flight exceptions{};  // the fiber's, from when f is done until the frame continues
  _Unwind_Exception marker;                    // the exception object that the landing pad sees
  decltype(fiber_task::run) run_g = nullptr;   // join: g, for the thief
  implicit_member* publisher = nullptr;        // the worker that offered: the thief requests more of it, or pays it
  runtime::cycles lasted = 0;                  // join: cycles that g took in the thief
  union {
    std::uint64_t hidden_return = 0;  // join: the return address that the barrier may replace
    fiber_task* task;                 // spawned: what to run
  };
  bool pays = false;                       // spawned: the publisher has little credit, so the thief pays for the task
  std::uint64_t rank = 0;                  // address on the stack: the higher the older
  implicit_frame* scope = nullptr;         // spawned: the task's scope
  struct implicit_stack* stack = nullptr;  // join: the record's stack

  static implicit_record& make(void* place, kind what) noexcept {
    implicit_record& r = *::new (place) implicit_record;
    r.what = what;
    r.counter.balance = 0;
    return r;
  }
  bool is_join() const noexcept { return what == kind::join; }
};

/// The header of a stack. All but `open` belongs to the stack's owner: the worker that runs the fiber.
struct implicit_stack {
  alignas(64) runtime::open_range open;     // which records are offered
  alignas(64) std::uint64_t hidden_return;  // the return address in whose place the barrier stands
  implicit_record* known_end;               // end of the records that unwinders search; see put_barrier()
  std::uint64_t* barrier_slot;              // where the barrier stands; null: nowhere
  std::uint64_t barrier;                    // address of the barrier for stacks of this size
  implicit_frame* newest_scope;             // list of the scopes with waiting tasks
  implicit_frame* oldest_scope;
  std::uint64_t scopes;  // number of scopes that have begun

  /// The records lie behind the header.
  implicit_record& record(std::uint32_t i) noexcept { return reinterpret_cast<implicit_record*>(this + 1)[i]; }
  implicit_record const& record(std::uint32_t i) const noexcept {
    return reinterpret_cast<implicit_record const*>(this + 1)[i];
  }
  std::uint32_t number_of_records() const noexcept { return open.peek().end; }
  /// The next offer must be newer than this record; null: there is none.
  implicit_record* newest() noexcept {
    std::uint32_t const n = number_of_records();
    return n ? &record(n - 1) : nullptr;
  }
  /// Puts the barrier in the place of a record's return address. Unwinders search the records below `known_end` for
  /// that place. So wherever the barrier stands, or stood when an unwinder came past that was interrupted there, the
  /// frame's record lies below `known_end`, and no later record there has the same place.
  void put_barrier(implicit_record& r) noexcept;
  /// The newest record is done with: the barrier moves to the next older join frame.
  void pop() noexcept;
};
static_assert(offsetof(implicit_stack, hidden_return) == 64 && offsetof(implicit_stack, known_end) == 72);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(sizeof(implicit_record) == 384 && offsetof(implicit_record, return_slot) == 264 &&
              offsetof(implicit_record, hidden_return) == 344 && sizeof(implicit_record) > sizeof(implicit_stack));
#pragma GCC diagnostic pop

/// Taker of an offer: enters the landing pad of its frame, unless that was done before. It finds out what g is, and
/// how the frame continues: from here on at its landing pad. False, and nothing has happened: the landing pad can't
/// be read any more. `pads` is the thread's cache; it may be null.
[[nodiscard]] bool enter_pad(implicit_record& r, pad_cache* pads) noexcept;
/// The same by the frame's owner, which can run a landing pad that can't be read: a debugger stops there.
void enter_pad_as_owner(implicit_record& r, pad_cache* pads) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
