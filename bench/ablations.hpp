// The direct task stack without its parts (ablations/task_stack.hpp), on fib and stress.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A variant at work. Calls return the seconds of the run, and throw wrong_answer.
struct ablation {
  std::string_view name;  // the paper's
  std::function<double(long n)> fib;
  std::function<double(std::string_view size)> stress;  // at a size of that workload
};

/// Table II's rows, each with one worker: base first, the serial program last.
std::vector<ablation> join_ablations();
/// Figure 4's, with so many workers: base, peek, trylock, nolock.
std::vector<ablation> steal_ablations(unsigned workers);
/// All variants that have thieves, for checks of their answers.
std::vector<ablation> ablations_with_thieves(unsigned workers);

}  // namespace bench
