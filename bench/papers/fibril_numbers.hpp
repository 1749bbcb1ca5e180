// Figures of C. Yang, J. Mellor-Crummey, A Practical Solution to the Cactus Stack Problem, SPAA 2016, by their
// tables.
#pragma once

#include "subject.hpp"

namespace bench::papers::fibril {

struct program_row {
  sized what;  // table 1
  // figure 3's and figure 4's text: Fibril's performance over that of Cilk Plus and TBB; 0: not told
  double one_over_cilk, one_over_tbb, all_over_cilk, all_over_tbb;
  double steals, unmaps, faults;         // table 2: thousands, on 72 threads
  int depth, serial_pages;               // table 3
  double pages;                          // of a thread, on 72
  int delta_rss_mb, max_rss_mb, stacks;  // table 4
};
inline std::vector<program_row> const programs = {
    {{"cholesky", "4000/40000", "1000:6000:1", "60:240:1"}, 0, 0, 1.4, 3.0, 6568, 2795, 89, 10, 2, 4.82, 84, 95, 346},
    {{"fft", "2^26", "1048576", "4096"}, 0, 0, 0, 0, 81, 63, 2392, 19, 5, 13.90, 1540, 2055, 334},
    {{"fib", "42", "34", "18"}, 1.9, 6.0, 2.8, 7.9, 20, 12, 6, 41, 3, 8.46, 3, 6, 315},
    {{"heat", "2048 x 500", "2048:500:40", "50:20:4"}, 0, 0, 0, 0, 579, 452, 10, 12, 1, 4.49, 36, 65, 323},
    {{"integrate", "10^4", "1000", "1"}, 1.3, 3.6, 1.8, 4.5, 22, 19, 5, 32, 3, 8.76, 3, 6, 326},
    {{"knapsack", "32", "24", "12"}, 1.5, 4.2, 2.2, 4.8, 13, 12, 1, 32, 3, 5.71, 3, 6, 316},
    {{"lu", "4096", "1024", "64"}, 0, 0, 0, 0, 2440, 1384, 41, 8, 2, 4.92, 3, 134, 356},
    {{"matmul", "2048", "512", "64"}, 1.7, 2.5, 2.3, 4.3, 92, 62, 13, 10, 2, 4.90, 11, 54, 356},
    {{"nqueens", "14", "11", "6"}, 1.4, 2.3, 2.1, 2.8, 37, 12, 19, 14, 3, 6.19, 5, 5, 352},
    {{"quicksort", "10^8", "1000000", "2000"}, 1.6, 2.0, 0, 0, 7263, 4005, 1299, 69, 4, 9.89, 385, 769, 340},
    {{"rectmul", "4096", "512", "48"}, 0, 0, 0, 0, 43, 33, 3012, 24, 3, 9.31, 513, 772, 335},
    {{"strassen", "4096", "512", "256"}, 0, 0, 0, 0, 25, 9, 9336, 6, 2, 4.79, 2434, 2694, 343}};

}  // namespace bench::papers::fibril
