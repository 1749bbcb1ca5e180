// The handler of a signal before the library's own. It gets the signals that are not the library's.
#pragma once

#include <atomic>
#include <csignal>

namespace filch::os {

class earlier_handler {
 public:
  /// Installs `mine` for the signal, and keeps the handler before. A signal that comes meanwhile reaches one of both.
  /// Nothing is done where `mine` is installed already: a child that was forked meanwhile calls this again.
  void replace_by(int signal, struct sigaction const& mine) noexcept;

  enum class [[nodiscard]] outcome {
    called,
    ignored,     // the program ignores the signal
    by_default,  // no handler, or a one-shot handler whose signal has come
  };
  /// In a signal handler: calls the earlier one, with the signals of its mask blocked, and those that were blocked
  /// when the signal came.
  outcome call(int signal, siginfo_t* info, void* context) noexcept;

 private:
  struct sigaction action_{};
  std::atomic<bool> was_called_{false};
};

}  // namespace filch::os
