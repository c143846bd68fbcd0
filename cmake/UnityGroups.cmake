# With GPUFILTER_UNITY, files of a folder are compiled in groups: each header is parsed, and each template instantiated,
# once for a group and not once for a file. That makes a first build faster, and a build after a change of one file
# slower, so developers leave it off.
option(GPUFILTER_UNITY "Compile files without loops, and tests, in groups: a faster first build" OFF)

# Files with loops for several instruction sets, and the compressors, are compiled alone: a group would change how their
# code is inlined.
set(gpufilter_loops "run_loop|gnu::target|gnu::vector_size|gnu::always_inline|_LOOPS|\"host/(loops|pixels|vectors)\\.hpp")

# gpufilter_group_files(TARGET SIZE [ACROSS_FOLDERS] SOURCES...): the files of a folder, or of all folders, in groups of up
# to SIZE. A file with options or definitions of its own is left out by CMake.
function(gpufilter_group_files target size)
  if(NOT GPUFILTER_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A name of one file says nothing about another file of its group.
  target_compile_options(${target} PRIVATE -Wno-shadow)
  set(folder all)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ACROSS_FOLDERS" "" "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    file(STRINGS "${source}" loops REGEX "${gpufilter_loops}" LIMIT_COUNT 1)
    if(loops OR source MATCHES "/codec/deflate/")
      continue()
    endif()
    if(NOT arg_ACROSS_FOLDERS)
      get_filename_component(folder "${source}" DIRECTORY)
      file(RELATIVE_PATH folder "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}")
      string(MAKE_C_IDENTIFIER "${folder}" folder)
    endif()
    math(EXPR group "0${${folder}_count} / ${size}")
    math(EXPR ${folder}_count "0${${folder}_count} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
  endforeach()
endfunction()
