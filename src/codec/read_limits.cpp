#include "codec/read_limits.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "image/icc.hpp"

namespace gpufilter {

std::shared_ptr<const InkConversion> chosen_ink(const ChooseInk& choose, const InkSamples& samples,
                                                Metadata& metadata, std::string& warning) {
  if (!metadata.icc_profile) return nullptr;
  try {
    const std::string space = icc_color_space(metadata.icc_profile->data);
    if (space.empty()) throw UnusableProfile("is damaged");
    if (space != "CMYK")
      throw UnusableProfile(formatted("is for {}, but the picture is CMYK", space));
    if (!choose) return nullptr;
    auto conversion = choose(*metadata.icc_profile, samples);
    set_profile(metadata, conversion->result());
    return conversion;
  } catch (const UnusableProfile& error) {
    warning = formatted("the ICC profile {}; it is left out", error.what());
    metadata.icc_profile.reset();
    return nullptr;
  }
}

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

}  // namespace

// A row that is too long is checked first, because no option helps there.
void check_size(const std::string& name, std::uint64_t width, std::uint64_t height,
                const PixelFormat& format, const ReadLimits& limits) {
  const std::uint64_t row_bytes = width * format.bytes_per_pixel();
  if (row_bytes > max_row_bytes) {
    throw PictureError(name, formatted("{} x {} pixels: a row takes {} bytes, the limit is {}: cut "
                                       "it into narrower pictures",
                                       width, height, row_bytes, max_row_bytes));
  }
  if (width * height > limits.max_pixels) {
    throw PictureError(name, formatted("{} x {} pixels are more than the limit of {}: raise it "
                                       "with --max-pixels",
                                       width, height, limits.max_pixels));
  }
}

void check_size(const std::string& name, const PictureShape& picture, const ReadLimits& limits) {
  check_size(name, static_cast<std::uint64_t>(picture.size.width),
             static_cast<std::uint64_t>(picture.size.height), picture.format, limits);
}

void check_memory(const std::string& name, std::uint64_t bytes, const ReadLimits& limits,
                  const std::string& holder, const std::string& remedy) {
  if (bytes <= limits.max_memory) return;
  const std::uint64_t needed = (bytes + mebibyte - 1) / mebibyte;
  throw PictureError(
      name, formatted("{} is held in memory as a whole, and its {} MiB are more than the limit of "
                      "{} MiB: {}, or filter it with --max-memory {}M",
                      holder, needed, limits.max_memory / mebibyte, remedy, needed));
}

}  // namespace gpufilter
