// Which machine code may be run as a landing pad.
#include "schedulers/implicit/unwind/pad_scanner.hpp"

#include "schedulers/implicit/unwind/pad_reader.hpp"
#include "schedulers/implicit/unwind/walk.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace filch_test {
namespace {

using code = std::vector<std::uint8_t>;

code operator+(code a, code const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The place of the variable that the statement on a pad reads.
std::int32_t own_place() {
  return static_cast<std::int32_t>(reinterpret_cast<std::uint64_t>(&filch_implicit_offering) -
                                   filch::detail::thread_pointer());
}
/// mov rax, place
code load_of(std::int32_t place) {
  code c{0x48, 0xc7, 0xc0, 0, 0, 0, 0};
  std::memcpy(c.data() + 3, &place, sizeof place);
  return c;
}

// mov rax, fs:[rax]; test rax, rax; je; lea r11, [rip]
code const k_look{0x64, 0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x74, 0x0d, 0x4c, 0x8d, 0x1d, 0, 0, 0, 0};
code const k_end = load_of(own_place()) + k_look;
code const k_end_with_long_branch =
    load_of(own_place()) +
    code{0x64, 0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x0f, 0x84, 0x0d, 0, 0, 0, 0x4c, 0x8d, 0x1d, 0, 0, 0, 0};
code const k_end_padded =
    load_of(own_place()) + code{0x2e, 0x64, 0x48, 0x8b, 0x00, 0x2e, 0x2e, 0x48, 0x85, 0xc0, 0x90,
                                0x74, 0x0d, 0x2e, 0x4c, 0x8d, 0x1d, 0,    0,    0,    0};
code const k_call{0xe8, 0, 0, 0, 0};

bool may_run(code c) {
  // An instruction that does not exist follows, for a scanner that runs past the end.
  c.resize(c.size() + 128, 0x06);
  return filch::detail::may_run_pad(reinterpret_cast<std::uint64_t>(c.data()));
}

TEST(a_landing_pad, is_of_the_copy_of_the_library_whose_variable_it_reads) {
  EXPECT_TRUE(may_run(load_of(own_place()) + k_look));
  EXPECT_FALSE(may_run(load_of(own_place() - 8) + k_look));
  EXPECT_FALSE(may_run(code{0x48, 0xc7, 0xc1, 0, 0, 0, 0} + k_look)) << "to rcx";
  // mov rax, [rip + d]: the place is in a table
  for (std::int64_t const other : {0, 8}) {
    code c = code{0x48, 0x8b, 0x05, static_cast<std::uint8_t>(k_look.size()), 0, 0, 0} + k_look;
    std::int64_t const place = own_place() + other;
    c.resize(c.size() + sizeof place);
    std::memcpy(c.data() + c.size() - sizeof place, &place, sizeof place);
    EXPECT_EQ(may_run(c), other == 0);
  }
}

struct instruction {
  char const* name;
  code bytes;
};

TEST(a_landing_pad, may_be_run_if_it_only_moves) {
  for (instruction const& i : std::initializer_list<instruction>{
           {"nothing", {}},
           {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}},
           {"mov [rbp - 0x100], rdx", {0x48, 0x89, 0x95, 0x00, 0xff, 0xff, 0xff}},
           {"mov rax, [rsp + 8]", {0x48, 0x8b, 0x44, 0x24, 0x08}},
           {"mov rax, [rip]", {0x48, 0x8b, 0x05, 0, 0, 0, 0}},
           {"mov rax, [8 * rcx + 0]", {0x48, 0x8b, 0x04, 0xcd, 0, 0, 0, 0}},
           {"mov qword [rsp], 4", {0x48, 0xc7, 0x04, 0x24, 4, 0, 0, 0}},
           {"mov word [rsp], 4", {0x66, 0xc7, 0x04, 0x24, 4, 0}},
           {"mov rax, a constant of eight bytes", {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},
           {"mov eax, one of four", {0xb8, 0xe8, 0, 0, 0}},
           {"test byte [rax + 16], 1", {0xf6, 0x40, 0x10, 0x01}},
           {"neg dword [rax + 16]", {0xf7, 0x58, 0x10}},
           {"test dword [rax], 1", {0xf7, 0x00, 1, 0, 0, 0}},
           {"add rdi, 16", {0x48, 0x83, 0xc7, 0x10}},
           {"add r12, 16", {0x49, 0x83, 0xc4, 0x10}},
           {"cmp rsp, 16", {0x48, 0x83, 0xfc, 0x10}},
           {"mov r12, rax", {0x49, 0x89, 0xc4}},
           {"imul eax, ecx, 1000", {0x69, 0xc1, 0xe8, 0x03, 0, 0}},
           {"pshufd xmm0, xmm1, 0xe8", {0x66, 0x0f, 0x70, 0xc1, 0xe8}},
           {"pextrq rax, xmm0, 1", {0x66, 0x48, 0x0f, 0x3a, 0x16, 0xc0, 0x01}},
           {"pmovzxbw xmm0, [rsp]", {0x66, 0x0f, 0x38, 0x30, 0x04, 0x24}},
           {"vmovdqa xmm0, [rsp]", {0xc5, 0xf9, 0x6f, 0x04, 0x24}},
           {"vinserti128 ymm0, ymm0, [rsp], 1", {0xc4, 0xe3, 0x7d, 0x38, 0x04, 0x24, 0x01}},
           {"vmovdqu64 zmm0, [rsp + 64]", {0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x44, 0x24, 0x01}},
           {"vzeroupper", {0xc5, 0xf8, 0x77}},
           {"jmp over a call", {0xeb, 0x05, 0xe8, 0, 0, 0, 0}},
           {"jmp near, over a call", {0xe9, 0x05, 0, 0, 0, 0xe8, 0, 0, 0, 0}},
           {"jne over a call", {0x75, 0x05, 0xe8, 0, 0, 0, 0}},
           {"jne near, over a call", {0x0f, 0x85, 0x05, 0, 0, 0, 0xe8, 0, 0, 0, 0}},
           {"jne to a call", {0x75, 0x40}},
       }) {
    EXPECT_TRUE(may_run(i.bytes + k_end)) << i.name;
    EXPECT_TRUE(may_run(i.bytes + k_end_with_long_branch)) << i.name;
    EXPECT_TRUE(may_run(i.bytes + k_end_padded)) << i.name;
    EXPECT_FALSE(may_run(i.bytes + k_call + k_end)) << i.name << ", call";
  }
}

TEST(a_landing_pad, may_not_be_run_if_it_uses_the_stack_or_jumps_out) {
  for (instruction const& i : std::initializer_list<instruction>{
           {"call", k_call},
           {"call rax", {0xff, 0xd0}},
           {"call [rip]", {0xff, 0x15, 0, 0, 0, 0}},
           {"push rax", {0x50}},
           {"push r12", {0x41, 0x54}},
           {"push 1", {0x6a, 0x01}},
           {"push [rax]", {0xff, 0x30}},
           {"pop rax", {0x58}},
           {"leave", {0xc9}},
           {"ret", {0xc3}},
           {"jmp rax", {0xff, 0xe0}},
           {"ud2", {0x0f, 0x0b}},
           {"syscall", {0x0f, 0x05}},
           {"sub rsp, 8", {0x48, 0x83, 0xec, 0x08}},
           {"sub rsp, 0x100", {0x48, 0x81, 0xec, 0, 1, 0, 0}},
           {"sub rsp, rax", {0x48, 0x29, 0xc4}},
           {"mov rsp, rbp", {0x48, 0x89, 0xec}},
           {"mov rsp, [rax]", {0x48, 0x8b, 0x20}},
           {"lea rsp, [rbp - 8]", {0x48, 0x8d, 0x65, 0xf8}},
           {"jmp to itself", {0xeb, 0xfe}},
           {"what does not exist", {0x06}},
       }) {
    EXPECT_FALSE(may_run(i.bytes + k_end)) << i.name;
  }
  EXPECT_FALSE(may_run({}));
}

TEST(a_landing_pad, may_have_many_branches_and_is_left_if_it_has_too_many) {
  code const over_a_call{0x75, 0x05, 0xe8, 0, 0, 0, 0};  // as sanitizers write them
  code const to_the_next{0x75, 0x00};
  code pad;
  code open;
  for (int i = 0; i < 200; ++i) {
    pad = pad + over_a_call;
    open = open + to_the_next;
  }
  EXPECT_TRUE(may_run(pad + k_end));
  EXPECT_TRUE(may_run(open + k_end));
  EXPECT_FALSE(may_run(pad + k_call + k_end));
  EXPECT_FALSE(may_run(open + k_call + k_end));
  for (int i = 0; i < 3000; ++i) pad = pad + to_the_next;
  EXPECT_FALSE(may_run(pad + k_end));
}

TEST(the_offering_s_lea, is_found_behind_its_look) {
  for (code const& c : {k_end, k_end_with_long_branch, k_end_padded}) {
    std::size_t const offset = 4;
    std::size_t const load = load_of(0).size();
    EXPECT_EQ(filch::detail::lea_of_offering(c.data() + load), c.data() + c.size() - 3 - offset);
  }
  code const other = code{0x64, 0x48, 0x8b, 0x00} + k_call + k_look;  // of another thread-local variable
  EXPECT_EQ(filch::detail::lea_of_offering(other.data()), nullptr);
  EXPECT_EQ(filch::detail::lea_of_offering(k_call.data()), nullptr);
}

code four_bytes(std::uint32_t x) {
  code bytes(sizeof x);
  std::memcpy(bytes.data(), &x, sizeof x);
  return bytes;
}
/// A pad with so many jumps, then a move of this constant to ecx.
code pad_with_jumps(int jumps, std::uint32_t constant) {
  code pad = load_of(own_place());
  for (int i = 0; i < jumps; ++i) pad = pad + code{0xeb, 0x01, 0x06};
  return pad + code{0xb9} + four_bytes(constant) + k_look;
}

/// The code of few jumps is kept, that of more is decoded each time. A change is seen in both.
TEST(a_cache_of_landing_pads, sees_a_change_of_the_code) {
  for (int const jumps : {0, 1, 3, 4, 20}) {
    SCOPED_TRACE(jumps);
    filch::detail::pad_cache cache;
    code at = pad_with_jumps(jumps, 7);
    auto const constant = [&] {
      auto const* const moves = cache.find(reinterpret_cast<std::uint64_t>(at.data()));
      return moves && moves->count == 2 ? moves->of[1].value : 0;
    };
    EXPECT_EQ(constant(), 7u);
    EXPECT_EQ(constant(), 7u);
    code const changed = pad_with_jumps(jumps, 8);
    std::copy(changed.begin(), changed.end(), at.begin());
    EXPECT_EQ(constant(), 8u);
  }
}

TEST(a_cache_of_landing_pads, has_a_place_for_each_of_the_last_eight) {
  filch::detail::pad_cache cache;
  std::vector<code> pads;
  for (std::uint32_t i = 0; i < 9; ++i) pads.push_back(pad_with_jumps(0, i));
  auto const find = [&](std::size_t i) { return cache.find(reinterpret_cast<std::uint64_t>(pads[i].data())); };
  std::set<filch::detail::pad_moves const*> places;
  for (std::size_t i = 0; i < 8; ++i) places.insert(find(i));
  EXPECT_EQ(places.size(), 8u);
  EXPECT_EQ(places.count(nullptr), 0u);
  auto const* const second = find(1);
  EXPECT_EQ(find(8), find(8));
  EXPECT_EQ(find(8)->of[1].value, 8u);
  EXPECT_EQ(find(1), second) << "the oldest one makes room";
}

TEST(a_reader_of_landing_pads, goes_no_further_than_pads_are_long) {
  std::size_t const bytes = 65'536;
  void* const memory = mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const begin = static_cast<std::uint8_t*>(memory);
  ASSERT_EQ(mprotect(begin + bytes, bytes, PROT_NONE), 0);
  for (int const endless : {0x66, 0x2e, 0x90}) {  // prefixes, nop
    std::fill(begin, begin + bytes, static_cast<std::uint8_t>(endless));
    EXPECT_FALSE(filch::detail::can_read_pad(reinterpret_cast<std::uint64_t>(begin)));
  }
  munmap(memory, 2 * bytes);
}

}  // namespace
}  // namespace filch_test
