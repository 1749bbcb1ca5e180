// Settings: the caller's, else the environment's, else the machine's. Invalid ones are refused.
#pragma once

#include <filch/pool_options.hpp>

#include <string>
#include <vector>

namespace filch::runtime {

struct settings {
  unsigned workers;
  std::size_t stack_size;
  bool stack_size_is_asked_for;  // else it gets smaller if address space is short
  bool pin;
  bool stats;
  bool profile;                 // FILCH_PROFILE; never in a child of fork()
  bool trace;                   // FILCH_TRACE; the same
  give_back_policy give_back;   // never from_environment
  bool interrupts;              // may workers be interrupted by signals?
  std::size_t available;        // processors that the affinity mask and the container's quota leave
  std::vector<int> processors;  // the processors that this process may use, in the order in which workers take them
  bool is_the_programs = true;  // else no table shows the pool
};

/// Throws setup_error, one line that names the setting.
settings resolve(pool_options const& options);

/// "64m" -> 67108864. Throws setup_error that names `setting`.
std::size_t parse_size(std::string const& setting, std::string const& text);
/// A whole number in [least, most]. Throws setup_error that names `setting`.
unsigned long long parse_number(std::string const& setting, std::string const& text, unsigned long long least,
                                unsigned long long most);

/// Throws setup_error: `text` is no value of `setting`.
[[noreturn]] void refuse(std::string const& setting, std::string const& text, std::string const& expected);
/// One of an enumeration's values, of which `last` is the last. Throws setup_error that names `setting`.
template <class E> E named(std::string const& setting, E asked, E last) {
  if (asked > last) refuse(setting, std::to_string(static_cast<unsigned>(asked)), "one of its names");
  return asked;
}

}  // namespace filch::runtime
