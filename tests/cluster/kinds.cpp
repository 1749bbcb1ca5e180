// Kinds of tasks that are made twice: as a library is loaded, or while a cluster exists.
#include "kinds.hpp"

#include "eventually.hpp"
#include "steps.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <string>

namespace filch_test {
namespace {

using filch::detail::spawned;

class loaded_library {
 public:
  loaded_library() : handle_(dlopen(FILCH_TEST_LIBRARY, RTLD_NOW)) { EXPECT_TRUE(handle_) << dlerror(); }
  loaded_library(loaded_library const&) = delete;
  loaded_library& operator=(loaded_library const&) = delete;
  ~loaded_library() {
    if (handle_) dlclose(handle_);
  }
  void const* call(char const* name) const {
    auto* const f = reinterpret_cast<void const* (*)()>(dlsym(handle_, name));
    return f ? f() : nullptr;
  }

 private:
  void* const handle_;
};

TEST(cluster_kinds, are_shared_with_libraries_where_the_function_is_visible) {
  loaded_library const other;
  EXPECT_EQ(other.call("kind_of_shared"), &spawned<&shared_by_both>::kind);
}

TEST(cluster_kinds, of_hidden_functions_are_told_apart_when_the_cluster_is_made) {
  loaded_library const other;
  EXPECT_NE(other.call("kind_of_hidden"), &spawned<&hidden_in_each>::kind);
  network net(1, 1);
  port here(net, 0);
  try {
    filch::cluster<> const c(here, {.workers = 1});
    ADD_FAILURE() << "nothing thrown";
  } catch (filch::setup_error const& e) {
    std::string const text = e.what();
    EXPECT_NE(text.find("hidden_in_each"), text.npos) << text;
    EXPECT_NE(text.find("give it default visibility"), text.npos) << text;
  }
}

long visit(filch::rank&, int) { return 1; }

/// A second function of the same name, in a library that is loaded late.
class twin {
 public:
  twin() : kind_(of_visit().name, of_visit().run, of_visit().pack, of_visit().unpack, of_visit().drop) {}

 private:
  static filch::detail::task_kind const& of_visit() { return spawned<&visit>::kind; }
  filch::detail::task_kind const kind_;
};

struct scene : victim_and_thief {
  scene() {
    for (int i = 0; i < 2; ++i) victim.mine.spawn<&visit>(nullptr, i);
    EXPECT_EQ(thief.endpoint_.idle(thief.mine.tasks, true), endpoint::idle_outcome::nothing);  // requests
  }
  void answer() {
    EXPECT_TRUE(eventually([&] {
      victim.endpoint_.poll(victim.mine.tasks, 2);
      return victim.mine.tasks.size() == 1;
    }));
  }
  void expect_end() {
    std::string const text = net.last_words();
    EXPECT_NE(text.find("two spawned functions have one name: "), text.npos) << text;
  }
};

TEST(cluster_kinds, that_become_ambiguous_leave_no_rank) {
  scene all;
  twin const late;
  all.answer();
  all.expect_end();
}

TEST(cluster_kinds, that_become_ambiguous_come_to_no_rank) {
  scene all;
  all.answer();
  twin const late;
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(all.thief.endpoint_.idle(all.thief.mine.tasks, false));
    return !all.net.last_words().empty();
  }));
  all.expect_end();
  EXPECT_TRUE(all.thief.mine.tasks.empty());
}

}  // namespace
}  // namespace filch_test
