// Reads the exception table of a function (Itanium C++ ABI, exception handling, level 2): the call sites, then the
// chain of types that a landing pad catches. A pad that catches `continuation` makes a frame a join frame.
#include "schedulers/implicit/unwind/landing_pads.hpp"

#include <filch/implicit.hpp>

#include "schedulers/implicit/unwind/tables.hpp"
#include "schedulers/implicit/unwind/walk.hpp"

#include <cstring>
#include <typeinfo>

namespace filch::inline FILCH_ABI::detail {
namespace {

/// Two libraries that do not see each other's names each have an object for the type.
bool is_type(std::type_info const& type, std::type_info const& other) noexcept {
  return std::strcmp(type.name(), other.name()) == 0;
}

/// `entry`: of a table of types. Those of other languages are no std::type_info. A program may hold several C++
/// runtimes; then the landing pad shows that it is C++'s.
bool is_continuation(std::uint64_t entry, std::uint64_t pad) noexcept {
  auto const first_word = [](void const* object) {
    std::uint64_t word;
    std::memcpy(&word, object, sizeof word);
    return word;
  };
  auto const* const type = reinterpret_cast<std::type_info const*>(entry);
  std::uint64_t const kind = first_word(type);
  if (kind != first_word(&typeid(continuation)) && kind != first_word(&typeid(continuation*)) && !may_run_pad(pad)) {
    return false;
  }
  return is_type(*type, typeid(continuation)) || is_type(*type, typeid(continuation*));
}

/// The selector of `continuation` in the chain of caught types; 0: it is not caught.
std::int64_t selector_of_continuation(std::uint8_t const* action, std::uint8_t const* types, unsigned encoding,
                                      std::uint64_t pad) noexcept {
  for (;;) {
    table_reader r(action);
    std::int64_t const filter = r.signed_leb();
    std::uint8_t const* const next_from = r.at();
    std::int64_t const next = r.signed_leb();
    if (filter > 0) {
      std::uint64_t type = 0;
      table_reader entry(types - static_cast<std::size_t>(filter) * size_of_encoded(encoding));
      if (entry.encoded(encoding, type) && type != 0 && is_continuation(type, pad)) return filter;
    }
    if (next == 0) return 0;
    action = next_from + next;
  }
}

}  // namespace

landing_pad find_landing_pad(std::uint8_t const* data, std::uint64_t start, std::uint64_t ip) noexcept {
  if (!data) return {};
  table_reader r(data);
  constexpr landing_pad k_unknown{0, 0, true};
  // A base for landing pads means a function in several pieces. The table does not say where the calls of one piece
  // end.
  if (r.byte() != k_encoding_omitted) return k_unknown;
  unsigned const types_encoding = r.byte();
  if (types_encoding == k_encoding_omitted) return {};
  std::uint64_t const types_after = r.unsigned_leb();
  std::uint8_t const* const types = r.at() + types_after;
  unsigned const call_encoding = r.byte();
  std::uint64_t const calls_bytes = r.unsigned_leb();
  std::uint8_t const* const actions = r.at() + calls_bytes;
  while (r.at() < actions) {
    std::uint64_t from = 0;
    std::uint64_t length = 0;
    std::uint64_t pad = 0;
    if (!r.encoded(call_encoding, from) || !r.encoded(call_encoding, length) || !r.encoded(call_encoding, pad)) {
      return k_unknown;
    }
    std::uint64_t const action = r.unsigned_leb();
    if (ip - 1 < start + from) return {};
    if (ip - 1 >= start + from + length) continue;
    if (pad == 0 || action == 0) return {};
    std::int64_t const selector = selector_of_continuation(actions + action - 1, types, types_encoding, start + pad);
    if (selector == 0) return {};
    return {start + pad, static_cast<std::uint32_t>(selector)};
  }
  return {};
}

}  // namespace filch::inline FILCH_ABI::detail
