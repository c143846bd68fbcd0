// Python's exceptions for those of the library.
#pragma once

#include <pybind11/pybind11.h>

namespace gpufilter::python {

// Defines Error, and UsageError, PictureError and DeviceError, which are a ValueError, an OSError
// and a RuntimeError as well. From then on the library's exceptions become these.
void define_errors(pybind11::module_& module);

}  // namespace gpufilter::python
