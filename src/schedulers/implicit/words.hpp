// The words that threads share under filch::implicit, beside runtime/fiber/open_range.hpp. A method is a transition,
// named after the actor that performs it: the owner (the worker that runs the fiber, or its signal handler), or a
// thief. No other file of this folder accesses an atomic. What an edge guarantees: protocol.md.
#pragma once

#include <filch/detail/fiber.hpp>

#include "runtime/account.hpp"
#include "runtime/forced_steals.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct implicit_stack;

/// A word that decides nothing: to read an old value costs time, and nothing else.
template <class T> class hint {
 public:
  constexpr explicit hint(T initial) noexcept : word_(initial) {}
  hint(hint const& other) noexcept : word_(other.get()) {}
  hint& operator=(hint const& other) noexcept {
    set(other.get());
    return *this;
  }
  // relaxed, all: nothing is read by way of it.
  T get() const noexcept { return word_.load(std::memory_order_relaxed); }
  void set(T value) noexcept { word_.store(value, std::memory_order_relaxed); }
  void add(T value) noexcept { word_.fetch_add(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> word_;
};

/// Between stores of an owner that its signal handler, or an unwinder that a handler interrupts, must see in order.
inline void order_for_handler() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// `poll` while no thief requests an offer.
inline constexpr std::uint64_t k_not_requested = runtime::k_each_fork_offers ? k_requested + 1 : 0;

/// The word `poll` of a worker: a thief requests an offer. The owner's forks test it (is_polled()).
class request_word {
 public:
  explicit request_word(fiber_worker& w) noexcept : word_(w.poll) {}

  /// Thief. edge implicit-4: seq_cst, after its announcement and before it looks for offers again.
  void request() noexcept { word_.store(k_requested, std::memory_order_seq_cst); }
  /// Thief. edge implicit-6: seq_cst, hence acquire: if the owner put the request off, `put_off_until` is there.
  bool is_still_requested() const noexcept { return word_.load(std::memory_order_seq_cst) == k_requested; }
  /// Any thread. relaxed: a hint.
  bool is_requested() const noexcept { return word_.load(std::memory_order_relaxed) == k_requested; }
  /// Owner: must this fork take its slow path? relaxed: the next fork may as well see the request.
  bool is_set() const noexcept { return word_.load(std::memory_order_relaxed) != 0; }
  /// Owner. relaxed: any value that was ever there is valid.
  bool is_valid() const noexcept {
    std::uint64_t const word = word_.load(std::memory_order_relaxed);
    return word == k_requested || word == k_not_requested;
  }
  /// Owner: takes the request away, before it offers, or before it looks for sleepers. True: a thief had requested.
  /// edge implicit-4, edge implicit-6: seq_cst. Stores before it are there for a thief that finds no request.
  bool take_away() noexcept { return word_.exchange(k_not_requested, std::memory_order_seq_cst) == k_requested; }

 private:
  std::atomic<std::uint64_t>& word_;
};

/// The word `offers` of a worker: the stack on which it runs a fiber.
class stack_word {
 public:
  /// Owner, that comes to another stack. edge implicit-2: release, the header, and the writes of the fiber's earlier
  /// owner there. edge idle-4: seq_cst, before it looks whether a sleeper waits for this root.
  void publish(implicit_stack& s) noexcept { stack_.store(&s, std::memory_order_seq_cst); }
  /// Owner. relaxed: its own.
  implicit_stack* own() const noexcept { return stack_.load(std::memory_order_relaxed); }
  /// Thief. edge implicit-2: acquire, the header. Whatever becomes of the fiber, it stays a header.
  implicit_stack* find() const noexcept { return stack_.load(std::memory_order_acquire); }
  /// Thief. edge idle-1: seq_cst, in order after its announcement.
  implicit_stack* find_in_order() const noexcept { return stack_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<implicit_stack*> stack_{nullptr};
};

/// The word `thread` of a worker: the OS thread while it runs a fiber, else 0.
class thread_word {
 public:
  /// Owner. relaxed: a thief that reads another thread interrupts in vain.
  void set(pid_t thread) noexcept { thread_.store(thread, std::memory_order_relaxed); }
  /// Owner. edge implicit-7: seq_cst, before it looks for senders.
  void clear() noexcept { static_cast<void>(thread_.exchange(0, std::memory_order_seq_cst)); }
  /// Any thread. relaxed: a hint.
  bool is_set() const noexcept { return thread_.load(std::memory_order_relaxed) != 0; }
  /// Thief. edge implicit-7: seq_cst, in order after it has said that it sends.
  pid_t look_in_order() const noexcept { return thread_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<pid_t> thread_{0};
};

/// The word `interrupted` of a worker: a thief has sent it an interrupt, and it has not answered yet.
class interrupt_mark {
 public:
  /// Thief: true if it is the one to send the interrupt. edge implicit-5: seq_cst, before it reads which thread that
  /// is.
  bool claim() noexcept { return !is_set_.exchange(true, std::memory_order_seq_cst); }
  /// Owner. relaxed: its handler asks whether a thief has sent the signal; the mark is set before the signal is sent.
  bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }
  /// Owner, when it has told which thread it is. edge implicit-5: seq_cst, before it looks at its request.
  void begin() noexcept { static_cast<void>(is_set_.exchange(false, std::memory_order_seq_cst)); }
  /// Owner, before it takes the request away. edge implicit-5: release; the exchange that follows orders both.
  void answer() noexcept { is_set_.store(false, std::memory_order_release); }
  /// Owner, where it can't answer. edge implicit-5: seq_cst, before it looks for sleepers.
  void answer_later() noexcept { is_set_.store(false, std::memory_order_seq_cst); }
  /// Owner, in code of another pool. True: it was set, or a signal was on its way. relaxed: the next thief may send
  /// another interrupt.
  bool forget() noexcept {
    bool const was_set = is_set_.exchange(false, std::memory_order_relaxed);
    return arrive() != 0 || was_set;
  }
  /// Thief, after claim(): sends the signal, unless the owner has no thread any more. False then. A fork of the owner
  /// may take the mark away before it comes.
  template <class Send> bool send_to(thread_word const& owner, Send const& send_signal) noexcept {
    on_its_way_.fetch_add(k_sender, std::memory_order_seq_cst);  // edge implicit-7: before it reads the thread
    pid_t const thread = owner.look_in_order();
    if (thread != 0) {
      std::uint32_t seen = on_its_way_.load(std::memory_order_relaxed);
      // seq_cst: the signal follows.
      while ((seen & k_unseen) != k_several &&
             !on_its_way_.compare_exchange_weak(seen, seen + 1, std::memory_order_seq_cst)) {
      }
      send_signal(thread);
    }
    // edge implicit-7: seq_cst, hence release: the owner knows that the signal has been sent.
    on_its_way_.fetch_sub(k_sender, std::memory_order_seq_cst);
    return thread != 0;
  }
  /// Owner, after it has cleared its thread. edge implicit-7: seq_cst, hence acquire. Is a thief sending a signal?
  bool is_being_sent() const noexcept { return on_its_way_.load(std::memory_order_seq_cst) >= k_sender; }
  /// The same, or has none of its handlers seen the last signal?
  bool may_come() const noexcept { return on_its_way_.load(std::memory_order_seq_cst) != 0; }
  /// Owner's handler. How many signals of thieves no handler has seen: 0, 1, or k_several. The same number again, if
  /// a thief is sending one meanwhile. seq_cst: the signal came after the thief's store.
  std::uint32_t arrive() noexcept {
    std::uint32_t seen = on_its_way_.load(std::memory_order_seq_cst);
    while (seen != 0 && seen < k_sender && !on_its_way_.compare_exchange_weak(seen, 0, std::memory_order_seq_cst)) {
    }
    return seen & k_unseen;
  }
  static constexpr std::uint32_t k_several = 2;

 private:
  static constexpr std::uint32_t k_unseen = 3;  // the number's bits
  static constexpr std::uint32_t k_sender = 4;  // for each thief that is sending

  std::atomic<bool> is_set_{false};
  std::atomic<std::uint32_t> on_its_way_{0};
};

/// Is the owner changing words that its signal handler changes, too? Records, lists, the memory of walks.
class change_mark {
 public:
  // edge implicit-5. relaxed, all: one thread and its signal handlers.
  void begin() noexcept {
    is_set_.store(true, std::memory_order_relaxed);
    order_for_handler();
  }
  void end() noexcept {
    order_for_handler();
    is_set_.store(false, std::memory_order_relaxed);
  }
  bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};
};

/// Until when thieves send no interrupt, since the last one came where the worker could not answer, or had nothing to
/// offer: twice as long after each such one, in cycles.
class interrupt_pause {
 public:
  static constexpr runtime::cycles k_first = runtime::cycles{1} << 18;  // some 100 microseconds
  static constexpr runtime::cycles k_longest = runtime::cycles{1} << 29;
  static constexpr runtime::cycles k_longest_in_vain = runtime::cycles{1} << 33;  // some seconds

  /// For tests.
  static interrupt_pause of(runtime::cycles next) noexcept {
    interrupt_pause pause;
    pause.next_.set(next);
    return pause;
  }
  /// Owner: it could not answer.
  void lengthen() noexcept { lengthen(k_longest); }
  /// Owner, in a handler or a poll: it had nothing to offer. Its next fork sees the request, which stays. Polls
  /// during a pause do not lengthen it.
  void was_in_vain() noexcept {
    if (runtime::time_stamp() >= until_.get()) lengthen(k_longest_in_vain);
  }
  /// Owner: it has offered something.
  void reset() noexcept {
    next_.set(k_first);
    until_.set(0);
  }
  /// Thief.
  runtime::cycles until() const noexcept { return until_.get(); }
  runtime::cycles next() const noexcept { return next_.get(); }

 private:
  void lengthen(runtime::cycles longest) noexcept {
    runtime::cycles const pause = std::min(next_.get(), longest);
    next_.set(std::min(2 * pause, longest));
    until_.set(runtime::time_stamp() + pause);
  }

  hint<runtime::cycles> until_{0};
  hint<runtime::cycles> next_{k_first};  // the owner's, and its handlers'
};

/// Has a thief met a landing pad that can't be read any more? Then the worker forgets the pads that it knows.
class stale_pads_mark {
 public:
  // relaxed, all: a thief that comes meanwhile gives its task back.
  void set() noexcept { is_set_.set(true); }
  /// Owner: true if it must forget.
  bool take() noexcept {
    if (!is_set_.get()) [[likely]]
      return false;
    is_set_.set(false);
    return true;
  }

 private:
  hint<bool> is_set_{false};
};

}  // namespace filch::inline FILCH_ABI::detail
