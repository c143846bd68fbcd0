# Installs the build, configures and builds the consumer against the installed copy alone, runs it,
# and compares its picture with the program's. Run by ctest:
# cmake -D BUILD=... -D PICTURE=... -D COMPILER=... -D FLAGS=... -D GENERATOR=... -P consumer_test.cmake
set(work "${BUILD}/consumer_test")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${result}\n${output}")
  endif()
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${work}/prefix")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer" "${PICTURE}" "${work}/consumer.png")
run("${work}/prefix/bin/gpufilter" "${PICTURE}" "${work}/program.png" --blur auto --border mirror
    --color sepia --png-level 1)
run("${CMAKE_COMMAND}" -E compare_files "${work}/consumer.png" "${work}/program.png")

# Neither needs a loader of OpenCL to start.
foreach(program IN ITEMS "${work}/build/consumer" "${work}/prefix/bin/gpufilter")
  execute_process(COMMAND readelf -d "${program}" OUTPUT_VARIABLE needed)
  if(needed MATCHES "OpenCL" OR NOT needed MATCHES "NEEDED")
    message(FATAL_ERROR "${program}:\n${needed}")
  endif()
endforeach()

foreach(file IN ITEMS man/man1/gpufilter.1 man/man1/gpufilter-stats.1 bash-completion/completions/gpufilter
        zsh/site-functions/_gpufilter fish/vendor_completions.d/gpufilter.fish
        doc/gpufilter/README.md doc/gpufilter/docs/folders.md)
  if(NOT EXISTS "${work}/prefix/share/${file}")
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()

# The same by pkg-config, which finds the prefix by the place of its file.
find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE description "${work}/prefix/gpufilter.pc")
  get_filename_component(folder "${description}" DIRECTORY)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${folder}"
                          "${pkg_config}" --cflags --libs gpufilter
                  RESULT_VARIABLE result OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "pkg-config: ${words}")
  endif()
  separate_arguments(words UNIX_COMMAND "${words}")
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  run("${COMPILER}" ${flags} -std=c++20 "${CMAKE_CURRENT_LIST_DIR}/main.cpp" -o "${work}/by_pkg_config" ${words})
  run("${work}/by_pkg_config" "${PICTURE}" "${work}/by_pkg_config.png")
  run("${CMAKE_COMMAND}" -E compare_files "${work}/by_pkg_config.png" "${work}/program.png")
endif()

# This consumer does not call answer_probes(), so the installed program probes OpenCL drivers for it.
# Without that program in PATH, or with one of another version, none is used.
file(GLOB vendors /etc/OpenCL/vendors/pocl.icd)
if(vendors)
  file(WRITE "${work}/other/gpufilter" "#!/bin/sh\necho unknown word\nexit 2\n")
  file(CHMOD "${work}/other/gpufilter" PERMISSIONS OWNER_READ OWNER_EXECUTE)
  foreach(path IN ITEMS "${work}/prefix/bin:/usr/bin:/bin" "/usr/bin:/bin" "${work}/other:/bin")
    file(REMOVE_RECURSE "${work}/cache")
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PATH=${path}" "XDG_CACHE_HOME=${work}/cache"
                            OCL_ICD_VENDORS=pocl.icd GPUFILTER_PROBE_SECONDS=120
                            "${work}/build/consumer" "${PICTURE}" "${work}/probed.png" opencl
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
    string(REPLACE ";" "," outcome "${result}: ${output}${error}")
    list(APPEND outcomes "${outcome}")
    run("${CMAKE_COMMAND}" -E compare_files "${work}/probed.png" "${work}/program.png")
  endforeach()
  list(GET outcomes 0 with_program)
  list(GET outcomes 1 without)
  list(GET outcomes 2 with_other)
  if(NOT with_program MATCHES "^0: [0-9]+x[0-9]+ on (pthread|cpu)[^\n]*\n$")
    message(FATAL_ERROR "with the program in PATH: ${with_program}")
  endif()
  if(NOT without MATCHES "^0: [0-9]+x[0-9]+ on processor\n.*cannot be probed")
    message(FATAL_ERROR "without it: ${without}")
  endif()
  if(NOT with_other MATCHES "^0: [0-9]+x[0-9]+ on processor\n.*gpufilter in PATH is another version")
    message(FATAL_ERROR "with another version: ${with_other}")
  endif()
endif()
