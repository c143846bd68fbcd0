# The shared library exports what the public headers declare, and nothing of the libraries that it uses; a program that
# sees only those headers works with it. Run by ctest:
# cmake -D LIBRARY=... -D INCLUDE=... -D COMPILER=... -D FLAGS=... -D NM=... -D PICTURE=... -D PROGRAM=... -D WORK=...
#       -P exports_test.cmake
cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${result}\n${output}")
  endif()
endfunction()

execute_process(COMMAND "${NM}" --dynamic --demangle --defined-only "${LIBRARY}"
                RESULT_VARIABLE result OUTPUT_VARIABLE symbols)
string(REGEX REPLACE "[0-9a-f]+ ([A-Za-z]) " "" names "${symbols}")
string(REPLACE ";" "," names "${names}")
string(REPLACE "\n" ";" names "${names}")
foreach(name IN LISTS names)
  if(NOT name MATCHES "^((typeinfo|typeinfo name|vtable) for )?gpufilter::" AND NOT name STREQUAL "")
    message(FATAL_ERROR "exported: ${name}")
  endif()
  if(name MATCHES "spdlog|fmt::|tbb|cl::|_cl_|png_|jpeg_|nlohmann")
    message(FATAL_ERROR "exported: ${name}")
  endif()
endforeach()
list(LENGTH names count)
if(count LESS 50)
  message(FATAL_ERROR "${count} names are exported:\n${symbols}")
endif()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
get_filename_component(folder "${LIBRARY}" DIRECTORY)
run("${COMPILER}" ${flags} -std=c++20 "-I${INCLUDE}" "${CMAKE_CURRENT_LIST_DIR}/main.cpp" -o "${WORK}/consumer"
    "${LIBRARY}" "-Wl,-rpath,${folder}" -Wl,--no-undefined)
run("${WORK}/consumer" "${PICTURE}" "${WORK}/consumer.png")
run("${PROGRAM}" "${PICTURE}" "${WORK}/program.png" --blur auto --border mirror --color sepia --png-level 1)
run("${CMAKE_COMMAND}" -E compare_files "${WORK}/consumer.png" "${WORK}/program.png")
