#!/usr/bin/env bash
# Builds a small program against Filch in the ways that users do.
#   check.sh GROUP SOURCE_DIR BUILD_DIR WORK_DIR
# packages  over the static library of BUILD_DIR, installed: find_package, pkg-config, races, clusters, std_par; every public
#           header alone, all in reverse order, and a program, with strict warnings at several levels
# shared    the same over a shared library
# trees     add_subdirectory, options of CMake, a program that is linked statically
# Nothing that it builds is optimised.
set -Eeuo pipefail
group=$1 source=$2 build=$3 work=$4/$1
rm -rf "$work"
mkdir -p "$work/consumer"
trap 'echo "failed: ${what:-?}" >&2' ERR

cat >"$work/consumer/main.cpp" <<'CODE'
#include <filch/filch.hpp>

#include <atomic>
#include <cstring>
#include <memory>

static long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = filch::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// Results that are dropped on the way cause no warning.
struct [[nodiscard]] status {
  long value;
};
struct [[nodiscard]] large_status {
  long values[9];
};

template <class S> static long statuses() {
  auto const small = filch::join<S>([] { return status{1}; }, [] { return status{2}; });
  auto const large = filch::join<S>([] { return large_status{}; }, [] { return large_status{}; });
  filch::scope<S>([&](auto& s) {
    s.spawn([] { return status{3}; });
    s.spawn([second = large.second] { return second; });
    auto const kept = [] { return large_status{}; };
    s.spawn(kept);
  });
  return small.first.value + small.second.value + large.first.values[0];
}

template <class... S> static long wrong_statuses() {
  return ((statuses<S>() - 3) + ...);
}

int main() {
  filch::pool_options options;
  options.workers = 2;
  filch::pool pool(options);
  std::atomic<int> count{0};
  filch::for_index(0, 100, [&](int) { ++count; });
  filch::scope([&](auto& s) { s.spawn([&] { ++count; }); });
  auto [x, y, z] = filch::invoke([] { return std::make_unique<int>(3); }, [] {}, [] { return 2.0; });
  static_cast<void>(y);
  bool const ok = wrong_statuses<FILCH_SCHEDULERS>() == 0 && fib(20) == 6765 && pool.run([] { return fib(20); }) == 6765 && count == 101 &&
                  *x == 3 && z > 1 && std::strcmp(filch::version(), FILCH_VERSION_STRING) == 0;
  return ok ? 0 : 1;
}
CODE
cat >"$work/consumer/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
if(FILCH_TREE)
  add_subdirectory("${FILCH_TREE}" filch)
  if(TARGET filch-bench OR TARGET typed_join_results)
    message(FATAL_ERROR "tests or benchmarks are on by default")
  endif()
else()
  if(CMAKE_VERSION VERSION_LESS 4)
    set(CMAKE_WARN_DEPRECATED OFF)
    cmake_policy(SET CMP0057 OLD)  # as in a project that was written for a CMake before 3.3
  endif()
  find_package(filch REQUIRED)
endif()
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE filch::filch)
install(TARGETS consumer)
CODE

# Puts PKG_CONFIG_PATH where a file is installed.
for_pkg_config() {  # for_pkg_config PREFIX
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name filch.pc)")
  export PKG_CONFIG_PATH
}

# The library of BUILD, installed in $prefix, found by find_package and by pkg-config.
consumed() {  # consumed BUILD
  what="install"
  cmake --install "$1" --prefix "$prefix" >/dev/null

  what="find_package"
  cmake -S "$work/consumer" -B "$work/found" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$work/found" >/dev/null
  "$work/found/consumer"

  what="pkg-config"
  for_pkg_config "$prefix"
  local compiler
  for compiler in g++ clang++-14 clang++-19; do
    command -v "$compiler" >/dev/null || continue
    what="pkg-config with $compiler"
    # shellcheck disable=SC2046
    "$compiler" -std=c++20 -O2 $(pkg-config --cflags filch) "$work/consumer/main.cpp" $(pkg-config --libs filch) \
      -Wl,-rpath,"$(pkg-config --variable=libdir filch)" -o "$work/by-pkg-config"
    "$work/by-pkg-config"
  done
}

checked_for_races() {
  what="the check for races, by pkg-config and by find_package"
  # shellcheck disable=SC2046
  g++ -std=c++20 -O1 $(pkg-config --cflags filch-races) -c "$work/consumer/main.cpp" -o "$work/checked.o"
  # Linked apart: with -fsanitize=thread the compiler would add its own runtime.
  # shellcheck disable=SC2046
  g++ "$work/checked.o" $(pkg-config --libs filch-races) -o "$work/checked"
  "$work/checked" 2>&1 | grep '^filch: 0 races in [1-9]' >/dev/null
  sed 's/filch::filch/filch::races/' "$work/consumer/CMakeLists.txt" >"$work/consumer/races.txt"
  mkdir -p "$work/races-consumer"
  mv "$work/consumer/races.txt" "$work/races-consumer/CMakeLists.txt"
  cp "$work/consumer/main.cpp" "$work/races-consumer"
  cmake -S "$work/races-consumer" -B "$work/found-races" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$work/found-races" >/dev/null
  "$work/found-races/consumer" 2>&1 | grep '^filch: 0 races in [1-9]' >/dev/null
}

# Clusters: between threads without MPI, and over MPI, where it was built.
mkdir -p "$work/cluster"
cat >"$work/cluster/threads.cpp" <<'CODE'
#include <filch/cluster.hpp>
#include <filch/thread_transport.hpp>

static long one(filch::rank&, int n) { return n; }

int main() {
  filch::thread_network network(1);
  filch::thread_transport threads(network, 0);
  filch::cluster<> ranks(threads);
  return ranks.fold<&one>(std::plus<>(), 1) == 1 ? 0 : 1;
}
CODE
sed 's/thread_transport threads(network, 0)/mpi_transport threads/; s/thread_transport/mpi_transport/; /thread_network/d' \
  "$work/cluster/threads.cpp" >"$work/cluster/mpi.cpp"
cat >"$work/cluster/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
find_package(filch REQUIRED COMPONENTS cluster ${WITH})
foreach(name IN ITEMS threads ${WITH})
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} PRIVATE filch::cluster)
endforeach()
CODE
cluster() {  # cluster [cmake arguments]
  cmake -S "$work/cluster" -B "$work/cluster-built" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
    "$@" >/dev/null && cmake --build "$work/cluster-built" >/dev/null && "$work/cluster-built/threads"
}
cluster_by_pkg_config() {  # cluster_by_pkg_config PACKAGE PROGRAM
  for_pkg_config "$prefix"
  # shellcheck disable=SC2046
  g++ -std=c++20 -O0 $(pkg-config --cflags "$1") "$work/cluster/$2.cpp" -Wl,--as-needed $(pkg-config --libs "$1") \
    -Wl,-rpath,"$(pkg-config --variable=libdir filch)" -o "$work/cluster/$2"
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$work/cluster/$2"
}

# std_par: a program of C++17 and C.
mkdir -p "$work/std_par"
cat >"$work/std_par/main.cpp" <<'CODE'
#include <algorithm>
#include <execution>
#include <numeric>
#include <vector>

extern "C" int of_c();
#ifdef WITH_PLAIN
void plain(std::vector<long>& v);
#endif

int main() {
  std::vector<long> v(100000);
  std::iota(v.begin(), v.end(), 0L);
  std::for_each(std::execution::par, v.begin(), v.end(), [](long& x) { x = x * 7919 % 100003; });
#ifdef WITH_PLAIN
  plain(v);
#endif
  std::sort(std::execution::par_unseq, v.begin(), v.end());
  bool const is_sorted = std::is_sorted(std::execution::par, v.begin(), v.end());
  return is_sorted && std::reduce(std::execution::par, v.begin(), v.end()) == 4999997508L + of_c() ? 0 : 1;
}
CODE
cat >"$work/std_par/plain.cpp" <<'CODE'
#include <algorithm>
#include <execution>
#include <vector>

void plain(std::vector<long>& v);
void plain(std::vector<long>& v) { std::sort(std::execution::par, v.begin(), v.end()); }
void with_policy(std::execution::parallel_policy) {}
CODE
echo 'int of_c(void) { int class = 0; return class; }' >"$work/std_par/of_c.c"
cat >"$work/std_par/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.25)
project(consumer C CXX)
set(CMAKE_WARN_DEPRECATED OFF)
cmake_policy(SET CMP0099 OLD)  # as in a project that was written for a CMake before 3.17
find_package(filch REQUIRED COMPONENTS std_par highway_sort)
set(CMAKE_CXX_STANDARD 17)
add_executable(program main.cpp of_c.c)
target_link_libraries(program PRIVATE filch::std_par)
CODE
gcc -c "$work/std_par/of_c.c" -o "$work/std_par/of_c.o"
std_par_found() {
  what="find_package, std_par"
  cmake -S "$work/std_par" -B "$work/std_par-built" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_FLAGS=-fvisibility=hidden >/dev/null
  cmake --build "$work/std_par-built" >/dev/null
  [ ! -e "$(dirname "$PKG_CONFIG_PATH")/libfilch.a" ] || grep -q 'z,nodelete' "$work/std_par-built/build.ninja"
  "$work/std_par-built/program"
}
# shellcheck disable=SC2046
std_par() {  # std_par COMPILER [OPTION...]
  "$1" $(pkg-config --cflags filch-std-par) "${@:2}" "$work/std_par/main.cpp" "$work/std_par/of_c.o" \
    $(pkg-config --libs filch-std-par) -o "$work/std_par/program" && "$work/std_par/program"
}
with_highway() {
  mkdir -p "$work/highway"
  cat >"$work/highway/main.cpp" <<'CODE'
#include <filch/sort.hpp>

#include <algorithm>
#include <vector>

int main() {
  std::vector<double> v(100000);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i * 7919 % 100003);
  filch::sort(v);
  return std::is_sorted(v.begin(), v.end()) ? 0 : 1;
}
CODE
  sed 's/filch::filch/filch::highway_sort/' "$work/consumer/CMakeLists.txt" >"$work/highway/CMakeLists.txt"
  what="find_package, with Highway's sorts"
  cmake -S "$work/highway" -B "$work/highway-built" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$work/highway-built" >/dev/null
  "$work/highway-built/consumer"
  nm -C "$work/highway-built/consumer" | grep 'hwy::Sorter' >/dev/null
  what="pkg-config, with Highway's sorts"
  # shellcheck disable=SC2046
  g++ -std=c++20 $(pkg-config --cflags filch-highway-sort) "$work/highway/main.cpp" $(pkg-config --libs filch-highway-sort) \
    -Wl,-rpath,"$(pkg-config --variable=libdir filch)" -o "$work/highway/by-pkg-config"
  "$work/highway/by-pkg-config"
}

std_par_by_pkg_config() {
  for_pkg_config "$prefix"
  for with in 'g++ 17 direct' 'g++ 20 serial' 'g++ 23 channel' 'clang++-14 17 direct' 'clang++-19 20 direct'; do
    read -r compiler standard scheduler <<<"$with"
    command -v "$compiler" >/dev/null || continue
    what="pkg-config, std_par, $with"
    std_par "$compiler" "-std=c++$standard" "-DFILCH_STD_PAR_SCHEDULER=$scheduler"
  done
  what="std_par beside a file without it"
  g++ -std=c++17 -D_GLIBCXX_USE_TBB_PAR_BACKEND=0 -c "$work/std_par/plain.cpp" -o "$work/std_par/plain.o"
  std_par g++ -std=c++17 -DWITH_PLAIN "$work/std_par/plain.o"
  what="a policy from a file without std_par"
  printf '%s\n' '#include <execution>' 'void with_policy(std::execution::parallel_policy);' \
    'int main() { with_policy(std::execution::par); }' >"$work/std_par/passes.cpp"
  # shellcheck disable=SC2046
  if g++ -std=c++17 $(pkg-config --cflags filch-std-par) "$work/std_par/passes.cpp" "$work/std_par/plain.o" \
    $(pkg-config --libs filch-std-par) -o /dev/null 2>"$work/std_par/log"; then false; fi
  grep -q 'undefined reference to .with_policy' "$work/std_par/log"
  what="the first error of std_par after another header"
  printf '%s\n' '#include <algorithm>' '#include <filch/std_par.hpp>' >"$work/std_par/late.cpp"
  { g++ -std=c++17 $(pkg-config --cflags filch) -fsyntax-only "$work/std_par/late.cpp" 2>&1 || true; } |
    grep -m 1 error: | grep -q 'filch/std_par.hpp must come before'
}

first_errors() {
  for lacking in -std=c++17 -fno-exceptions; do
    what="the first error with $lacking"
    { g++ -std=c++20 $lacking -I"$prefix/include" -fsyntax-only "$work/consumer/main.cpp" 2>&1 || true; } |
      grep -m 1 error: | grep -q '"filch needs '
  done

  for function in join invoke; do
    what="the first error of $function where a result can't be moved"
    printf '%s\n' '#include <filch/filch.hpp>' 'struct fixed { fixed() {} fixed(fixed const&) = delete; };' \
      "void f() { filch::$function([] { return fixed(); }, [] {}); }" >"$work/fixed.cpp"
    { g++ -std=c++20 -I"$prefix/include" -fsyntax-only "$work/fixed.cpp" 2>&1 || true; } |
      grep -m 1 error: | grep -q "filch::$function: the results .*must be move-constructible"
  done

  local call message
  while IFS='|' read -r call message; do
    what="the first error of $call"
    printf '%s\n' '#include <filch/algorithm.hpp>' 'struct key {};' \
      "void f(std::vector<double> const& v, std::vector<key> const& keys, std::vector<double>& w) { filch::$call; }" \
      >"$work/call.cpp"
    { g++ -std=c++20 -I"$prefix/include" -fsyntax-only "$work/call.cpp" 2>&1 || true; } |
      grep -m 1 error: | grep -q "$message"
  done <<'END'
histogram(v, 10)|filch::histogram: bin_of must return the number of a bin, an integer
histogram(v, w, [](double) { return 1; })|filch::histogram: the bins must be of an integer type
reduce_by_key(v, [](double) { return 1; }, [](double) { return key(); })|filch: op must take two values of value_of's type
remove_duplicates(keys)|filch::remove_duplicates: the elements need std::hash and ==
END
  local task
  for task in 'filch::scope([](auto& s) { s.spawn(f); })' 'filch::scope(std::stop_token(), [](auto& s) { s.spawn(f); })' \
    'filch::task_group<>().run(f)' 'filch::channel::detach(f)'; do
    what="the first error of $task with a parameter too many"
    printf '%s\n' '#include <filch/filch.hpp>' '#include <filch/channel.hpp>' '#include <filch/task_group.hpp>' \
      '#include <stop_token>' "void f(int) { $task; }" >"$work/task.cpp"
    { g++ -std=c++20 -I"$prefix/include" -fsyntax-only "$work/task.cpp" 2>&1 || true; } |
      grep -m 1 error: | grep -q ': a task is called without arguments'
  done
}

# Each of these takes longer to compile than a fork.
lean_headers() {
  local header
  for header in filch join sort; do
    what="the standard headers of <filch/$header.hpp>"
    if g++ -std=c++20 -M -I"$prefix/include" -include "filch/$header.hpp" -x c++ /dev/null | tr ' ' '\n' |
      grep -E '/c\+\+/[0-9]+/(chrono|functional|iterator|memory|mutex|ranges|sstream)$'; then false; fi
  done
}

strict_warnings() {
  strict="-std=c++20 -Werror -Wall -Wextra -Wconversion -Wshadow -Wpedantic -fvisibility=hidden -fPIC"
  compilations() {
    for header in "$prefix"/include/filch/*.hpp; do
      [ "${header##*/}" != parlay.hpp ] || continue  # it includes Parlay
      echo "g++ -fsyntax-only -include $header -x c++ /dev/null"
    done
    # All at once, from the last to the first; std_par.hpp comes before others.
    echo "g++ -fsyntax-only $(printf '%s\n' "$prefix"/include/filch/*.hpp | grep -Ev '/(parlay|std_par)' | sort -r |
      sed 's/^/-include /' | tr '\n' ' ') -x c++ /dev/null"
    for compiler in g++ clang++-14 clang++-19; do
      command -v "$compiler" >/dev/null || continue
      levels=-O2
      [ "$compiler" != g++ ] || levels='-O0 -O2 -O3'
      for level in $levels; do echo "$compiler $level $work/consumer/main.cpp -o /dev/null"; done
    done
  }
  what="a header alone, or the program, with strict warnings"
  compilations | xargs -P 2 -I{} sh -c "{} $strict -I'$prefix/include' -c || { echo 'failed: {}' >&2; exit 255; }"
}

prefix=$work/prefix
case $group in
  packages)
    consumed "$build"
    if [ -n "$(find "$prefix" -name filch-races.pc)" ]; then checked_for_races; fi
    if g++ -E -include hwy/contrib/sort/vqsort.h -x c++ /dev/null >/dev/null 2>&1; then with_highway; fi
    first_errors
    if [ -f "$prefix/include/filch/mpi_transport.hpp" ]; then
      what="find_package, cluster, with MPI"
      cluster -DWITH=mpi
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$work/cluster-built/mpi"
      what="pkg-config, cluster, with MPI"
      cluster_by_pkg_config filch-cluster-mpi mpi
    fi
    what="pkg-config, cluster"
    cluster_by_pkg_config filch-cluster threads
    std_par_found
    std_par_by_pkg_config
    lean_headers
    strict_warnings ;;
  shared)
    what="building a shared library"
    cmake -S "$source" -B "$work/shared" -G Ninja -DBUILD_SHARED_LIBS=ON -DFILCH_WITH_MPI=OFF -DFILCH_RACES=OFF >/dev/null
    cmake --build "$work/shared" >/dev/null
    consumed "$work/shared"
    what="find_package, cluster, without MPI"
    cluster
    if cluster -DWITH=mpi 2>/dev/null; then false; fi
    what="pkg-config, cluster"
    cluster_by_pkg_config filch-cluster threads
    std_par_found ;;
  trees)
    what="add_subdirectory, in a tree without run-time types and with unity builds"
    cmake -S "$work/consumer" -B "$work/sub" -G Ninja -DFILCH_TREE="$source" -DFILCH_WITH_MPI=FALSE \
      -DCMAKE_CXX_FLAGS=-fno-rtti -DCMAKE_UNITY_BUILD=ON >/dev/null
    cmake --build "$work/sub" >/dev/null
    "$work/sub/consumer"

    what="a tree with Filch in it installs itself alone, unless it asks"
    cmake --install "$work/sub" --prefix "$work/prefix-sub" >/dev/null
    [ "$(cd "$work/prefix-sub" && find . -type f)" = ./bin/consumer ]
    cmake -S "$work/consumer" -B "$work/sub" -DFILCH_CLUSTER=OFF -DFILCH_INSTALL=ON >/dev/null
    if cmake --build "$work/sub" --target help | grep filch_cluster >/dev/null; then false; fi
    cmake --build "$work/sub" >/dev/null
    cmake --install "$work/sub" --prefix "$work/prefix-sub" >/dev/null
    [ -f "$work/prefix-sub/include/filch/filch.hpp" ]
    [ -z "$(find "$work/prefix-sub" -name '*cluster*' -o -name '*transport*')" ]

    what="folders given as absolute paths"  # nothing is installed there
    cmake -S "$source" -B "$work/absolute" -G Ninja -DFILCH_WITH_MPI=OFF -DCMAKE_INSTALL_PREFIX=/opt/filch \
      -DCMAKE_INSTALL_LIBDIR=/opt/lib -DCMAKE_INSTALL_INCLUDEDIR=/opt/headers >/dev/null
    [ "$(PKG_CONFIG_PATH=$work/absolute pkg-config --variable=libdir filch)" = /opt/lib ]
    [ "$(PKG_CONFIG_PATH=$work/absolute pkg-config --variable=includedir filch)" = /opt/headers ]
    what="find_package, cluster, where there is none"
    if cmake -S "$work/cluster" -B "$work/no-cluster" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix-sub" >/dev/null 2>&1; then false; fi
    what="find_package by the name Filch"
    mkdir -p "$work/other-name"
    sed 's/find_package(filch/find_package(Filch/; s/COMPONENTS cluster/COMPONENTS std_par/; /^foreach/,$d' \
      "$work/cluster/CMakeLists.txt" >"$work/other-name/CMakeLists.txt"
    cmake -S "$work/other-name" -B "$work/other-name/built" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix-sub" >/dev/null
    sed -i 's/std_par/cluster/' "$work/other-name/CMakeLists.txt"
    if cmake -S "$work/other-name" -B "$work/other-name/built" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix-sub" >/dev/null 2>&1; then false; fi

    what="a program that is linked statically, over a package without hwloc"
    cmake -S "$source" -B "$work/static" -G Ninja -DFILCH_WITH_HWLOC=OFF -DFILCH_CLUSTER=OFF -DFILCH_RACES=OFF >/dev/null
    cmake --build "$work/static" >/dev/null
    cmake --install "$work/static" --prefix "$work/prefix-static" >/dev/null
    for_pkg_config "$work/prefix-static"
    # shellcheck disable=SC2046
    g++ -std=c++20 -O2 $(pkg-config --cflags filch) -I"$source/tests" "$source/tests/edges/programs/every_scheduler.cpp" -static \
      $(pkg-config --libs filch) -o "$work/static-program"
    [ "$("$work/static-program" 2>&1)" = right ]

    what="an option of CMake that makes no sense"
    if cmake -S "$source" -B "$work/nonsense" -G Ninja -DFILCH_WITH_MPI=nonsense >/dev/null 2>&1; then false; fi ;;
  *)
    what="no such group: $group"
    false ;;
esac
echo "$group: installed, found and compiled in every way"
