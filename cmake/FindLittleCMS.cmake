# Little CMS 2, whose Debian package has no CMake configuration.
# Defines the target LittleCMS::lcms2, or sets LittleCMS_FOUND to false.
find_path(LCMS2_INCLUDE_DIR lcms2.h)
find_library(LCMS2_LIBRARY lcms2)
mark_as_advanced(LCMS2_INCLUDE_DIR LCMS2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LittleCMS REQUIRED_VARS LCMS2_LIBRARY LCMS2_INCLUDE_DIR)

if(LittleCMS_FOUND AND NOT TARGET LittleCMS::lcms2)
  add_library(LittleCMS::lcms2 UNKNOWN IMPORTED)
  set_target_properties(LittleCMS::lcms2 PROPERTIES
    IMPORTED_LOCATION "${LCMS2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LCMS2_INCLUDE_DIR}")
endif()
