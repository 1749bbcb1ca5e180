// std::views::filter as an input: the results of the serial loop.
#include "views.hpp"

#if FILCH_TEST_VIEWS
namespace filch_test {
namespace {

TEST(views_of_filters, filters_are_inputs) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    int const m = static_cast<int>(n);
    agrees_with_the_loop<scheduler>(data | v::filter([](int) { return false; }));
    agrees_with_the_loop<scheduler>(v::iota(-m, m) | v::filter(is_even));
    agrees_with_the_loop<scheduler>(data | v::transform(square) | v::filter(is_even) |
                                    v::filter([](auto x) { return x % 3 == 0; }));
    agrees_with_the_loop<scheduler>(data | v::reverse | v::take(m / 2) | v::filter(is_even));
    agrees_with_the_loop<scheduler>(filch::zip(data, data) |
                                    v::transform([](auto const& e) { return std::get<0>(e) + std::get<1>(e); }) |
                                    v::filter(is_positive));
    agrees_with_the_loop<scheduler>(v::iota(0, m) | v::transform(square) | v::filter(is_even) |
                                    v::transform([](long x) { return x / 3 - 100; }));
    EXPECT_EQ(filch::reduce<scheduler>(numbers(n) | v::filter(is_even) | v::transform(square), 0L),
              filch::transform_reduce<scheduler>(data | v::filter(is_even), 0L, std::plus<>{}, square));
    // An rvalue that holds its elements.
    EXPECT_EQ(filch::reduce<scheduler>(numbers(n) | v::filter(is_even), 0L),
              filch::reduce<scheduler>(data | v::filter(is_even), 0L));
  });
}

TEST(views_of_filters, filters_that_are_searched_give_their_iterators) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto data = numbers(n);
    auto evens = data | v::filter(is_even);
    auto const all = values_of(evens);
    auto const hit = filch::find_if<scheduler>(evens, is_positive);
    EXPECT_EQ(hit, std::ranges::find_if(evens, is_positive));
    EXPECT_EQ(filch::find_if_not<scheduler>(evens, is_positive), std::ranges::find_if_not(evens, is_positive));
    EXPECT_EQ(filch::find<scheduler>(evens, 5), evens.end());
    // It goes on from there.
    EXPECT_EQ(std::ranges::distance(hit, evens.end()), all.end() - std::find_if(all.begin(), all.end(), is_positive));
    EXPECT_EQ(filch::for_each<scheduler>(evens, [](int& x) { x += 2; }), evens.end());
    std::vector<int> half(all.size() / 2);
    auto const [in, out] = filch::copy_if<scheduler>(evens, half, [](int) { return true; });
    EXPECT_EQ(out, half.end());
    EXPECT_EQ(in, std::ranges::next(evens.begin(), static_cast<std::ptrdiff_t>(half.size()), evens.end()));
    for (std::size_t i = 0; i < half.size(); ++i) EXPECT_EQ(half[i], all[i] + 2);
    static_assert(
        std::same_as<decltype(filch::find<scheduler>(data | v::filter(is_even), 5)), std::ranges::dangling>);
  });
}

// A list, or what std::views::take leaves of a filter, has no positions that a worker could begin at.
template <class Range>
concept can_be_counted = requires(Range&& range) { filch::count_if(range, [](int) { return true; }); };
using filtered = decltype(std::declval<std::vector<int>&>() | v::filter(is_even));
static_assert(can_be_counted<std::vector<int>&> && can_be_counted<filtered&>);
static_assert(!can_be_counted<decltype(std::declval<filtered>() | v::take(3))>);

}  // namespace
}  // namespace filch_test
#endif
