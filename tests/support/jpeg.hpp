// JPEG files made and read with libjpeg's plain whole-picture calls, apart from the codec under
// test.
#pragma once

#include <cstdio>

#include <jpeglib.h>

#include "codec/codec.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

using Bytes = std::vector<std::uint8_t>;

// Interleaved samples of 8 bits, rows without padding.
struct Raster {
  int width = 0;
  int height = 0;
  int channels = 0;
  Bytes samples;
};

[[nodiscard]] Raster flat_raster(int width, int height, const Bytes& color);
// Gradients with noise: no two rows are alike, and it compresses badly.
[[nodiscard]] Raster textured_raster(int width, int height, int channels);
[[nodiscard]] Raster raster_of(const Image& image);

struct JpegRecipe {
  J_COLOR_SPACE raster_colors = JCS_RGB;  // the colour space of the samples
  J_COLOR_SPACE stored_colors = JCS_YCbCr;
  int quality = 90;
  int horizontal_subsampling = 2;  // of chroma, if there is any
  int vertical_subsampling = 2;
  bool progressive = false;
  bool arithmetic = false;
  bool adobe_marker = true;  // if libjpeg would write one
  bool one_scan_a_component = false;
  int restart_rows = 0;
  // Called after jpeg_start_compress(): for markers.
  std::function<void(jpeg_compress_struct&)> after_start = {};
  // Called before jpeg_start_compress().
  std::function<void(jpeg_compress_struct&)> before_start = {};
};

// An invalid request ends the test program with libjpeg's message.
[[nodiscard]] Bytes encode_with_libjpeg(const Raster& raster, const JpegRecipe& recipe = {});

// The properties of a component in the header of a JPEG, as libjpeg reads them.
struct JpegComponent {
  std::vector<int> divisors;  // 64, row by row
  int horizontal = 0;         // sampling factors
  int vertical = 0;

  friend bool operator==(const JpegComponent&, const JpegComponent&) = default;
};
[[nodiscard]] std::vector<JpegComponent> components_of(const Bytes& jpeg);

// The picture as libjpeg decodes it by default (grey, RGB, or CMYK as stored), with its sides
// divided by `divisor`; `jpeg` has to be intact.
[[nodiscard]] Raster decode_with_libjpeg(const Bytes& jpeg, int divisor = 1);

// Decodes with libjpeg, whatever it warns of.
[[nodiscard]] Raster decode_damaged_with_libjpeg(const Bytes& jpeg);

// The result of the codec under test, read in bands of 1, 2, 3, ... rows to the very end. Throws
// what the codec throws.
[[nodiscard]] Raster decode_with_codec(const Bytes& jpeg, const ReadLimits& limits = {});

// The error message of the same call; empty if it succeeds.
[[nodiscard]] std::string refusal_of(const Bytes& jpeg, const ReadLimits& limits = {});

// What the codec's header says of the file.
[[nodiscard]] Metadata metadata_in(const Bytes& jpeg);

// The bytes of a shared picture.
[[nodiscard]] Bytes shared_file(const std::string& relative);

// The offset of the entropy-coded data of the first scan.
[[nodiscard]] std::size_t scan_data_begin(const Bytes& jpeg);

}  // namespace gpufilter::test
