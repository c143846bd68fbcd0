#include "codec/heif/decoder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/thread_limit.hpp"
#include "base/thread_room.hpp"
#include "codec/heif/coded_picture.hpp"
#include "host/parallel.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

// What `placement` makes of `image`.
template <typename Pixel>
void place(const Image& image, const Placement& placement, Image& result) {
  const auto& [corner, size, turn] = placement;
  const auto source = [&, corner = corner, size = size, turn = turn](int x, int y) {
    if (turn.swaps) std::swap(x, y);
    const int column = corner.x + (turn.mirrors_x ? size.width - 1 - x : x);
    const int row = corner.y + (turn.mirrors_y ? size.height - 1 - y : y);
    return image.rows().row(row) + static_cast<std::size_t>(column) * sizeof(Pixel);
  };
  constexpr int strip = 64;  // columns of the result whose source stays in the cache
  const ImageSize whole = result.size();
  run_parts((whole.width + strip - 1) / strip, [&](int part) {
    const int begin = part * strip;
    const int count = std::min(strip, whole.width - begin);
    for (int y = 0; y < whole.height; ++y) {
      const std::uint8_t* from = source(begin, y);
      const std::ptrdiff_t step = count > 1 ? source(begin + 1, y) - from : 0;
      std::uint8_t* to = result.rows().row(y) + static_cast<std::size_t>(begin) * sizeof(Pixel);
      for (int x = 0; x < count; ++x, from += step, to += sizeof(Pixel))
        std::memcpy(to, from, sizeof(Pixel));
    }
  });
}

template <std::size_t... sizes>
void place_by_size(std::size_t bytes, const Image& image, const Placement& placement,
                   Image& result) {
  ((bytes == sizes ? place<std::array<std::uint8_t, sizes>>(image, placement, result) : void()),
   ...);
}

Image placed(Image image, const Placement& placement) {
  if (placement == Placement{{0, 0}, image.size(), {}}) return image;
  Image result(placement.result_size(), image.format());
  place_by_size<1, 2, 3, 4, 6, 8>(image.format().bytes_per_pixel(), image, placement, result);
  return result;
}

template <typename Sample>
Sample loaded(const std::uint8_t* from) {
  Sample sample{};
  std::memcpy(&sample, from, sizeof sample);
  return sample;
}

template <typename Sample>
void fill(const std::array<std::uint16_t, 3>& ground, Image& image) {
  const PixelFormat format = image.format();
  for (int y = 0; y < image.size().height; ++y) {
    std::uint8_t* to = image.rows().row(y);
    for (int i = 0; i < image.width() * format.channels; ++i, to += sizeof(Sample)) {
      const auto channel = static_cast<std::size_t>(i % format.channels);
      const bool is_alpha = static_cast<int>(channel) == format.color_channels();
      // As libheif has it: of 16 bits, the higher ones.
      const auto sample = static_cast<Sample>(
          is_alpha ? format.max_sample() : ground[channel] >> (16U - 8U * sizeof(Sample)));
      std::memcpy(to, &sample, sizeof sample);
    }
  }
}

// Lays a picture over another, whose format it has but for its alpha, if it `has_alpha`.
template <typename Sample>
void lay(const Image& top, bool has_alpha, PixelPosition at, Image& image) {
  const PixelFormat format = image.format();
  const auto colors = static_cast<std::size_t>(format.color_channels());
  const std::size_t step = image.format().bytes_per_pixel();
  const std::size_t top_step = top.format().bytes_per_pixel();
  const auto first = [](int begin) {
    return static_cast<int>(std::max<std::int64_t>(0, -std::int64_t{begin}));
  };
  const auto last = [](int begin, int length, int whole) {
    return static_cast<int>(std::min<std::int64_t>(length, std::int64_t{whole} - begin));
  };
  const int right = last(at.x, top.width(), image.width());
  for (int y = first(at.y); y < last(at.y, top.size().height, image.size().height); ++y) {
    for (int x = first(at.x); x < right; ++x) {
      const std::uint8_t* from = top.rows().row(y) + static_cast<std::size_t>(x) * top_step;
      std::uint8_t* to = image.rows().row(y + at.y) + static_cast<std::size_t>(x + at.x) * step;
      const std::uint32_t max = format.max_sample();
      const std::uint32_t alpha = has_alpha ? loaded<Sample>(from + colors * sizeof(Sample)) : max;
      for (std::size_t c = 0; c < colors; ++c) {
        const std::size_t place = c * sizeof(Sample);
        const auto sample = static_cast<Sample>(
            flattened(loaded<Sample>(from + place), alpha, loaded<Sample>(to + place), max));
        std::memcpy(to + place, &sample, sizeof sample);
      }
    }
  }
}

// Copies a tile, as far as the picture reaches.
void put(const Image& tile, PixelPosition at, Image& image) {
  const std::size_t pixel = image.format().bytes_per_pixel();
  const auto columns = static_cast<std::size_t>(std::min(tile.width(), image.width() - at.x));
  const int rows = std::min(tile.size().height, image.size().height - at.y);
  for (int y = 0; y < rows; ++y) {
    std::memcpy(image.rows().row(at.y + y) + static_cast<std::size_t>(at.x) * pixel,
                tile.rows().row(y), columns * pixel);
  }
}

// Takes alpha from a grey picture, which may have another size: the nearest of its pixels.
template <typename Sample>
void take_alpha(const Image& alpha, bool is_premultiplied, Image& image) {
  const PixelFormat format = image.format();
  const auto colors = static_cast<std::size_t>(format.color_channels());
  const auto nearest = [](int at, int length, int other) {
    return static_cast<int>(std::int64_t{at} * other / length);
  };
  for (int y = 0; y < image.size().height; ++y) {
    const std::uint8_t* from =
        alpha.rows().row(nearest(y, image.size().height, alpha.size().height));
    std::uint8_t* to = image.rows().row(y);
    for (int x = 0; x < image.width(); ++x, to += format.bytes_per_pixel()) {
      const auto column = static_cast<std::size_t>(nearest(x, image.width(), alpha.width()));
      const auto sample = loaded<Sample>(from + column * sizeof(Sample));
      std::memcpy(to + colors * sizeof sample, &sample, sizeof sample);
      for (std::size_t c = 0; is_premultiplied && c < colors; ++c) {
        const auto color = static_cast<Sample>(
            unpremultiplied(loaded<Sample>(to + c * sizeof(Sample)), sample, format.max_sample()));
        std::memcpy(to + c * sizeof color, &color, sizeof color);
      }
    }
  }
}

bool has_hevc(const HeifPicture& picture) {
  const auto& parts = picture.parts;
  return picture.item->type == "hvc1" || (picture.alpha && has_hevc(*picture.alpha)) ||
         std::any_of(parts.begin(), parts.end(), [](const auto& part) { return has_hevc(*part); });
}

// Each decoder of HEVC waits for a thread of its own, for ever if it cannot be started.
std::size_t hevc_decoders_at_once(const std::string& name, std::size_t wanted) {
  const std::size_t others = wanted - 1;  // that ours run on
  const std::size_t possible = (startable_threads(others + wanted) + 1) / 2;
  if (possible > 0) return possible;
  throw PictureError(name,
                     "libde265 needs a thread, and a limit of processes or memory allows no more: "
                     "raise it (ulimit -u)");
}

}  // namespace

Image HeifDecoder::decode(const HeifPicture& picture, PixelFormat format) {
  at_once_ = picture.pictures > 1 ? allowed_threads() : 1;
  if (has_hevc(picture)) at_once_ = hevc_decoders_at_once(name_, at_once_);
  return decode(picture, format, {});
}

Image HeifDecoder::decode(const HeifPicture& picture, PixelFormat format, ByteSpan colors) const {
  // What a picture says of its colours holds for its parts that say nothing.
  const ByteSpan own = code_points_of(*picture.item);
  if (!own.empty()) colors = own;
  Image image = placed(picture.parts.empty() ? decode_coded(picture, format, colors)
                                             : decode_parts(picture, format, colors),
                       picture.placement);
  if (picture.alpha && format.has_alpha()) add_alpha(picture, image);
  return image;
}

Image HeifDecoder::decode_coded(const HeifPicture& picture, PixelFormat format,
                                ByteSpan colors) const {
  // Code points with which libheif takes the luma for green.
  static constexpr std::array<std::uint8_t, 11> as_stored{'n', 'c', 'l', 'x', 0,  2,
                                                          0,   2,   0,   0,   128};
  const bool wants_luma = format.color_channels() == 1 && !picture.is_grey;
  const HeifItem& item = *picture.item;
  const Bytes data = items_.data(item);
  const bool is_av1 = item.type == "av01";
  return decode_coded_picture({item.type, item.property(is_av1 ? "av1C" : "hvcC"), picture.stored,
                               wants_luma ? ByteSpan(as_stored) : colors, data},
                              picture.depth, picture.is_grey, format, name_, format_, limits_);
}

Image HeifDecoder::decode_parts(const HeifPicture& picture, PixelFormat format,
                                ByteSpan colors) const {
  Image image(picture.stored, format);
  if (picture.item->type == "iovl") {
    const bool is_deep = format.depth > 8;
    if (is_deep) {
      fill<std::uint16_t>(picture.ground, image);
    } else {
      fill<std::uint8_t>(picture.ground, image);
    }
    for (std::size_t i = 0; i < picture.parts.size(); ++i) {
      const bool has_alpha = picture.parts[i]->has_alpha;
      const PixelFormat own{format.color_channels() + (has_alpha ? 1 : 0), format.depth};
      const Image part = decode(*picture.parts[i], own, colors);
      if (is_deep) {
        lay<std::uint16_t>(part, has_alpha, picture.positions[i], image);
      } else {
        lay<std::uint8_t>(part, has_alpha, picture.positions[i], image);
      }
    }
    return image;
  }
  std::atomic<std::size_t> next = 0;
  const std::size_t count = picture.parts.size();
  run_parts(static_cast<int>(std::min(at_once_, count)), [&](int /*part*/) {
    for (std::size_t i = next++; i < count; i = next++)
      put(decode(*picture.parts[i], format, colors), picture.positions[i], image);
  });
  return image;
}

void HeifDecoder::add_alpha(const HeifPicture& picture, Image& image) const {
  const Image alpha = decode(*picture.alpha, {1, image.format().depth}, {});
  if (image.format().depth > 8) {
    take_alpha<std::uint16_t>(alpha, picture.item->is_premultiplied, image);
  } else {
    take_alpha<std::uint8_t>(alpha, picture.item->is_premultiplied, image);
  }
}

}  // namespace gpufilter
