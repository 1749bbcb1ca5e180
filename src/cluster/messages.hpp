// The messages between the endpoints of a cluster, as bytes. Each begins with its kind.
#pragma once

#include <filch/packing.hpp>
#include <filch/transport.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// Those before `up` are counted: none may be under way when a cluster ends.
enum class message_kind : std::uint8_t {
  request,    // thief, hops, stride
  tasks,      // place of the headers, whether it ends the request, arguments, task headers
  result,     // future, whether it failed, text, value
  bound,      // number, value
  probe,      // a wave's way down the tree
  counts,     // a wave's way up the tree: basic messages sent, received
  end,        // the end of a run, down the tree
  up,         // a part of a reduction: part_header, bytes
  down,       // the result of a reduction: part_header, bytes
  heartbeat,  // runs and reductions that its sender began, which of them was the last, whether it has left
  farewell,   // heartbeats sent
};
constexpr bool is_counted(message_kind kind) noexcept { return kind < message_kind::up; }

template <class Type> Type get(unpacker& u) { return packing<Type>::unpack(u); }
template <class... Type> message message_of(Type const&... values) {
  packer p;
  (packing<Type>::pack(p, values), ...);
  return p.take();
}

/// One of an answer's tasks. Its size lets the receiver find the next task where unpacking this one throws.
struct task_header {
  std::uint64_t kind;
  std::uint64_t future;  // its address; 0: none
  std::uint64_t size;    // bytes of its arguments
  std::int64_t home;     // rank of the future
};

}  // namespace filch::inline FILCH_ABI::detail
