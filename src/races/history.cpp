// The lists' records: they are made, freed and reused here. checker.cpp adds to a list where a word's cell has no
// room. See history.hpp.
#include "races/history.hpp"

#include "os/linux/fatal.hpp"

namespace filch::races {

std::uint32_t histories::make() noexcept {
  std::uint32_t const i = free_;
  if (i == 0) {
    if (records_.size() == decltype(records_)::k_most) {
      os::end_with_line("filch: races: too many bytes are accessed one by one, or under locks\n");
    }
    records_.push_back({});
    return static_cast<std::uint32_t>(records_.size() - 1);
  }
  free_ = records_[i].next;
  records_[i] = {};
  return i;
}

void histories::free(std::uint32_t first) noexcept {
  std::uint32_t last = first;
  while (records_[last].next != 0) last = records_[last].next;
  records_[last].next = free_;
  free_ = first;
}

void histories::add(std::uint32_t first, access const& a) noexcept {
  for (std::uint32_t i = first;; i = records_[i].next) {
    for (access& place : records_[i].accesses) {
      if (place.bytes != 0) continue;
      place = a;
      return;
    }
    if (records_[i].next == 0) {
      std::uint32_t const more = make();
      records_[i].next = more;
    }
  }
}

}  // namespace filch::races
