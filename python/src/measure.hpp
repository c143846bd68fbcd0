// Statistics and comparisons.
#pragma once

#include <pybind11/pybind11.h>

namespace gpufilter::python {

void define_measure(pybind11::module_& module);

}  // namespace gpufilter::python
