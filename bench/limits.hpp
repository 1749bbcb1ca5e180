// Limits of the rows of a table. A noisy host breaks any of them now and then, so the 95% interval decides.
#pragma once

#include "statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

/// The limits of a row of a table. A limit is broken if the whole interval lies beyond it, unclear if the median
/// does.
class kept_limits {
 public:
  void at_most(interval const& measured, double most, std::string const& name) {
    if (measured.median > most) (measured.low > most ? broken_ : unclear_).push_back(name);
  }
  void at_least(interval const& measured, double least, std::string const& name) {
    if (measured.median < least) (measured.high < least ? broken_ : unclear_).push_back(name);
  }

  void add_to(nlohmann::ordered_json& row) const {
    row["broken_limits"] = broken_;
    row["unclear_limits"] = unclear_;
  }
  std::string text() const {
    std::string all;
    if (!broken_.empty()) all = fmt::format("broken: {}", fmt::join(broken_, ", "));
    if (!unclear_.empty()) all += fmt::format("{}unclear: {}", all.empty() ? "" : "; ", fmt::join(unclear_, ", "));
    return all.empty() ? "kept" : all;
  }

 private:
  std::vector<std::string> broken_;
  std::vector<std::string> unclear_;
};

}  // namespace bench
