// Joins in libraries that come and go.
#include "library.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <dlfcn.h>

#include <array>
#include <string>

namespace filch_test {
namespace {

template <class S> class libraries : public ::testing::Test {};
TYPED_TEST_SUITE(libraries, moving_schedulers, scheduler_names);

class library {
 public:
  explicit library(char const* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_TRUE(handle_) << dlerror();
  }
  library(library const&) = delete;
  library& operator=(library const&) = delete;
  ~library() { EXPECT_EQ(dlclose(handle_), 0); }
  template <class S> library_tree* tree() const { return function(k_library_tree + std::string(S::name)); }
  long expected(int depth) const { return function(k_library_expected)(depth); }
  /// Where it lies.
  void* place() const {
    Dl_info found{};
    EXPECT_NE(dladdr(reinterpret_cast<void*>(function(k_library_expected)), &found), 0);
    return found.dli_fbase;
  }

 private:
  library_tree* function(std::string const& name) const {
    auto* const f = reinterpret_cast<library_tree*>(dlsym(handle_, name.c_str()));
    EXPECT_TRUE(f) << dlerror();
    return f;
  }
  void* handle_;
};

constexpr std::array<char const*, 2> k_paths{FIRST_LIBRARY, SECOND_LIBRARY};

TYPED_TEST(libraries, may_be_unloaded_and_others_loaded_at_their_place) {
  using S = TypeParam;
  typename S::pool pool({.workers = 3});
  void* last = nullptr;
  std::size_t rounds = 0;
  std::size_t at_the_same_place = 0;
  std::size_t with_steals = 0;
  EXPECT_TRUE(eventually([&] {
    library const now(k_paths[rounds % 2]);
    library_tree* const tree = now.tree<S>();
    at_the_same_place += now.place() == last;
    last = now.place();
    std::uint64_t const before = pool.stats().steals;
    EXPECT_EQ(pool.run([&] { return tree(8); }), now.expected(8));
    with_steals += pool.stats().steals != before;
    return ++rounds >= scaled(400) && with_steals >= scaled(40) && at_the_same_place >= scaled(40);
  })) << rounds
      << " rounds, " << with_steals << " with steals, " << at_the_same_place << " at the same place";
}

TYPED_TEST(libraries, share_the_runtime_of_the_program) {
  using S = TypeParam;
  library const first(k_paths[0]);
  library const second(k_paths[1]);
  library_tree* const f = first.tree<S>();
  library_tree* const g = second.tree<S>();
  typename S::pool pool({.workers = 2});
  pool.run([&] {
    for (int i = 0; i < 20; ++i) {
      auto const [a, b] = stolen_join<S>{}([=] { return f(6); }, [=] { return g(6); });
      EXPECT_EQ(a, first.expected(6));
      EXPECT_EQ(b, second.expected(6));
    }
  });
  EXPECT_GE(pool.stats().steals, 20u);
}

}  // namespace
}  // namespace filch_test
