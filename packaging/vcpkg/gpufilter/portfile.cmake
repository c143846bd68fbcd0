# An overlay port that builds the project that it lies in:
#
#     vcpkg install gpufilter --overlay-ports=packaging/vcpkg --triplet x64-linux-dynamic
#
# Libraries of formats are loaded when they are first needed, so they have to be shared ones. Untried: see
# packaging/README.md.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DGPUFILTER_BUILD_TESTS=OFF
        -DGPUFILTER_BUILD_SAMPLES=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME gpufilter CONFIG_PATH lib/cmake/gpufilter)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES gpufilter AUTO_CLEAN)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
