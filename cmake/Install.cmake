# The program, and the library with its headers for programs that say
# find_package(gpufilter) and link gpufilter::gpufilter.
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/gpufilter")

install(TARGETS gpufilter RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS gpufilter_library EXPORT gpufilterTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# Headers that need OpenCL's, libpng's or libjpeg's own stay here: the others stand in front of them.
foreach(folder base image codec device compute stages pipeline batch)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/${folder}"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gpufilter"
          FILES_MATCHING PATTERN "*.hpp"
          PATTERN "png_*" EXCLUDE PATTERN "jpeg_*" EXCLUDE
          PATTERN "opencl.hpp" EXCLUDE PATTERN "device_handle.hpp" EXCLUDE
          PATTERN "program_builder.hpp" EXCLUDE)
endforeach()

set_target_properties(gpufilter_library PROPERTIES EXPORT_NAME gpufilter)
install(EXPORT gpufilterTargets NAMESPACE gpufilter:: DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gpufilterConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/gpufilterConfig.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindISAL.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindLibDeflate.cmake"
              "${PROJECT_BINARY_DIR}/gpufilterConfigVersion.cmake"
        DESTINATION "${package_folder}")
