// Files of a directory tree that have the same contents: a task for each directory, then a loop over all files that
// have the size of another one. While a worker waits for the disk, in filch::blocking, another thread works.
//   example-duplicates [directory]
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filch/blocking.hpp>
#include <filch/for_each.hpp>
#include <filch/group_by.hpp>
#include <filch/scope.hpp>
#include <filch/sort.hpp>
#include <filch/worker_local.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stopwatch.hpp"

namespace fs = std::filesystem;

struct file {
  fs::path path;
  std::uintmax_t size;
  std::uint64_t hash;
};
using files = std::vector<file>;

static void list(fs::path const& directory, filch::worker_local<files>& found) {
  auto const entries = filch::blocking([&] {
    std::error_code unreadable;
    std::vector<fs::directory_entry> all;
    for (fs::directory_iterator i(directory, unreadable), end; i != end; i.increment(unreadable)) all.push_back(*i);
    return all;
  });
  filch::scope([&](auto& s) {
    for (fs::directory_entry const& e : entries) {
      std::error_code gone;
      if (e.is_symlink(gone)) continue;
      if (e.is_directory(gone)) {
        s.spawn([&e, &found] { list(e.path(), found); });
      } else if (e.is_regular_file(gone)) {
        found.local().push_back({e.path(), e.file_size(gone), 0});
      }
    }
  });
}

/// A hash of the size and the contents.
static std::uint64_t hash_of(file const& f) {
  std::uint64_t hash = f.size;
  std::array<char, (1 << 16) + 8> piece;
  std::ifstream in(f.path, std::ios::binary);
  do {
    filch::blocking([&] { in.read(piece.data(), 1 << 16); });
    auto const n = static_cast<std::size_t>(in.gcount());
    std::memset(&piece[n], 0, 8);  // the last word may be longer than the file
    for (std::size_t i = 0; i < n; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, &piece[i], 8);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
  } while (in);
  return in.eof() ? hash : fs::hash_value(f.path);  // unreadable: like no other
}

int main(int argc, char** argv) {
  fs::path const directory = argc > 1 ? argv[1] : ".";
  if (!fs::is_directory(directory)) {
    std::fprintf(stderr, "example-duplicates: %s is no directory\n", directory.c_str());
    return 1;
  }

  stopwatch time;
  filch::worker_local<files> found;
  list(directory, found);
  files all = found.combine([](files some, files const& more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
  });
  filch::sort(all.begin(), all.end(), {}, &file::path);

  // Only files of equal size are read.
  files candidates;
  for (auto& [size, same] : filch::group_by(all.begin(), all.end(), [](file const& f) { return f.size; })) {
    if (size != 0 && same.size() > 1) candidates.insert(candidates.end(), same.begin(), same.end());
  }
  filch::for_each(candidates.begin(), candidates.end(), [](file& f) { f.hash = hash_of(f); });
  auto groups = filch::group_by(candidates.begin(), candidates.end(), [](file const& f) { return f.hash; });
  std::erase_if(groups, [](auto const& group) { return group.second.size() < 2; });
  auto const wasted = [](auto const& group) { return group.second[0].size * (group.second.size() - 1); };
  std::sort(groups.begin(), groups.end(), [=](auto& a, auto& b) { return wasted(a) > wasted(b); });
  std::uintmax_t sum = 0;
  for (auto const& group : groups) sum += wasted(group);
  std::printf("%zu files, %zu read, in %.0f ms\n", all.size(), candidates.size(), time.milliseconds());

  for (std::size_t i = 0; i < std::min<std::size_t>(groups.size(), 5); ++i) {
    files const& same = groups[i].second;
    std::printf("%zu files of %ju bytes: %s, %s ...\n", same.size(), same[0].size, same[0].path.c_str(),
                same[1].path.c_str());
  }
  std::printf("%zu files have copies, of %ju bytes in all\n", groups.size(), sum);
}
