// The PNG codec reading and writing memory, for its tests.
#pragma once

#include "codec/formats.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {

struct ReadPng {
  PictureHeader header;
  Image image;
  Metadata trailing;
};

// What open_picture(), read() and finish() return for `file`, named "in.png". Throws what they
// throw.
[[nodiscard]] ReadPng read_png(Bytes file, const ReadLimits& limits = {});

// The message of the PictureError that read_png() throws; empty if it accepts the file.
[[nodiscard]] std::string refusal(Bytes file, const ReadLimits& limits = {});

struct PngSettings {
  WriteOptions options;
  Metadata metadata;
  Metadata trailing;
  FilePixels file_pixels = {};  // of the file that the picture comes from
  int rows_a_time = 0;          // 0: all
};

// What create_picture(), write() and finish() write for `image`.
[[nodiscard]] Bytes encode_png(const Image& image, const PngSettings& settings);

}  // namespace gpufilter::test
