// Pictures of the tests as the public interface takes them.
#pragma once

#include <gpufilter/gpufilter.hpp>

#include "support/testing.hpp"

namespace gpufilter::test {

[[nodiscard]] inline ConstView view_of(const Image& image) {
  return {image.rows().data,       image.width(),        image.size().height,
          image.format().channels, image.format().depth, image.pitch()};
}

[[nodiscard]] inline View view_of(Image& image) {
  const MutableRows rows = image.rows();
  return {rows.data,         rows.width, rows.rows.count(), rows.format.channels,
          rows.format.depth, rows.pitch};
}

}  // namespace gpufilter::test
