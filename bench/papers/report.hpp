// A paper repeated: its tables and figures with the paper's figures beside ours, and a row for each claim.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench::papers {

struct table {
  std::string title;  // with the paper's number
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note;  // one sentence, or empty
};

enum class source : unsigned char { paper, measured, predicted };

struct series {
  std::string label;
  source from;
  std::vector<std::pair<double, double>> points;
};

struct figure {
  std::string title;  // with the paper's number
  std::string x, y;
  std::vector<series> lines;
  std::string file;  // of the drawing, without its ending
};

/// A row of docs/papers.md.
struct claim {
  std::string item, theirs, ours;
  enum class result : unsigned char { repeated, not_repeated, not_repeatable } outcome;
  std::string why;
};

class report {
 public:
  report(std::string name, std::string citation) : name_(std::move(name)), citation_(std::move(citation)) {}

  /// Prints it at once.
  void add(table const& t);
  void add(figure f);
  void add(claim c);

  /// Throws bad_request if a file can't be written.
  void write_drawings(std::string const& folder) const;
  /// Replaces the paper's section of the page, or adds it.
  void write_section(std::string const& page) const;

 private:
  std::string section() const;

  std::string name_;      // on the command line
  std::string citation_;  // in one line
  std::vector<figure> figures_;
  std::vector<claim> claims_;
};

/// A chart with a line for each series.
std::string drawing(figure const& f);

/// With so many significant digits, without an exponent.
std::string digits(double x, int n = 3);

}  // namespace bench::papers
