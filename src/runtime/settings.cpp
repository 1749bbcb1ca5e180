// Reads and checks the settings of a pool: pool_options first, then the environment, then the machine. Called once
// for each pool; an invalid value is an error with one line that names the setting.
#include "runtime/settings.hpp"

#include "os/linux/processors.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/profile/profile.hpp"
#include "runtime/trace/recorder.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace filch::inline FILCH_ABI {
setup_error::~setup_error() = default;
}

namespace filch::runtime {
namespace {

constexpr unsigned k_most_workers = 1024;
constexpr std::size_t k_least_stack = std::size_t{64} << 10;
constexpr std::size_t k_most_stack = std::size_t{1} << 40;
constexpr std::size_t k_default_stack = std::size_t{64} << 20;

std::string const* environment(char const* name, std::string& room) {
  char const* const value = std::getenv(name);
  if (!value) return nullptr;
  room = value;
  return &room;
}

bool switch_from_environment(char const* name, bool otherwise = false) {
  std::string room;
  auto const* const text = environment(name, room);
  if (!text) return otherwise;
  if (*text != "0" && *text != "1") refuse(name, *text, "0 or 1");
  return *text == "1";
}

unsigned resolve_workers(unsigned asked, std::size_t available) {
  if (asked > k_most_workers) {
    refuse("pool_options::workers", std::to_string(asked), "a whole number from 1 to 1024");
  }
  if (asked) return asked;
  std::string room;
  if (auto const* const text = environment("FILCH_NUM_THREADS", room)) {
    return static_cast<unsigned>(parse_number("FILCH_NUM_THREADS", *text, 1, k_most_workers));
  }
  return static_cast<unsigned>(std::clamp<std::size_t>(available, 1, k_most_workers));
}

std::size_t checked_stack(std::string const& setting, std::string const& text, std::size_t bytes) {
  if (bytes < k_least_stack || bytes > k_most_stack) refuse(setting, text, "a size from 64k to 1024g");
  return bytes;
}

give_back_policy resolve_give_back(give_back_policy asked) {
  if (named("pool_options::stack_give_back", asked, give_back_policy::none) != give_back_policy::from_environment)
    return asked;
  std::string room;
  auto const* const text = environment("FILCH_STACK_GIVE_BACK", room);
  if (!text || *text == "madvise") return give_back_policy::madvise;
  if (*text == "mmap") return give_back_policy::mmap;
  if (*text == "none") return give_back_policy::none;
  refuse("FILCH_STACK_GIVE_BACK", *text, "madvise, mmap or none");
}

}  // namespace

void refuse(std::string const& setting, std::string const& text, std::string const& expected) {
  std::string shown = text.size() > 40 ? text.substr(0, 40) + "..." : text;
  for (char& c : shown) c = std::iscntrl(static_cast<unsigned char>(c)) ? '?' : c;  // so that it is one line
  throw setup_error("filch: " + setting + "=" + shown + ": expected " + expected);
}

unsigned long long parse_number(std::string const& setting, std::string const& text, unsigned long long least,
                                unsigned long long most) {
  unsigned long long value = 0;
  char const* const end = text.data() + text.size();
  auto const [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || value < least || value > most) {
    refuse(setting, text, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::size_t parse_size(std::string const& setting, std::string const& text) {
  std::string const expected = "a size in bytes, or with k, m or g behind it, such as 64m";
  std::size_t value = 0;
  char const* const end = text.data() + text.size();
  auto const [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) refuse(setting, text, expected);
  unsigned shift = 0;
  if (stopped != end) {
    if (end - stopped != 1) refuse(setting, text, expected);
    switch (*stopped | 0x20) {
      case 'k': shift = 10; break;
      case 'm': shift = 20; break;
      case 'g': shift = 30; break;
      default: refuse(setting, text, expected);
    }
  }
  if (value > (std::numeric_limits<std::size_t>::max() >> shift)) refuse(setting, text, expected);
  return value << shift;
}

settings resolve(pool_options const& options) {
  count_forks();  // first: what is asked for below holds locks that are not made new in a child
  settings s{};
  s.processors = os::allowed_processors();
  unsigned const quota = os::processor_quota();
  s.available = quota ? std::min<std::size_t>(quota, s.processors.size()) : s.processors.size();
  s.workers = resolve_workers(options.workers, s.available);

  s.stack_size = k_default_stack;
  std::string room;
  if (options.stack_size) {
    s.stack_size = checked_stack("pool_options::stack_size", std::to_string(options.stack_size), options.stack_size);
    s.stack_size_is_asked_for = true;
  } else if (auto const* const text = environment("FILCH_STACK_SIZE", room)) {
    s.stack_size = checked_stack("FILCH_STACK_SIZE", *text, parse_size("FILCH_STACK_SIZE", *text));
    s.stack_size_is_asked_for = true;
  }

  s.pin = switch_from_environment("FILCH_PIN") || options.pin;
  if (s.pin) os::spread_over_cores(s.processors, fork_generation() == 0);
  s.give_back = resolve_give_back(options.stack_give_back);
  s.interrupts = switch_from_environment("FILCH_INTERRUPTS", true);
  s.stats = switch_from_environment("FILCH_STATS");
  // In this order: in a child of fork() another thread of the parent may have been in is_asked_for().
  s.profile = fork_generation() == 0 && profile::is_asked_for();
  s.trace = fork_generation() == 0 && trace::is_asked_for();
  return s;
}

}  // namespace filch::runtime
