# Installed with the shared library, which brings its dependencies: defines gpufilter::gpufilter.
include("${CMAKE_CURRENT_LIST_DIR}/gpufilterTargets.cmake")
