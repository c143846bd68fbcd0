# protozero, headers that read protobuf messages; it has no CMake package.
# Defines the target Protozero::protozero, or sets Protozero_FOUND to false.
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
mark_as_advanced(PROTOZERO_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Protozero REQUIRED_VARS PROTOZERO_INCLUDE_DIR)

if(Protozero_FOUND AND NOT TARGET Protozero::protozero)
  add_library(Protozero::protozero INTERFACE IMPORTED)
  set_target_properties(Protozero::protozero PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${PROTOZERO_INCLUDE_DIR}")
endif()
