// A file of cases for the check for races. The cases run one after the other in one process, whose report says which
// lines were found. Lines of a race bear the comment `// race NAME`. All lines of a name must be found, and no
// others: each reported pair has two lines of one name.
#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace checked {

using lines = std::map<unsigned, std::string>;  // the names of marked lines

inline lines marked_lines(char const* path) {
  lines all;
  std::ifstream file(path);
  std::string line;
  for (unsigned n = 1; std::getline(file, line); ++n) {
    auto const at = line.find("// race ");
    if (at != std::string::npos) all[n] = line.substr(at + 8);
  }
  return all;
}

/// A line of the file in a line of the report; 0 if it is another file's.
inline unsigned line_in(std::string const& frame, std::string const& path) {
  std::string const name = path.substr(path.rfind('/') + 1);
  auto const at = frame.rfind(name + ":");
  return at == std::string::npos ? 0 : static_cast<unsigned>(std::atoi(&frame[at + name.size() + 1]));
}

/// The pairs of lines in a report: of each race the first lines of both accesses that are of this file.
inline std::vector<std::pair<unsigned, unsigned>> pairs_in(std::string const& report, std::string const& path,
                                                           std::string& last_line) {
  std::vector<std::pair<unsigned, unsigned>> pairs;
  std::ifstream file(report);
  unsigned accesses = 0;
  for (std::string line; std::getline(file, line);) {
    last_line = line;
    if (line.starts_with("race ")) {
      pairs.emplace_back(0, 0);
      accesses = 0;
    } else if (line.starts_with("  ") && line[2] != ' ') {
      ++accesses;
    } else if (line.starts_with("    ") && accesses != 0 && accesses <= 2) {
      unsigned& to = accesses == 1 ? pairs.back().first : pairs.back().second;
      if (to == 0) to = line_in(line, path);
    }
  }
  return pairs;
}

inline int failed(std::string const& why) {
  std::fprintf(stderr, "FAILED: %s\n", why.c_str());
  return 1;
}

/// Compares a report with the comments of a source file.
inline int compare(std::string const& report, char const* path, int status) {
  lines const marked = marked_lines(path);
  std::set<unsigned> missing;
  for (auto const& [line, name] : marked) missing.insert(line);
  std::string last_line;
  auto const pairs = pairs_in(report, path, last_line);
  int failures = 0;
  for (auto const& [a, b] : pairs) {
    missing.erase(a);
    missing.erase(b);
    auto const first = marked.find(a);
    auto const second = marked.find(b);
    if (first == marked.end() || second == marked.end() || first->second != second->second) {
      failures += failed("false race: lines " + std::to_string(a) + " and " + std::to_string(b));
    }
  }
  for (unsigned const line : missing)
    failures += failed("not found: line " + std::to_string(line) + ", " + marked.at(line));
  std::string const begin =
      "filch: " + std::to_string(pairs.size()) + (pairs.size() == 1 ? " race in " : " races in ");
  if (!last_line.starts_with(begin)) failures += failed("last line: " + last_line);
  if (status != (pairs.empty() ? 0 : 66)) failures += failed("exit status " + std::to_string(status));
  std::printf("%zu pairs, %zu marked lines; %s\n", pairs.size(), marked.size(), last_line.c_str());
  return failures == 0 ? 0 : 1;
}

/// Runs this program again with an argument, and its report in a file. Returns the exit status.
inline int run_again(char const* program, char const* argument, std::string const& report) {
  pid_t const child = fork();
  if (child == 0) {
    setenv("FILCH_RACES_OUT", report.c_str(), 1);
    execl(program, program, argument, static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The main function of a file of cases.
template <class Run> int main_of(int count, char** arguments, char const* path, Run run) {
  if (count > 1) {
    run(arguments[1]);
    return 0;
  }
  std::string const report = std::string(arguments[0]) + ".report";
  int const status = run_again(arguments[0], "all", report);
  return compare(report, path, status);
}

}  // namespace checked
