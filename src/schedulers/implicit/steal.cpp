// The thief's side.
#include "schedulers/implicit/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// Asks the victim to offer something. seq_cst, both: see edge implicit-4.
void implicit_team::ask(runtime::strand_member& victim) noexcept {
  if (victim.poll.load(std::memory_order_seq_cst) == k_asked) return;
  victim.poll.store(k_asked, std::memory_order_seq_cst);
}

strand_task* implicit_team::steal_from(runtime::strand_member& v, runtime::strand_member& me) noexcept {
  auto& victim = static_cast<implicit_member&>(v);
  // edge implicit-2: acquire, the header. It stays one, whatever becomes of the strand.
  implicit_stack* const s = victim.offers.load(std::memory_order_acquire);
  if (!s) return nullptr;
  // edge implicit-1: acquire.
  std::uint64_t word = s->open.load(std::memory_order_acquire);
  implicit_public const now = implicit_public::of(word);
  if (now.tail >= now.head) {
    ask(victim);
    return nullptr;
  }
  // edge implicit-1 and implicit-3: the offer is ours, and what it points to is there.
  if (!s->open.compare_exchange_strong(word, implicit_public{now.tail + 1, now.head}.word(),
                                       std::memory_order_acq_rel, std::memory_order_relaxed)) {
    counted(me.index).backoffs.bump();
    return nullptr;
  }
  // The trip wire: the last offer went, the owner should make more.
  if (now.tail + 1 == now.head && &victim != &me) ask(victim);
  implicit_record& r = s->record(now.tail);
  if (r.what == implicit_record::kind::spawned) return r.task;
  land(r);
  return &r;
}

bool implicit_team::offers_task(runtime::strand_member const& victim) const noexcept {
  implicit_stack const* const s = static_cast<implicit_member const&>(victim).offers.load(std::memory_order_seq_cst);
  if (!s) return false;
  // edge idle-1: in order after the announcement.
  implicit_public const now = implicit_public::of(s->open.load(std::memory_order_seq_cst));
  return now.tail < now.head;
}

}  // namespace filch::inline FILCH_ABI::detail
