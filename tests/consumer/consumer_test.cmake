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
