# libwebp and libwebpmux, whose Debian packages have no CMake configuration.
# Defines the targets WebP::webp and WebP::webpmux, or sets WebP_FOUND to false.
find_path(WEBP_INCLUDE_DIR webp/mux.h)
find_library(WEBP_LIBRARY webp)
find_library(WEBPMUX_LIBRARY webpmux)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_WEBP QUIET libwebp)
  set(WEBP_VERSION "${PC_WEBP_VERSION}")
endif()
mark_as_advanced(WEBP_INCLUDE_DIR WEBP_LIBRARY WEBPMUX_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WebP REQUIRED_VARS WEBP_LIBRARY WEBPMUX_LIBRARY WEBP_INCLUDE_DIR)

if(WebP_FOUND AND NOT TARGET WebP::webp)
  foreach(name webp webpmux)
    string(TOUPPER "${name}_LIBRARY" library)
    add_library(WebP::${name} UNKNOWN IMPORTED)
    set_target_properties(WebP::${name} PROPERTIES
      IMPORTED_LOCATION "${${library}}"
      INTERFACE_INCLUDE_DIRECTORIES "${WEBP_INCLUDE_DIR}")
  endforeach()
endif()
