// A stop token for tests: the standard's, or, where its library has none, the least that algorithms ask of one.
#pragma once

#include <version>
#if defined(__cpp_lib_jthread)
#include <stop_token>
namespace filch_test {
using std::stop_source;
using std::stop_token;
}  // namespace filch_test
#else
#include <atomic>
#include <memory>
#include <utility>

namespace filch_test {

class stop_token {
 public:
  stop_token() = default;
  explicit stop_token(std::shared_ptr<std::atomic<bool> const> requested) : requested_(std::move(requested)) {}
  bool stop_requested() const noexcept { return requested_ && *requested_; }
  bool stop_possible() const noexcept { return requested_ != nullptr; }

 private:
  std::shared_ptr<std::atomic<bool> const> requested_;
};

class stop_source {
 public:
  stop_token get_token() const { return stop_token(requested_); }
  bool request_stop() { return !requested_->exchange(true); }
  bool stop_requested() const noexcept { return *requested_; }

 private:
  std::shared_ptr<std::atomic<bool>> requested_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace filch_test
#endif
