// A file of TracePackets, compressed where there is zlib.
#pragma once

#include "runtime/trace/protobuf.hpp"

#include <cstdio>
#include <string>

namespace filch::runtime::trace {

class packet_file {
 public:
  explicit packet_file(std::FILE* to) noexcept : to_(to) {}

  void write(message const& packet);
  /// After the last packet. False: the file could not be written.
  bool end();

 private:
  void flush();
  void put(std::string const& bytes);

  std::FILE* const to_;
  message waiting_;  // packets that are not written yet
  bool is_good_ = true;
};

}  // namespace filch::runtime::trace
