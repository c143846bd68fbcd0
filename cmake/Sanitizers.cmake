# GPUFILTER_SANITIZE=address,undefined (or thread) instruments everything that this project compiles.
set(GPUFILTER_SANITIZE "" CACHE STRING "Sanitizers to compile with, as -fsanitize= takes them")

# tests/fuzz/coverage.cpp has the function that is then called: nothing but the fuzzers can be linked.
option(GPUFILTER_TRACE_BLOCKS "Tell the fuzzers which blocks of the library they reach" OFF)

if(GPUFILTER_SANITIZE)
  add_compile_options(-fsanitize=${GPUFILTER_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  # Checking the types of objects needs a pipe, which tests with few files do not have.
  if(GPUFILTER_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=vptr)
  endif()
  add_link_options(-fsanitize=${GPUFILTER_SANITIZE})
endif()
