// Starts a program, and reports its end.
#pragma once

#include "scale.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern char** environ;

namespace filch_test {

using variables = std::vector<std::pair<std::string, std::string>>;

struct ending {
  int exit_code = -1;  // if it ended by itself
  int signal = 0;      // the signal that killed it
  bool hung = false;
  std::string out;
  std::string err;

  std::ptrdiff_t error_lines() const { return std::count(err.begin(), err.end(), '\n'); }
  bool says(std::string const& text) const { return err.find(text) != std::string::npos; }
};

inline std::ostream& operator<<(std::ostream& stream, ending const& e) {
  if (e.hung) return stream << "hung; stderr: " << e.err << "stdout: " << e.out;
  return stream << "exit code " << e.exit_code << ", signal " << e.signal << "; stderr: " << e.err
                << "stdout: " << e.out;
}

/// A file that is removed with this object.
class scratch_file {
 public:
  scratch_file() : path_("/tmp/filch-test-XXXXXX") { close(mkstemp(path_.data())); }
  /// Another program makes it.
  explicit scratch_file(std::string path) : path_(std::move(path)) {}
  scratch_file(scratch_file const&) = delete;
  scratch_file& operator=(scratch_file const&) = delete;
  ~scratch_file() { unlink(path()); }
  char const* path() const { return path_.c_str(); }
  /// Its name in its folder, where this process goes.
  std::string name_in_its_folder() const {
    auto const slash = path_.rfind('/');
    EXPECT_EQ(chdir(path_.substr(0, slash).c_str()), 0);
    return path_.substr(slash + 1);
  }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

 private:
  std::string path_;
};

/// Options without which a sanitizer ends a child of fork() that starts threads, or counts as lost what lies
/// on stacks that exit() left behind. They silence no report of a race or a bad access.
inline std::string sanitizer_options(char const* name, char const* more) {
  char const* const now = std::getenv(name);
  return std::string(name) + "=" + (now ? std::string(now) + ":" : "") + more;
}

/// Runs `program arguments...` in this environment, without any FILCH_ variable but `extra`.
inline ending run_program(char const* program, std::vector<std::string> arguments, variables const& extra = {}) {
  std::vector<std::string> environment{sanitizer_options("TSAN_OPTIONS", "die_after_fork=0:atexit_sleep_ms=50"),
                                       sanitizer_options("ASAN_OPTIONS", "detect_leaks=0")};
  for (char** e = environ; *e; ++e) {
    std::string const entry = *e;
    if (entry.rfind("FILCH_", 0) != 0 && entry.rfind("TSAN_OPTIONS=", 0) != 0 &&
        entry.rfind("ASAN_OPTIONS=", 0) != 0) {
      environment.push_back(entry);
    }
  }
  for (auto const& [name, value] : extra) environment.push_back(name + "=" + value);
  arguments.insert(arguments.begin(), program);
  auto const pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> p;
    for (auto& s : strings) p.push_back(s.data());
    p.push_back(nullptr);
    return p;
  };

  scratch_file out;
  scratch_file err;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.path(), O_WRONLY | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.path(), O_WRONLY | O_TRUNC, 0600);
  pid_t pid = -1;
  int const failed =
      posix_spawn(&pid, program, &files, nullptr, pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  ending e;
  EXPECT_EQ(failed, 0) << program;
  if (failed) return e;

  int status = 0;
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      e.hung = true;
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFEXITED(status)) e.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) e.signal = WTERMSIG(status);
  e.out = out.text();
  e.err = err.text();
  return e;
}

/// Expects that it ended with this code, with this on stdout, and nothing on stderr.
inline void expect_quiet_end(ending const& e, int code, std::string const& out) {
  EXPECT_EQ(e.exit_code, code) << e;
  EXPECT_EQ(e.out, out) << e;
  EXPECT_EQ(e.err, "") << e;
}

}  // namespace filch_test
