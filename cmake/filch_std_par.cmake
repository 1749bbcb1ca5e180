# filch::std_par: libstdc++'s parallel algorithms on Filch (docs/std_par.md). Adds a part to the library, and a target
# that includes a header before all others in C++ sources, and does not ask for C++20.
list(APPEND FILCH_SOURCES src/std_par/costs.cpp)
foreach(name IN LISTS FILCH_SCHEDULERS)
  configure_file(src/std_par/scheduler.cpp.in "${PROJECT_BINARY_DIR}/std_par/${name}.cpp" @ONLY)
  list(APPEND FILCH_SOURCES "${PROJECT_BINARY_DIR}/std_par/${name}.cpp")
endforeach()
set(FILCH_STD_PAR_INCLUDE "-include filch/std_par.hpp")

function(filch_add_std_par)
  add_library(filch_std_par INTERFACE)
  add_library(filch::std_par ALIAS filch_std_par)
  set_target_properties(filch_std_par PROPERTIES EXPORT_NAME std_par)
  target_link_libraries(filch_std_par INTERFACE $<LINK_ONLY:filch>)  # filch::filch asks for C++20
  # Projects with the policies of CMake before 3.17 take no options from behind LINK_ONLY.
  get_target_property(options filch INTERFACE_LINK_OPTIONS)
  if(options)
    target_link_options(filch_std_par INTERFACE ${options})
  endif()
  target_include_directories(filch_std_par INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_options(filch_std_par INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:${FILCH_STD_PAR_INCLUDE}>")
endfunction()
