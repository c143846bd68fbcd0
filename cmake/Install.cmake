# Installs the program, and the library with its public headers for programs that call
# find_package(gpufilter) and link gpufilter::gpufilter.
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/gpufilter")

install(TARGETS gpufilter RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/bash/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/zsh/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/fish/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(TARGETS gpufilter_library EXPORT gpufilterTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gpufilter"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set_target_properties(gpufilter_library PROPERTIES EXPORT_NAME gpufilter)
install(EXPORT gpufilterTargets NAMESPACE gpufilter:: DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gpufilterConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/gpufilterConfig.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindISAL.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindLibDeflate.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindWebP.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake"
              "${PROJECT_BINARY_DIR}/gpufilterConfigVersion.cmake"
        DESTINATION "${package_folder}")
