// JPEG files of one pixel, for tests of what is stored beside it.
#pragma once

#include <string>
#include <vector>

#include "codec/codec.hpp"

namespace gpufilter::test {

struct WrittenJpeg {
  Bytes jpeg;
  std::vector<std::string> left_out;
};

// What the codec under test writes for a header like `header`, but of one pixel of 8 bits.
[[nodiscard]] WrittenJpeg write_one_pixel(PictureHeader header, int channels,
                                          const WriteOptions& options = {});

}  // namespace gpufilter::test
