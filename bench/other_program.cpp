// Starts the other program of other_program.hpp and reads its rows, as JSON. main.cpp calls it.
#include "other_program.hpp"

#include "report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace bench {
namespace {

#ifdef BENCH_LLVM_PROGRAM
constexpr std::string_view k_program = BENCH_LLVM_PROGRAM;
constexpr std::string_view k_contender = "openmp-llvm";
#else
constexpr std::string_view k_program = "";
constexpr std::string_view k_contender = "";
#endif

}  // namespace

std::string_view other_contender() { return k_contender; }

bool other_program_is_there() { return !k_program.empty() && access(k_program.data(), X_OK) == 0; }

std::vector<row> from_other_program(sized_workload const& w, unsigned workers, unsigned pairs) {
  std::string const command =
      fmt::format("'{}' --workload '{}={}' --scheduler {} --workers {} --repeat {} --format json", k_program,
                  w.what->name, w.size, k_contender, workers, pairs);
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  if (pclose(pipe) != 0) throw bad_request("the program for " + std::string(k_contender) + " failed: " + command);
  std::vector<row> rows;
  for (auto const& j : nlohmann::ordered_json::parse(output)) rows.push_back(from_json(j));
  return rows;
}

}  // namespace bench
