// A task that may run in another process, its kind, and a rank worker's deque of tasks. Compiled into programs; the
// endpoint packs and unpacks tasks by their kind (src/cluster/requests.cpp).
#pragma once

#include <filch/detail/standard.hpp>
#include <filch/packing.hpp>

#if !defined(__cpp_rtti)
#error "filch/cluster.hpp knows tasks by the names of their types: compile it without -fno-rtti"
#endif

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

namespace filch::inline FILCH_ABI {
class rank;

namespace detail {

struct cluster_task;
struct cluster_future;
class rank_worker;

/// The operations on tasks of one function. Each function that is spawned has one kind, with the same name in every
/// process.
struct FILCH_API task_kind {
  using run_function = void (*)(rank_worker&, cluster_task&);  // takes the arguments out, then calls the function
  using pack_function = void (*)(packer&, cluster_task&);      // takes the arguments out, to a message
  using unpack_function = void (*)(unpacker&, cluster_task&);  // makes the arguments
  using drop_function = void (*)(cluster_task&) noexcept;      // ends the arguments

  /// Before main(), or as its library is loaded: adds itself to the known kinds.
  task_kind(std::string_view its_name, run_function, pack_function, unpack_function, drop_function);
  task_kind(task_kind const&) = delete;
  task_kind& operator=(task_kind const&) = delete;
  /// At the program's end, or as its library is unloaded. No task of the kind may be left.
  ~task_kind();

  std::string_view const name;
  std::uint64_t const id;  // hash of the name
  run_function const run;
  pack_function const pack;
  unpack_function const unpack;
  drop_function const drop;
};

/// A kind with this id; null: there is none.
FILCH_API task_kind const* find_kind(std::uint64_t id) noexcept;
/// Has another kind its name too, so that messages can't tell them apart?
FILCH_API bool is_ambiguous(task_kind const& kind) noexcept;
/// An ambiguous kind; null: there is none.
FILCH_API task_kind const* ambiguous_kind() noexcept;
/// The error's text.
FILCH_API std::string text_of_ambiguity(task_kind const& kind);

/// A function and its arguments. The arguments lie in the task if they are trivially copyable and fit, else on the
/// heap. So a task is moved by copying its bytes.
struct cluster_task {
  static constexpr std::size_t k_room = 40;

  task_kind const* kind;
  cluster_future* future;  // gets the result, on rank `home`; null: none
  alignas(8) std::byte arguments[k_room];
  std::int32_t home;
};
static_assert(sizeof(cluster_task) == 64 && std::is_trivially_copyable_v<cluster_task>);

/// A deque of tasks. A rank worker pushes and takes the newest. The endpoint takes the oldest, in that worker's poll.
/// Used by one thread at a time.
class task_deque {
 public:
  task_deque() = default;
  task_deque(task_deque&& other) noexcept
      : places_(std::move(other.places_)),
        capacity_(std::exchange(other.capacity_, 0)),
        oldest_(other.oldest_),
        size_(std::exchange(other.size_, 0)) {}
  task_deque& operator=(task_deque&&) = delete;
  ~task_deque() {
    while (!empty()) {
      cluster_task& t = take_newest();
      t.kind->drop(t);
    }
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The place of one more task. push() adds it.
  cluster_task& room() {
    if (size_ == capacity_) [[unlikely]]
      grow();
    return at(size_);
  }
  void push() noexcept { ++size_; }
  /// Valid until the next call of room().
  cluster_task& take_newest() noexcept { return at(--size_); }
  cluster_task& take_oldest() noexcept {
    cluster_task& t = at(0);
    ++oldest_;
    --size_;
    return t;
  }
  /// Makes the oldest task the newest. The deque is not empty.
  void renew_oldest() noexcept {
    cluster_task const t = take_oldest();
    at(size_++) = t;
  }
  /// Moves the oldest `count` of another deque here.
  void take_oldest_of(task_deque& from, std::size_t count) {
    for (; count > 0; --count) {
      cluster_task& place = room();
      place = from.take_oldest();
      push();
    }
  }

 private:
  cluster_task& at(std::size_t i) noexcept { return places_[(oldest_ + i) & (capacity_ - 1)]; }
  FILCH_COLD void grow() {
    std::size_t const wider = capacity_ ? 2 * capacity_ : 64;
    auto places = std::make_unique_for_overwrite<cluster_task[]>(wider);
    for (std::size_t i = 0; i < size_; ++i) places[i] = at(i);
    places_ = std::move(places);
    capacity_ = wider;
    oldest_ = 0;
  }

  std::unique_ptr<cluster_task[]> places_;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t oldest_ = 0;
  std::size_t size_ = 0;
};

template <class Fn> struct task_signature {
  static_assert(!sizeof(Fn), "a task of a cluster is a function, and its first parameter is filch::rank&");
  using result = void;
  using arguments = std::tuple<>;
  static constexpr bool k_in_task = true;
};
template <class Result, class... Param> struct task_signature<Result (*)(rank&, Param...)> {
  static_assert((packable<std::decay_t<Param>> && ...), "an argument of this task can't travel: see filch::packing");
  static_assert(std::is_void_v<Result> || packable<std::decay_t<Result>>, "the result of this task can't travel");
  using result = std::decay_t<Result>;
  using arguments = std::tuple<std::decay_t<Param>...>;
  static constexpr bool k_in_task = (detail::is_copied_as_bytes<std::decay_t<Param>>() && ...) &&
                                    sizeof(arguments) <= cluster_task::k_room && alignof(arguments) <= 8;
};
template <class Result, class... Param>
struct task_signature<Result (*)(rank&, Param...) noexcept> : task_signature<Result (*)(rank&, Param...)> {};

/// A type whose mangled name holds Fn's name, with namespaces, parameters and template arguments.
template <auto Fn> struct task_name {};

/// The arguments of a task of function Fn.
template <auto Fn> struct task_arguments {
  using signature = task_signature<decltype(Fn)>;
  using type = typename signature::arguments;

  /// Has Fn as many parameters, and does each argument convert to its parameter?
  template <class... Args> static consteval bool takes() { return takes<Args...>(static_cast<type*>(nullptr)); }
  template <class... Args> static void make(cluster_task& t, Args&&... a) {
    if constexpr (signature::k_in_task) {
      ::new (static_cast<void*>(t.arguments)) type(std::forward<Args>(a)...);
    } else {
      ::new (static_cast<void*>(t.arguments)) type*(new type(std::forward<Args>(a)...));
    }
  }
  static type take(cluster_task& t) {
    if constexpr (signature::k_in_task) {
      return std::move(*std::launder(reinterpret_cast<type*>(t.arguments)));
    } else {
      std::unique_ptr<type> const here(*std::launder(reinterpret_cast<type**>(t.arguments)));
      return std::move(*here);
    }
  }
  static void pack(packer& p, cluster_task& t) {
    type const arguments = take(t);
    std::apply([&p]<class... Args>(Args const&... a) { (static_cast<void>(packing<Args>::pack(p, a)), ...); },
               arguments);
  }
  static void unpack(unpacker& u, cluster_task& t) { unpack_each(u, t, static_cast<type*>(nullptr)); }
  static void drop(cluster_task& t) noexcept { static_cast<void>(take(t)); }

 private:
  template <class... Args, class... Param> static consteval bool takes(std::tuple<Param...>*) {
    if constexpr (sizeof...(Args) == sizeof...(Param)) {
      return (std::is_convertible_v<Args, Param> && ...);
    } else {
      return false;
    }
  }
  template <class... Args> static void unpack_each(unpacker& u, cluster_task& t, std::tuple<Args...>*) {
    // Braces evaluate in order, which is the order in the message.
    std::tuple<Args...> all{packing<Args>::unpack(u)...};
    std::apply([&t](Args&... a) { make(t, std::move(a)...); }, all);
  }
};

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
