// The words of the calling thread that every entry point reads first.
#pragma once

#include "races/calls.hpp"

namespace filch::races {

struct thread_words {
  bool checks;        // it is the checked thread, and runs code of the program inside a pool
  call_stack* calls;  // null: its calls are not kept
};
extern constinit thread_local thread_words me __attribute__((tls_model("initial-exec")));

/// While it exists, nothing that the thread does is looked at.
class off_the_record {
 public:
  off_the_record() noexcept : checked_(me.checks), calls_(me.calls) { me = {false, nullptr}; }
  off_the_record(off_the_record const&) = delete;
  off_the_record& operator=(off_the_record const&) = delete;
  ~off_the_record() { me = {checked_, calls_}; }

 private:
  bool const checked_;
  call_stack* const calls_;
};

}  // namespace filch::races
