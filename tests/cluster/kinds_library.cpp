// A library that the test loads. It has kinds of tasks of its own.
#include "kinds.hpp"

extern "C" {
__attribute__((visibility("default"))) void const* kind_of_shared() {
  return &filch::detail::spawned<&filch_test::shared_by_both>::kind;
}
__attribute__((visibility("default"))) void const* kind_of_hidden() {
  return &filch::detail::spawned<&filch_test::hidden_in_each>::kind;
}
}
