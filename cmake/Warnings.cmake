# The warnings that every target is compiled with; GPUFILTER_WERROR (on in continuous integration)
# makes them errors.
option(GPUFILTER_WERROR "Treat compiler warnings as errors" OFF)

function(gpufilter_set_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Wold-style-cast -Wcast-qual -Wformat=2 -Wimplicit-fallthrough
    # With precompiled headers, GCC also reports overflows inside its own std::vector and std::string
    # that do not exist.
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:${CMAKE_DISABLE_PRECOMPILE_HEADERS}>>>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>"
    $<$<BOOL:${GPUFILTER_WERROR}>:-Werror>
    # GCC 12 reports overlaps in std::string that do not exist (GCC bug 105651).
    $<$<AND:$<BOOL:${GPUFILTER_WERROR}>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=restrict>)
endfunction()
