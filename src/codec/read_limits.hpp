// The limits beyond which a picture is refused. docs/engineering/limits.md lists all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "codec/sample_conversion.hpp"
#include "image/color.hpp"
#include "image/metadata.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// How the CMYK of a picture with an ICC profile becomes RGB.
class InkConversion {
 public:
  virtual ~InkConversion() = default;

  // Converts pixels of the depth for which it was made. Safe to call from several threads.
  virtual void to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t pixels) const = 0;

  // The profile of that RGB.
  [[nodiscard]] virtual const IccProfile& result() const = 0;
};

// The samples of ink: their polarity and their bits, 8 or 16, which the RGB has too.
struct InkSamples {
  CmykPolarity polarity = CmykPolarity::ink;
  int depth = 8;
};

// Makes the conversion for a picture with this profile. Throws UnusableProfile.
using ChooseInk = std::function<std::shared_ptr<const InkConversion>(const IccProfile& profile,
                                                                     const InkSamples& samples)>;

// The conversion for a reader of CMYK, once its header is known: from `choose` if the picture has a
// profile, which then becomes the RGB's; otherwise nullptr, which means cmyk_to_rgb(). An unusable
// profile is removed from `metadata`, and `warning` says why.
[[nodiscard]] std::shared_ptr<const InkConversion> chosen_ink(const ChooseInk& choose,
                                                              const InkSamples& samples,
                                                              Metadata& metadata,
                                                              std::string& warning);

// Numbers that become the smallest and the largest sample; `low` is below `high`.
struct SampleRange {
  double low = 0;
  double high = 1;
};
// What to do with a file of which only a part can be read: refuse it, or keep that part (see
// codec.cpp).
enum class Damaged { fail, keep };

struct ReadLimits {
  std::uint64_t max_pixels = 500'000'000;
  // Bytes of a picture that cannot be decoded row by row: the pixels of an interlaced PNG, the
  // coefficients of a JPEG with several scans.
  std::uint64_t max_memory = std::uint64_t{1} << 30U;
  // Whether to log a warning if damaged metadata is skipped; false if the same file was read
  // before.
  bool warn = true;
  // Whether floating-point samples are kept as they are stored; otherwise `range` becomes the range
  // of 16-bit samples.
  bool keeps_floats = false;
  // How CMYK with a profile becomes RGB; empty: by cmyk_to_rgb(), whatever the profile says.
  ChooseInk choose_ink = {};
  // The range of samples that are floating-point and not kept, signed or have more than 16 bits;
  // nothing: 0 to 1, or all unsigned integers.
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
void check_size(const std::string& name, const PictureShape& picture, const ReadLimits& limits);

// Throws PictureError if `bytes` are more than `limits` allow. `holder` begins the message ("an
// interlaced PNG"), `remedy` ends it ("save it without interlacing").
void check_memory(const std::string& name, std::uint64_t bytes, const ReadLimits& limits,
                  const std::string& holder, const std::string& remedy);

}  // namespace gpufilter
