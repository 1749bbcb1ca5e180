// Arguments and results of unusual types: with operators of their own, or that can't be copied.
#include "eventually.hpp"
#include "network.hpp"
#include "schedulers.hpp"

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
