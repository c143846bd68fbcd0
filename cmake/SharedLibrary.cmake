# With BUILD_SHARED_LIBS, the installed library is a shared one that exports the public headers' names alone. The
# program and the tests use more than those, and link the static library. Without BUILD_SHARED_LIBS, a test links it.
# Sets gpufilter_installed_library.
set(gpufilter_installed_library gpufilter_library)
if(BUILD_SHARED_LIBS)
  set(gpufilter_installed_library gpufilter_shared)
elseif(NOT GPUFILTER_BUILD_TESTS)
  return()
endif()

set(exports "${CMAKE_CURRENT_LIST_DIR}/exports.map")
file(WRITE "${PROJECT_BINARY_DIR}/shared_library.cpp" "// The shared library is made of the static one.\n")
add_library(gpufilter_shared SHARED "${PROJECT_BINARY_DIR}/shared_library.cpp")
# A program that is linked with one version runs with every other of the same SOVERSION.
set_target_properties(gpufilter_shared PROPERTIES
  OUTPUT_NAME gpufilter VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}" LINK_DEPENDS "${exports}")
target_compile_features(gpufilter_shared PUBLIC cxx_std_20)
target_include_directories(gpufilter_shared PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(gpufilter_shared PRIVATE
  -Wl,--whole-archive $<TARGET_FILE:gpufilter_library> -Wl,--no-whole-archive
  $<BUILD_INTERFACE:gpufilter_library>)
target_link_options(gpufilter_shared PRIVATE
  "-Wl,--version-script=${exports}" -Wl,--as-needed -Wl,-z,defs)
