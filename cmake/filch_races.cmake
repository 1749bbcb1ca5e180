# filch::races, in place of filch::filch: programs that link it are compiled with -fsanitize=thread, and checked for races
# by Filch's own runtime (docs/races.md). It takes the place of the compiler's: nothing is linked with -fsanitize=thread.
add_library(filch_races STATIC
  src/arch/x86_64/call_on_stack.S
  src/os/linux/fatal.cpp
  src/os/linux/futex.cpp
  src/races/atomics.cpp
  src/races/calls.cpp
  src/races/checker.cpp
  src/races/compiled.cpp
  src/races/foreign.cpp
  src/races/heap.cpp
  src/races/history.cpp
  src/races/hooks.cpp
  src/races/library.cpp
  src/races/locks.cpp
  src/races/mutexes.cpp
  src/races/new.cpp
  src/races/pools.cpp
  src/races/report.cpp
  src/races/setup.cpp
  src/races/sections.cpp
  src/races/strings.cpp
  src/races/suppressions.cpp
  src/races/symbols.cpp
  src/races/text.cpp
  src/runtime/addr2line.cpp
  src/runtime/fork_generation.cpp
  src/runtime/thread_number.cpp
  src/version.cpp)
add_library(filch::races ALIAS filch_races)
if(NOT PROJECT_IS_TOP_LEVEL AND NOT FILCH_INSTALL)
  set_target_properties(filch_races PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
target_compile_features(filch_races PUBLIC cxx_std_20)
target_include_directories(filch_races
  PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(filch_races PUBLIC FILCH_RACES=1 PRIVATE FILCH_RACES_LIBRARY=1)
# GCC copies small objects in place of a call of memcpy, where no check would see it. Nor are libc's functions with checks of
# their own seen.
target_compile_options(filch_races
  INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=thread;-U_FORTIFY_SOURCE>" $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-builtin>
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-fno-builtin>
  PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-mcx16>)
# Else compilers would make calls of these functions out of the functions.
set_source_files_properties(src/races/strings.cpp src/races/heap.cpp PROPERTIES COMPILE_OPTIONS -fno-builtin)
# The program calls these at each access.
set_source_files_properties(src/races/compiled.cpp PROPERTIES COMPILE_OPTIONS "-fomit-frame-pointer;-momit-leaf-frame-pointer")
target_link_libraries(filch_races PUBLIC Threads::Threads ${CMAKE_DL_LIBS} PRIVATE $<BUILD_INTERFACE:filch_warnings>)
filch_library_properties(filch_races)
set_target_properties(filch_races PROPERTIES EXPORT_NAME races)
