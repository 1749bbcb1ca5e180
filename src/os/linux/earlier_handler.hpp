// The handler of a signal that was there before the library's own, and that gets what is not the library's.
#pragma once

#include <atomic>
#include <csignal>

namespace filch::os {

class earlier_handler {
 public:
  /// Installs `mine` for the signal, and keeps what was there. A signal that comes meanwhile gets to one of both.
  void replace_by(int signal, struct sigaction const& mine) noexcept;

  enum class [[nodiscard]] outcome {
    called,
    ignored,     // the program ignores the signal
    by_default,  // no handler, or one for a single signal, which has come
  };
  /// In a signal handler: calls the earlier one, with those signals blocked for which it asked, beside those that
  /// were blocked where the signal came.
  outcome call(int signal, siginfo_t* info, void* context) noexcept;

 private:
  struct sigaction action_{};
  std::atomic<bool> was_called_{false};
};

}  // namespace filch::os
