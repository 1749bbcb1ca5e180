// Tasks that call a Java VM as docs/virtual-machines.md says: on threads of the program's own.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <jni.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace filch_test {
namespace {

/// Never destroyed: no process may have a second one.
JavaVM* the_machine() {
  static JavaVM* const made = [] {
    JavaVM* machine = nullptr;
    JNIEnv* environment = nullptr;
    JavaVMInitArgs arguments{};
    arguments.version = JNI_VERSION_1_8;
    return JNI_CreateJavaVM(&machine, reinterpret_cast<void**>(&environment), &arguments) == JNI_OK ? machine
                                                                                                    : nullptr;
  }();
  return made;
}

/// A thread that is attached to the machine. It runs calls of others, one after the other.
class java_thread {
 public:
  java_thread() : thread_([this] { run(); }) {}
  java_thread(java_thread const&) = delete;
  java_thread& operator=(java_thread const&) = delete;
  ~java_thread() {
    post(nullptr);
    thread_.join();
  }

  template <class Call> auto call(Call call) {
    auto job = std::make_shared<std::packaged_task<std::invoke_result_t<Call, JNIEnv*>(JNIEnv*)>>(std::move(call));
    auto result = job->get_future();
    post([job](JNIEnv* environment) { (*job)(environment); });
    return filch::blocking([&] { return result.get(); });
  }

 private:
  using job_type = std::function<void(JNIEnv*)>;

  void post(job_type job) {
    std::lock_guard const lock(mutex_);
    jobs_.push_back(std::move(job));
    comes_.notify_one();
  }
  void run() {
    JNIEnv* environment = nullptr;
    the_machine()->AttachCurrentThread(reinterpret_cast<void**>(&environment), nullptr);
    for (;;) {
      std::unique_lock lock(mutex_);
      comes_.wait(lock, [this] { return !jobs_.empty(); });
      job_type const job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      if (!job) break;
      job(environment);
    }
    the_machine()->DetachCurrentThread();
  }

  std::mutex mutex_;
  std::condition_variable comes_;
  std::deque<job_type> jobs_;
  std::thread thread_;
};

/// Fills and sorts a list in Java, sometimes with a collection, and returns its length.
long ask_java(JNIEnv* environment, int n) {
  auto const list_class = environment->FindClass("java/util/ArrayList");
  auto const collections = environment->FindClass("java/util/Collections");
  auto const integer = environment->FindClass("java/lang/Integer");
  auto const make_integer = environment->GetStaticMethodID(integer, "valueOf", "(I)Ljava/lang/Integer;");
  auto const add = environment->GetMethodID(list_class, "add", "(Ljava/lang/Object;)Z");
  auto const list = environment->NewObject(list_class, environment->GetMethodID(list_class, "<init>", "()V"));
  for (int i = n; i > 0; --i) {
    auto const number = environment->CallStaticObjectMethod(integer, make_integer, i);
    environment->CallBooleanMethod(list, add, number);
    environment->DeleteLocalRef(number);
  }
  environment->CallStaticVoidMethod(collections,
                                    environment->GetStaticMethodID(collections, "sort", "(Ljava/util/List;)V"), list);
  if (n % 10 == 0) {
    auto const system = environment->FindClass("java/lang/System");
    environment->CallStaticVoidMethod(system, environment->GetStaticMethodID(system, "gc", "()V"));
    environment->DeleteLocalRef(system);
  }
  long const length = environment->CallIntMethod(list, environment->GetMethodID(list_class, "size", "()I"));
  for (jobject o :
       {static_cast<jobject>(list_class), static_cast<jobject>(collections), static_cast<jobject>(integer), list}) {
    environment->DeleteLocalRef(o);
  }
  return environment->ExceptionCheck() ? -1 : length;
}

template <class S> class java_vm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "the machine handles faults of its own";
    ASSERT_NE(the_machine(), nullptr);
  }
};
TYPED_TEST_SUITE(java_vm, all_schedulers, scheduler_names);

TYPED_TEST(java_vm, answers_tasks_through_threads_of_its_own) {
  typename TypeParam::pool pool({.workers = 3});
  java_thread first;
  java_thread second;
  std::atomic<long> sum{0};
  pool.run([&] {
    filch::for_index<TypeParam>(0, 200, [&](int i) {
      auto& java = i % 2 ? first : second;
      sum += java.call([i](JNIEnv* environment) { return ask_java(environment, i); });
      auto const [a, b] = filch::join<TypeParam>([] { return 1; }, [] { return 2; });
      sum += a + b;
    });
  });
  EXPECT_EQ(sum, 199 * 100 + 200 * 3);
}

TYPED_TEST(java_vm, s_thread_may_run_tasks) {
  typename TypeParam::pool pool({.workers = 2});
  java_thread java;
  long const sum = java.call([&](JNIEnv* environment) {
    long const tasks = pool.run([] {
      auto const [a, b] = filch::join<TypeParam>([] { return 1L; }, [] { return 2L; });
      return a + b;
    });
    return tasks + ask_java(environment, 10);
  });
  EXPECT_EQ(sum, 13);
}

}  // namespace
}  // namespace filch_test
