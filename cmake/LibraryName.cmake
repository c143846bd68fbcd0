# Sets `out` to the name by which the dynamic linker finds the shared library of an imported target:
# libtiff.so.6.
function(gpufilter_library_name out target)
  get_target_property(file ${target} IMPORTED_LOCATION_RELEASE)
  if(NOT file)
    get_target_property(file ${target} IMPORTED_LOCATION)
  endif()
  execute_process(COMMAND ${CMAKE_READELF} -d ${file} OUTPUT_VARIABLE dynamic RESULT_VARIABLE failed ERROR_QUIET)
  if(failed OR NOT dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${file} is not a shared library: install the one of the same package")
  endif()
  set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
