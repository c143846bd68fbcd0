# Installed with the library: finds its dependencies, then defines gpufilter::gpufilter.
include(CMakeFindDependencyMacro)
find_dependency(OpenCL)
find_dependency(PNG)
find_dependency(JPEG)
find_dependency(ZLIB)
find_dependency(TBB)
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # the Find modules beside this file
find_dependency(ISAL)
find_dependency(LibDeflate)
find_dependency(xxHash)
find_package(TIFF QUIET)  # formats that the library may have been built without
find_package(WebP QUIET)
list(POP_FRONT CMAKE_MODULE_PATH)
find_dependency(nlohmann_json)
find_dependency(spdlog)
include("${CMAKE_CURRENT_LIST_DIR}/gpufilterTargets.cmake")
