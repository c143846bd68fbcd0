# Installed with the library: finds what it was built with, then defines gpufilter::gpufilter.
include(CMakeFindDependencyMacro)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # FindISAL.cmake, FindLibDeflate.cmake
find_dependency(OpenCL)
find_dependency(PNG)
find_dependency(JPEG)
find_dependency(ZLIB)
find_dependency(TBB)
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # FindISAL.cmake
find_dependency(ISAL)
list(POP_FRONT CMAKE_MODULE_PATH)
find_dependency(LibDeflate)
find_dependency(nlohmann_json)
find_dependency(spdlog)
include("${CMAKE_CURRENT_LIST_DIR}/gpufilterTargets.cmake")
