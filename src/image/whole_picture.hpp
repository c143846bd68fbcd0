// A picture that lies somewhere as a whole.
#pragma once

#include "image/rows.hpp"

namespace gpufilter {

class WholePicture {
 public:
  virtual ~WholePicture() = default;

  [[nodiscard]] virtual const PictureShape& shape() const = 0;
  // Fills `target`, whose rows are numbered as the picture's. Safe to call from several threads.
  // Throws PictureError.
  virtual void read(const MutableRows& target) const = 0;
};

}  // namespace gpufilter
