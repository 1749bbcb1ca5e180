// A workload, as the rest of the program sees it: it runs without knowing its types.
#pragma once

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// An invalid size, name or option; what() is one line.
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

/// A workload whose threads call the pool, in place of one call that runs all of it.
template <class W>
concept called_from_outside = requires { requires W::k_from_outside; };

/// A workload as the command line sees it.
struct workload {
  std::string_view name;
  std::string_view about;
  std::vector<std::string_view> sizes;            // the first is the default
  std::vector<std::string_view> published_sizes;  // of the papers' own runs; empty: in none of them
  std::string_view quick_size;
  std::string_view quick_peer_size;      // for peers that would take minutes at quick_size; empty: the same
  void (*check)(std::string_view size);  // throws bad_request, soon: makes no large input
  std::unique_ptr<job> (*make)(std::string_view size);
  void (*plain)(job&);  // the hand-written sequential function
  bool can_poll;        // at a size that ends in ":poll"
  bool has_callers;     // threads of its own, outside the pool: they work, too
};

/// All of them, as the command line lists them.
std::vector<workload> const& known_workloads();
/// Null: there is none of that name.
workload const* find_workload(std::string_view name);

inline std::optional<long> whole_number(std::string_view text, long least, long most) {
  long value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const is_number = error == std::errc{} && end == text.data() + text.size();
  return is_number && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

/// A whole number in [least, most], or bad_request.
inline long parse_size(std::string_view workload, std::string_view text, long least, long most) {
  if (auto const value = whole_number(text, least, most)) return *value;
  throw bad_request(std::string(workload) + "=" + std::string(text) + ": expected a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most));
}

/// A size of two whole numbers with a colon between them, each with a name.
class two_part_size {
 public:
  /// `numbers` are in `size`, which messages show as a whole. Throws bad_request where there is no colon.
  two_part_size(std::string_view workload, std::string_view size, std::string_view numbers, std::string_view form)
      : shown_(std::string(workload) + "=" + std::string(size)), numbers_(numbers), colon_(numbers.find(':')) {
    if (colon_ == std::string_view::npos) throw bad_request(shown_ + ": expected " + std::string(form));
  }
  long first(std::string_view name, long least, long most) const {
    return part(name, numbers_.substr(0, colon_), least, most);
  }
  long second(std::string_view name, long least, long most) const {
    return part(name, numbers_.substr(colon_ + 1), least, most);
  }

 private:
  long part(std::string_view name, std::string_view text, long least, long most) const {
    if (auto const value = whole_number(text, least, most)) return *value;
    throw bad_request(shown_ + ": expected " + std::string(name) + " to be a whole number from " +
                      std::to_string(least) + " to " + std::to_string(most));
  }
  std::string shown_;
  std::string_view numbers_;
  std::size_t colon_;
};

struct size_part {
  std::string_view name;
  long least, most;
};

/// A size of whole numbers with colons between them. Those after the first `needed` may be left out.
inline std::vector<long> parse_size_parts(std::string_view workload, std::string_view size, std::string_view form,
                                          std::size_t needed, std::initializer_list<size_part> parts) {
  std::string const shown = std::string(workload) + "=" + std::string(size) + ": expected ";
  std::vector<long> numbers;
  for (std::size_t at = 0; at <= size.size(); ++at) {
    if (numbers.size() == parts.size()) throw bad_request(shown + std::string(form));
    size_part const& part = parts.begin()[numbers.size()];
    std::string_view const text = size.substr(at, size.find(':', at) - at);
    auto const value = whole_number(text, part.least, part.most);
    if (!value) {
      throw bad_request(shown + std::string(part.name) + " to be a whole number from " + std::to_string(part.least) +
                        " to " + std::to_string(part.most));
    }
    numbers.push_back(*value);
    at += text.size();
  }
  if (numbers.size() < needed) throw bad_request(shown + std::string(form));
  return numbers;
}

/// Throws bad_request if two are the same: it would be measured twice, and count twice in a mean.
inline void check_once(std::vector<std::string> const& names) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) throw bad_request(*name + " is named twice: name it once");
  }
}

/// Hides a value from the optimiser, so that results are computed at run time.
template <class T> T opaque(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace bench
