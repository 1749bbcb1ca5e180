// Sections, and the sets (SP-bags) that say whether two of them are parallel. Paper: M. Feng, C. Leiserson, Efficient
// detection of determinacy races in Cilk programs, SPAA 1997.
//
//   section    code that runs without a fork, a join, a spawn or a sync between
//   parallel  of two sections: some schedule runs them at the same time
//   set       sections that have ended; all are serial with the section that runs, or all are parallel with it
//   place     the join or scope at which a parallel set became so
//
// The program runs in the order of its serial elision. When the left branch of a join has ended, its set becomes
// parallel; at the join all sets become one, which is serial. All this belongs to the checked thread.
#pragma once

#include <filch/detail/race_hooks.hpp>

#include "races/tables.hpp"

#include <utility>

namespace filch::races {

using section_id = std::uint32_t;  // 0: none
using fork_place = detail::race_place;

class section_sets {
 public:
  void reserve() noexcept {
    nodes_.reserve();
    places_.reserve();
    nodes_.resize(1);
    places_.resize(1);
  }

  section_id begin() noexcept {
    auto const id = static_cast<section_id>(nodes_.size());
    nodes_.push_back({id, 0});
    return id;
  }
  section_id root_of(section_id id) noexcept {
    while (nodes_[id].up != id) {
      nodes_[id].up = nodes_[nodes_[id].up].up;
      id = nodes_[id].up;
    }
    return id;
  }
  bool is_parallel(section_id id) noexcept {
    return !is_known_serial(id) && (is_known_parallel(id) || is_found_parallel(id));
  }
  /// The answers that need no search.
  bool is_known_serial(section_id id) const noexcept { return id == serial_[0] || id == serial_[1] || id == 0; }
  bool is_known_parallel(section_id id) const noexcept { return id == parallel_[0] || id == parallel_[1]; }
  /// The place of a parallel section.
  fork_place& place_of(section_id id) noexcept { return *places_[nodes_[root_of(id)].place]; }

  /// One set of both, serial.
  void unite(section_id a, section_id b) noexcept {
    parallel_[0] = parallel_[1] = 0;
    a = root_of(a);
    b = root_of(b);
    nodes_[b].up = a;
    nodes_[a].place = 0;
  }
  /// The set of `id` joins the parallel set of a place.
  void make_parallel(section_id id, fork_place& at) noexcept {
    serial_[0] = serial_[1] = 0;
    if (at.parallel != 0) unite(at.parallel, id);
    at.parallel = root_of(id);
    nodes_[at.parallel].place = at.slot;
  }

  /// Gives a place its slot, and puts it above those that exist.
  void add(fork_place& place) noexcept {
    std::uint32_t slot = free_slot_;
    if (slot != 0) {
      free_slot_ = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(places_[slot]));
    } else {
      if (places_.size() == decltype(places_)::k_most) no_room();
      slot = static_cast<std::uint32_t>(places_.size());
      places_.push_back(nullptr);
    }
    places_[slot] = &place;
    place.slot = slot;
    place.parallel = 0;
    place.outer = newest_;
    place.inner = nullptr;
    if (newest_ != nullptr) newest_->inner = &place;
    newest_ = &place;
    ++open_;
  }
  /// The place has no set any more.
  void remove(fork_place& place) noexcept {
    places_[place.slot] = reinterpret_cast<fork_place*>(static_cast<std::uintptr_t>(free_slot_));
    free_slot_ = place.slot;
    if (place.outer != nullptr) place.outer->inner = place.inner;
    (place.inner != nullptr ? place.inner->outer : newest_) = place.outer;
    --open_;
  }
  fork_place* newest() const noexcept { return newest_; }

  /// Few ids are left: number() is to be called for each id that is in use, between begin and end of a renumbering.
  /// Each open place may take one more id, without a fork: a join where it turns, a task where it ends.
  bool is_nearly_full() const noexcept { return nodes_.size() + open_ + 8 >= decltype(nodes_)::k_most; }
  /// After these calls only the roots that number() has seen exist.
  void begin_numbering() noexcept {
    serial_[0] = serial_[1] = parallel_[0] = parallel_[1] = 0;
    if (numbered_.size() == 0) numbered_.reserve();
    numbered_.resize(1);
  }
  section_id number(section_id id) noexcept;
  void end_numbering() noexcept;

 private:
  [[gnu::noinline]] bool is_found_parallel(section_id id) noexcept {
    bool const is_parallel = nodes_[root_of(id)].place != 0;
    auto& known = is_parallel ? parallel_ : serial_;
    known[1] = std::exchange(known[0], id);
    return is_parallel;
  }

  struct node {
    section_id up;
    std::uint32_t place;  // of a root: its slot; 0 if the set is serial
  };
  static constexpr section_id k_is_numbered = 1u << 31;
  [[noreturn]] static void no_room() noexcept;

  // The last two that were found serial, while nothing has become parallel since, and the last two that were found
  // parallel, while nothing has become serial: most of an array was written by one section, and read by another one.
  section_id serial_[2] = {0, 0};
  section_id parallel_[2] = {0, 0};
  table<node, std::size_t{1} << 25> nodes_;
  table<fork_place*, std::size_t{1} << 22> places_;
  std::uint32_t free_slot_ = 0;
  fork_place* newest_ = nullptr;
  std::size_t open_ = 0;                                 // places between add and remove
  table<std::uint32_t, std::size_t{1} << 25> numbered_;  // the places of new ids
};

}  // namespace filch::races
