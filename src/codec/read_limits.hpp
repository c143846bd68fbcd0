// The limits beyond which a picture is refused. docs/engineering/limits.md lists all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/ink_conversion.hpp"
#include "image/color.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// Numbers that become the smallest and the largest sample; `low` is below `high`.
struct SampleRange {
  double low = 0;
  double high = 1;
};
// What becomes of a file of whose picture only a part can be read: it is refused, or that part is
// kept, as codec.cpp says.
enum class Damaged { fail, keep };

struct ReadLimits {
  std::uint64_t max_pixels = 500'000'000;
  // Bytes of a picture that cannot be decoded row by row: the pixels of an interlaced PNG, the
  // coefficients of a JPEG with several scans.
  std::uint64_t max_memory = std::uint64_t{1} << 30U;
  // Whether to log a warning if damaged metadata is skipped; false if the same file was read
  // before.
  bool warn = true;
  // How CMYK with a profile becomes RGB; empty: by cmyk_to_rgb(), whatever the profile says.
  ChooseInk choose_ink = {};
  // The range of samples that are floating-point, signed or have more than 16 bits; nothing: 0 to
  // 1, or all whole numbers without a sign.
  std::optional<SampleRange> range = {};
  Damaged damaged = Damaged::fail;
  // The colour of rows that are missing in a damaged picture.
  Color missing = {255, 255, 255};
};

// Bytes of a row, regardless of --max-pixels: several copies of some rows are always in memory.
// It is a million pixels of the largest format, and eight million of the smallest.
inline constexpr std::uint64_t max_row_bytes = std::uint64_t{8} << 20U;

// Call this with the values of the header, before anything is allocated. Throws PictureError if the
// picture's rows of `format` are too long or it has too many pixels; `name` is the
// file's.
void check_size(const std::string& name, std::uint64_t width, std::uint64_t height,
                const PixelFormat& format, const ReadLimits& limits);

// Throws PictureError if `bytes` are more than `limits` allow. `holder` begins the message ("an
// interlaced PNG"), `remedy` ends it ("save it without interlacing").
void check_memory(const std::string& name, std::uint64_t bytes, const ReadLimits& limits,
                  const std::string& holder, const std::string& remedy);

}  // namespace gpufilter
