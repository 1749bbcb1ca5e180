// A Java virtual machine beside tasks: it has handlers, signal stacks and threads of its own, and stops its threads
// to collect garbage. Java code needs the stack that a thread began with, so tasks hand their calls to a thread of
// the program's, and wait in the system.
#include "foreign.hpp"

#include <filch/blocking.hpp>

#include <jni.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>

namespace {

class java {
 public:
  java() : thread_([this] { serve(); }) {}
  ~java() {
    {
      std::lock_guard const lock(mutex_);
      is_over_ = true;
    }
    wanted_.notify_one();
    thread_.join();
  }
  java(java const&) = delete;
  java& operator=(java const&) = delete;

  /// Called from a task: runs f(environment) on the thread that Java knows.
  long call(std::function<long(JNIEnv&)> f) {
    std::packaged_task<long(JNIEnv&)> task(std::move(f));
    std::future<long> result = task.get_future();
    {
      std::lock_guard const lock(mutex_);
      calls_.push(std::move(task));
    }
    wanted_.notify_one();
    return filch::blocking([&] { return result.get(); });
  }

 private:
  void serve() {
    JavaVM* machine = nullptr;
    JNIEnv* environment = nullptr;
    JavaVMOption small{const_cast<char*>("-Xmx64m"), nullptr};
    JavaVMInitArgs arguments{JNI_VERSION_1_8, 1, &small, JNI_FALSE};
    foreign::expect(JNI_CreateJavaVM(&machine, reinterpret_cast<void**>(&environment), &arguments) == JNI_OK,
                    "a Java virtual machine");
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [&] { return is_over_ || !calls_.empty(); });
      if (calls_.empty()) break;
      auto task = std::move(calls_.front());
      calls_.pop();
      lock.unlock();
      task(*environment);
      lock.lock();
    }
    lock.unlock();
    machine->DestroyJavaVM();
  }

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::queue<std::packaged_task<long(JNIEnv&)>> calls_;
  bool is_over_ = false;
  std::thread thread_;
};

/// Integer.parseInt(text), which throws in Java where it is no number: then -1.
long parse(JNIEnv& e, char const* text) {
  jclass const integer = e.FindClass("java/lang/Integer");
  jmethodID const parse_int = e.GetStaticMethodID(integer, "parseInt", "(Ljava/lang/String;)I");
  jstring const string = e.NewStringUTF(text);
  long const value = e.CallStaticIntMethod(integer, parse_int, string);
  bool const has_thrown = e.ExceptionCheck();
  e.ExceptionClear();
  e.DeleteLocalRef(string);
  e.DeleteLocalRef(integer);
  return has_thrown ? -1 : value;
}
/// Makes garbage, and collects it.
long collect(JNIEnv& e) {
  for (int i = 0; i < 20; ++i) e.DeleteLocalRef(e.NewLongArray(10'000));
  jclass const system = e.FindClass("java/lang/System");
  e.CallStaticVoidMethod(system, e.GetStaticMethodID(system, "gc", "()V"));
  e.DeleteLocalRef(system);
  return 0;
}

template <class S> long tree(java& j, int depth) {
  if (depth == 0) {
    long const before = foreign::fib<S>(10);
    return before + j.call([](JNIEnv& e) { return parse(e, "42") + parse(e, "no number"); });
  }
  auto const [a, b] =
      filch::join<S>([&j, depth] { return tree<S>(j, depth - 1); }, [&j, depth] { return tree<S>(j, depth - 1); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return foreign::with_scheduler(argc, argv, []<class S>() {
    // One pool is there before the machine, one comes later: both orders of handlers.
    typename S::pool before({.workers = 2});
    before.run([] { foreign::fib<S>(15); });
    java j;
    j.call(collect);
    typename S::pool after({.workers = 3});
    foreign::for_a_while const time(std::chrono::seconds(4));
    while (time.goes_on()) {
      foreign::expect(before.run([&] { return tree<S>(j, 4); }) == 16 * (55 + 41), "Java called from an older pool");
      foreign::expect(after.run([&] { return tree<S>(j, 4); }) == 16 * (55 + 41), "Java called from a newer pool");
      j.call(collect);
    }
  });
}
