// The direct task stack in the steps in which K.-F. Faxen (ICPP 2010) builds it, for table II and figure 4: small
// schedulers that run fib and stress. They lack everything else: callables and results are trivially copyable and
// small, and do not throw; nothing sleeps; an array of descriptors has no end that the workloads reach.
#pragma once

#include "words.hpp"

#include <filch/serial.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <type_traits>
#include <vector>

namespace bench::ablations {

/// How an owner and a thief agree about a task (table II).
enum class joins {
  by_lock,       // base: each worker's lock, `top` and `bot`
  by_state,      // synchronize on task: an exchange of the task's state
  specific,      // task specific join: the same, and the join calls the task itself
  none_private,  // private tasks: the join asks whether the task is, and none is
  all_private,   // all are: only one worker runs them
};
/// How thieves agree with each other (figure 4).
enum class steals { by_lock, by_lock_after_peek, by_trylock, without_lock };

template <joins Join, steals Steal> class task_stack {
 public:
  static constexpr std::string_view name = "ablation";
  using frame = filch::serial::frame;  // the workloads have no scopes
  class pool;

  template <class Fn, class Gn>
  FILCH_INLINE static std::pair<std::invoke_result_t<Fn&>, std::invoke_result_t<Gn&>> join(Fn&& f, Gn&& g) {
    using G = std::decay_t<Gn>;
    using result = std::invoke_result_t<Gn&>;
    static_assert(std::is_trivially_copyable_v<G> && sizeof(G) <= descriptor::k_room);
    static_assert(std::is_trivially_copyable_v<result> && sizeof(result) <= descriptor::k_room);
    worker& w = *self_;
    spawn<G>(w, g);
    auto a = f();
    return {a, joined<G, result>(w)};
  }
  static bool wanted() noexcept { return false; }
  static bool inside() noexcept { return self_ != nullptr; }
  static unsigned worker_index() noexcept { return self_ ? self_->index : 0; }
  static void attach(filch::detail::task_source&) noexcept {}
  static pool& default_pool();

 private:
  struct worker : worker_words {
    unsigned index = 0;
    unsigned random = 0;
    patience waits;             // of a thief
    descriptor* top = nullptr;  // of the owner; with joins::by_lock worker_words::shared_top
    std::unique_ptr<descriptor[]> all = std::make_unique<descriptor[]>(k_descriptors);
    std::vector<worker>* others = nullptr;
  };
  static constexpr std::size_t k_descriptors = 4096;

  template <class G> static void wrapper(descriptor* t) {
    auto result = (*std::launder(reinterpret_cast<G*>(t->payload)))();
    std::memcpy(t->payload, &result, sizeof(result));
  }
  template <class G> FILCH_INLINE static void spawn(worker& w, G const& g) {
    descriptor* const t = Join == joins::by_lock ? w.shared_top.get() : w.top;
    ::new (static_cast<void*>(t->payload)) G(g);
    if constexpr (Join == joins::by_lock) {
      t->code = &wrapper<G>;
      w.shared_top.publish(t + 1);
    } else {
      if ((Join == joins::all_private || Join == joins::none_private) && !t->is_public)
        t->code = &wrapper<G>;
      else
        t->state.offer(&wrapper<G>);
      w.top = t + 1;
    }
  }

  template <class G, class R> FILCH_INLINE static R joined(worker& w) {
    if constexpr (Join == joins::by_lock) {
      return result_of<R>(join_by_lock(w));
    } else if constexpr (Join == joins::by_state) {
      return result_of<R>(join_by_state(w));
    } else {
      descriptor* const t = --w.top;
      G& g = *std::launder(reinterpret_cast<G*>(t->payload));
      if constexpr (Join == joins::all_private || Join == joins::none_private) {
        if (!t->is_public) return g();
      }
      task_state::value const s = t->state.take_back();
      if (task_state::is_task(s)) [[likely]]
        return g();
      return result_of<R>(wait_for(w, t, s));
    }
  }
  template <class R> FILCH_INLINE static R result_of(descriptor* t) {
    R r;
    std::memcpy(&r, t->payload, sizeof(r));
    return r;
  }

  // All of it is the library's: the task is called through its wrapper.
  [[gnu::noinline]] static descriptor* join_by_lock(worker& w) {
    w.lock.acquire();
    descriptor* const t = w.shared_top.get() - 1;
    bool const is_stolen = w.bot.get() > t;
    if (!is_stolen) w.shared_top.publish(t);
    w.lock.release();
    if (!is_stolen) {
      t->code(t);
      return t;
    }
    for (patience p; !t->done.is_set();) p.after(steal((*w.others)[t->thief]));
    t->done.clear();
    w.lock.acquire();
    w.shared_top.publish(t);
    w.bot.set(t);
    w.lock.release();
    return t;
  }
  [[gnu::noinline]] static descriptor* join_by_state(worker& w) {
    descriptor* const t = --w.top;
    task_state::value const s = t->state.take_back();
    if (!task_state::is_task(s)) return wait_for(w, t, s);
    task_state::code_of(s)(t);
    return t;
  }
  /// The paper's RTS_join.
  [[gnu::noinline]] static descriptor* wait_for(worker& w, descriptor* t, task_state::value s) {
    do {
      while (s == task_state::k_empty) s = t->state.get();
      if (task_state::is_task(s)) s = t->state.take_back();
    } while (s == task_state::k_empty);
    if (task_state::is_task(s)) {  // a thief gave it back
      task_state::code_of(s)(t);
      return t;
    }
    if (s != task_state::k_done) {
      w.top = t + 1;  // tasks of the thief run above it
      for (patience p; t->state.get() != task_state::k_done;) p.after(steal((*w.others)[task_state::thief_of(s)]));
      w.top = t;
    }
    if (Steal != steals::without_lock) w.lock.acquire();
    w.bot.set(t);
    if (Steal != steals::without_lock) w.lock.release();
    return t;
  }

  static bool steal(worker& victim) {
    if constexpr (Join == joins::by_lock)
      return steal_by_lock(victim);
    else if constexpr (Steal == steals::without_lock)
      return steal_without_lock(victim);
    else
      return steal_with_lock(victim);
  }
  static bool steal_by_lock(worker& victim) {
    victim.lock.acquire();
    descriptor* const t = victim.bot.get();
    bool const is_task = t < victim.shared_top.get();
    if (is_task) {
      victim.bot.set(t + 1);
      t->thief = self_->index;
    }
    victim.lock.release();
    if (!is_task) return false;
    t->code(t);
    t->done.set();
    ++steals_of_self();
    return true;
  }
  static bool steal_with_lock(worker& victim) {
    if (Steal != steals::by_lock && !task_state::is_task(victim.bot.get()->state.get())) return false;
    if constexpr (Steal == steals::by_trylock) {
      if (!victim.lock.try_acquire()) return false;
    } else {
      victim.lock.acquire();
    }
    descriptor* const t = victim.bot.get();
    task_state::value const s = t->state.get();
    bool const is_mine = task_state::is_task(s) && t->state.claim(s);
    if (is_mine) {
      t->state.is_stolen_by(self_->index);
      victim.bot.set(t + 1);
    }
    victim.lock.release();
    if (!is_mine) return false;
    task_state::code_of(s)(t);
    t->state.is_done();
    ++steals_of_self();
    return true;
  }
  /// The paper's RTS_steal.
  static bool steal_without_lock(worker& victim) {
    descriptor* const t = victim.bot.get();
    task_state::value const s = t->state.get();
    if (!task_state::is_task(s) || !t->state.claim(s)) return false;
    if (victim.bot.get() != t) {
      t->state.give_back(s);
      return false;
    }
    t->state.is_stolen_by(self_->index);
    victim.bot.set(t + 1);
    task_state::code_of(s)(t);
    t->state.is_done();
    ++steals_of_self();
    return true;
  }
  static std::uint64_t& steals_of_self() { return self_->steals; }

  static inline thread_local constinit worker* self_ = nullptr;
};

/// Its threads look for tasks during runs. One thread at a time calls run.
template <joins Join, steals Steal> class task_stack<Join, Steal>::pool {
 public:
  explicit pool(unsigned workers) : workers_(workers) {
    for (unsigned i = 0; i < workers; ++i) {
      worker& w = workers_[i];
      w.index = w.random = i;
      w.others = &workers_;
      w.top = w.all.get();
      w.bot.set(w.top);
      w.shared_top.publish(w.top);
      for (std::size_t k = 0; Join == joins::all_private && k < k_descriptors; ++k) w.all[k].is_public = false;
    }
    for (unsigned i = 1; i < workers; ++i) threads_.emplace_back([this, i] { searches(workers_[i]); });
  }
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;
  ~pool() {
    is_over_.set();
    alarm_.ring(0);
    for (std::thread& t : threads_) t.join();
  }
  /// All thieves look during f.
  template <class F> std::invoke_result_t<F&> run(F&& f) {
    struct during {
      explicit during(pool& p) : of(p) {
        self_ = &of.workers_[0];
        of.alarm_.ring(static_cast<unsigned>(of.threads_.size()));
      }
      ~during() {
        of.alarm_.stop();
        self_ = nullptr;
      }
      pool& of;
    } const here(*this);
    return f();
  }
  /// Between runs.
  std::uint64_t steals() const {
    std::uint64_t sum = 0;
    for (worker const& w : workers_) sum += w.steals;
    return sum;
  }

 private:
  void searches(worker& me) {
    self_ = &me;
    while (true) {
      alarm_.waits();
      if (is_over_.is_set()) return;
      alarm_.is_awake();
      while (alarm_.is_on()) looks(me);
      alarm_.sleeps();
    }
  }
  void looks(worker& me) {
    me.random = me.random * 1664525u + 1013904223u;
    unsigned const other = (me.random >> 16) % (static_cast<unsigned>(workers_.size()) - 1);
    me.waits.after(steal(workers_[other + (other >= me.index)]));
  }
  std::vector<worker> workers_;
  std::vector<std::thread> threads_;
  alarm alarm_;
  flag is_over_;
};

template <joins Join, steals Steal> typename task_stack<Join, Steal>::pool& task_stack<Join, Steal>::default_pool() {
  static pool the_pool(1);
  return the_pool;
}

}  // namespace bench::ablations
