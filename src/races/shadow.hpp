// The history of each four bytes of memory: the last write and one read, which is all that an access without
// locks needs. A word that was accessed in parts, or under a lock, or atomically has a list of accesses
// (history.hpp).
#pragma once

#include "races/calls.hpp"
#include "races/sections.hpp"

namespace filch::races {

inline constexpr address k_word = 4;

struct cell {
  section_id write;        // or k_has_list and the number of a record
  std::uint32_t write_pc;  // lower half of the return address
  call_id write_call;
  section_id read;  // and k_is_local
  std::uint32_t read_pc;
  call_id read_call;
};

inline constexpr std::uint32_t k_has_list = 1u << 31;
/// The mark of memory that belongs to a value of a worker_local.
inline constexpr std::uint32_t k_is_local = 1u << 31;

class shadow_memory {
 public:
  void reserve() noexcept {
    chunks_ = static_cast<cell**>(map_table(k_chunks * sizeof(cell*)));
    made_.reserve();
  }

  cell* at(address a) noexcept {
    cell*& chunk = chunks_[(a >> k_chunk_bits) & (k_chunks - 1)];
    if (chunk == nullptr) [[unlikely]]
      made_.push_back(chunk = static_cast<cell*>(map_table(k_cells * sizeof(cell))));
    return chunk + ((a & (k_chunk_bytes - 1)) / k_word);
  }
  /// Null: the word has no cell yet.
  cell* existing(address a) const noexcept {
    cell* const chunk = chunks_[(a >> k_chunk_bits) & (k_chunks - 1)];
    return chunk == nullptr ? nullptr : chunk + ((a & (k_chunk_bytes - 1)) / k_word);
  }
  /// Calls f(cell*, number of cells) for the cells of [from, end) that exist, whole words.
  template <class Fn> void for_existing(address from, address end, Fn f) noexcept {
    from &= ~(k_word - 1);
    end = (end + k_word - 1) & ~(k_word - 1);
    while (from < end) {
      address const chunk_end = (from | (k_chunk_bytes - 1)) + 1;
      address const stop = chunk_end < end ? chunk_end : end;
      cell* const chunk = chunks_[(from >> k_chunk_bits) & (k_chunks - 1)];
      if (chunk != nullptr) f(chunk + ((from & (k_chunk_bytes - 1)) / k_word), (stop - from) / k_word);
      from = stop;
    }
  }
  /// The same for all memory.
  template <class Fn> void for_all(Fn f) noexcept {
    for (std::size_t i = 0; i < made_.size(); ++i) f(made_[i], k_cells);
  }

 private:
  static constexpr unsigned k_chunk_bits = 20;
  static constexpr address k_chunk_bytes = address{1} << k_chunk_bits;
  static constexpr std::size_t k_cells = k_chunk_bytes / k_word;
  static constexpr std::size_t k_chunks = std::size_t{1} << (47 - k_chunk_bits);
  cell** chunks_ = nullptr;
  table<cell*, std::size_t{1} << 24> made_;
};

}  // namespace filch::races
