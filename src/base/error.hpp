// The kinds of failure, which programs that use the library see too.
#pragma once

#include <gpufilter/error.hpp>  // IWYU pragma: export
