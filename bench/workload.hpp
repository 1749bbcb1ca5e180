// What a workload is, and how it is run without knowing its types.
#pragma once

#include <charconv>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A size, name or option that makes no sense; what() is one line.
struct bad_request : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One instance of a workload: its input, and the answer of the last run.
class job {
 public:
  job() = default;
  job(job const&) = delete;
  job& operator=(job const&) = delete;
  virtual ~job() = default;
  /// Puts the input back as it was; outside the timing.
  virtual void reset() = 0;
  /// Is the last answer the right one? Outside the timing.
  virtual bool verify() const = 0;
};

template <class W> class job_of final : public job {
 public:
  explicit job_of(std::string_view size) : input(W::prepare(size)) {}
  void reset() override {
    if constexpr (requires { W::reset(input); }) W::reset(input);
    answer = {};
  }
  bool verify() const override { return W::verify(input, answer); }

  typename W::input input;
  typename W::answer answer{};
};

/// A workload as the command line sees it.
struct workload {
  std::string_view name;
  std::string_view about;
  std::vector<std::string_view> sizes;  // published ones; the first is the default
  std::string_view quick_size;
  std::unique_ptr<job> (*make)(std::string_view size);
  void (*plain)(job&);  // the hand-written sequential function
  bool can_poll;        // at a size that ends in ":poll"
};

/// All of them, as the command line lists them.
std::vector<workload> const& known_workloads();

/// A whole number in [least, most], or bad_request.
inline long parse_size(std::string_view workload, std::string_view text, long least, long most) {
  long value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw bad_request(std::string(workload) + "=" + std::string(text) + ": expected a whole number from " +
                      std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

/// Hides a value from the optimiser: what is computed from it is computed at run time.
template <class T> T opaque(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace bench
