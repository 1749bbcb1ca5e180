// The list of the workloads, and their sequential functions.
#include "workloads.hpp"

namespace bench {
namespace {

template <class W>
concept pollable = requires { W::k_can_poll; };

/// Checks a size as job_of<W> would. A workload with a large input can tell its size without making it.
template <class W> void check_size(std::string_view size) {
  if constexpr (requires { W::size_of(size); }) {
    W::size_of(size);
  } else {
    W::prepare(size);
  }
}

template <class W> constexpr std::string_view quick_peer_size() {
  if constexpr (requires { W::quick_peer_size; }) return W::quick_peer_size;
  return "";
}

template <class W> std::vector<std::string_view> published_sizes() {
  if constexpr (requires { W::published_sizes(); }) return W::published_sizes();
  return {};
}

template <class W> workload describe() {
  return {W::name,
          W::about,
          W::sizes(),
          published_sizes<W>(),
          W::quick_size,
          quick_peer_size<W>(),
          check_size<W>,
          [](std::string_view size) -> std::unique_ptr<job> { return std::make_unique<job_of<W>>(size); },
          [](job& j) {
            auto& mine = static_cast<job_of<W>&>(j);
            mine.answer = W::plain(mine.input);
          },
          pollable<W>,
          called_from_outside<W>};
}

}  // namespace

std::vector<workload> const& known_workloads() {
  static std::vector<workload> const all = [] {
    std::vector<workload> v;
    all_workloads::for_each([&v]<class W>() { v.push_back(describe<W>()); });
    return v;
  }();
  return all;
}

workload const* find_workload(std::string_view name) {
  for (workload const& w : known_workloads()) {
    if (w.name == name) return &w;
  }
  return nullptr;
}

}  // namespace bench
