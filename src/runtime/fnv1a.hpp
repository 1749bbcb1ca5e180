// Numbers for names, for the cluster's kinds of tasks and for the names of reports. The same in each build of Filch.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>
#include <string_view>

namespace filch::runtime {

/// The hash FNV-1a of 64 bits. `so_far`: that of the bytes before.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t so_far = 0xcbf29ce484222325u) noexcept {
  for (char const c : bytes) so_far = (so_far ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return so_far;
}

}  // namespace filch::runtime
