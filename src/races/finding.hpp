// A race as it was found, and the same in words.
#pragma once

#include "races/heap.hpp"
#include "races/history.hpp"

#include <string>
#include <vector>

namespace filch::races {

struct found_access {
  std::vector<address> calls;  // return addresses, the innermost first
  bool writes;
  bool is_atomic;
  bool frees;
};

struct finding {
  address at;
  unsigned bytes;  // of the word
  found_access earlier;
  found_access later;
  std::vector<address> fork;
  bool is_scope;
  allocation memory;          // begin is 0: none
  std::vector<address> made;  // where the memory was allocated
  address frame;              // a call of the function whose frame it is; 0: none
};

/// A source place.
struct source_frame {
  std::string function;
  std::string file;
  unsigned line;
  friend bool operator==(source_frame const&, source_frame const&) = default;
};

/// The functions at these return addresses, inlined ones, too; those of Filch and the standard library are left out.
std::vector<source_frame> frames_of(std::vector<address> const& calls);
/// Looks all addresses up, at once for each object file.
void look_up(std::vector<finding> const& all);
/// The variable of static storage at an address: its name and the offset in it. Empty: there is none.
std::string variable_at(address a);
/// A whole code address that has this lower half.
address whole_pc(std::uint32_t half) noexcept;

/// Is the access by the code of <stop_token> itself? A bit of an atomic guards the list of callbacks there, which is
/// no lock to the check.
bool is_in_stop_state(std::vector<address> const& calls);

/// Does a line of the file FILCH_RACES_SUPPRESSIONS match it?
bool is_suppressed(finding const& f);

std::string as_text(std::vector<finding> const& all);
std::string as_json(std::vector<finding> const& all, std::string const& summary);

/// Functions of other object files that this one called and that were not instrumented, and how often.
struct foreign_calls {
  std::uint64_t calls;
  std::vector<std::string> functions;
};
void watch_foreign_calls() noexcept;
foreign_calls foreign_calls_so_far();

}  // namespace filch::races
