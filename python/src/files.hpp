// Pictures in files and encoded in memory; the list of devices.
#pragma once

#include <pybind11/pybind11.h>

namespace gpufilter::python {

void define_files(pybind11::module_& module);

}  // namespace gpufilter::python
