// What a picture may take before it is refused. docs/limits.md lists all bounds.
#pragma once

#include <cstdint>
#include <string>

#include "image/pixel_format.hpp"

namespace gpufilter {

struct ReadLimits {
  std::uint64_t max_pixels = 500'000'000;
  // Bytes of a picture that cannot be decoded row by row: the pixels of an interlaced PNG, the
  // coefficients of a JPEG with several scans.
  std::uint64_t max_memory = std::uint64_t{1} << 30U;
  // Whether to log a warning where damaged metadata is skipped; false where the same file was read
  // before.
  bool warn = true;
};

// Bytes of a row, whatever --max-pixels says: some rows are always in memory, in each buffer on
// their way. That is a million pixels of the largest format, and eight of the smallest.
inline constexpr std::uint64_t max_row_bytes = std::uint64_t{8} << 20U;

// To be called with what the header says, before anything is allocated. Throws PictureError where
// the picture's rows of `format` are too long or where it has too many pixels; `name` is the
// file's.
void check_size(const std::string& name, std::uint64_t width, std::uint64_t height,
                const PixelFormat& format, const ReadLimits& limits);

// Throws PictureError where `bytes` are more than `limits` allow. `holder` begins the message ("an
// interlaced PNG"), `remedy` ends it ("save it without interlacing").
void check_memory(const std::string& name, std::uint64_t bytes, const ReadLimits& limits,
                  const std::string& holder, const std::string& remedy);

}  // namespace gpufilter
