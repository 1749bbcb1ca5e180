// Races in words, and in JSON. report.cpp calls it when the process
// ends, or at once where the program asks for that.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "races/finding.hpp"

namespace filch::races {
namespace {

char const* kind_of(found_access const& a) noexcept {
  if (a.frees) return "free";
  if (a.is_atomic) return a.writes ? "atomic write" : "atomic read";
  return a.writes ? "write" : "read";
}

std::string place_of(source_frame const& f) {
  if (f.file.empty()) return f.function;
  if (f.line == 0) return f.function + " " + f.file;
  return f.function + " " + f.file + ":" + std::to_string(f.line);
}

std::string in_hex(address a) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIxPTR, a);
  return text;
}

std::string memory_of(finding const& f) {
  if (f.memory.begin != 0) {
    return "byte " + std::to_string(f.at - f.memory.begin) + " of " + std::to_string(f.memory.bytes) + " allocated";
  }
  if (f.frame != 0) {
    auto const frames = frames_of({f.frame});
    return frames.empty() ? "a stack" : "the stack frame of " + place_of(frames.back());
  }
  return variable_at(f.at);
}

void add_calls(std::string& text, std::vector<address> const& calls) {
  for (auto const& frame : frames_of(calls)) text += "    " + place_of(frame) + "\n";
}

void add_quoted(std::string& text, std::string const& s) {
  text += '"';
  for (char const c : s) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      text += escaped;
    } else {
      text += c;
    }
  }
  text += '"';
}

void add_json_calls(std::string& text, std::vector<address> const& calls) {
  text += '[';
  bool is_first = true;
  for (auto const& frame : frames_of(calls)) {
    text += is_first ? "{\"function\": " : ", {\"function\": ";
    add_quoted(text, frame.function);
    text += ", \"file\": ";
    add_quoted(text, frame.file);
    text += ", \"line\": " + std::to_string(frame.line) + "}";
    is_first = false;
  }
  text += ']';
}

void add_json_access(std::string& text, char const* name, found_access const& a) {
  text += std::string("\"") + name + "\": {\"kind\": \"" + kind_of(a) + "\", \"calls\": ";
  add_json_calls(text, a.calls);
  text += "}, ";
}

}  // namespace

std::string as_text(std::vector<finding> const& all) {
  std::string text;
  for (std::size_t i = 0; i != all.size(); ++i) {
    finding const& f = all[i];
    std::string const memory = memory_of(f);
    text += "race " + std::to_string(i + 1) + " at " + in_hex(f.at) + (memory.empty() ? "" : ": ") + memory + "\n";
    text += std::string("  ") + kind_of(f.earlier) + "\n";
    add_calls(text, f.earlier.calls);
    text += std::string("  ") + kind_of(f.later) + "\n";
    add_calls(text, f.later.calls);
    text += std::string("  parallel since the ") + (f.is_scope ? "spawn" : "join") + " at\n";
    add_calls(text, f.fork);
    if (!f.made.empty()) {
      text += "  allocated at\n";
      add_calls(text, f.made);
    }
    text += "\n";
  }
  return text;
}

std::string as_json(std::vector<finding> const& all, std::string const& summary) {
  std::string text = "{\"races\": [";
  for (std::size_t i = 0; i != all.size(); ++i) {
    finding const& f = all[i];
    text += i == 0 ? "\n{" : ",\n{";
    text += "\"address\": \"" + in_hex(f.at) + "\", \"memory\": ";
    add_quoted(text, memory_of(f));
    text += ", ";
    add_json_access(text, "earlier", f.earlier);
    add_json_access(text, "later", f.later);
    text += std::string("\"fork\": {\"kind\": \"") + (f.is_scope ? "spawn" : "join") + "\", \"calls\": ";
    add_json_calls(text, f.fork);
    text += "}, \"allocated\": ";
    add_json_calls(text, f.made);
    text += '}';
  }
  text += "],\n\"summary\": ";
  add_quoted(text, summary);
  return text + "}\n";
}

}  // namespace filch::races
