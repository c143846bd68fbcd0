// Views of pixels that Python objects hold.
#pragma once

#include <cstddef>
#include <vector>

#include <gpufilter/picture.hpp>
#include <pybind11/pybind11.h>

#include "memory.hpp"

namespace gpufilter::python {

// Pixels to read. If the library cannot read them in place (mirrored, every other pixel, channels
// in another order), they are copied. The GIL has to be held.
class Source {
 public:
  // Throws TypeError for an object without memory, UsageError if it does not hold a picture.
  explicit Source(pybind11::handle object);

  [[nodiscard]] const ConstView& view() const { return view_; }

 private:
  Memory memory_;
  std::vector<std::byte> copy_;
  ConstView view_;
};

// Pixels to write. The GIL has to be held.
class Target {
 public:
  // Throws TypeError for an object without memory, UsageError if a picture cannot be written there.
  explicit Target(pybind11::handle object);

  [[nodiscard]] const View& view() const { return view_; }

 private:
  Memory memory_;
  View view_;
};

}  // namespace gpufilter::python
