// The short table: a row for each workload, a column for each contender on a number of workers. This is its text;
// measure_short.hpp measures the rows, and html_page.hpp shows them as a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct short_column {
  std::string title;      // the name in the table: "Filch", "oneTBB"
  std::string scheduler;  // the contender's name; empty: this program was built without it
  unsigned workers = 1;
  bool is_peer = false;
};

struct short_cell {
  double seconds = 0;  // median; 0: not measured
  double speedup = 0;  // serial time over this one
  bool is_estimate = false;
  bool has_fewer_turns = false;  // a peer that takes seconds
};

struct short_row {
  std::string workload;  // NAME=SIZE
  double serial_seconds = 0;
  std::vector<short_cell> cells;  // one for each column
  double limit = 0;               // speed-up of serial copies side by side, one a worker; 0: not measured
};

struct short_table {
  std::string machine;  // one line: processor, compiler, version
  std::vector<short_column> columns;
  std::vector<short_row> rows;
  std::string remark;  // one line; empty: none
};

inline constexpr std::size_t k_most_short_columns = 4;  // for lines of 100 characters
inline constexpr double k_equal = 0.05;                 // speed-ups that differ by less than this part are equal

enum class comparison { unknown, faster, equal, slower };
/// A cell against those of all peers on as many workers: slower than one peer is slower, faster than each is faster.
[[nodiscard]] comparison compare(std::vector<short_column> const& columns, short_row const& r, std::size_t column);

/// The greatest number of workers of a column; `limit` is that of as many copies.
unsigned most_workers(std::vector<short_column> const& columns);

/// "142 ms", "5.61 s".
std::string duration_text(double seconds);
/// Three digits: "0.031", "1.95".
std::string speedup_text(double speedup);
/// "1 worker", "2 workers".
std::string workers_text(unsigned workers);

/// Two lines of at most 100 characters.
std::string short_head(std::vector<short_column> const& columns);
/// One line of at most 100 characters. With colours, faster is green and slower is red.
std::string short_line(std::vector<short_column> const& columns, short_row const& r, bool with_colours);
/// The meaning of the signs in the table.
std::string short_legend(short_table const& t, bool with_colours);
/// The conclusions from the rows, in sentences, a line each.
std::string short_conclusion(short_table const& t);

/// Is standard output a terminal, and NO_COLOR not set?
bool colours_are_wanted();

}  // namespace bench
