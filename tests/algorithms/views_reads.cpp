// std::views as inputs: each element is read once.
#include "views.hpp"

#if FILCH_TEST_VIEWS
namespace filch_test {
namespace {

TEST(views_reads, are_read_once) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    std::vector<int> out(n);
    counted_reads counted(data);
    auto const range = counted.range();
    auto const reads_once = [&](auto&& name, auto algorithm) {
      algorithm(range);
      EXPECT_EQ(counted.take(), n) << name;
      algorithm(range | v::reverse);
      EXPECT_EQ(counted.take(), n) << name << " of reverse";
    };
    auto const reads_each_once = [&](auto&& name, auto algorithm) {
      reads_once(name, algorithm);
      algorithm(range | v::filter(is_even));
      EXPECT_EQ(counted.take(), n) << name << " of filter";
      algorithm(range | v::filter(is_even) | v::filter(is_positive));
      EXPECT_EQ(counted.take(), n) << name << " of two filters";
    };
    using S = scheduler;
    reads_each_once("for_each", [](auto&& r) { filch::for_each<S>(r, [](int) {}); });
    reads_each_once("reduce", [](auto&& r) { filch::reduce<S>(r, 0); });
    reads_each_once("transform_reduce",
                    [](auto&& r) { filch::transform_reduce<S>(r, 0, std::plus<>{}, std::negate<>{}); });
    reads_each_once("count_if", [](auto&& r) { filch::count_if<S>(r, is_positive); });
    reads_each_once("all_of", [](auto&& r) { filch::all_of<S>(r, [](int) { return true; }); });
    reads_each_once("find_if", [](auto&& r) { filch::find_if<S>(r, [](int) { return false; }); });
    reads_once("min_element", [](auto&& r) { filch::min_element<S>(r); });
    reads_once("minmax_element", [](auto&& r) { filch::minmax_element<S>(r, {}, std::negate<>{}); });
    reads_once("copy", [&](auto&& r) { filch::copy<S>(r, out); });
    reads_once("transform", [&](auto&& r) { filch::transform<S>(r, out, std::negate<>{}); });
    reads_once("histogram", [](auto&& r) { filch::histogram<S>(r, 2, [](int x) { return x & 1; }); });
  });
}

/// On one worker. A second pass of what was given away reads the elements that are written again.
TEST(views_reads, are_read_once_by_scans_and_filters) {
  typename scheduler::pool pool({.workers = 1});
  auto const data = numbers(1'000);
  std::vector<int> out(1'000), out2(1'000);
  counted_reads counted(data);
  auto const range = counted.range();
  pool.run([&] {
    filch::copy_if<scheduler>(range, out, is_even);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::copy_if<scheduler>(range | v::filter(is_even), out, is_positive);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::partition_copy<scheduler>(range.begin(), range.end(), out.begin(), out2.begin(), is_even);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::inclusive_scan<scheduler>(range, out);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::exclusive_scan<scheduler>(range, out, 0);
    EXPECT_EQ(counted.take(), 1'000u);
  });
}

}  // namespace
}  // namespace filch_test
#endif
