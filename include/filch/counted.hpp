// Forms with a number of elements: copy_n, fill_n, generate_n. The rules of transform.hpp hold.
#pragma once

#include <filch/transform.hpp>

namespace filch::inline FILCH_ABI {

/// Copies n elements from `first` on. None if n is negative. Returns the end of the output.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator, std::random_access_iterator Out>
Out copy_n(Iterator first, std::iter_difference_t<Iterator> n, Out out) {
  return filch::copy<Sched>(first, n > 0 ? first + n : first, out);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator,
          std::random_access_iterator Out>
bool copy_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n, Out out) {
  return filch::copy<Sched>(token, first, n > 0 ? first + n : first, out);
}

/// Assigns `value` to n elements from `first` on. None if n is negative. Returns their end.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator, class Value>
Iterator fill_n(Iterator first, std::iter_difference_t<Iterator> n, Value const& value) {
  return filch::fill<Sched>(first, n > 0 ? first + n : first, value);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator,
          class Value>
bool fill_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n, Value const& value) {
  return filch::fill<Sched>(token, first, n > 0 ? first + n : first, value);
}

/// Assigns g() to n elements from `first` on, as `generate` does. None if n is negative. Returns their end.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator, class Fn>
Iterator generate_n(Iterator first, std::iter_difference_t<Iterator> n, Fn&& g) {
  return filch::generate<Sched>(first, n > 0 ? first + n : first, g);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator,
          class Fn>
bool generate_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n, Fn&& g) {
  return filch::generate<Sched>(token, first, n > 0 ? first + n : first, g);
}

}  // namespace filch::inline FILCH_ABI
