// zip: several ranges as one range of tuples of references.
#pragma once

#include <filch/detail/lengths.hpp>
#include <filch/detail/standard.hpp>
#include <filch/detail/zipped.hpp>

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {

/// A position in several ranges at once. `*i` is a `zip_reference` of the elements there:
/// `filch::zip_iterator(v.begin(), w.begin())` and `zip_iterator(v.end(), w.end())` are a pair for the iterator forms
/// of algorithms.
///
/// It has random access as C++20 defines it. (A C++17 algorithm of std sees an input iterator, as with
/// std::views::zip.) Two iterators are compared by their first part. Cost: an algorithm's loop is that over indices.
template <std::random_access_iterator... Iterators>
  requires(sizeof...(Iterators) >= 2)
class zip_iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = std::tuple<std::iter_value_t<Iterators>...>;
  using reference = zip_reference<std::iter_reference_t<Iterators>...>;
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;

  zip_iterator()
    requires(std::default_initializable<Iterators> && ...)
  = default;
  explicit constexpr zip_iterator(Iterators... parts) : parts_{{std::move(parts)}...} {}

  /// The iterator of part Index.
  template <std::size_t Index> constexpr auto const& part() const noexcept { return parts_.template at<Index>(); }

  constexpr reference operator*() const {
    return parts_.apply([](auto const&... i) { return reference(*i...); });
  }
  constexpr reference operator[](difference_type n) const { return *(*this + n); }

  constexpr zip_iterator& operator+=(difference_type n) {
    parts_.apply([n](auto&... i) {
      (static_cast<void>(i += static_cast<std::iter_difference_t<std::remove_cvref_t<decltype(i)>>>(n)), ...);
    });
    return *this;
  }
  constexpr zip_iterator& operator-=(difference_type n) { return *this += -n; }
  constexpr zip_iterator& operator++() {
    parts_.apply([](auto&... i) { (static_cast<void>(++i), ...); });
    return *this;
  }
  constexpr zip_iterator& operator--() {
    parts_.apply([](auto&... i) { (static_cast<void>(--i), ...); });
    return *this;
  }
  constexpr zip_iterator operator++(int) { return std::exchange(*this, *this + 1); }
  constexpr zip_iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend constexpr zip_iterator operator+(zip_iterator i, difference_type n) { return i += n; }
  friend constexpr zip_iterator operator+(difference_type n, zip_iterator i) { return i += n; }
  friend constexpr zip_iterator operator-(zip_iterator i, difference_type n) { return i -= n; }
  friend constexpr difference_type operator-(zip_iterator const& a, zip_iterator const& b) {
    return static_cast<difference_type>(a.template part<0>() - b.template part<0>());
  }
  friend constexpr bool operator==(zip_iterator const& a, zip_iterator const& b) {
    return a.template part<0>() == b.template part<0>();
  }
  friend constexpr std::strong_ordering operator<=>(zip_iterator const& a, zip_iterator const& b) {
    auto const& i = a.template part<0>();
    auto const& j = b.template part<0>();
    return i < j ? std::strong_ordering::less : j < i ? std::strong_ordering::greater : std::strong_ordering::equal;
  }

  /// The elements as rvalues: what a move takes.
  friend constexpr auto iter_move(zip_iterator const& z) {
    return z.parts_.apply([](auto const&... i) {
      return zip_reference<std::iter_rvalue_reference_t<Iterators>...>(std::ranges::iter_move(i)...);
    });
  }
  /// Swaps the elements themselves.
  friend constexpr void iter_swap(zip_iterator const& a, zip_iterator const& b)
    requires(std::indirectly_swappable<Iterators> && ...)
  {
    a.swap_with(b, std::index_sequence_for<Iterators...>{});
  }

 private:
  template <std::size_t... Index>
  constexpr void swap_with(zip_iterator const& other, std::index_sequence<Index...>) const {
    (std::ranges::iter_swap(part<Index>(), other.template part<Index>()), ...);
  }

  detail::zip_parts<std::index_sequence_for<Iterators...>, Iterators...> parts_{};
};
template <std::random_access_iterator... Iterators>
  requires(sizeof...(Iterators) >= 2)
zip_iterator(Iterators...) -> zip_iterator<Iterators...>;

/// The range that `zip` returns: sized, with random access. It is a view unless it holds a container.
template <class... Parts>
  requires(sizeof...(Parts) >= 2)
class zip_range {
 public:
  explicit constexpr zip_range(std::size_t size, Parts... parts) : size_(size), parts_{{std::move(parts)}...} {}

  constexpr auto begin() {
    return parts_.apply([](auto&... part) { return zip_iterator(part.begin()...); });
  }
  constexpr auto begin() const
    requires(detail::has_const_begin<Parts> && ...)
  {
    return parts_.apply([](auto const&... part) { return zip_iterator(part.begin()...); });
  }
  constexpr auto end() { return after_all(begin()); }
  constexpr auto end() const
    requires(detail::has_const_begin<Parts> && ...)
  {
    return after_all(begin());
  }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr auto operator[](std::size_t n) { return *(begin() + static_cast<std::ptrdiff_t>(n)); }
  constexpr auto operator[](std::size_t n) const
    requires(detail::has_const_begin<Parts> && ...)
  {
    return *(begin() + static_cast<std::ptrdiff_t>(n));
  }

 private:
  template <class Iterator> constexpr Iterator after_all(Iterator first) const {
    return first + static_cast<std::iter_difference_t<Iterator>>(size_);
  }

  std::size_t size_;
  detail::zip_parts<std::index_sequence_for<Parts...>, Parts...> parts_;
};

/// The range of tuples of the elements of two or more ranges at the same position, as long as the shortest of them:
/// `filch::for_each(filch::zip(x, y), [](auto&& e) { auto& [a, b] = e; b += a; })`, or `for (auto&& [a, b] : ...)`.
///
/// An element is a `zip_reference`, a std::tuple of references that is made for each access: take it as `auto&&`,
/// `auto const&` or `auto`. An assignment to it assigns to the elements. A move or swap of elements by an
/// algorithm moves or swaps those of each range, so remove_if, unique, partition and stable_partition reorder all
/// ranges alike. A value is a std::tuple of values.
///
/// Ranges are sized and have random access. An lvalue is referred to. So is an rvalue whose iterators may outlive it,
/// such as a std::span. Any other rvalue is moved into the result. The result is borrowed if nothing was moved into
/// it. Neither the ranges' sizes nor their beginnings may change while it is used. Throws what their size() and
/// begin() throw. Cost: a loop compiles to that over indices; nothing is allocated.
template <sized_random_access_range... Ranges>
  requires(sizeof...(Ranges) >= 2)
constexpr auto zip(Ranges&&... ranges) {
  std::size_t const size = std::min({detail::checked_length(std::ranges::size(ranges))...});
  return zip_range<detail::zip_part_of<Ranges>...>(size,
                                                   detail::zip_part_of<Ranges>(static_cast<Ranges&&>(ranges))...);
}

}  // namespace filch::inline FILCH_ABI

template <class... Parts>
inline constexpr bool std::ranges::enable_borrowed_range<filch::zip_range<Parts...>> = (Parts::is_borrowed && ...);
template <class... Parts>
inline constexpr bool std::ranges::enable_view<filch::zip_range<Parts...>> = (Parts::is_view && ...);
