// The published workloads of filch-bench at tiny sizes: the answers of their sequential programs and of their forks,
// and that a wrong answer is noticed: bench/workloads/.
#include "schedulers.hpp"
#include "workloads/cholesky.hpp"
#include "workloads/fft.hpp"
#include "workloads/heat.hpp"
#include "workloads/jacobi.hpp"
#include "workloads/lu.hpp"
#include "workloads/mm.hpp"
#include "workloads/quicksort.hpp"
#include "workloads/rectmul.hpp"
#include "workloads/ssf.hpp"
#include "workloads/stress.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <functional>

namespace {

using bench::job_of;

/// Right by both programs; wrong before a run.
template <class S, class W> void expect_right(std::string_view size) {
  job_of<W> job(size);
  job.reset();
  job.answer = W::plain(job.input);
  EXPECT_TRUE(job.verify()) << W::name << "=" << size << " by the sequential program";
  job.reset();
  EXPECT_FALSE(job.verify()) << W::name << "=" << size << " before it ran";
  job.answer = {};
  typename S::pool pool({.workers = 3});
  pool.run([&job] { job.answer = W::template run<S>(job.input); });
  EXPECT_TRUE(job.verify()) << W::name << "=" << size << " on " << S::name;
}

/// `spoil` makes one place of a right answer wrong.
template <class W> void expect_noticed(std::string_view size, std::function<void(job_of<W>&)> const& spoil) {
  job_of<W> job(size);
  job.reset();
  job.answer = W::plain(job.input);
  ASSERT_TRUE(job.verify()) << W::name << "=" << size;
  spoil(job);
  EXPECT_FALSE(job.verify()) << W::name << "=" << size << " with a wrong answer";
}

void add_rounding(double& x) { x = std::nextafter(x, 1e300); }

template <class S> class bench_workloads : public ::testing::Test {};
TYPED_TEST_SUITE(bench_workloads, filch_test::all_schedulers);

TYPED_TEST(bench_workloads, jacobi_is_right) {
  for (auto const size : {"1:1", "2:4", "7:3", "64:5", "50:4:9", "33:6:4096"})
    expect_right<TypeParam, bench::jacobi>(size);
}
TYPED_TEST(bench_workloads, heat_is_right) {
  for (auto const size : {"1:1:1", "30:7:5", "100:3:8", "10:64:3"}) expect_right<TypeParam, bench::heat>(size);
}
TYPED_TEST(bench_workloads, lu_is_right) {
  for (auto const size : {"32", "64", "128"}) expect_right<TypeParam, bench::lu>(size);
}
TYPED_TEST(bench_workloads, cholesky_is_right) {
  for (auto const size : {"4:4:1", "5:5:2", "20:40:2", "64:64:3", "50:600:1", "130:500:2"})
    expect_right<TypeParam, bench::cholesky>(size);
}
TYPED_TEST(bench_workloads, fft_is_right) {
  for (auto const size : {"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "16384"})
    expect_right<TypeParam, bench::fft>(size);
}
TYPED_TEST(bench_workloads, rectmul_is_right) {
  for (auto const size : {"16", "64", "16:96:32", "64:16:128", "48:80:112"})
    expect_right<TypeParam, bench::rectmul>(size);
}
TYPED_TEST(bench_workloads, mm_is_right) {
  for (auto const size : {"1:1", "20:3", "33:2"}) expect_right<TypeParam, bench::mm>(size);
}
TYPED_TEST(bench_workloads, ssf_is_right) {
  for (auto const size : {"2:2", "3:1", "9:2"}) expect_right<TypeParam, bench::ssf>(size);
}
TYPED_TEST(bench_workloads, stress_is_right) {
  for (auto const size : {"1:0:3", "16:5:20"}) expect_right<TypeParam, bench::stress>(size);
}
TYPED_TEST(bench_workloads, quicksort_is_right) {
  for (auto const size : {"2", "20000"}) expect_right<TypeParam, bench::quicksort>(size);
}

TEST(wrong_answers, of_meshes_are_noticed) {
  expect_noticed<bench::jacobi>("20:4", [](auto& job) { add_rounding(job.input.mesh.copies[0][25]); });
  expect_noticed<bench::jacobi>("20:4", [](auto& job) { add_rounding(job.answer); });
  expect_noticed<bench::heat>("20:8:4", [](auto& job) { add_rounding(job.input.mesh.copies[0][15]); });
}
// Also where the sequential program is wrong in the same way.
TEST(wrong_answers, of_meshes_are_noticed_without_the_sequential_program) {
  expect_noticed<bench::jacobi>("20:4", [](auto& job) {
    job.input.mesh.copies[0][25] += 1e-9;
    job.input.expected_bits = job.input.mesh.bits(4);
  });
  expect_noticed<bench::heat>("20:8:4", [](auto& job) {
    job.input.mesh.copies[0][15] += 1e-9;
    job.input.expected_bits = job.input.mesh.bits(4);
  });
}
TEST(wrong_answers, of_lu_are_noticed) {
  expect_noticed<bench::lu>("64", [](auto& job) { add_rounding(job.input.data[3].at[2][1]); });
  expect_noticed<bench::lu>("64", [](auto& job) {
    job.input.data[3].at[2][1] += 1e-6;
    job.input.expected_bits = bench::lu::bits(job.input);
  });
}
TEST(wrong_answers, of_cholesky_are_noticed) {
  expect_noticed<bench::cholesky>("20:40:1", [](auto& job) { add_rounding(job.input.decomposed.element(9, 9)); });
  expect_noticed<bench::cholesky>("20:40:1", [](auto& job) {
    job.input.decomposed.element(9, 9) += 1e-9;
    job.input.expected_bits = job.input.decomposed.bits();
  });
}
TEST(wrong_answers, of_fft_are_noticed) {
  expect_noticed<bench::fft>("256", [](auto& job) { add_rounding(job.input.result[200].im); });
  expect_noticed<bench::fft>("256", [](auto& job) {
    job.input.result[200].im += 1e-9;
    job.input.expected_bits = bench::fft::bits(256, job.input.result.data());
  });
}
TEST(wrong_answers, of_matrix_products_are_noticed) {
  expect_noticed<bench::rectmul>("32:16:48", [](auto& job) { job.input.c.data[5].at[15][15] += 1; });
  expect_noticed<bench::mm>("20:1", [](auto& job) { job.input.factors.c[399] += 1; });
}
TEST(wrong_answers, of_ssf_are_noticed) {
  expect_noticed<bench::ssf>("9:1", [](auto& job) { ++job.input.found[54].position; });
  expect_noticed<bench::ssf>("9:1", [](auto& job) { ++job.input.found[0].length; });
}
TEST(wrong_answers, of_stress_and_quicksort_are_noticed) {
  expect_noticed<bench::stress>("1:3:2", [](auto& job) { --job.answer; });
  expect_noticed<bench::quicksort>("300", [](auto& job) { std::swap(job.input.data[7], job.input.data[8]); });
}

}  // namespace
