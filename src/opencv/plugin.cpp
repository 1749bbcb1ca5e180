// libopencv_core_parallel_filch.so: OpenCV's parallel loops on Filch. OpenCV loads it where
// OPENCV_PARALLEL_PRIORITY_LIST says FILCH. docs/std_par.md.
#include <filch/default_scheduler.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/worker.hpp>

#include <opencv2/core/parallel/parallel_backend.hpp>
#include <opencv2/core/version.hpp>

#include <algorithm>
#include <memory>

namespace {

using api = cv::parallel::ParallelForAPI;

/// The iterations of a stretch, in one call. OpenCV's function keeps its exceptions.
struct stripes {
  api::FN_parallel_for_body_cb_t body;
  void* data;
  void run(std::size_t first, std::size_t last) const { body(static_cast<int>(first), static_cast<int>(last), data); }
  stripes split(std::size_t, std::size_t) const { return *this; }
  void merge(stripes&) const noexcept {}
};

class backend final : public api {
 public:
  void parallel_for(int tasks, FN_parallel_for_body_cb_t body, void* data) override {
    if (tasks <= 0) return;
    pool().run([&] {
      stripes all{body, data};
      filch::detail::run_pieces<filch::default_scheduler>(0, static_cast<std::size_t>(tasks), all);
    });
  }
  int getThreadNum() const override { return static_cast<int>(filch::current_worker().value_or(0)); }
  int getNumThreads() const override { return static_cast<int>(pool().workers()); }

  /// A pool of its own; the default pool if n is not positive. OpenCV calls it while no loop runs. Returns the number
  /// before.
  int setNumThreads(int n) override {
    int const before = getNumThreads();
    own_.reset();
    if (n > 0 && static_cast<unsigned>(n) != pool().workers()) {
      filch::pool_options options;
      options.workers = static_cast<unsigned>(n);
      own_ = std::make_unique<filch::pool>(options);
    }
    return before;
  }
  char const* getName() const override { return "filch"; }

 private:
  filch::pool& pool() const { return own_ ? *own_ : filch::default_scheduler::default_pool(); }
  std::unique_ptr<filch::pool> own_;
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
