// What the messages of the cluster hold, as bytes.
#pragma once

#include <filch/detail/cluster_endpoint.hpp>

namespace filch::inline FILCH_ABI::detail {

template <class T> T get(unpacker& u) { return packing<T>::unpack(u); }
template <class... T> message message_of(T const&... values) {
  packer p;
  (packing<T>::pack(p, values), ...);
  return p.take();
}

// In a reduction, up or down: this, then the bytes.
struct part_header {
  bool closing;
  reduction_part::holds what;
};

// Tasks in an answer: the place of their headers, their arguments, their headers. With the sizes, so that arguments
// which throw as they are read spoil no others.
struct task_header {
  std::uint64_t kind;
  std::uint64_t future;
  std::uint64_t size;
  std::int64_t home;
};

}  // namespace filch::inline FILCH_ABI::detail
