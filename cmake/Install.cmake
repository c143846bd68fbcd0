# Installs the program with its manual pages, completions and documentation, and the library with its public headers
# for programs that call find_package(gpufilter) and link gpufilter::gpufilter, or that use pkg-config.
include(CMakePackageConfigHelpers)
include(SharedLibrary)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/gpufilter")
set(GPUFILTER_ZSH_FOLDER "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING
    "Folder for zsh's completion; Debian has vendor-completions instead of site-functions")

install(TARGETS gpufilter RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/bash/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/zsh/" DESTINATION "${GPUFILTER_ZSH_FOLDER}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/fish/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Files that stages find by name (src/base/installed_files.hpp), also for the program in the build folder.
foreach(folder networks recipes matrices luts profiles)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/samples/${folder}" DESTINATION "${CMAKE_INSTALL_DATADIR}/gpufilter"
          FILES_MATCHING PATTERN "*.onnx" PATTERN "*.json" PATTERN "*.recipe" PATTERN "*.txt" PATTERN "*.cube"
                         PATTERN "*.icc")
endforeach()
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/samples" "${PROJECT_BINARY_DIR}/share/gpufilter" SYMBOLIC)

install(TARGETS ${gpufilter_installed_library} EXPORT gpufilterTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gpufilter"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
set_target_properties(${gpufilter_installed_library} PROPERTIES EXPORT_NAME gpufilter)
install(EXPORT gpufilterTargets NAMESPACE gpufilter:: DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gpufilterConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gpufilterConfigVersion.cmake" DESTINATION "${package_folder}")

# Libraries that a program has to link besides this one: none if it is shared.
set(pc_requires)
set(pc_libs)
if(BUILD_SHARED_LIBS)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/shared/gpufilterConfig.cmake" DESTINATION "${package_folder}")
else()
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/gpufilterConfig.cmake"
                "${PROJECT_SOURCE_DIR}/cmake/FindISAL.cmake"
                "${PROJECT_SOURCE_DIR}/cmake/FindLibDeflate.cmake"
                "${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake"
          DESTINATION "${package_folder}")
  set(needed libpng libjpeg zlib tbb libisal libdeflate libxxhash)
  list(JOIN needed " " needed)
  set(pc_requires "Requires: ${needed}\n")
  set(pc_libs " -ldl -lstdc++ -lm")
endif()
# "cmake --install --prefix" may still change the prefix, so the file derives it from its own
# location.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/gpufilter.pc.in" "${PROJECT_BINARY_DIR}/gpufilter.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gpufilter.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
