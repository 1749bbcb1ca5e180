// The handler of faults: reports an overflow of a guarded stack in one line, and passes on every other fault.
// Installed by the first team of the process; each thread that runs tasks has a signal stack for it.
#include "os/linux/overflow.hpp"

#include "os/linux/earlier_handler.hpp"
#include "os/linux/once.hpp"
#include "os/linux/thread_end.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

namespace filch::os {
namespace {

// Read in a signal handler: initial-exec, so that no allocation hides behind the access.
constinit thread_local guarded_stack* innermost __attribute__((tls_model("initial-exec"))) = nullptr;

constinit earlier_handler before;

class line {
 public:
  line& operator<<(char const* text) noexcept {
    while (*text && used_ < sizeof text_) text_[used_++] = *text++;
    return *this;
  }
  line& operator<<(std::size_t number) noexcept {
    auto const [end, error] = std::to_chars(text_ + used_, text_ + sizeof text_, number);
    if (error == std::errc{}) used_ = static_cast<std::size_t>(end - text_);
    return *this;
  }
  void print() const noexcept {
    if (write(STDERR_FILENO, text_, used_) < 0) return;  // nothing more can be done
  }

 private:
  char text_[256];
  std::size_t used_ = 0;
};

void on_fault(int signal, siginfo_t* info, void* context) {
  bool const is_sent = info->si_code <= 0;  // by kill() or raise(): it does not happen again
  if (!is_sent && guarded_stack::report(info->si_addr)) {
    // The fault happens again, and ends the process.
    std::signal(signal, SIG_DFL);
    return;
  }
  earlier_handler::outcome const earlier = before.call(signal, info, context);
  // The kernel ignores no fault, whatever the program asks for.
  if (earlier == earlier_handler::outcome::called || (is_sent && earlier == earlier_handler::outcome::ignored))
    return;
  std::signal(signal, SIG_DFL);
  if (is_sent) raise(signal);  // arrives when this returns
}

/// A signal stack, at its low end. Below it is a page without access: other handlers run on it, too.
struct alignas(64) signal_stack {
  static constexpr std::size_t k_bytes = 64 * 1024;  // size of both

  at_thread_end* at_end;
  int looks = 0;  // checks at the end of its thread

  /// Null if the system refuses it.
  static signal_stack* make(at_thread_end& at_end) noexcept {
    std::size_t const guard = os::page_size();
    void* const all = mmap(nullptr, guard + k_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    std::byte* const begin = static_cast<std::byte*>(all) + guard;
    if (mprotect(begin, k_bytes, PROT_READ | PROT_WRITE) == 0) return ::new (begin) signal_stack{&at_end};
    munmap(all, guard + k_bytes);
    return nullptr;
  }
  void* low() noexcept { return this + 1; }
  void give_back() noexcept {
    std::size_t const guard = os::page_size();
    munmap(reinterpret_cast<std::byte*>(this) - guard, guard + k_bytes);
  }
};

/// Called when a thread ends, after the destructors of its thread-locals. Not at exit(), which may be called on this
/// stack.
void take_signal_stack_away(void* memory) {
  auto& mine = *static_cast<signal_stack*>(memory);
  stack_t now;
  if (sigaltstack(nullptr, &now) != 0) return;
  if (now.ss_sp == mine.low()) {
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    if (sigaltstack(&off, nullptr) != 0) return;
  } else if (++mine.looks < PTHREAD_DESTRUCTOR_ITERATIONS && mine.at_end->pass(memory)) {
    return;  // the code that set another one may put this one back, in a destructor that comes later
  }
  mine.give_back();
}

void give_signal_stack() noexcept {
  static constinit at_thread_end at_end(take_signal_stack_away);
  stack_t now{};
  if (!at_end.is_there() || sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
  signal_stack* const mine = signal_stack::make(at_end);
  if (!mine) return;
  now = {};
  now.ss_sp = mine->low();
  now.ss_size = signal_stack::k_bytes - sizeof *mine;
  if (sigaltstack(&now, nullptr) != 0) {
    mine->give_back();
  } else if (!at_end.pass(mine)) {
    take_signal_stack_away(mine);
  }
}

}  // namespace

// Neither is inlined into code that changes threads, where the address of `innermost` might be kept.
[[gnu::noinline]] void guarded_stack::enter(unsigned worker) noexcept {
  worker_ = worker;
  outer_ = innermost;
  innermost = this;
}

[[gnu::noinline]] void guarded_stack::leave() noexcept { innermost = outer_; }

bool guarded_stack::report(void const* address) noexcept {
  for (auto const* s = innermost; s; s = s->outer_) {
    bool const is_above = s->guard_.guards_above(address);
    if (!is_above && !s->guard_.guards(address)) continue;
    line message;
    message << (is_above ? "filch: too many joins inside each other, on a stack of the program's own, on worker "
                         : "filch: stack overflow in a task on worker ")
            << std::size_t{s->worker_} << (is_above ? ": its tasks fit a stack of " : ": its stack of ")
            << s->bytes_ / 1024 << (is_above ? " KiB" : " KiB is used up")
            << "; raise FILCH_STACK_SIZE or pool_options::stack_size\n";
    message.print();
    return true;
  }
  return false;
}

void install_overflow_handler() noexcept {
  static pthread_once_t flag = PTHREAD_ONCE_INIT;
  once(flag, [] {
    struct sigaction mine{};
    mine.sa_sigaction = on_fault;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&mine.sa_mask);
    before.replace_by(SIGSEGV, mine);
  });
}

void need_signal_stack() noexcept {
  constinit thread_local bool has_asked = false;
  if (std::exchange(has_asked, true)) return;
  give_signal_stack();
}

}  // namespace filch::os
