# Installed with the library: finds its dependencies, then defines gpufilter::gpufilter.
include(CMakeFindDependencyMacro)
find_dependency(PNG)
find_dependency(JPEG)
find_dependency(ZLIB)
find_dependency(TBB)
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # the Find modules beside this file
find_dependency(ISAL)
find_dependency(LibDeflate)
find_dependency(xxHash)
list(POP_FRONT CMAKE_MODULE_PATH)
include("${CMAKE_CURRENT_LIST_DIR}/gpufilterTargets.cmake")
