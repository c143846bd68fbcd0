# libjxl, whose packages have no CMake configuration.
# Defines the target JXL::jxl, or sets JXL_FOUND to false.
find_path(JXL_INCLUDE_DIR jxl/encode.h)
find_library(JXL_LIBRARY jxl)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_JXL QUIET libjxl)
  set(JXL_VERSION "${PC_JXL_VERSION}")
endif()
mark_as_advanced(JXL_INCLUDE_DIR JXL_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(JXL REQUIRED_VARS JXL_LIBRARY JXL_INCLUDE_DIR
                                      VERSION_VAR JXL_VERSION)

if(JXL_FOUND AND NOT TARGET JXL::jxl)
  add_library(JXL::jxl UNKNOWN IMPORTED)
  set_target_properties(JXL::jxl PROPERTIES
    IMPORTED_LOCATION "${JXL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${JXL_INCLUDE_DIR}")
endif()
