// Bits are written by one worker: neighbours share a word.
#pragma once

#include <filch/detail/standard.hpp>
#include <filch/serial.hpp>

#include <tuple>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

/// Does a Reference stand for a bool that is not an object, as in std::vector<bool>? Or is one in its tuple, as in a
/// zip?
template <class Value, class Reference>
inline constexpr bool refers_to_bit = std::is_same_v<Value, bool> && std::is_class_v<Reference>;
template <class... Values, template <class...> class Tuple, class... References>
  requires(sizeof...(Values) == sizeof...(References))
inline constexpr bool refers_to_bit<std::tuple<Values...>, Tuple<References...>> =
    (refers_to_bit<Values, References> || ...);

/// The scheduler of a loop that writes through Iterators: Sched, or none where two workers might write one word.
template <class Sched, class... Iterator>
using scheduler_for =
    std::conditional_t<(refers_to_bit<std::iter_value_t<Iterator>, std::iter_reference_t<Iterator>> || ...), serial,
                       Sched>;

}  // namespace filch::inline FILCH_ABI::detail
