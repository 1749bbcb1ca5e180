// The history of each four bytes of memory: the last write and one read, which is all that an access without
// locks needs. A word that was accessed in parts, or under a lock, or atomically has a list of accesses
// (history.hpp). Where both words of eight bytes have had the same accesses, the first one's cell stands for both:
// most data is accessed by eight bytes, and costs half the time and memory so.
#pragma once

#include "races/calls.hpp"
#include "races/sections.hpp"

namespace filch::races {

inline constexpr address k_word = 4;

struct cell {
  section_id write;        // or k_has_list and the number of a record; and k_is_double
  std::uint32_t write_pc;  // lower half of the return address
  call_id write_call;
  section_id read;  // and k_is_local, k_is_double
  std::uint32_t read_pc;
  call_id read_call;
  friend bool operator==(cell const&, cell const&) = default;
};

inline constexpr std::uint32_t k_has_list = 1u << 31;
/// The mark of memory that belongs to a value of a worker_local.
inline constexpr std::uint32_t k_is_local = 1u << 31;
/// The mark of a cell that stands for eight bytes. It has no list, and is not local; the second word's cell is zero.
inline constexpr std::uint32_t k_is_double = 1u << 30;
inline constexpr address k_double = 8;

class shadow_memory {
 public:
  void reserve() noexcept {
    chunks_ = static_cast<cell**>(map_table(k_chunks * sizeof(cell*)));
    made_.reserve();
  }

  /// The cell of the first word of the eight bytes around an address.
  cell* at(address a) noexcept {
    cell*& chunk = chunks_[(a >> k_chunk_bits) & (k_chunks - 1)];
    if (chunk == nullptr) [[unlikely]]
      made_.push_back(chunk = static_cast<cell*>(map_table(k_cells * sizeof(cell))));
    return chunk + ((a & (k_chunk_bytes - 1)) / k_double);
  }
  /// Null: it does not exist yet.
  cell* existing(address a) const noexcept {
    cell* const chunk = chunks_[(a >> k_chunk_bits) & (k_chunks - 1)];
    return chunk == nullptr ? nullptr : chunk + ((a & (k_chunk_bytes - 1)) / k_double);
  }
  static cell& second(cell& first) noexcept { return (&first)[k_doubles]; }
  static cell const& of_word(cell const& first, address a) noexcept {
    return (&first)[(a & k_word) * (k_doubles / k_word)];
  }
  /// The cell of a word alone.
  cell& word_at(address a) noexcept {
    cell& first = *at(a);
    separate(first);
    return const_cast<cell&>(of_word(first, a));
  }
  static void separate(cell& first) noexcept {
    if ((first.write & k_is_double) == 0) return;
    first.write &= ~k_is_double;
    first.read &= ~k_is_double;
    second(first) = first;
  }
  /// Is the cell one of both words from now on? They must have had the same accesses.
  static bool unite(cell& first) noexcept {
    cell& other = second(first);
    if (((first.write | first.read) & (k_has_list | k_is_local)) != 0 || !(first == other)) return false;
    if (first.write != 0 || first.read != 0) other = {};
    first.write |= k_is_double;
    first.read |= k_is_double;
    return true;
  }
  /// Calls f(first cell, how many) for the whole double words in [from, end) that have cells.
  template <class Fn> void for_existing(address from, address end, Fn f) noexcept {
    while (from < end) {
      address const chunk_end = (from | (k_chunk_bytes - 1)) + 1;
      address const stop = chunk_end < end ? chunk_end : end;
      if (cell* const first = existing(from)) f(first, (stop - from) / k_double);
      from = stop;
    }
  }
  /// Calls f(cell*, number of cells) for all memory.
  template <class Fn> void for_all(Fn f) noexcept {
    for (std::size_t i = 0; i < made_.size(); ++i) f(made_[i], k_cells);
  }

 private:
  static constexpr unsigned k_chunk_bits = 20;
  static constexpr address k_chunk_bytes = address{1} << k_chunk_bits;
  static constexpr std::size_t k_cells = k_chunk_bytes / k_word;
  static constexpr std::size_t k_doubles = k_cells / 2;  // in a chunk, before the cells of second words
  static constexpr std::size_t k_chunks = std::size_t{1} << (47 - k_chunk_bits);
  cell** chunks_ = nullptr;
  table<cell*, std::size_t{1} << 24> made_;
};

}  // namespace filch::races
