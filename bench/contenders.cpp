// The list of the contenders.
#include "contender.hpp"

namespace bench {

std::vector<contender> const& contenders() {
  static std::vector<contender> const all = {
      serial_contender(), direct_contender(),   channel_contender(),
#if FILCH_HAS_CACTUS
      cactus_contender(), implicit_contender(),
#endif
#if BENCH_WITH_TBB
      onetbb_contender(),
#endif
#if BENCH_WITH_OPENMP
      openmp_contender(),
#endif
  };
  return all;
}

contender const* find_contender(std::string_view name) {
  for (contender const& c : contenders()) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

}  // namespace bench
