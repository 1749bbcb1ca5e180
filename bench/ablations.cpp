// Makes the variants of ablations.hpp. papers/ measures them.
#include "ablations.hpp"

#include "ablations/task_stack.hpp"
#include "measure.hpp"
#include "workloads/fib.hpp"
#include "workloads/stress.hpp"

#include <fmt/format.h>
#include <chrono>

namespace bench {
namespace {

using ablations::joins;
using ablations::steals;
using ablations::task_stack;

template <class W, class Run> double seconds_of(std::string_view who, typename W::input in, Run const& run) {
  auto const begin = std::chrono::steady_clock::now();
  auto const found = run(in);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  if (!W::verify(in, found)) throw wrong_answer(fmt::format("{} on the ablation {}: wrong answer", W::name, who));
  return took.count();
}

template <joins Join, steals Steal> ablation variant(std::string_view name, unsigned workers) {
  using stack = task_stack<Join, Steal>;
  auto const pool = std::make_shared<typename stack::pool>(workers);
  auto const on_pool = [name, pool]<class W>(W*, typename W::input in) {
    return pool->run(
        [&] { return seconds_of<W>(name, in, [](auto& input) { return W::template run<stack>(input); }); });
  };
  return {name, [=](long n) { return on_pool(static_cast<fib*>(nullptr), n); },
          [=](std::string_view size) { return on_pool(static_cast<stress*>(nullptr), stress::prepare(size)); }};
}

}  // namespace

std::vector<ablation> join_ablations() {
  return {variant<joins::by_lock, steals::by_lock>("Base", 1),
          variant<joins::by_state, steals::without_lock>("Synchronize on task", 1),
          variant<joins::specific, steals::without_lock>("Task specific join", 1),
          variant<joins::none_private, steals::without_lock>("Private tasks (no private)", 1),
          variant<joins::all_private, steals::without_lock>("Private tasks (all private)", 1),
          {"Serial", [](long n) { return seconds_of<fib>("Serial", n, [](long& in) { return fib::plain(in); }); },
           [](std::string_view size) {
             return seconds_of<stress>("Serial", stress::prepare(size), [](auto& in) { return stress::plain(in); });
           }}};
}

std::vector<ablation> steal_ablations(unsigned workers) {
  return {variant<joins::specific, steals::by_lock>("base", workers),
          variant<joins::specific, steals::by_lock_after_peek>("peek", workers),
          variant<joins::specific, steals::by_trylock>("trylock", workers),
          variant<joins::specific, steals::without_lock>("nolock", workers)};
}

std::vector<ablation> ablations_with_thieves(unsigned workers) {
  auto all = steal_ablations(workers);
  all.push_back(variant<joins::by_lock, steals::by_lock>("Base", workers));
  all.push_back(variant<joins::by_state, steals::without_lock>("Synchronize on task", workers));
  all.push_back(variant<joins::none_private, steals::without_lock>("Private tasks (no private)", workers));
  return all;
}

}  // namespace bench
