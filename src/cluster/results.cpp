// Sends results of stolen tasks home, and takes those that arrive. The endpoint and requests.cpp call it. Protocol:
// protocol.md, "Results".
#include "cluster/results.hpp"

#include "cluster/users_code.hpp"

namespace filch::inline FILCH_ABI::detail {

void results::send(int home, cluster_future* future, std::optional<std::string> const& failure,
                   message const& result) {
  auto const address = reinterpret_cast<std::uintptr_t>(future);
  message m = message_of(message_kind::result, address, failure.has_value(), failure.value_or(""));
  m.insert(m.end(), result.begin(), result.end());
  messenger_.send_basic(home, std::move(m));
}

void results::take_result(unpacker& u) {
  messenger_.count_received_basic();
  auto& future = *reinterpret_cast<cluster_future*>(get<std::uintptr_t>(u));
  bool failed = get<bool>(u);
  auto text = get<std::string>(u);
  call_packing([&] {
    try {
      if (!failed) future.take_result(future, u);
    } catch (...) {
      failed = true;
      text = text_of_current_exception();
    }
  });
  if (failed) future.failure = std::move(text);
  future.set_ready();
  // future may be gone
}

void results::give_up(int home, cluster_future* future) {
  std::string text = text_of_current_exception();
  if (!future) {
    keep_failure(text);
  } else if (home != messenger_.rank()) {
    send(home, future, text, {});
  } else {
    future->failure = std::move(text);
    future->set_ready();
    // *future may be gone
  }
}

void results::keep_failure(std::string_view text) {
  if (!failure_) failure_ = text.empty() ? "an exception without a text" : text;
}

}  // namespace filch::inline FILCH_ABI::detail
