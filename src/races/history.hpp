// Lists of accesses of words for which one write and one read are not enough. The algorithm is ALL-SETS (see
// locks.hpp), for each byte of the word.
#pragma once

#include "races/locks.hpp"
#include "races/shadow.hpp"

namespace filch::races {

struct access {
  section_id section;
  std::uint32_t pc;
  call_id call;
  lock_set locks;
  std::uint8_t bytes;  // of the word: a bit for each; 0: the place in the list is free
  bool writes;
  bool is_atomic;
  bool frees;
};

struct access_record {
  static constexpr std::size_t k_most = 4;
  access accesses[k_most];
  std::uint32_t next;
};

class histories {
 public:
  void reserve() noexcept {
    records_.reserve();
    records_.resize(1);
  }
  access_record& operator[](std::uint32_t i) noexcept { return records_[i]; }
  std::uint32_t make() noexcept;
  /// The record and those behind it.
  void free(std::uint32_t first) noexcept;
  void add(std::uint32_t first, access const& a) noexcept;
  template <class Fn> void for_each(std::uint32_t first, Fn f) {
    for (std::uint32_t i = first; i != 0; i = records_[i].next) {
      for (access& a : records_[i].accesses) {
        if (a.bytes != 0) f(a);
      }
    }
  }

 private:
  table<access_record, std::size_t{1} << 26> records_;
  std::uint32_t free_ = 0;
};

}  // namespace filch::races
