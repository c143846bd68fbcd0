// What a JPEG XL file says, without decoding its pixels.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "codec/codec.hpp"
#include "codec/jxl/functions.hpp"

namespace gpufilter {

struct JxlPicture {
  ImageSize size;
  PixelFormat format;  // of the rows that the reader yields
  FilePixels file_pixels;
  int color_bits = 8;  // of a sample in the file; 0: floating point
  int alpha_bits = 8;
  bool is_lossless = false;         // as far as can be known; not a JPEG in a JPEG XL
  std::uint64_t decoded_bytes = 0;  // that libjxl and the reader need for the pixels
  std::uint64_t frames = 0;         // that are shown one after the other
  std::uint32_t left_out_channels = 0;
  Metadata metadata;
};

// Reads all headers and metadata in `file`, which is complete. Throws PictureError if it is
// damaged, ends too early or has more pixels than `limits` allow.
[[nodiscard]] JxlPicture scan_jxl(const std::string& name, std::span<const std::uint8_t> file,
                                  const ReadLimits& limits);

// A decoder of `file` that reports `events`, with pixels as stored. Throws PictureError.
[[nodiscard]] OwnedJxlDecoder jxl_decoder(const std::string& name,
                                          std::span<const std::uint8_t> file, int events);

// Why a decoder that returned `status` cannot go on. Throws PictureError.
[[noreturn]] void refuse_jxl(const std::string& name, JxlDecoderStatus status);

}  // namespace gpufilter
