// Invariants that are broken on purpose: each row of a table breaks one condition in a new object, and names it.
#pragma once

#include "runtime/check.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace filch_test {

/// Empty: all conditions hold.
inline std::string text(filch::runtime::broken_condition condition) { return condition ? condition : ""; }

template <class Object> struct seed {
  char const* named;
  void (*breaks)(Object&);
  void (*prepares)(Object&) = nullptr;  // runs before; nothing is broken after it
};

/// Object::broken() is the text of the first condition that does not hold.
template <class Object, std::size_t N> void expect_named(seed<Object> const (&seeds)[N]) {
  for (auto const& s : seeds) {
    Object object;
    if (s.prepares) s.prepares(object);
    ASSERT_EQ(object.broken(), "") << "before: " << s.named;
    s.breaks(object);
    EXPECT_EQ(object.broken(), s.named);
  }
}

}  // namespace filch_test
