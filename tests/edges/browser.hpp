// Pages that Filch writes, as Chromium shows them.
#pragma once

#include "edges/process.hpp"

#include <fstream>
#include <string>

namespace filch_test {

/// The page as a browser shows it, after it ran `script`.
inline std::string shown(std::string page, std::string const& script) {
  scratch_file unused;
  std::string const name = std::string(unused.path()) + ".html";
  std::ofstream(name) << page << "<script>" << script << "</script>";
  auto const e = run_program(EDGE_CHROMIUM, {"--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                             "--virtual-time-budget=2000", "file://" + name});
  EXPECT_EQ(e.exit_code, 0) << e;
  unlink(name.c_str());
  return e.out;
}

/// The text of the first element that begins so, without what is inside in tags.
inline std::string text_of(std::string const& dom, std::string const& begin) {
  auto const at = dom.find(begin);
  if (at == std::string::npos) return "no " + begin;
  auto const open = dom.find('>', at + begin.size() - 1);
  return dom.substr(open + 1, dom.find('<', open) - open - 1);
}

inline void expect_needs_no_network(std::string const& page) {
  for (char const* const of_the_network : {"http:", "https:", "src=", "@import", "url("}) {
    auto const at = page.find(of_the_network);
    bool const is_a_name = at != std::string::npos && page.compare(at, 18, "http://www.w3.org/") == 0;
    EXPECT_TRUE(at == std::string::npos || is_a_name) << of_the_network;
  }
}

/// Nothing that is shown was computed from a missing figure.
inline void expect_only_numbers(std::string const& dom) {
  for (char const* const wrong : {"NaN", "undefined", "Infinity", ">null<"}) {
    EXPECT_EQ(dom.substr(0, dom.find("<script")).find(wrong), std::string::npos) << wrong << dom;
  }
}

}  // namespace filch_test
