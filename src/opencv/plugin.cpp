// libopencv_core_parallel_filch.so: OpenCV's parallel loops on Filch. OpenCV loads it where
// OPENCV_PARALLEL_PRIORITY_LIST says FILCH. docs/std_par.md.
#include <filch/default_scheduler.hpp>
#include <filch/detail/pieces.hpp>

#include <opencv2/core/parallel/parallel_backend.hpp>
#include <opencv2/core/version.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <exception>
#include <memory>
#include <new>

namespace {

using api = cv::parallel::ParallelForAPI;

/// The numbers of the threads in the loop that runs, from 0 on in the order in which they come. A pool's indices can
/// be larger than its number of workers, and OpenCV's users have an array of so many elements.
class thread_numbers {
 public:
  // relaxed: the pool orders a loop's beginning and end, and what its threads do.
  void loop_begins() noexcept {
    next_.store(0, std::memory_order_relaxed);
    loop_.fetch_add(1, std::memory_order_relaxed);
  }
  void loop_ends() noexcept { loop_.fetch_add(1, std::memory_order_relaxed); }
  /// The calling thread runs a part of the loop.
  void comes() noexcept {
    unsigned const loop = loop_.load(std::memory_order_relaxed);
    if (mine_.loop != loop) mine_ = {loop, next_.fetch_add(1, std::memory_order_relaxed)};
  }
  /// 0 for a thread that runs no part of it.
  int mine() const noexcept { return mine_.loop == loop_.load(std::memory_order_relaxed) ? mine_.number : 0; }

 private:
  struct numbered {
    unsigned loop;
    int number;
  };
  static inline thread_local numbered mine_{0, 0};
  std::atomic<unsigned> loop_{0};  // another number where one begins, and where it ends
  std::atomic<int> next_{0};
};

/// The iterations of a stretch, in one call. OpenCV's function keeps its exceptions.
struct stripes {
  api::FN_parallel_for_body_cb_t body;
  void* data;
  filch::detail::loop_history* costs;
  thread_numbers* threads;
  void run(std::size_t first, std::size_t last) const {
    threads->comes();
    body(static_cast<int>(first), static_cast<int>(last), data);
  }
  stripes split(std::size_t, std::size_t) const { return *this; }
  void merge(stripes&) const noexcept {}
  filch::detail::loop_history& history() const noexcept { return *costs; }
};

/// Takes a flag, if no one else has it.
class taken {
 public:
  explicit taken(std::atomic<bool>& flag) noexcept
      : flag_(flag), has_it_(!flag.exchange(true, std::memory_order_acquire)) {}  // acquire: the last user's writes
  taken(taken const&) = delete;
  taken& operator=(taken const&) = delete;
  ~taken() {
    if (has_it_) flag_.store(false, std::memory_order_release);
  }
  explicit operator bool() const noexcept { return has_it_; }

 private:
  std::atomic<bool>& flag_;
  bool const has_it_;
};

class backend final : public api {
 public:
  /// OpenCV runs one loop at a time. Another one runs in order.
  void parallel_for(int tasks, FN_parallel_for_body_cb_t body, void* data) override {
    if (tasks <= 0) return;
    int const wanted = wanted_.load(std::memory_order_relaxed);
    taken const use(is_used_);
    if (wanted == 0 || wanted == 1 || !use) return body(0, tasks, data);
    auto const n = static_cast<std::size_t>(tasks);
    filch::pool& pool = pool_of(wanted);
    pool.run([&] {
      // All loops of OpenCV have one body here. Few stripes may be long ones, whatever other loops cost.
      filch::detail::loop_history fresh;
      bool const is_few = n <= std::size_t{2} * pool.workers();
      stripes all{body, data, is_few ? &fresh : &costs_[static_cast<std::size_t>(std::bit_width(n))], &threads_};
      threads_.loop_begins();
      filch::detail::run_pieces<filch::default_scheduler>(0, n, all);
      threads_.loop_ends();
    });
  }
  int getThreadNum() const override { return threads_.mine(); }
  int getNumThreads() const override {
    int const wanted = wanted_.load(std::memory_order_relaxed);
    return wanted < 0 ? static_cast<int>(default_pool().workers()) : std::max(wanted, 1);
  }

  /// The next loop makes a pool of n workers, at most 1024. 0 and 1: loops run in order. A negative n: the default
  /// pool. Returns the n before.
  int setNumThreads(int n) override {
    n = std::clamp(n, k_default, k_most);
    int const before = wanted_.exchange(n, std::memory_order_relaxed);
    if (n == before) return before;
    if (taken const use(is_used_); use && own_ && own_->workers() != static_cast<unsigned>(n)) own_.reset();
    return before;
  }
  char const* getName() const override { return "filch"; }

 private:
  static constexpr int k_default = -1;
  static constexpr int k_most = 1024;

  filch::pool& default_pool() const {
    filch::pool& pool = filch::default_scheduler::default_pool();
    default_workers_.store(static_cast<int>(pool.workers()), std::memory_order_relaxed);
    return pool;
  }
  /// The default pool, too, if it is known to have so many workers, or the system refuses another one.
  filch::pool& pool_of(int wanted) {
    if (wanted < 0 || wanted == default_workers_.load(std::memory_order_relaxed)) {
      own_.reset();
      return default_pool();
    }
    if (own_ && own_->workers() == static_cast<unsigned>(wanted)) return *own_;
    own_.reset();
    try {
      filch::pool_options options;
      options.workers = static_cast<unsigned>(wanted);
      own_ = std::make_unique<filch::pool>(options);
    } catch (std::exception const&) {
      wanted_.compare_exchange_strong(wanted, k_default, std::memory_order_relaxed);
      return default_pool();
    }
    return *own_;
  }

  std::atomic<int> wanted_{k_default};
  mutable std::atomic<int> default_workers_{0};  // 0: this plug-in has not used the default pool
  std::atomic<bool> is_used_{false};
  thread_numbers threads_;
  std::unique_ptr<filch::pool> own_;  // and costs_: of the one that has the flag
  std::array<filch::detail::loop_history, 33> costs_;
};

// OpenCV's binary interface of plug-ins, version 0, of which its packages install no header.
struct interface_header {
  std::size_t size;
  unsigned abi_version;
  unsigned api_version;
  unsigned opencv_major;
  unsigned opencv_minor;
  unsigned opencv_patch;
  char const* opencv_status;
  char const* description;
};
struct plugin_interface {
  interface_header header;
  int (*get_instance)(api** instance) noexcept;
};
constexpr int k_ok = 0;
constexpr int k_failed = -1;

int get_instance(api** instance) noexcept {
  static backend* const the_backend = new (std::nothrow) backend;  // threads may use it until the process ends
  if (instance == nullptr || the_backend == nullptr) return k_failed;
  *instance = the_backend;
  return k_ok;
}

constexpr plugin_interface k_interface{{sizeof(plugin_interface), 0, 0, CV_VERSION_MAJOR, CV_VERSION_MINOR,
                                        CV_VERSION_REVISION, CV_VERSION_STATUS, "Filch, OpenCV parallel backend"},
                                       get_instance};

}  // namespace

extern "C" __attribute__((visibility("default"))) void const* opencv_core_parallel_plugin_init_v0(int abi,
                                                                                                  int version,
                                                                                                  void*) noexcept {
  return abi == 0 && version == 0 ? &k_interface : nullptr;
}
