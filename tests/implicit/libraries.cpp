// Joins in libraries that come and go.
#include "library.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <dlfcn.h>

#include <array>

namespace filch_test {
namespace {

using S = filch::implicit;

class library {
 public:
  explicit library(char const* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_TRUE(handle_) << dlerror();
  }
  library(library const&) = delete;
  library& operator=(library const&) = delete;
  ~library() { EXPECT_EQ(dlclose(handle_), 0); }
  library_tree* function(char const* name) const {
    auto* const f = reinterpret_cast<library_tree*>(dlsym(handle_, name));
    EXPECT_TRUE(f) << dlerror();
    return f;
  }
  /// Where it lies.
  void* place() const {
    Dl_info found{};
    EXPECT_NE(dladdr(reinterpret_cast<void*>(function(k_library_tree)), &found), 0);
    return found.dli_fbase;
  }

 private:
  void* handle_;
};

constexpr std::array<char const*, 2> k_paths{FIRST_LIBRARY, SECOND_LIBRARY};

TEST(libraries, may_be_unloaded_and_others_loaded_at_their_place) {
  S::pool pool({.workers = 3});
  void* last = nullptr;
  std::size_t rounds = 0;
  std::size_t at_the_same_place = 0;
  std::size_t with_steals = 0;
  EXPECT_TRUE(eventually([&] {
    library const now(k_paths[rounds % 2]);
    library_tree* const tree = now.function(k_library_tree);
    at_the_same_place += now.place() == last;
    last = now.place();
    std::uint64_t const before = pool.stats().steals;
    EXPECT_EQ(pool.run([&] { return tree(8); }), now.function(k_library_expected)(8));
    with_steals += pool.stats().steals != before;
    return ++rounds >= scaled(400) && with_steals >= scaled(40) && at_the_same_place >= scaled(40);
  })) << rounds
      << " rounds, " << with_steals << " with steals, " << at_the_same_place << " at the same place";
}

TEST(libraries, share_the_runtime_of_the_program) {
  library const first(k_paths[0]);
  library const second(k_paths[1]);
  library_tree* const f = first.function(k_library_tree);
  library_tree* const g = second.function(k_library_tree);
  S::pool pool({.workers = 2});
  pool.run([&] {
    for (int i = 0; i < 20; ++i) {
      auto const [a, b] = stolen_join<S>{}([=] { return f(6); }, [=] { return g(6); });
      EXPECT_EQ(a, first.function(k_library_expected)(6));
      EXPECT_EQ(b, second.function(k_library_expected)(6));
    }
  });
  EXPECT_GE(pool.stats().steals, 20u);
}

}  // namespace
}  // namespace filch_test
