// Two libraries made of one source, which differ in numbers only: the size of a frame, and what is added.
#pragma once

/// Forks a tree of this depth, by the scheduler of that name; returns what filch_test_expected does.
using library_tree = long(int depth);
constexpr char const* k_library_tree = "filch_test_tree_";
constexpr char const* k_library_expected = "filch_test_expected";
