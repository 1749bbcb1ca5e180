// edge program NAME [NUMBER]: runs one scenario.
#include "programs/scenario.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  auto const& all = filch_test::all_scenarios();
  auto const found = argc > 1 ? all.find(argv[1]) : all.end();
  if (found == all.end()) {
    std::fprintf(stderr, "no such scenario\n");
    return 99;
  }
  found->second(argc > 2 ? std::atoi(argv[2]) : 0);
}
