// The call-frame tables of a function (.eh_frame; DWARF 5, section 6.4), found by the sorted index in .eh_frame_hdr.
// call_frames.cpp reads them once for each return address. Takes no lock and allocates nothing, since a signal
// handler walks stacks, too: protocol.md, edge implicit-5.
#include "schedulers/implicit/unwind/tables.hpp"

#include "schedulers/implicit/unwind/walk.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr std::uint64_t k_return_address = 16;  // DWARF's number for x86-64

std::uint8_t const* as_bytes(std::uint64_t address) noexcept {
  return reinterpret_cast<std::uint8_t const*>(address);
}

/// The part that functions share (DWARF's CIE).
bool read_common(std::uint8_t const* entry, function_tables& d, unsigned& pointers, unsigned& exceptions,
                 bool& is_signal) noexcept {
  table_reader r(entry);
  auto const length = r.fixed<std::uint32_t>();
  if (length == 0xffffffff) return false;
  d.common_program_end = r.at() + length;
  r.skip(4);
  if (r.byte() != 1) return false;  // version
  auto const* augmentation = reinterpret_cast<char const*>(r.at());
  if (augmentation[0] != 'z') return false;
  r.skip(std::strlen(augmentation) + 1);
  d.code_factor = r.unsigned_leb();
  d.data_factor = r.signed_leb();
  if (r.unsigned_leb() != k_return_address) return false;
  std::uint64_t const bytes = r.unsigned_leb();
  d.common_program = r.at() + bytes;
  for (++augmentation; *augmentation; ++augmentation) {
    switch (*augmentation) {
      case 'P': {
        unsigned const encoding = r.byte();
        std::uint64_t personality = 0;
        if (!r.encoded(encoding, personality)) return false;
        d.is_barrier = personality == reinterpret_cast<std::uint64_t>(&filch_implicit_personality);
        break;
      }
      case 'L': exceptions = r.byte(); break;
      case 'R': pointers = r.byte(); break;
      case 'S': is_signal = true; break;
      default: return false;
    }
  }
  return true;
}

/// Searches the sorted table in .eh_frame_hdr.
bool find_entry(std::uint64_t pc, std::uint8_t const* header, function_tables& d) noexcept {
  table_reader r(header);
  auto const data = reinterpret_cast<std::uint64_t>(header);
  if (r.byte() != 1) return false;
  unsigned const frame_encoding = r.byte();
  unsigned const count_encoding = r.byte();
  unsigned const table_encoding = r.byte();
  std::uint64_t frames = 0;
  std::uint64_t count = 0;
  constexpr unsigned k_four_bytes_from_header = 0x3b;
  if (count_encoding == k_encoding_omitted || table_encoding != k_four_bytes_from_header) return false;
  if (!r.encoded(frame_encoding, frames, data) || !r.encoded(count_encoding, count, data) || count == 0) return false;
  struct row {
    std::int32_t start;
    std::int32_t entry;
  };
  auto const row_at = [from = r.at()](std::uint64_t i) {
    row x;
    std::memcpy(&x, from + i * sizeof x, sizeof x);
    return x;
  };
  auto const address = [data](std::int32_t offset) {
    return data + static_cast<std::uint64_t>(std::int64_t{offset});
  };
  if (pc < address(row_at(0).start)) return false;
  std::uint64_t low = 0;
  for (std::uint64_t high = count; high - low > 1;) {
    std::uint64_t const middle = low + (high - low) / 2;
    (pc < address(row_at(middle).start) ? high : low) = middle;
  }
  std::uint8_t const* const entry = as_bytes(address(row_at(low).entry));
  table_reader e(entry);
  auto const length = e.fixed<std::uint32_t>();
  if (length == 0xffffffff) return false;
  d.program_end = e.at() + length;
  std::uint8_t const* const common_from = e.at();
  auto const back = e.fixed<std::uint32_t>();
  if (back == 0) return false;
  unsigned pointers = 0;
  unsigned exceptions = k_encoding_omitted;
  bool is_signal = false;
  if (!read_common(common_from - back, d, pointers, exceptions, is_signal)) return false;
  std::uint64_t bytes = 0;
  if (!e.encoded(pointers, d.start) || !e.encoded(pointers & 0x0f, bytes)) return false;
  d.end = d.start + bytes;
  if (pc < d.start || pc >= d.end) return false;
  std::uint64_t const more = e.unsigned_leb();
  d.program = e.at() + more;
  if (exceptions != k_encoding_omitted && !d.is_barrier) {
    std::uint64_t table = 0;
    if (!e.encoded(exceptions, table)) return false;
    d.exceptions = as_bytes(table);
  }
  return !is_signal;  // a signal frame saves every register, and returns to no call
}

}  // namespace

std::uint64_t checksum_of(function_tables const& d) noexcept {
  std::uint64_t sum = d.start * 0x9e3779b97f4a7c15;
  auto const add = [&sum](std::uint8_t const* from, std::uint8_t const* to) {
    for (; from < to; ++from) sum = (sum ^ *from) * 0x100000001b3;
  };
  add(d.common_program, d.common_program_end);
  add(d.program, d.program_end);
  if (d.exceptions) {
    // The table holds its length behind one or two encodings and the offset of the types.
    table_reader r(d.exceptions);
    std::uint64_t skipped = 0;
    if (unsigned const e = r.byte(); e != k_encoding_omitted) r.encoded(e, skipped);
    if (r.byte() != k_encoding_omitted) r.unsigned_leb();
    r.byte();
    std::uint64_t const bytes = r.unsigned_leb();
    add(d.exceptions, r.at() + bytes);
  }
  return sum;
}

bool find_tables(std::uint64_t pc, function_tables& d, bool& is_in_program) noexcept {
  dl_find_object object;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &object) != 0 || !object.dlfo_eh_frame) return false;
  auto const entry = getauxval(AT_ENTRY);
  is_in_program = entry >= reinterpret_cast<std::uint64_t>(object.dlfo_map_start) &&
                  entry < reinterpret_cast<std::uint64_t>(object.dlfo_map_end);
  return find_entry(pc, static_cast<std::uint8_t const*>(object.dlfo_eh_frame), d);
}

}  // namespace filch::inline FILCH_ABI::detail
