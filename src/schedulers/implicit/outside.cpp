// Joins of threads outside all pools: the newest join frame is entered as by a thief, f and g run in the default
// pool, and the frame continues at its landing pad. Called by implicit_child_outside() in detail/implicit/child.hpp.
// See protocol.md, "A join frame".
#include "os/linux/thread_end.hpp"
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/fiber/stack_pool.hpp"
#include "schedulers/implicit/barrier.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

extern "C" char const filch_implicit_barrier_outside[];

namespace filch::inline FILCH_ABI::detail {
namespace {

/// The record of a frame outside all pools whose f is about to return.
constinit thread_local implicit_record* outside_done __attribute__((tls_model("initial-exec"))) = nullptr;

/// Where this thread's functions may return to. Asked once: it costs a system call. No static variable with a guard:
/// a child of fork() would wait for the thread that held it.
enum class return_to : unsigned char { is_unknown, anywhere, the_call_only };
constinit thread_local return_to returns __attribute__((tls_model("initial-exec"))) = return_to::is_unknown;

struct room_for_record {
  alignas(implicit_record) std::byte bytes[sizeof(implicit_record)];
};
/// The frames of the functions in which a thread joins, their landing pads, and the room of its last join's record.
struct outside_caches {
  sized_call_frame_cache<64> frames;
  pad_cache pads;
  std::unique_ptr<room_for_record> spare;
};
/// On the heap, since few threads join outside.
constinit thread_local outside_caches* of_this_thread = nullptr;

void forget_caches(void*) { delete std::exchange(of_this_thread, nullptr); }

/// Null: there is no memory, so each frame and pad is worked out anew, and each record is allocated.
outside_caches* caches_of_thread() noexcept {
  static constinit os::at_thread_end at_end(forget_caches);
  if (of_this_thread || !at_end.is_there()) return of_this_thread;
  of_this_thread = new (std::nothrow) outside_caches;
  if (of_this_thread && !at_end.pass(of_this_thread)) forget_caches(nullptr);
  return of_this_thread;
}

}  // namespace

implicit_offer* implicit_offer_to_pool() noexcept {
  if (returns == return_to::is_unknown)
    returns = runtime::has_shadow_stack() ? return_to::the_call_only : return_to::anywhere;
  if (returns == return_to::the_call_only) return nullptr;
  frame_registers here;
  filch_implicit_registers(&here);
  join_frame frame;
  constexpr std::uint64_t k_anywhere = ~std::uint64_t{0};
  stack_bounds const above_here{here[frame_registers::rsp], k_anywhere};
  outside_caches* const caches = caches_of_thread();
  join_frame_walk walk(here, true, above_here, k_anywhere, caches ? &caches->frames : nullptr);
  if (!walk.next_of_any_use(frame) || frame.pad_is == pad_use::unfit) return nullptr;
  room_for_record* room = caches ? caches->spare.release() : nullptr;
  if (!room) room = new (std::nothrow) room_for_record;
  if (!room) return nullptr;
  implicit_record& r = implicit_record::make(room, implicit_record::kind::outside);
  r.frame = frame;
  r.return_slot = frame.return_slot();
  enter_pad_as_owner(r, caches ? &caches->pads : nullptr);
  return &r;
}

void implicit_return_to_pad(implicit_offer& o) noexcept {
  auto& r = static_cast<implicit_record&>(o);
  r.outcome.is_stolen = true;  // by the pool
  outside_done = &r;
  *r.return_slot = reinterpret_cast<std::uint64_t>(&filch_implicit_barrier_outside);
}

void end_outside(implicit_record& r) noexcept {
  r.~implicit_record();
  std::unique_ptr<room_for_record> room(reinterpret_cast<room_for_record*>(&r));
  if (of_this_thread && !of_this_thread->spare) of_this_thread->spare = std::move(room);
}

implicit_state* child_returned_outside() noexcept {
  implicit_record& r = *std::exchange(outside_done, nullptr);
  r.exceptions = runtime::take_exceptions();
  continue_at_pad(r);
  return &r.state;
}

}  // namespace filch::inline FILCH_ABI::detail
