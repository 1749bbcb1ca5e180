// The races that were found, each pair of source places once, and their report at the end of the process.
#pragma once

#include "races/history.hpp"

namespace filch::races {

/// The access `mine` at the word of `a` is parallel to `other`.
void report_race(address a, access const& other, access const& mine) noexcept;
void report_at_exit() noexcept;

}  // namespace filch::races
