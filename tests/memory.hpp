// The memory that this process has in use, from /proc.
#pragma once

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>

namespace filch_test {

/// A line "Name:  123 kB" of /proc/self/status, in bytes.
inline std::optional<std::size_t> status_bytes(std::string const& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::stoull(line.substr(name.size() + 1)) * 1024;
  }
  return std::nullopt;
}

/// The most memory that was in use at once since it was made.
class memory_peak {
 public:
  memory_peak() {
    // Sets the kernel's mark back to what is in use now.
    std::ofstream("/proc/self/clear_refs") << "5";
    start_ = status_bytes("VmHWM");
  }
  /// The rise since then; empty if the system does not tell.
  std::optional<std::size_t> growth() const {
    auto const now = status_bytes("VmHWM");
    if (!start_ || !now) return std::nullopt;
    return *now > *start_ ? *now - *start_ : 0;  // the kernel's counts are a few pages off
  }

 private:
  std::optional<std::size_t> start_;
};

/// Writes to so many bytes of stack, a kibibyte a call. Returns the number of calls.
[[gnu::noinline]] inline std::size_t go_down(std::size_t bytes) {
  char volatile here[1024];
  for (char volatile& c : here) c = 1;
  return bytes <= sizeof here ? static_cast<std::size_t>(here[0])
                              : go_down(bytes - sizeof here) + static_cast<std::size_t>(here[1]);
}

/// Threads of this process.
inline std::size_t thread_count() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Threads:", 0) == 0) return std::stoull(line.substr(8));
  }
  return 0;
}

}  // namespace filch_test
