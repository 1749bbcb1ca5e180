# filch::highway_sort: sorts of numbers end in Highway's vqsort (docs/algorithms.md). The library itself needs no Highway.
add_library(filch_highway_sort INTERFACE)
add_library(filch::highway_sort ALIAS filch_highway_sort)
set_target_properties(filch_highway_sort PROPERTIES EXPORT_NAME highway_sort)
target_link_libraries(filch_highway_sort INTERFACE filch hwy_contrib hwy)
target_compile_definitions(filch_highway_sort INTERFACE FILCH_WITH_HIGHWAY=1)
