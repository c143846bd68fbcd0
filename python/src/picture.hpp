// The class Picture of Python.
#pragma once

#include <array>

#include <gpufilter/picture.hpp>
#include <pybind11/pybind11.h>

namespace gpufilter::python {

// A picture with what the buffer protocol says of it. Its size never changes.
struct SharedPicture : Picture {
  SharedPicture(Picture&& picture);  // NOLINT(google-explicit-constructor): what functions return

  std::array<pybind11::ssize_t, 3> sizes;    // height, width, channels
  std::array<pybind11::ssize_t, 3> strides;  // bytes
};

void define_picture(pybind11::module_& module);

// "(480, 640, 3)" of NumPy; a picture of one channel has no third dimension.
[[nodiscard]] pybind11::tuple array_shape(const Shape& shape);

}  // namespace gpufilter::python
