# The warnings that every target is compiled with; GPUFILTER_WERROR (on in continuous integration)
# makes them errors.
option(GPUFILTER_WERROR "Treat compiler warnings as errors" OFF)

function(gpufilter_set_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Wold-style-cast -Wcast-qual -Wformat=2 -Wimplicit-fallthrough
    # GCC 12 reports overlaps in std::string that do not exist (GCC bug 105651).
    $<$<BOOL:${GPUFILTER_WERROR}>:-Werror -Wno-error=restrict>)
endfunction()
