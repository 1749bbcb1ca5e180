// Algorithms of one copy of Filch. FILCH_TEST_COPY names it.
#include "of_copy.hpp"

#include <algorithm>
#include <execution>
#include <vector>

namespace FILCH_TEST_COPY {

bool finds_one() {
  std::vector<int> v(1 << 20, 1);
  v[10] = 3;
  return std::any_of(std::execution::par, v.begin(), v.end(), [](int x) { return x == 3; });
}

long writes_all() {
  std::vector<int> v(1 << 20, 1);
  std::for_each(std::execution::par, v.begin(), v.end(), [](int& x) { x = 2; });
  return std::count(v.begin(), v.end(), 2);
}

}  // namespace FILCH_TEST_COPY
