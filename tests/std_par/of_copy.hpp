// Two shared libraries, each with its own copy of Filch and its own scheduler (of_copy.cpp).
#pragma once

namespace copy_1 {
bool finds_one();
long writes_all();
}  // namespace copy_1
namespace copy_2 {
bool finds_one();
long writes_all();
}  // namespace copy_2
