# libheif, whose packages have no CMake configuration.
# Defines the target HEIF::heif, or sets HEIF_FOUND to false.
find_path(HEIF_INCLUDE_DIR libheif/heif.h)
find_library(HEIF_LIBRARY heif)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_HEIF QUIET libheif)
  set(HEIF_VERSION "${PC_HEIF_VERSION}")
endif()
mark_as_advanced(HEIF_INCLUDE_DIR HEIF_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HEIF REQUIRED_VARS HEIF_LIBRARY HEIF_INCLUDE_DIR
                                      VERSION_VAR HEIF_VERSION)

if(HEIF_FOUND AND NOT TARGET HEIF::heif)
  add_library(HEIF::heif UNKNOWN IMPORTED)
  set_target_properties(HEIF::heif PROPERTIES
    IMPORTED_LOCATION "${HEIF_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${HEIF_INCLUDE_DIR}")
endif()
