// JPEG files of one pixel, for tests of what is stored beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {

struct WrittenJpeg {
  Bytes jpeg;
  std::vector<std::string> left_out;
};

// What the codec under test writes for a header like `header`, but of one pixel of 8 bits.
[[nodiscard]] WrittenJpeg write_one_pixel(PictureHeader header, int channels,
                                          const WriteOptions& options = {});

// A segment that libjpeg is to write next.
void write_segment(jpeg_compress_struct& jpeg, int code, std::string_view content);

}  // namespace gpufilter::test
