// An index of keys: where in an array the entry of a key is. Used by reduce_by_key and group_by, for which
// std::unordered_map takes 1.4 to 5 times as long: its entries are in memory of their own.
#pragma once

#include <filch/detail/platform.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

/// Open addressing with linear probing. The keys themselves are in the caller's entries, which have a member `first`.
template <class Hash, class Equal> class key_index {
 public:
  key_index(Hash const& hash, Equal const& equal) : hash_(hash), equal_(equal) { grow(0); }

  /// Calls found(place) with the place in `entries` of this key's entry. If there is none, calls make(key), which
  /// appends it to the entries. Throws std::length_error if there are over 3 * 2^30 keys.
  template <class Entries, class Key, class Found, class Make>
  FILCH_INLINE void find_or_make(Entries& entries, Key&& key, Found found, Make make) {
    auto const tag = tag_of(static_cast<std::size_t>(hash_(std::as_const(key))));
    std::size_t i = first_slot(tag);
    for (; slots_[i].number != 0; i = next(i)) {
      std::size_t const place = slots_[i].number - 1;
      if (slots_[i].tag != tag) continue;
      if (static_cast<bool>(equal_(std::as_const(entries[place].first), std::as_const(key)))) return found(place);
    }
    if (entries.size() >= room_) [[unlikely]] {
      grow(entries.size());
      i = free_slot(tag);
    }
    auto const number = static_cast<std::uint32_t>(entries.size() + 1);
    make(static_cast<Key&&>(key));
    slots_[i] = {tag, number};
  }
  /// An index without keys, and with the same functions.
  key_index empty_copy() const { return {hash_, equal_}; }

 private:
  struct slot {
    std::uint32_t tag;     // of the key's hash
    std::uint32_t number;  // place of the entry + 1. 0: a free slot
  };
  static constexpr std::size_t k_fewest = 16;
  static constexpr std::size_t k_most = std::size_t{1} << 32;

  /// The upper half of a product whose upper bits depend on all bits of the hash. Many hashes of numbers are the
  /// number.
  static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>((hash * 0x9E37'79B9'7F4A'7C15) >> 32);
  }
  std::size_t first_slot(std::uint32_t tag) const noexcept { return tag >> shift_; }

  std::size_t next(std::size_t i) const noexcept { return (i + 1) & last_slot_; }
  std::size_t free_slot(std::uint32_t tag) const noexcept {
    std::size_t i = first_slot(tag);
    while (slots_[i].number != 0) i = next(i);
    return i;
  }

  /// Tags are enough to find the new slots.
  FILCH_OUTLINE void grow(std::size_t entries) {
    std::size_t const size = std::bit_ceil(std::max(k_fewest, 2 * entries));
    if (size > k_most) throw std::length_error("filch: too many keys");
    std::vector<slot> old(size);
    old.swap(slots_);
    shift_ = static_cast<unsigned>(32 - std::countr_zero(size));
    room_ = size / 4 * 3;
    last_slot_ = size - 1;
    for (slot const& each : old) {
      if (each.number != 0) slots_[free_slot(each.tag)] = each;
    }
  }

  Hash hash_;
  Equal equal_;
  std::vector<slot> slots_;
  std::size_t room_;  // for so many entries
  std::size_t last_slot_;
  unsigned shift_;
};

}  // namespace filch::inline FILCH_ABI::detail
