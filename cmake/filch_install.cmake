# Installation: headers, library, CMake package, pkg-config.
install(TARGETS filch EXPORT filch_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS filch_cluster EXPORT filch_cluster_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT filch_cluster_targets NAMESPACE filch:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/filch")
set(not_installed "")
if(NOT FILCH_HAS_MPI)
  set(not_installed PATTERN "mpi_transport.hpp" EXCLUDE)
endif()
install(DIRECTORY include/filch DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" ${not_installed})
install(FILES "${PROJECT_BINARY_DIR}/include/filch/config.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/filch")
install(EXPORT filch_targets NAMESPACE filch:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/filch")
configure_package_config_file(cmake/filch-config.cmake.in "${PROJECT_BINARY_DIR}/filch-config.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/filch")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/filch-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/filch-config.cmake" "${PROJECT_BINARY_DIR}/filch-config-version.cmake"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/filch")
# Relative, since `cmake --install --prefix` may choose another one; but not where a folder was given as an absolute path.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(FILCH_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH FILCH_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /prefix)
  string(PREPEND FILCH_PC_PREFIX "\${pcfiledir}/")
endif()
foreach(folder IN ITEMS LIBDIR INCLUDEDIR)
  set(FILCH_PC_${folder} "\${prefix}")
  cmake_path(APPEND FILCH_PC_${folder} "${CMAKE_INSTALL_${folder}}")  # which an absolute one replaces
endforeach()
configure_file(cmake/filch.pc.in "${PROJECT_BINARY_DIR}/filch.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/filch.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
