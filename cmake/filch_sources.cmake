# The library's sources, and the one choice among them: how to call a function on another stack.
set(FILCH_SOURCES
  src/os/linux/earlier_handler.cpp
  src/os/linux/fatal.cpp
  src/os/linux/futex.cpp
  src/os/linux/memory.cpp
  src/os/linux/overflow.cpp
  src/os/linux/processors.cpp
  src/runtime/addr2line.cpp
  src/runtime/check.cpp
  src/runtime/entry.cpp
  src/runtime/exceptions_aside.cpp
  src/runtime/fork_generation.cpp
  src/runtime/frames.cpp
  src/runtime/group/core.cpp
  src/runtime/group/lists.cpp
  src/runtime/group/spares.cpp
  src/runtime/idle.cpp
  src/runtime/mutex.cpp
  src/runtime/nesting.cpp
  src/runtime/page.cpp
  src/runtime/pools.cpp
  src/runtime/profile/clocks.cpp
  src/runtime/profile/flame.cpp
  src/runtime/profile/folding.cpp
  src/runtime/profile/node_table.cpp
  src/runtime/profile/page.cpp
  src/runtime/profile/place.cpp
  src/runtime/profile/prediction.cpp
  src/runtime/profile/profile.cpp
  src/runtime/profile/record.cpp
  src/runtime/profile/records.cpp
  src/runtime/profile/regions.cpp
  src/runtime/profile/report.cpp
  src/runtime/profile/source_lines.cpp
  src/runtime/profile/summary.cpp
  src/runtime/profile/task_names.cpp
  src/runtime/profile/timed_tree.cpp
  src/runtime/profile/watch.cpp
  src/runtime/settings.cpp
  src/runtime/stack.cpp
  src/runtime/statistics.cpp
  src/runtime/stand_ins.cpp
  src/runtime/task_sources.cpp
  src/runtime/team.cpp
  src/runtime/thread_number.cpp
  src/runtime/trace/names.cpp
  src/runtime/trace/packet_file.cpp
  src/runtime/trace/page.cpp
  src/runtime/trace/perfetto.cpp
  src/runtime/trace/story.cpp
  src/runtime/trace/summary.cpp
  src/runtime/trace/trace.cpp
  src/runtime/worker_loop.cpp
  src/runtime/worker_space.cpp
  src/version.cpp)

foreach(name IN LISTS FILCH_SCHEDULERS)
  file(GLOB_RECURSE of_scheduler CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "src/schedulers/${name}/*.cpp")
  list(APPEND FILCH_SOURCES ${of_scheduler})
endforeach()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND FILCH_SOURCES
    src/arch/x86_64/call_on_stack.S
    src/arch/x86_64/continuation.S
    src/arch/x86_64/switch_stack.S
    src/os/linux/interrupt.cpp
    src/runtime/fiber/forced_steals.cpp
    src/runtime/fiber/hooks.cpp
    src/runtime/fiber/nesting.cpp
    src/runtime/fiber/stack.cpp
    src/runtime/fiber/stack_pool.cpp
    src/runtime/fiber/team.cpp
    src/runtime/fiber/thief.cpp
    src/schedulers/implicit/unwind/tables.cpp)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND FILCH_SOURCES src/arch/aarch64/call_on_stack.S)
else()
  list(APPEND FILCH_SOURCES src/arch/generic/call_on_stack.cpp)
endif()
