# filch::cluster, a library of its own: who does not use it needs no MPI.
set(FILCH_HAS_CLUSTER OFF)
if(FILCH_WITH_MPI STREQUAL "ON")
  find_package(MPI REQUIRED COMPONENTS CXX)
elseif(FILCH_WITH_MPI STREQUAL "AUTO" AND NOT CMAKE_CROSSCOMPILING)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(NOT MPI_CXX_FOUND OR FILCH_WITH_MPI STREQUAL "OFF")
  return()
endif()
set(FILCH_HAS_CLUSTER ON)

add_library(filch_cluster src/cluster/cluster.cpp src/cluster/endpoint.cpp src/cluster/mpi.cpp src/cluster/task.cpp)
add_library(filch::cluster ALIAS filch_cluster)
target_link_libraries(filch_cluster PUBLIC filch PRIVATE MPI::MPI_CXX $<BUILD_INTERFACE:filch_warnings>)
target_include_directories(filch_cluster PRIVATE "${PROJECT_SOURCE_DIR}/src")
set_target_properties(filch_cluster PROPERTIES
  EXPORT_NAME cluster
  CXX_EXTENSIONS OFF
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON
  POSITION_INDEPENDENT_CODE ON
  VERSION "${PROJECT_VERSION}"
  SOVERSION "${PROJECT_VERSION_MAJOR}")
