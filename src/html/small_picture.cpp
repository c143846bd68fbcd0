#include "html/small_picture.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <fcntl.h>

#include "base/files.hpp"
#include "codec/codec_table.hpp"
#include "image/pixel_format.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "stages/resize/resize.hpp"

namespace gpufilter::html {
namespace {

// Two greys for transparent parts, in squares of this many areas.
constexpr std::array<std::uint32_t, 2> checkers{204, 153};
constexpr int checker_areas = 16;

// The areas are at most this many times as fine as the result, which is then made from them by
// --resize. So its cost does not grow with the picture.
constexpr int fineness = 2;

int scaled(int side, int from, int to) {
  return std::max(1, static_cast<int>((2 * std::int64_t{side} * to + from) / (2 * from)));
}

Image resized(const Image& image, ImageSize size) {
  if (image.size() == size) {
    Image same(size, image.format());
    std::copy_n(image.rows().data, image.bytes(), same.rows().data);
    return same;
  }
  Timeline unused;
  const StageChain chain{
      make_resize({.width = size.width, .height = size.height, .fit = ResizeFit::fill})};
  return lab::filter_in_memory(image, chain, {},
                               [&](const Plan& plan) { return make_host_executor(plan, &unused); });
}

std::vector<std::uint8_t> encoded(const Image& image, int quality) {
  const Codec* const jpeg = &codec_for_output("preview.jpg");
  WriteOptions options;
  for (const WriteOption* option : jpeg->options) {
    if (option->name == "quality") options.set(*option, std::to_string(quality));
    if (option->name == "subsampling") options.set(*option, quality >= 80 ? "444" : "420");
  }
  PictureHeader header;
  header.size = image.size();
  header.format = image.format();
  std::vector<std::uint8_t> bytes;
  const auto sink = memory_sink(bytes, "preview");
  const auto writer = create_picture(*jpeg, *sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  sink->commit();
  return bytes;
}

std::vector<std::uint8_t> encoded_within(const Image& image, std::uint64_t limit) {
  std::vector<std::uint8_t> bytes;
  for (const int quality : {88, 76, 62, 48, 34}) {
    bytes = encoded(image, quality);
    if (bytes.size() <= limit) return bytes;
  }
  const ImageSize size = image.size();
  if (std::max(size.width, size.height) < 32) return bytes;
  return encoded_within(
      resized(image, {std::max(1, size.width * 3 / 4), std::max(1, size.height * 3 / 4)}), limit);
}

// As an 8-bit value.
std::uint32_t to_8_bits(std::uint64_t sum, std::uint64_t weight, std::uint32_t max_sample) {
  const std::uint64_t whole = weight * max_sample;
  return static_cast<std::uint32_t>((2 * sum * 255 + whole) / (2 * whole));
}

}  // namespace

ImageSize size_within(ImageSize size, int edge) {
  const int longer = std::max(size.width, size.height);
  if (longer <= edge) return size;
  return {scaled(size.width, longer, edge), scaled(size.height, longer, edge)};
}

SmallPicture::SmallPicture(const PictureShape& picture, int edge)
    : picture_(picture),
      size_(size_within(picture.size, edge)),
      areas_{std::min(picture.size.width, fineness * size_.width),
             std::min(picture.size.height, fineness * size_.height)},
      rows_(static_cast<std::size_t>(areas_.height)),
      sums_(areas_.pixels() * static_cast<std::size_t>(picture.format.channels)) {
  for (int area = 0; area <= areas_.width; ++area) {
    columns_.push_back(static_cast<int>(std::int64_t{area} * picture.size.width / areas_.width));
  }
}

void SmallPicture::add(const ConstRows& rows) {
  for_format(rows.format, [&]<typename Sample, std::size_t channels>() {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      add_row<Sample, channels>(reinterpret_cast<const Sample*>(rows.row(y)), y);
  });
}

// Colours are weighted by alpha, so that those of transparent pixels do not show.
template <typename Sample, std::size_t channels>
void SmallPicture::add_row(const Sample* samples, int y) {
  constexpr bool has_alpha = channels % 2 == 0;
  constexpr std::size_t colors = channels - (has_alpha ? 1 : 0);
  const auto row = static_cast<std::size_t>(std::int64_t{y} * areas_.height / picture_.size.height);
  ++rows_[row];
  std::uint64_t* sums = &sums_[row * static_cast<std::size_t>(areas_.width) * channels];
  for (std::size_t area = 0; area + 1 < columns_.size(); ++area, sums += channels) {
    std::array<std::uint64_t, channels> own{};
    for (int x = columns_[area]; x < columns_[area + 1]; ++x, samples += channels) {
      const std::uint64_t alpha = has_alpha ? samples[channels - 1] : 1;
      for (std::size_t c = 0; c < colors; ++c)
        own[c] += alpha * samples[c];
      if constexpr (has_alpha) own[colors] += alpha;
    }
    for (std::size_t c = 0; c < channels; ++c)
      sums[c] += own[c];
  }
}

Image SmallPicture::means() const {
  const PixelFormat& format = picture_.format;
  const auto channels = static_cast<std::size_t>(format.channels);
  const auto colors = static_cast<std::size_t>(format.color_channels());
  const std::uint64_t max = format.max_sample();
  Image image(areas_, {static_cast<int>(colors), 8});
  for (int y = 0; y < areas_.height; ++y) {
    std::uint8_t* out = image.rows().row(y);
    for (int x = 0; x < areas_.width; ++x) {
      const auto area = static_cast<std::size_t>(std::int64_t{y} * areas_.width + x);
      const std::uint64_t* sums = &sums_[area * channels];
      const auto column = static_cast<std::size_t>(x);
      const auto pixels = static_cast<std::uint64_t>(columns_[column + 1] - columns_[column]) *
                          static_cast<std::uint64_t>(rows_[static_cast<std::size_t>(y)]);
      const auto checker = checkers.at(((x / checker_areas) + (y / checker_areas)) % 2);
      for (std::size_t c = 0; c < colors; ++c) {
        std::uint64_t value = to_8_bits(sums[c], pixels, format.max_sample());
        if (format.has_alpha()) {
          const std::uint64_t opaque = pixels * max * max;  // sums[c] of a white pixel that hides
          const std::uint64_t hidden = sums[colors] * max;
          value = (2 * (255 * sums[c] + checker * (opaque - hidden)) + opaque) / (2 * opaque);
        }
        *out++ = static_cast<std::uint8_t>(value);
      }
    }
  }
  return image;
}

Image SmallPicture::image() const {
  return resized(means(), size_);
}

void write_preview(const Image& image, const std::string& path, std::uint64_t bytes) {
  const std::vector<std::uint8_t> jpeg = encoded_within(image, bytes);
  try {
    // Pages name previews only once all are complete, so they need not be written in one step.
    FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    write_fully(file.get(), jpeg);
    file.close();
  } catch (const std::system_error& error) {
    throw PreviewFailure(path, error.code().value());
  }
}

}  // namespace gpufilter::html
