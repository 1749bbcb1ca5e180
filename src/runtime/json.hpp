// Figures as JSON, for the pages.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace filch::runtime {

/// Text of JSON. Commas are put where they belong.
class json {
 public:
  std::string text;

  void open(char bracket) {
    before();
    text += bracket;
    is_first_ = true;
  }
  void close(char bracket) {
    text += bracket;
    is_first_ = false;
  }
  void name(std::string_view n) {
    string(n);
    text += ':';
    is_first_ = true;
  }
  void string(std::string_view s) {
    before();
    text += '"';
    for (char const c : s) {
      // "<" might end the script around it.
      if (c == '"' || c == '\\' || c == '<' || static_cast<unsigned char>(c) < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += escaped;
      } else {
        text += c;
      }
    }
    text += '"';
  }
  void number(double x) {
    before();
    char digits[40];
    auto const end = std::to_chars(digits, digits + sizeof(digits), x, std::chars_format::general, 9);
    text.append(digits, end.ptr);
  }
  void number(std::uint64_t x) {
    before();
    text += std::to_string(x);
  }
  void nothing() {
    before();
    text += "null";
  }
  template <class Value> void field(std::string_view n, Value x) {
    name(n);
    number(x);
  }
  void field(std::string_view n, std::string const& s) {
    name(n);
    string(s);
  }

 private:
  void before() {
    if (!is_first_) text += ',';
    is_first_ = false;
  }
  bool is_first_ = true;
};

}  // namespace filch::runtime
