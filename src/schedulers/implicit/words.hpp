// The words that threads share under filch::implicit. A method is a transition, named after the actor that performs
// it: the owner (the worker that runs the fiber, or its signal handler), or a thief. No other file of this folder
// accesses an atomic. What an edge guarantees: protocol.md.
#pragma once

#include <filch/detail/fiber.hpp>

#include "runtime/account.hpp"
#include "runtime/fiber/forced_steals.hpp"

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
inline constexpr std::uint64_t k_not_requested = runtime::k_steals_are_forced ? k_requested + 1 : 0;

/// The word `poll` of a worker: a thief requests an offer. The owner's forks test it (is_polled()).
class request_word {
 public:
  explicit request_word(fiber_worker& w) noexcept : word_(w.poll) {}

  /// Thief. edge implicit-4: seq_cst, after its announcement and before it looks for offers again.
  void request() noexcept { word_.store(k_requested, std::memory_order_seq_cst); }
  /// Thief. edge implicit-6: seq_cst, hence acquire: if the owner put the request off, `put_off_until` is there.
  bool is_still_requested() const noexcept { return word_.load(std::memory_order_seq_cst) == k_requested; }
  /// Anybody. relaxed: a hint.
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

/// What take_back() found.
enum class [[nodiscard]] taken_back {
  one,     // the newest offer is the owner's again
  last,    // the same, and nothing is offered now
  stolen,  // thieves have all offers
};

/// Which records of a stack are offered: [tail, head), the oldest first. Below tail they are stolen. The root of the
/// fiber is in the same word: each change is one exchange, and a thief takes nothing of another root than it saw.
class open_range {
 public:
  static constexpr unsigned k_bits = 24;
  static constexpr std::uint32_t k_most = (1u << k_bits) - 1;

  struct value {
    std::uint32_t tail;
    std::uint32_t head;
    std::uint16_t root;

    bool is_empty() const noexcept { return tail >= head; }
    std::uint32_t untaken() const noexcept { return head - tail; }
  };

  /// Thief. edge implicit-1: acquire, the records below head.
  value look() const noexcept { return unpacked(word_.load(std::memory_order_acquire)); }
  /// Thief. edge idle-1: seq_cst, in order after its announcement.
  value look_in_order() const noexcept { return unpacked(word_.load(std::memory_order_seq_cst)); }
  /// Owner. relaxed: head and root are its own; tail is a hint.
  value own() const noexcept { return unpacked(word_.load(std::memory_order_relaxed)); }

  /// Thief: takes the oldest offer. False: the word is not `seen` any more.
  /// edge implicit-1, edge implicit-3: seq_cst, hence acquire: the record is the thief's, and what it points to is
  /// there.
  bool steal(value const& seen) noexcept {
    std::uint64_t word = packed(seen);
    return word_.compare_exchange_strong(word, packed({seen.tail + 1, seen.head, seen.root}),
                                         std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  /// Owner: offers `count` more records. Thieves move the tail meanwhile.
  /// edge implicit-1, edge idle-1: seq_cst, hence release: the records, before the owner looks for sleepers.
  void offer(std::uint32_t count) noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    std::uint32_t const head = unpacked(word).head + count;
    for (value now = unpacked(word); !word_.compare_exchange_weak(
             word, packed({now.tail, head, now.root}), std::memory_order_seq_cst, std::memory_order_relaxed);
         now = unpacked(word)) {
    }
  }
  /// Owner: takes back its newest offer.
  /// edge implicit-3: seq_cst: the offer is the owner's again, or a thief has it. acquire: the steals so far.
  taken_back take_back() noexcept {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      value const now = unpacked(word);
      if (now.is_empty()) return taken_back::stolen;
      if (word_.compare_exchange_weak(word, packed({now.tail, now.head - 1, now.root}), std::memory_order_seq_cst,
                                      std::memory_order_acquire)) {
        return now.tail == now.head - 1 ? taken_back::last : taken_back::one;
      }
    }
  }
  /// Owner: the newest `count` records are stolen, and done with. All older ones were stolen, too, so no thief
  /// changes the word. release: as all that publishes the root.
  void forget_stolen(std::uint32_t count) noexcept {
    value const now = own();
    std::uint32_t const left = now.head - count;
    word_.store(packed({left, left, now.root}), std::memory_order_release);
  }
  /// Owner, where a fiber begins or continues: it has nothing offered, so no thief changes the word. relaxed:
  /// stack_word::publish() follows.
  void belongs_to(std::uint16_t root) noexcept {
    value now = own();
    if (now.root == root) return;
    now.root = root;
    word_.store(packed(now), std::memory_order_relaxed);
  }
  /// In a child of fork(), where no thieves are. relaxed: one thread. False: a thief of the parent has it.
  bool take_back_alone() noexcept {
    value const now = own();
    if (now.is_empty()) return false;
    word_.store(packed({now.tail, now.head - 1, now.root}), std::memory_order_relaxed);
    return true;
  }

 private:
  static value unpacked(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word) & k_most, static_cast<std::uint32_t>(word >> k_bits) & k_most,
            static_cast<std::uint16_t>(word >> 2 * k_bits)};
  }
  static std::uint64_t packed(value const& v) noexcept {
    return std::uint64_t{v.root} << 2 * k_bits | std::uint64_t{v.head} << k_bits | v.tail;
  }

  std::atomic<std::uint64_t> word_;
};

/// The word `offers` of a worker: the stack on which it runs a fiber.
class stack_word {
 public:
  /// Owner. edge implicit-2: release, the header, and what the fiber's owner before wrote there. edge idle-4:
  /// seq_cst, before it looks whether a sleeper waits for this root.
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
  /// Owner, in code of another pool. True: it was set. relaxed: the next thief may send another interrupt.
  bool forget() noexcept { return is_set_.exchange(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};
};

/// Whether the owner changes what its signal handler would change: records, lists, the memory of walks.
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

/// Until when thieves send no interrupt, since the last one came where the worker could not answer: twice as long
/// after each such one, in cycles.
class interrupt_pause {
 public:
  static constexpr runtime::cycles k_first = runtime::cycles{1} << 18;  // some 100 microseconds
  static constexpr runtime::cycles k_longest = runtime::cycles{1} << 29;

  /// For tests.
  static interrupt_pause of(runtime::cycles next) noexcept {
    interrupt_pause pause;
    pause.next_.set(next);
    return pause;
  }
  /// Owner: it could not answer.
  void lengthen() noexcept {
    runtime::cycles const pause = next_.get();
    next_.set(std::min(2 * pause, k_longest));
    until_.set(runtime::time_stamp() + pause);
  }
  /// Owner: it has answered.
  void reset() noexcept { next_.set(k_first); }
  /// Thief.
  runtime::cycles until() const noexcept { return until_.get(); }
  runtime::cycles next() const noexcept { return next_.get(); }

 private:
  hint<runtime::cycles> until_{0};
  hint<runtime::cycles> next_{k_first};  // the owner's, and its handlers'
};

/// Whether a thief has met a landing pad that can't be read any more: the worker forgets what it knows of pads.
class stale_pads_mark {
 public:
  // relaxed, all: a thief that comes meanwhile gives back what it takes.
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

/// A part of a join has arrived whose owner runs it itself, so that it is not the last. edge fiber-1: acq_rel, as its
/// thief would.
inline void arrive_as_owner(join_counter& m) noexcept {
  std::atomic_ref(m.balance).fetch_sub(1, std::memory_order_acq_rel);
}
/// Has any part arrived? relaxed: wait_for_parts() looks again.
inline bool seems_to_have_arrived(join_counter& m) noexcept {
  return std::atomic_ref(m.balance).load(std::memory_order_relaxed) != 0;
}

}  // namespace filch::inline FILCH_ABI::detail
