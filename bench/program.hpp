// A workload at a size: runs many times on pools, and checks its answer each time.
#pragma once

#include "contender.hpp"
#include "measure.hpp"

#include <fmt/format.h>
#include <chrono>
#include <memory>
#include <string>

namespace bench {

struct sized_workload {
  workload const* what;
  std::string size;
  std::string peer_size;  // size for peers in the short table, which estimates their times from it; empty: the same
};

class program {
 public:
  program(workload const& w, std::string_view size, std::string_view who) : w_(w), who_(who), job_(w.make(size)) {}
  job& instance() { return *job_; }
  /// Returns the seconds that it took.
  double run(running_pool& pool) {
    job_->reset();
    auto const begin = std::chrono::steady_clock::now();
    pool.run(w_.name, *job_);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    if (!job_->verify()) throw wrong_answer(fmt::format("{} on {}: wrong answer", w_.name, who_));
    return took.count();
  }

 private:
  workload const& w_;
  std::string_view who_;
  std::unique_ptr<job> job_;
};

}  // namespace bench
