// The library's exceptions, which are public.
#pragma once

#include <gpufilter/error.hpp>  // IWYU pragma: export
