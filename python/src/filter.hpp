// Chains of stages.
#pragma once

#include <pybind11/pybind11.h>

namespace gpufilter::python {

void define_filter(pybind11::module_& module);

}  // namespace gpufilter::python
