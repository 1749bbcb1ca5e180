// Sends and receives messages through the transport, and counts them for the end of a run. The endpoint and its parts
// call it. Protocol: protocol.md, "Transport".
#include "cluster/messenger.hpp"

#include <filch/detail/cluster_endpoint.hpp>

#include <algorithm>
#include <string>

namespace filch::inline FILCH_ABI::detail {

std::size_t messenger::children() const noexcept {
  std::size_t count = 0;
  for_each_child([&count](int) { ++count; });
  return count;
}

void messenger::send(int to, message m) {
  counted_.sent += is_counted(static_cast<message_kind>(m.front()));
  ++stats.messages;
  send_uncounted(to, std::move(m));
}

void messenger::send_basic(int to, message m) {
  ++basic_.sent;
  send(to, std::move(m));
}

void messenger::send_uncounted(int to, message m) {
  try {
    transport_.send(to, std::move(m));
  } catch (...) {
    lose("a message");
    throw;
  }
}

void messenger::lose(std::string_view what) {
  if (std::exchange(has_lost_, true)) return;
  std::string text;
  try {
    text = std::string(what) + " is lost: " + text_of_current_exception();
    text.resize(std::min(text.find('\0'), text.size()));  // without the name of the exception's type
  } catch (...) {                                         // no memory for the whole text
  }
  transport_.end_all(text.empty() ? what : std::string_view(text));
}

runtime::broken_condition messenger::broken() const noexcept {
  FILCH_HOLDS(basic_.sent <= counted_.sent);
  FILCH_HOLDS(basic_.received <= counted_.received);
  FILCH_HOLDS(counted_.sent <= stats.messages);
  return nullptr;
}

}  // namespace filch::inline FILCH_ABI::detail
