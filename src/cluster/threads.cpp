// The transport between threads of one process: a mailbox for each rank. Called by endpoints, one call of a rank at a
// time. Protocol: protocol.md, "Transport".
#include <filch/thread_transport.hpp>

#include "cluster/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace filch::inline FILCH_ABI {
namespace {

std::size_t checked(int ranks) {
  if (ranks < 1) throw setup_error("filch: a network needs at least one rank, not " + std::to_string(ranks));
  return static_cast<std::size_t>(ranks);
}

}  // namespace

thread_network::thread_network(int ranks) : boxes_(checked(ranks)) {}

std::size_t thread_network::under_way() const {
  std::size_t sum = 0;
  for (mailbox const& box : boxes_) {
    std::lock_guard const lock(box.mutex);
    sum += box.letters.size();
  }
  return sum;
}

thread_transport::thread_transport(thread_network& network, int rank) : network_(network), rank_(rank) {
  if (rank >= 0 && rank < ranks()) return;
  throw setup_error("filch: there is no rank " + std::to_string(rank) + " in a network of " +
                    std::to_string(ranks()));
}

void thread_transport::send(int to, message m) {
  auto& box = network_.boxes_[static_cast<std::size_t>(to)];
  std::lock_guard const lock(box.mutex);
  box.letters.push_back({mine().cluster, std::move(m)});
}

std::optional<message> thread_transport::receive() {
  auto& box = mine();
  std::lock_guard const lock(box.mutex);
  // Messages of the next cluster stay until it begins.
  auto const found = std::find_if(box.letters.begin(), box.letters.end(),
                                  [&box](auto const& letter) { return letter.cluster == box.cluster; });
  if (found == box.letters.end()) return std::nullopt;
  message bytes = std::move(found->bytes);
  box.letters.erase(found);
  return bytes;
}

void thread_transport::end_all(std::string_view text) {
  detail::say_that_all_end(rank_, text);
  std::abort();
}

unsigned thread_transport::workers() const {
  return detail::workers_of_each(os::allowed_processors(), static_cast<std::size_t>(ranks()));
}

}  // namespace filch::inline FILCH_ABI
