// Reads demangled names, as GCC's and LLVM's addr2line print them. source_lines.cpp asks for tasks whose source line
// is not known, as those of loops: the engine joins them, and compilers rarely inline the program's closure into the
// function that runs the task.
#include "runtime/profile/task_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace filch::runtime::profile {
namespace {

using text = std::string_view;

/// The library's files in its folder src, as "runtime/team.cpp", one in each line.
constexpr text k_sources =
#include "runtime/profile/sources.inc"
    ;

constexpr text k_anonymous = "(anonymous namespace)";

bool is_word(char c) noexcept { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// From `begin` to the first of these characters that is in no brackets.
text until(text all, std::size_t begin, text ends) {
  int depth = 0;
  std::size_t end = begin;
  for (; end != all.size(); ++end) {
    char const c = all[end];
    if (depth == 0 && ends.find(c) != text::npos) break;
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
  }
  return all.substr(begin, end - begin);
}
text argument_at(text all, std::size_t begin) { return until(all, begin, ",>"); }

/// The wrappers that schedulers put around a closure have its type as their first argument.
text closure_of(text function) {
  for (text const wrapper : {"run_stolen<", "run_stored<", "::spawned<", "_second<"}) {
    std::size_t const at = function.find(wrapper);
    if (at != text::npos) return argument_at(function, at + wrapper.size());
  }
  return function;
}

/// Is it a type of the program's own?
bool is_own_type(text type) {
  constexpr std::array<text, 18> k_others{"filch::", "std::",    "__gnu_cxx::", "bool",     "char", "short",
                                          "int",     "long",     "unsigned",    "signed",   "void", "float",
                                          "double",  "__int128", "wchar_t",     "decltype", "true", "false"};
  if (type.starts_with(k_anonymous)) return true;
  if (type.empty() || !(std::isalpha(static_cast<unsigned char>(type[0])) || type[0] == '_')) return false;
  return std::none_of(k_others.begin(), k_others.end(), [&](text other) {
    return type.starts_with(other) &&
           (other.ends_with(':') || type.size() == other.size() || !is_word(type[other.size()]));
  });
}

/// The first template argument that is the program's own, lambdas before others.
text own_type_in(text closure) {
  text found;
  for (std::size_t i = 0; i != closure.size(); ++i) {
    if (closure[i] != '<' && closure[i] != ',') continue;
    text const type = argument_at(closure, closure.find_first_not_of(' ', i + 1));
    if (!is_own_type(type)) continue;
    if (type.find("lambda") != text::npos) return type;
    if (found.empty()) found = type;
  }
  return found;
}

void remove_all(std::string& from, text what) {
  for (std::size_t at; (at = from.find(what)) != std::string::npos;) from.erase(at, what.size());
}

/// Without parameters: main::{lambda(int)#1}::operator()(int) const::{lambda()#2} becomes
/// main::{lambda#1}::{lambda#2}.
std::string without_parameters(text type) {
  std::string all(type);
  remove_all(all, "::operator()");
  std::string kept;
  int depth = 0;
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (depth == 0 && text(all).substr(i).starts_with(k_anonymous)) {
      kept += k_anonymous;
      i += k_anonymous.size() - 1;
      continue;
    }
    depth += all[i] == '(';
    if (depth == 0) kept += all[i];
    depth -= all[i] == ')';
  }
  remove_all(kept, " const");
  return kept;
}

}  // namespace

std::string name_of_function(text function) {
  std::string const all = without_parameters(function.substr(0, function.find(" [clone ")));
  // A template's name comes after the type of its result.
  text name;
  for (std::size_t begin = 0; begin < all.size();) {
    text const word = until(all, begin, " ");
    if (!word.empty()) name = word;
    begin += word.size() + 1;
  }
  return std::string(name);
}

bool is_in_filch(text function) {
  std::string const name = name_of_function(function);
  return name.starts_with("filch::") || name.starts_with("filch_call") || name == "__morestack";
}

bool is_own_line(text line) {
  if (line.starts_with("??") || line.find(":?") != text::npos) return false;
  text const path = line.substr(0, line.rfind(':'));
  if (path.find("include/filch/") != text::npos || path.find("/include/c++/") != text::npos) return false;
  // The program's folders may have the same names.
  constexpr text k_folder = "src/";
  auto const folder = path.rfind(k_folder);
  if (folder == text::npos) return true;
  return k_sources.find('\n' + std::string(path.substr(folder + k_folder.size())) + '\n') == text::npos;
}

std::string name_of_task(text function) {
  text const closure = closure_of(function);
  if (!closure.starts_with("filch::")) {
    return closure.find("lambda") == text::npos ? std::string(closure) : without_parameters(closure);
  }
  text const made_by = closure.substr(0, closure.find('<'));
  char const* const kind = made_by.ends_with("::split_piece")    ? "half of a loop"
                           : made_by.ends_with("::join_calls")   ? "half of a sort"
                           : made_by.ends_with("::call_through") ? "pool.run"
                                                                 : "part of an algorithm";
  text const own = own_type_in(closure);
  return own.empty() ? kind : kind + (": " + without_parameters(own));
}

}  // namespace filch::runtime::profile
