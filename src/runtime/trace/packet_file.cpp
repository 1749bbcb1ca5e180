// Writes the packets of a trace, compressed where zlib was found: many together, since one alone hardly gets smaller.
// perfetto.cpp calls it.
#include "runtime/trace/packet_file.hpp"

#if FILCH_WITH_ZLIB
#include <zlib.h>
#endif

namespace filch::runtime::trace {
namespace {

constexpr unsigned k_packet = 1;  // field number in Trace
constexpr std::size_t k_together = std::size_t{1} << 18;

#if FILCH_WITH_ZLIB
constexpr unsigned k_compressed_packets = 50;  // field number in TracePacket

/// Empty: it did not work.
std::string compressed(std::string const& bytes) {
  constexpr int k_level = 6;
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string to(size, '\0');
  int const result =
      compress2(reinterpret_cast<Bytef*>(to.data()), &size, reinterpret_cast<Bytef const*>(bytes.data()),
                static_cast<uLong>(bytes.size()), k_level);
  to.resize(result == Z_OK ? size : 0);
  return to;
}
#endif

}  // namespace

void packet_file::write(message const& packet) {
  waiting_.part(k_packet, packet);
  if (waiting_.text().size() >= k_together) flush();
}

bool packet_file::end() {
  flush();
  return is_good_;
}

void packet_file::flush() {
#if FILCH_WITH_ZLIB
  std::string const small = compressed(waiting_.text());
  if (!small.empty()) {
    message all;
    all.part(k_packet, message().bytes(k_compressed_packets, small));
    put(all.text());
    return waiting_.clear();
  }
#endif
  put(waiting_.text());
  waiting_.clear();
}

void packet_file::put(std::string const& bytes) {
  is_good_ &= std::fwrite(bytes.data(), 1, bytes.size(), to_) == bytes.size();
}

}  // namespace filch::runtime::trace
