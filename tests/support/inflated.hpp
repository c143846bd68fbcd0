// What zlib makes of deflated data, to check those of our own.
#pragma once

#include <cstddef>
#include <span>

#include "image/metadata.hpp"

namespace gpufilter::test {

struct Inflated {
  Bytes bytes;
  bool complete = false;  // the final block was there
  bool joinable = true;   // more blocks may follow: the last one is complete and ends on a byte
  std::size_t rest = 0;   // of the input, behind it
  int blocks = 0;
};

// Inflates raw deflate data; up to 100 bytes more than `size` are noticed.
[[nodiscard]] Inflated inflated(std::span<const std::uint8_t> deflated, std::size_t size);

}  // namespace gpufilter::test
