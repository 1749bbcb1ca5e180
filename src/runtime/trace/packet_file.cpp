// Writes the packets of a trace, compressed where there is zlib: many together, since one alone hardly gets smaller.
// perfetto.cpp calls it.
#include "runtime/trace/packet_file.hpp"

#include <dlfcn.h>

// Null in most static programs, and where the C library has it in a library of its own.
#pragma weak dlsym

namespace filch::runtime::trace {
namespace {

constexpr unsigned k_packet = 1;               // field number in Trace
constexpr unsigned k_compressed_packets = 50;  // field number in TracePacket
constexpr std::size_t k_together = std::size_t{1} << 18;

/// zlib, loaded when a trace is written: so no program has to be linked with it.
class zlib {
 public:
  zlib() noexcept {
    if (!dlsym) return;
    // Found by name: the linker warns of static programs that call it. In these it is not found.
    using open = void*(char const*, int);
    auto* const dynamic_open = reinterpret_cast<open*>(dlsym(RTLD_DEFAULT, "dlopen"));
    void* const library = dynamic_open ? dynamic_open("libz.so.1", RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) return;
    bound_ = reinterpret_cast<bound*>(dlsym(library, "compressBound"));
    compress_ = reinterpret_cast<compress*>(dlsym(library, "compress2"));
  }

  /// Empty: it did not work.
  std::string compressed(std::string const& bytes) const {
    constexpr int k_level = 6;
    constexpr int k_ok = 0;
    if (!bound_ || !compress_) return {};
    unsigned long size = bound_(bytes.size());
    std::string to(size, '\0');
    int const result = compress_(reinterpret_cast<unsigned char*>(to.data()), &size,
                                 reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size(), k_level);
    to.resize(result == k_ok ? size : 0);
    return to;
  }

 private:
  using bound = unsigned long(unsigned long);
  using compress = int(unsigned char*, unsigned long*, unsigned char const*, unsigned long, int);

  bound* bound_ = nullptr;
  compress* compress_ = nullptr;
};

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
  static zlib const library;
  std::string const small = library.compressed(waiting_.text());
  if (!small.empty()) {
    message all;
    all.part(k_packet, message().bytes(k_compressed_packets, small));
    put(all.text());
    return waiting_.clear();
  }
  put(waiting_.text());
  waiting_.clear();
}

void packet_file::put(std::string const& bytes) {
  is_good_ &= std::fwrite(bytes.data(), 1, bytes.size(), to_) == bytes.size();
}

}  // namespace filch::runtime::trace
