// Arguments and results whose types overload operators.
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

}  // namespace
}  // namespace filch_test
