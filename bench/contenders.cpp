// The list of the contenders.
#include "contender.hpp"

namespace bench {

namespace {

template <class... Scheds> std::vector<contender> schedulers_and_peers() {
  return {
      contender_under<Scheds>()...,
#if BENCH_WITH_TBB
      onetbb_contender(),
#endif
#if BENCH_WITH_OPENMP
      openmp_contender(),
#endif
  };
}

}  // namespace

std::vector<contender> const& contenders() {
  static std::vector<contender> const all = schedulers_and_peers<FILCH_SCHEDULERS>();
  return all;
}

contender const* find_contender(std::string_view name) {
  for (contender const& c : contenders()) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

}  // namespace bench
