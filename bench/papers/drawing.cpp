// Figures as SVG: see report.hpp. The paper's points are squares, predicted lines are dashed.
#include "report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace bench::papers {
namespace {

constexpr double k_width = 640, k_height = 400, k_left = 60, k_right = 200, k_top = 40, k_bottom = 50;
constexpr std::array k_colours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                  "#8c564b", "#17becf", "#7f7f7f", "#bcbd22", "#e377c2"};

std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

/// 1, 2 or 5 times a power of ten: some five of them make up `most`.
double step_of(double most) {
  double const power = std::pow(10, std::floor(std::log10(most / 5)));
  for (double const step : {1.0, 2.0, 5.0}) {
    if (most / (step * power) <= 6) return step * power;
  }
  return 10 * power;
}

class chart {
 public:
  explicit chart(figure const& f) : figure_(f) {
    for (series const& s : f.lines) {
      for (auto const& [x, y] : s.points) {
        most_x_ = std::max(most_x_, x);
        most_y_ = std::max(most_y_, y);
      }
    }
    if (most_x_ <= 0) most_x_ = 1;
    if (most_y_ <= 0) most_y_ = 1;
  }
  std::string text() {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        k_width, k_height);
    words(k_left, 20, figure_.title, "start");
    words((k_left + k_width - k_right) / 2, k_height - 10, figure_.x, "middle");
    words(k_left, k_top - 6, figure_.y, "middle");
    axes();
    for (std::size_t i = 0; i < figure_.lines.size(); ++i) draw(figure_.lines[i], i);
    return out_ + "</svg>\n";
  }

 private:
  double at_x(double x) const { return k_left + (k_width - k_right - k_left) * x / most_x_; }
  double at_y(double y) const { return k_height - k_bottom - (k_height - k_bottom - k_top) * y / most_y_; }
  void words(double x, double y, std::string_view text, std::string_view anchor) {
    out_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour) {
    out_ += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2, colour);
  }
  void axes() {
    for (double y = 0; y <= most_y_; y += step_of(most_y_)) {
      line(k_left, at_y(y), k_width - k_right, at_y(y), "#dddddd");
      words(k_left - 6, at_y(y) + 4, digits(y), "end");
    }
    for (double x = 0; x <= most_x_; x += step_of(most_x_)) {
      line(at_x(x), k_height - k_bottom, at_x(x), k_height - k_bottom + 4, "black");
      words(at_x(x), k_height - k_bottom + 18, digits(x), "middle");
    }
    line(k_left, k_height - k_bottom, k_width - k_right, k_height - k_bottom, "black");
    line(k_left, k_top, k_left, k_height - k_bottom, "black");
  }
  void draw(series const& s, std::size_t number) {
    std::string_view const colour = k_colours[number % k_colours.size()];
    std::string path;
    for (auto const& [x, y] : s.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x(x), at_y(y));
      out_ +=
          s.from == source::paper
              ? fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\" fill=\"{}\"/>\n", at_x(x) - 3,
                            at_y(y) - 3, colour)
              : fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", at_x(x), at_y(y), colour);
    }
    out_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", path, colour,
                        s.from == source::predicted ? " stroke-dasharray=\"5 3\"" : "");
    double const y = k_top + 18.0 * static_cast<double>(number);
    out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                        k_width - k_right + 12, y - 9, colour);
    words(k_width - k_right + 28, y, s.label, "start");
  }

  figure const& figure_;
  double most_x_ = 0, most_y_ = 0;
  std::string out_;
};

}  // namespace

std::string drawing(figure const& f) { return chart(f).text(); }

}  // namespace bench::papers
