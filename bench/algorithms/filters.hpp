// Filters: the elements that satisfy a predicate, which half of them do, in no order.
#pragma once

#include "inputs.hpp"

#include <filch/filter.hpp>

#include <memory>

namespace bench::algorithms {

using numbers = std::vector<std::uint32_t>;

struct copy_if {
  static constexpr std::string_view name = "copy_if";
  struct input {
    numbers x, out;
    std::size_t length;
  };
  static input prepare(std::size_t n) { return {random_numbers(n), numbers(n), n + 1}; }
  static void reset(input& in) {
    std::fill(in.out.begin(), in.out.end(), 0);
    in.length = in.x.size() + 1;
  }
  static void plain(input& in) {
    std::uint32_t* out = in.out.data();
    for (std::uint32_t const x : in.x) {
      if (is_chosen(x)) *out++ = x;
    }
    in.length = static_cast<std::size_t>(out - in.out.data());
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    end_at(in, std::copy_if(std::forward<Par>(par)..., in.x.begin(), in.x.end(), in.out.begin(), is_chosen));
  }
  template <class S> static void on(input& in) {
    end_at(in, filch::copy_if<S>(in.x.begin(), in.x.end(), in.out.begin(), is_chosen));
  }
  template <class P> static void on_peer(input& in) {
    in.length = P::sums(
        in.x.size(), std::size_t{0}, [x = in.x.data()](std::size_t i) { return std::size_t{is_chosen(x[i])}; },
        [x = in.x.data(), out = in.out.data()](std::size_t i, std::size_t before) {
          if (is_chosen(x[i])) out[before] = x[i];
        });
  }
  static bool verify(input const& in) {
    numbers expected;
    std::copy_if(in.x.begin(), in.x.end(), std::back_inserter(expected), is_chosen);
    return in.length == expected.size() && std::equal(expected.begin(), expected.end(), in.out.begin());
  }

 private:
  static void end_at(input& in, numbers::iterator end) { in.length = static_cast<std::size_t>(end - in.out.begin()); }
};

struct partition_copy {
  static constexpr std::string_view name = "partition_copy";
  struct input {
    numbers x, chosen, others;
    std::size_t n_chosen, n_others;
  };
  static input prepare(std::size_t n) { return {random_numbers(n), numbers(n), numbers(n), n + 1, n + 1}; }
  static void reset(input& in) {
    std::fill(in.chosen.begin(), in.chosen.end(), 0);
    std::fill(in.others.begin(), in.others.end(), 0);
    in.n_chosen = in.n_others = in.x.size() + 1;
  }
  static void plain(input& in) {
    auto to = std::pair(in.chosen.begin(), in.others.begin());
    for (std::uint32_t const x : in.x) {
      if (is_chosen(x)) {
        *to.first++ = x;
      } else {
        *to.second++ = x;
      }
    }
    end_at(in, to);
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    end_at(in, std::partition_copy(std::forward<Par>(par)..., in.x.begin(), in.x.end(), in.chosen.begin(),
                                   in.others.begin(), is_chosen));
  }
  template <class S> static void on(input& in) {
    end_at(in, filch::partition_copy<S>(in.x.begin(), in.x.end(), in.chosen.begin(), in.others.begin(), is_chosen));
  }
  template <class P> static void on_peer(input& in) {
    in.n_chosen = P::sums(
        in.x.size(), std::size_t{0}, [x = in.x.data()](std::size_t i) { return std::size_t{is_chosen(x[i])}; },
        [x = in.x.data(), chosen = in.chosen.data(), others = in.others.data()](std::size_t i, std::size_t before) {
          if (is_chosen(x[i])) {
            chosen[before] = x[i];
          } else {
            others[i - before] = x[i];
          }
        });
    in.n_others = in.x.size() - in.n_chosen;
  }
  static bool verify(input const& in) {
    auto chosen = in.chosen.begin();
    auto others = in.others.begin();
    for (std::uint32_t const x : in.x) {
      if (*(is_chosen(x) ? chosen++ : others++) != x) return false;
    }
    return chosen - in.chosen.begin() == static_cast<std::ptrdiff_t>(in.n_chosen) &&
           others - in.others.begin() == static_cast<std::ptrdiff_t>(in.n_others);
  }

 private:
  static void end_at(input& in, std::pair<numbers::iterator, numbers::iterator> const& ends) {
    in.n_chosen = static_cast<std::size_t>(ends.first - in.chosen.begin());
    in.n_others = static_cast<std::size_t>(ends.second - in.others.begin());
  }
};

/// The base of algorithms in place: each call begins with the source.
struct in_place {
  struct input {
    numbers source, x;
    std::size_t length;
  };
  static input prepare(std::size_t n) { return {random_numbers(n), numbers(n), n + 1}; }
  static void reset(input& in) { in.length = in.x.size() + 1; }
  static void restore(input& in) { std::copy(in.source.begin(), in.source.end(), in.x.begin()); }
  static void end_at(input& in, numbers::iterator end) { in.length = static_cast<std::size_t>(end - in.x.begin()); }
  /// Does x begin with those elements of the source, and end there?
  template <class Pred> static bool begins_with(input const& in, Pred const& is_kept) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < in.x.size(); ++i) {
      if (is_kept(i) && (kept == in.length || in.x[kept++] != in.source[i])) return false;
    }
    return kept == in.length;
  }
};

struct remove_if : in_place {
  static constexpr std::string_view name = "remove_if";
  static void plain(input& in) {
    std::uint32_t* out = in.x.data();
    for (std::uint32_t const x : in.x) {
      if (!is_chosen(x)) *out++ = x;
    }
    in.length = static_cast<std::size_t>(out - in.x.data());
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    end_at(in, std::remove_if(std::forward<Par>(par)..., in.x.begin(), in.x.end(), is_chosen));
  }
  template <class S> static void on(input& in) {
    end_at(in, filch::remove_if<S>(in.x.begin(), in.x.end(), is_chosen));
  }
  static bool verify(input const& in) {
    return begins_with(in, [&in](std::size_t i) { return !is_chosen(in.source[i]); });
  }
};

/// Half of the elements equal the one before.
struct unique : in_place {
  static constexpr std::string_view name = "unique";
  static input prepare(std::size_t n) {
    input in = in_place::prepare(n);
    for (std::size_t i = 1; i < n; ++i) {
      if (is_chosen(in.source[i])) in.source[i] = in.source[i - 1];
    }
    return in;
  }
  static void plain(input& in) {
    std::size_t kept = 0;
    for (std::uint32_t const x : in.x) {
      if (kept == 0 || x != in.x[kept - 1]) in.x[kept++] = x;
    }
    in.length = kept;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    end_at(in, std::unique(std::forward<Par>(par)..., in.x.begin(), in.x.end()));
  }
  template <class S> static void on(input& in) { end_at(in, filch::unique<S>(in.x.begin(), in.x.end())); }
  static bool verify(input const& in) {
    return begins_with(in, [&in](std::size_t i) { return i == 0 || in.source[i] != in.source[i - 1]; });
  }
};

struct partition : in_place {
  static constexpr std::string_view name = "partition";
  static void plain(input& in) {
    std::uint32_t* low = in.x.data();
    std::uint32_t* high = low + in.x.size();
    while (true) {
      while (low != high && is_chosen(*low)) ++low;
      while (low != high && !is_chosen(high[-1])) --high;
      if (low == high) break;
      std::swap(*low++, *--high);
    }
    in.length = static_cast<std::size_t>(low - in.x.data());
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    end_at(in, std::partition(std::forward<Par>(par)..., in.x.begin(), in.x.end(), is_chosen));
  }
  template <class S> static void on(input& in) {
    end_at(in, filch::partition<S>(in.x.begin(), in.x.end(), is_chosen));
  }
  /// The elements are the same in some order: sums of their scrambled values tell.
  static bool verify(input const& in) {
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < in.x.size(); ++i) {
      if (is_chosen(in.x[i]) != (i < in.length)) return false;
      difference += scrambled(in.x[i]) - scrambled(in.source[i]);
    }
    return difference == 0;
  }
};

struct stable_partition : in_place {
  static constexpr std::string_view name = "stable_partition";
  static void plain(input& in) {
    std::unique_ptr<std::uint32_t[]> const buffer(new std::uint32_t[in.x.size()]);
    std::uint32_t* chosen = in.x.data();
    std::uint32_t* other = buffer.get();
    for (std::uint32_t const x : in.x) {
      if (is_chosen(x)) {
        *chosen++ = x;
      } else {
        *other++ = x;
      }
    }
    std::copy(buffer.get(), other, chosen);
    in.length = static_cast<std::size_t>(chosen - in.x.data());
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    end_at(in, std::stable_partition(std::forward<Par>(par)..., in.x.begin(), in.x.end(), is_chosen));
  }
  template <class S> static void on(input& in) {
    end_at(in, filch::stable_partition<S>(in.x.begin(), in.x.end(), is_chosen));
  }
  static bool verify(input const& in) {
    if (!begins_with(in, [&in](std::size_t i) { return is_chosen(in.source[i]); })) return false;
    std::size_t at = in.length;
    for (std::uint32_t const x : in.source) {
      if (!is_chosen(x) && in.x[at++] != x) return false;
    }
    return at == in.x.size();
  }
};

}  // namespace bench::algorithms
