// Arguments and results of unusual types: with operators of their own, or that can't be copied.
#include "eventually.hpp"
#include "network.hpp"
#include "schedulers.hpp"

namespace filch_test {
namespace {

struct without_default {
  explicit without_default(int n) : number(n) {}
  bool operator==(without_default const&) const = default;
  int number;
};

/// It can be copied byte by byte, but not assigned.
struct with_a_constant {
  bool operator==(with_a_constant const&) const = default;
  int const number = 7;
};

/// It can be copied byte by byte, and has another way to travel.
struct in_a_byte {
  bool operator==(in_a_byte const&) const = default;
  long number;
};

}  // namespace
}  // namespace filch_test

template <> struct filch::packing<filch_test::in_a_byte> {
  static void pack(packer& p, filch_test::in_a_byte value) {
    packing<char>::pack(p, static_cast<char>(value.number));
  }
  static filch_test::in_a_byte unpack(unpacker& u) { return {packing<char>::unpack(u)}; }
};

namespace filch_test {
namespace {

constexpr long k_elsewhere = 13;

/// Its operator& returns another address, as that of an optional reference does.
struct handle {
  long value;
  long const* operator&() const noexcept { return &k_elsewhere; }
};

handle one_more(filch::rank&, handle h) { return {h.value + 1}; }
long twice(filch::rank& here, handle h) { return here.async<&one_more>(h).get().value * 2; }

TEST(cluster_values, may_overload_their_address_when_they_are_packed) {
  filch::packer p;
  filch::packing<handle>::pack(p, handle{42});
  filch::packing<std::vector<handle>>::pack(p, {handle{43}});
  filch::packing<std::tuple<handle, std::string>>::pack(p, {handle{44}, "text"});
  auto const bytes = p.take();
  filch::unpacker u(bytes);
  EXPECT_EQ(filch::packing<handle>::unpack(u).value, 42);
  EXPECT_EQ(filch::packing<std::vector<handle>>::unpack(u)[0].value, 43);
  EXPECT_EQ(std::get<0>(filch::packing<std::tuple<handle, std::string>>::unpack(u)).value, 44);
}

template <class Type> std::vector<Type> there_and_back(std::vector<Type> const& values, std::size_t expected_bytes) {
  filch::packer p;
  filch::packing<std::vector<Type>>::pack(p, values);
  EXPECT_EQ(p.size(), sizeof(std::size_t) + expected_bytes);
  auto const bytes = p.take();
  filch::unpacker u(bytes);
  return filch::packing<std::vector<Type>>::unpack(u);
}

TEST(cluster_values, may_be_vectors_of_plain_values_and_of_those_with_a_packing_of_their_own) {
  for (std::size_t n : {0u, 1u, 1000u}) {
    std::vector<long> const numbers(n, 7);
    EXPECT_EQ(there_and_back(numbers, n * sizeof(long)), numbers);
    std::vector<bool> const bits(n, true);
    EXPECT_EQ(there_and_back(bits, n), bits);
    std::vector<without_default> const others(n, without_default(7));
    EXPECT_EQ(there_and_back(others, n * sizeof(without_default)), others);
    std::vector<with_a_constant> const constants(n);
    EXPECT_EQ(there_and_back(constants, n * sizeof(with_a_constant)), constants);
    std::vector<in_a_byte> const small(n, in_a_byte{7});
    EXPECT_EQ(there_and_back(small, n), small);
  }
}

TEST(cluster_values, may_be_vectors_whose_message_is_too_short) {
  for (std::size_t n : {std::size_t{2}, ~std::size_t{0}, ~std::size_t{0} / sizeof(long) + 2}) {
    filch::packer p;
    filch::packing<std::size_t>::pack(p, n);
    filch::packing<long>::pack(p, 7);
    auto const bytes = p.take();
    filch::unpacker u(bytes);
    EXPECT_THROW(filch::packing<std::vector<long>>::unpack(u), std::length_error) << n;
  }
}

TEST(cluster_values, may_overload_their_address_as_arguments_and_results) {
  on_ranks<filch::serial>(1, 1, 1, [](auto& c) {
    EXPECT_EQ(c.reduce([](handle a, handle b) { return handle{a.value + b.value}; }, handle{7}).value, 7);
    EXPECT_EQ((c.template fold<&twice>(std::plus<>(), handle{7})), 16);
  });
}

/// Trivially copyable, and moved only. The first lies in the task, the second is too large for it.
template <std::size_t Size> struct ticket {
  explicit ticket(long n) noexcept : number(n) {}
  ticket(ticket const&) = delete;
  ticket(ticket&&) = default;
  ticket& operator=(ticket const&) = delete;
  ticket& operator=(ticket&&) = default;
  ~ticket() = default;
  long number;
  std::array<std::byte, Size> rest{};
};
static_assert(std::is_trivially_copyable_v<ticket<1>>);

template <std::size_t Size> ticket<Size> next(filch::rank&, ticket<Size> t) { return ticket<Size>(t.number + 1); }
template <std::size_t Size> long travels(filch::rank& here) {
  auto older = here.async<&next<Size>>(ticket<Size>(7));
  auto newer = here.async<&next<Size>>(ticket<Size>(8));
  EXPECT_TRUE(eventually([&] {
    here.poll();
    return older.ready();
  })) << "on the other rank";
  return older.get().number * 100 + newer.get().number;
}

template <class... Type> inline constexpr bool are_packable = (filch::packable<Type> && ...);
template <class... Type> inline constexpr bool is_one_packable = (filch::packable<Type> || ...);

struct own_view : std::ranges::view_base {
  int const* first;
};
static_assert(std::is_trivially_copyable_v<own_view>);

TEST(cluster_values, are_no_views_or_pointers_of_memory_that_does_not_travel) {
  using pair = std::pair<int, std::string>;
  EXPECT_TRUE((are_packable<int, std::string, pair, std::tuple<pair, char>, std::array<double, 3>,
                            std::vector<std::string>, std::optional<int>>));
  EXPECT_FALSE((is_one_packable<int*, int pair::*, std::string_view, std::span<int>, std::span<int, 3>, own_view,
                                std::vector<std::string_view>, std::pair<int, std::string_view>>));
}

TEST(cluster_values, may_be_moved_only) {
  on_ranks<filch::serial>(2, 1, 1, [](auto& c) {
    EXPECT_EQ((c.template fold<&travels<1>>(std::plus<>())), 809);
    EXPECT_EQ((c.template fold<&travels<100>>(std::plus<>())), 809);
    auto const sum = [](auto a, auto b) { return ticket<1>(a.number + b.number); };
    EXPECT_EQ((c.template fold<&next<1>>(sum, ticket<1>(7)).number), 8);
    EXPECT_EQ(c.reduce(sum, ticket<1>(7)).number, 14);
  });
}

}  // namespace
}  // namespace filch_test
