// Stop tokens: the conditions that joins, scopes and loops read before they begin something, and their results.
#pragma once

#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <atomic>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// A std::stop_token, or what is used as one. Headers that take one need not include <stop_token>.
template <class Token>
concept stop_token_like = requires(Token const& token) {
  { token.stop_requested() } noexcept -> std::same_as<bool>;
  { token.stop_possible() } noexcept -> std::same_as<bool>;
};

/// The stop condition of a loop without a token: never.
struct never_stopped {
  static constexpr bool is_requested() noexcept { return false; }
  static constexpr bool was_seen() noexcept { return false; }
  static constexpr void forget() noexcept {}
};

/// The stop condition of a loop or a scope with a token, read before anything begins. A reference to a stop_request
/// is passed on.
template <stop_token_like Token> class stop_request {
 public:
  explicit stop_request(Token const& token) noexcept : token_(token) {}
  bool is_requested() noexcept {
    if (!token_.stop_requested()) [[likely]]
      return false;
    // relaxed: read by the caller of the loop, after all joins. A merge that reads it earlier may save work.
    was_seen_.store(true, std::memory_order_relaxed);
    return true;
  }
  /// Did something not begin because of the request?
  bool was_seen() const noexcept { return was_seen_.load(std::memory_order_relaxed); }
  /// After the loop: what did not begin does not matter, because the result is known.
  void forget() noexcept { was_seen_.store(false, std::memory_order_relaxed); }

 private:
  Token const& token_;
  std::atomic<bool> was_seen_{false};
};
template <stop_token_like Token> stop_request(Token const&) -> stop_request<Token>;

/// Calls body(stop) and returns its result, or nothing if a stop was requested before the end: an std::optional, and
/// a bool where body returns void.
template <stop_token_like Token, class Body> auto until_stopped(Token const& token, Body body) {
  using result = std::invoke_result_t<Body&, stop_request<Token>&>;
  stop_request stop(token);
  if constexpr (std::is_void_v<result>) {
    body(stop);
    return !stop.was_seen();
  } else {
    std::optional<result> value(body(stop));
    if (stop.was_seen()) value.reset();
    return value;
  }
}

/// The result of a callable that may not begin: a std::optional, or a pointer to what a reference refers to.
template <class Fn>
using result_of_begun = std::conditional_t<std::is_reference_v<result_of<Fn>>, std::add_pointer_t<result_of<Fn>>,
                                           std::optional<result_of<Fn>>>;

/// Calls f.
template <class Fn> FILCH_INLINE result_of_begun<Fn> begin_call(Fn&& f) {
  if constexpr (std::is_reference_v<result_of<Fn>>) {
    auto&& result = detail::call_with(std::forward<Fn>(f));
    return std::addressof(result);
  } else {
    return result_of_begun<Fn>(std::in_place, detail::call(std::forward<Fn>(f)));
  }
}

/// Calls f, unless a stop was requested before.
template <class Token, class Fn> struct unless_stopped {
  Token const& token;
  Fn&& f;
  FILCH_INLINE result_of_begun<Fn> operator()() const {
    if (token.stop_requested()) [[unlikely]]
      return {};
    return detail::begin_call(std::forward<Fn>(f));
  }
};

/// The result of a fork with a token: a bool if all Fn... return void, else All<the result of each one>.
template <template <class...> class All, class... Fn>
using results_of_begun =
    std::conditional_t<(std::is_void_v<raw_result<Fn>> && ...), bool, All<result_of_begun<Fn>...>>;

/// Turns a pair or tuple of results into what the fork returns.
template <class Returned, class All> FILCH_INLINE Returned returned_of_begun(All&& all) {
  if constexpr (std::is_same_v<Returned, bool>) {
    return std::apply([](auto const&... one) { return (one.has_value() && ...); }, all);
  } else {
    return std::move(all);
  }
}

}  // namespace filch::inline FILCH_ABI::detail
