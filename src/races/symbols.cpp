// Names for addresses: functions and lines by addr2line, variables by the symbol tables of object files. report.cpp
// calls it when the process ends.
#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

#include "races/finding.hpp"
#include "runtime/addr2line.hpp"

namespace filch::races {
namespace {

runtime::known_frames& known() {
  static auto* const frames = new runtime::known_frames;
  return *frames;
}

/// Is it a function of Filch or of the standard library, by its name? Template arguments, parameters and the result
/// may name the user's types, or be of these libraries.
bool is_library_function(std::string_view function) noexcept {
  std::string_view const in_front = "decltype(auto) ";
  if (function.starts_with(in_front)) function.remove_prefix(in_front.size());
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i != function.size(); ++i) {
    char const c = function[i];
    if (c == '(' && depth == 0 && !function.substr(i).starts_with("(anonymous")) break;
    if (c == ' ' && depth == 0) begin = i + 1;
    depth += c == '<' || c == '{' || c == '(' ? 1 : c == '>' || c == '}' || c == ')' ? -1 : 0;
  }
  auto const name = function.substr(begin);
  return name.starts_with("filch::") || name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

/// Code that is no user's: its frames would hide theirs.
bool is_hidden(runtime::code_frame const& f) noexcept {
  for (char const* const part : {"include/filch/", "/c++/", "src/races/", "call_on_stack.S"}) {
    if (f.line.find(part) != std::string::npos) return true;
  }
  // Without debugging information there is no file, or only that of the object file.
  return (f.line.starts_with("??") || f.line.ends_with('?')) && is_library_function(f.function);
}

/// The callable in place of the function of Filch's into which it was inlined.
std::string short_name(std::string const& function) {
  for (std::string_view const wrapper : {"call_race_branch<", "race_frame::run<"}) {
    auto const at = function.find(wrapper);
    if (at == std::string::npos) continue;
    auto const begin = at + wrapper.size();
    std::size_t end = begin;
    for (int depth = 1; end != function.size(); ++end) {
      depth += function[end] == '<' ? 1 : function[end] == '>' ? -1 : 0;
      if (depth == 0) break;
    }
    return function.substr(begin, end - begin);
  }
  return function;
}

source_frame frame_of(runtime::code_frame const& f) {
  auto const colon = f.line.rfind(':');
  if (f.line.starts_with("??") || colon == std::string::npos) return {short_name(f.function), "", 0};
  return {short_name(f.function), f.line.substr(0, colon),
          static_cast<unsigned>(std::strtoul(&f.line[colon + 1], nullptr, 10))};
}

std::string demangled(char const* name) {
  if (name[0] != '_' || name[1] != 'Z') return name;  // which may be the code of a type
  int status = 0;
  char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string const text = status == 0 ? plain : name;
  std::free(plain);
  return text;
}

template <class Value> std::vector<Value> read_table(std::ifstream& file, ElfW(Shdr) const& section) {
  std::vector<Value> all(section.sh_size / sizeof(Value));
  file.seekg(static_cast<std::streamoff>(section.sh_offset));
  file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(Value)));
  if (!file) all.clear();
  return all;
}

/// The variable around an address of an object file, by its symbol table: the whole one, if it was not stripped.
std::string variable_in(std::string const& path, address a) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  if (!file || header.e_shentsize != sizeof(ElfW(Shdr))) return {};
  ElfW(Shdr) where{};
  where.sh_offset = header.e_shoff;
  where.sh_size = std::size_t{header.e_shnum} * sizeof(ElfW(Shdr));
  auto const sections = read_table<ElfW(Shdr)>(file, where);
  for (auto const type : {ElfW(Word){SHT_SYMTAB}, ElfW(Word){SHT_DYNSYM}}) {
    for (auto const& section : sections) {
      if (section.sh_type != type || section.sh_link >= sections.size()) continue;
      auto const names = read_table<char>(file, sections[section.sh_link]);
      for (auto const& symbol : read_table<ElfW(Sym)>(file, section)) {
        bool const is_variable = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT;
        if (!is_variable || a - symbol.st_value >= symbol.st_size || symbol.st_name >= names.size()) continue;
        std::string const name = demangled(&names[symbol.st_name]);
        address const offset = a - symbol.st_value;
        return offset == 0 ? name : name + " + " + std::to_string(offset);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<source_frame> frames_of(std::vector<address> const& calls) {
  std::vector<source_frame> frames;
  std::vector<source_frame> hidden;
  for (address const at : calls) {
    auto const found = known().find(at - 1);
    if (found == known().end()) continue;
    for (auto const& each : found->second) {
      auto& to = is_hidden(each) ? hidden : frames;
      source_frame frame = frame_of(each);
      // A recursion is shown once.
      if (to.empty() || to.back() != frame) to.push_back(std::move(frame));
    }
  }
  return frames.empty() ? hidden : frames;
}

bool is_in_stop_state(std::vector<address> const& calls) {
  for (address const at : calls) {
    auto const found = known().find(at - 1);
    if (found == known().end()) return false;
    for (auto const& each : found->second) {
      std::string_view const file = std::string_view(each.line).substr(0, each.line.rfind(':'));
      if (file.find("/c++/") == file.npos) return false;
      if (file.ends_with("/stop_token")) return true;
      if (!file.ends_with("/bits/std_thread.h")) return false;  // ids of threads
    }
  }
  return false;
}

void look_up(std::vector<finding> const& all) {
  std::map<std::string, std::pair<runtime::object_file, std::vector<std::uintptr_t>>> by_file;
  auto const add = [&](address at) {
    if (at == 0) return;
    runtime::object_file const file = runtime::object_file_of(at - 1);
    if (file.path.empty()) return;
    auto& of = by_file[file.path];
    of.first = file;
    of.second.push_back(at - 1);
  };
  for (finding const& f : all) {
    for (auto const* calls : {&f.earlier.calls, &f.later.calls, &f.fork, &f.made}) {
      for (address const at : *calls) add(at);
    }
    add(f.frame);
  }
  for (auto& [path, of] : by_file) {
    auto& at = of.second;
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    constexpr std::size_t k_most_at_once = 4000;
    for (std::size_t i = 0; i < at.size(); i += k_most_at_once) {
      auto const begin = at.begin() + static_cast<std::ptrdiff_t>(i);
      auto const end = at.begin() + static_cast<std::ptrdiff_t>(std::min(i + k_most_at_once, at.size()));
      runtime::look_up_frames(of.first, {begin, end}, known());
    }
  }
}

std::string variable_at(address a) {
  runtime::object_file const file = runtime::object_file_of(a);
  return file.path.empty() ? std::string() : variable_in(file.path, a - file.bias);
}

address whole_pc(std::uint32_t half) noexcept {
  struct search {
    std::uint32_t half;
    address found;
  } s{half, half};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* p) {
        auto& wanted = *static_cast<search*>(p);
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          auto const& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          address const begin = info->dlpi_addr + part.p_vaddr;
          // A return address may be behind the last byte.
          auto const offset = static_cast<std::uint32_t>(wanted.half - static_cast<std::uint32_t>(begin));
          if (offset > part.p_memsz) continue;
          wanted.found = begin + offset;
          return 1;
        }
        return 0;
      },
      &s);
  return s.found;
}

}  // namespace filch::races
