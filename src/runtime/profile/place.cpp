// Finds the place of a task, and notes the callers at its first
// fork. record.cpp calls it at each fork.
#include "runtime/profile/place.hpp"

#include <unwind.h>

#include <cstdint>

namespace filch::runtime::profile {
namespace {

struct walk {
  void** to;
  void** end;
};

_Unwind_Reason_Code note_caller(_Unwind_Context* context, void* p) {
  auto& w = *static_cast<walk*>(p);
  if (w.to == w.end) return _URC_END_OF_STACK;
  *w.to++ = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

}  // namespace

place& place_table::find(code task) noexcept {
  std::size_t i = (reinterpret_cast<std::uintptr_t>(task) >> 4) % index_.size();
  for (; index_[i] != 0; i = (i + 1) % index_.size()) {
    unsigned const number = index_[i] - 1u;
    if (places_[number].task != task) continue;
    recent_ = number;
    return places_[number];
  }
  if (used_ == k_most) return places_[k_most];
  index_[i] = static_cast<std::uint16_t>(used_ + 1);
  recent_ = used_;
  place& made = places_[used_];
  made.task = task;
  made.number = used_++;
  walk w{made.callers.data(), made.callers.data() + made.callers.size()};
  _Unwind_Backtrace(note_caller, &w);
  return made;
}

}  // namespace filch::runtime::profile
