// How arguments and results of tasks travel between processes. Compiled into programs; tasks' kinds call it.
#pragma once

#include <filch/detail/platform.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace filch::inline FILCH_ABI {

/// Writes the bytes of a message.
class packer {
 public:
  /// Adds a copy of the bytes. Throws std::bad_alloc.
  void put_bytes(void const* from, std::size_t size) {
    if (size == 0) return;
    std::size_t const before = bytes_.size();
    bytes_.resize(before + size);
    std::memcpy(bytes_.data() + before, from, size);
  }
  /// The number of bytes so far.
  std::size_t size() const noexcept { return bytes_.size(); }
  /// The message; the packer is empty afterwards.
  std::vector<std::byte> take() noexcept { return std::exchange(bytes_, {}); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads the bytes of a message, which must outlive it.
class unpacker {
 public:
  /// Reads from the first byte on.
  explicit unpacker(std::span<std::byte const> bytes) noexcept : left_(bytes) {}
  /// The next `size` bytes. Throws std::length_error if the message has fewer: unpack reads more than pack wrote.
  std::span<std::byte const> get_bytes(std::size_t size) {
    if (size > left_.size())
      throw std::length_error("filch: a message ends before the value that is read: do pack and unpack match?");
    auto const bytes = left_.first(size);
    left_ = left_.subspan(size);
    return bytes;
  }

 private:
  std::span<std::byte const> left_;
};

/// How a Type travels: `pack(packer&, Type const&)` and `Type unpack(unpacker&)`, both static. Exists for trivially
/// copyable types other than pointers and views, for strings, and for vectors, pairs and tuples of packable types.
/// Specialise it for other types. A pointer inside a trivially copyable type is not detected, and means nothing in
/// another process.
///
/// May throw and fork. Arguments are packed and unpacked, and results unpacked, by any thread of the rank, in a
/// filch::stay: joins run in order. The rank answers no other rank meanwhile. So packing must not enter a pool, or
/// wait for another task or thread, which may itself wait for this rank's messages.
template <class Type> struct packing;

/// A type of arguments and results of tasks.
template <class Type>
concept packable = requires(packer& p, unpacker& u, Type const& value) {
  packing<Type>::pack(p, value);
  { packing<Type>::unpack(u) } -> std::same_as<Type>;
};

template <class Type>
  requires(std::is_trivially_copyable_v<Type> && !std::is_pointer_v<Type> && !std::is_member_pointer_v<Type> &&
           !std::ranges::enable_view<Type>)  // a std::string_view or std::span is a pointer, too
struct packing<Type> {
  static constexpr bool k_is_bytes = true;  // not so in a specialisation by the user
  static void pack(packer& p, Type const& value) { p.put_bytes(std::addressof(value), sizeof value); }
  static Type unpack(unpacker& u) {
    std::array<std::byte, sizeof(Type)> bytes;
    std::memcpy(bytes.data(), u.get_bytes(sizeof(Type)).data(), sizeof(Type));
    return std::bit_cast<Type>(bytes);
  }
};

template <packable Type> struct packing<std::vector<Type>> {
  static void pack(packer& p, std::vector<Type> const& values) {
    packing<std::size_t>::pack(p, values.size());
    if constexpr (k_is_one_block) {
      p.put_bytes(values.data(), values.size() * sizeof(Type));
    } else {
      for (Type const& value : values) packing<Type>::pack(p, value);
    }
  }
  static std::vector<Type> unpack(unpacker& u) {
    auto left = packing<std::size_t>::unpack(u);
    if constexpr (k_is_one_block) {
      constexpr std::size_t k_all = ~std::size_t{0};
      auto const bytes = u.get_bytes(left > k_all / sizeof(Type) ? k_all : left * sizeof(Type));
      std::vector<Type> values(left);
      if (left != 0) std::memcpy(values.data(), bytes.data(), bytes.size());
      return values;
    } else {
      std::vector<Type> values;
      for (; left > 0; --left) values.push_back(packing<Type>::unpack(u));
      return values;
    }
  }

 private:
  static constexpr bool k_is_one_block = requires { packing<Type>::k_is_bytes; } &&
                                         std::is_default_constructible_v<Type> &&
                                         std::is_trivially_copy_assignable_v<Type> && !std::is_same_v<Type, bool>;
};

template <> struct packing<std::string> {
  static void pack(packer& p, std::string const& text) {
    packing<std::size_t>::pack(p, text.size());
    p.put_bytes(text.data(), text.size());
  }
  static std::string unpack(unpacker& u) {
    auto const bytes = u.get_bytes(packing<std::size_t>::unpack(u));
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  }
};

template <packable... Type>
  requires(!std::is_trivially_copyable_v<std::tuple<Type...>>)
struct packing<std::tuple<Type...>> {
  static void pack(packer& p, std::tuple<Type...> const& values) {
    std::apply([&p](Type const&... value) { (static_cast<void>(packing<Type>::pack(p, value)), ...); }, values);
  }
  static std::tuple<Type...> unpack(unpacker& u) { return std::tuple<Type...>{packing<Type>::unpack(u)...}; }
};

template <packable First, packable Second>
  requires(!std::is_trivially_copyable_v<std::pair<First, Second>>)
struct packing<std::pair<First, Second>> {
  static void pack(packer& p, std::pair<First, Second> const& both) {
    packing<First>::pack(p, both.first);
    packing<Second>::pack(p, both.second);
  }
  static std::pair<First, Second> unpack(unpacker& u) {
    return std::pair<First, Second>{packing<First>::unpack(u), packing<Second>::unpack(u)};
  }
};

}  // namespace filch::inline FILCH_ABI
