#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "codec/heif/library.hpp"
#include "codec/heif/tree.hpp"
#include "codec/isolated_decoding.hpp"
#include "codec/read_limits.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/whole_picture.hpp"
#include "host/parallel.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

// A coded picture, for libheif to decode.
struct OnePicture {
  std::string_view type;   // "hvc1" or "av01"
  ByteSpan configuration;  // the content of "hvcC" or "av1C"
  ImageSize size;
  ByteSpan colors;  // the content of "colr"; empty: as the stream says
  ByteSpan data;
  int depth;  // bits of a sample
  bool is_grey;
};

void append(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

Bytes box_of(std::string_view type, ByteSpan content) {
  Bytes bytes;
  put_number(bytes, content.size() + 8, 4);
  append(bytes, type);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

// A full box's content: version and flags of 0, then 2-byte numbers.
Bytes full(std::initializer_list<unsigned> numbers) {
  Bytes bytes(4, 0);
  for (const unsigned number : numbers)
    put_number(bytes, number, 2);
  return bytes;
}

Bytes type_box(bool is_av1) {
  Bytes content;
  append(content, is_av1 ? "avif" : "heic");
  put_number(content, 0, 4);
  append(content, is_av1 ? "mif1avif" : "mif1heic");
  return box_of("ftyp", content);
}

Bytes handler_box() {
  Bytes content(8, 0);
  append(content, "pict");
  content.resize(25, 0);
  return box_of("hdlr", content);
}

Bytes info_box(std::string_view type) {
  Bytes entry(4, 0);
  entry[0] = 2;  // the version
  put_number(entry, 1, 2);
  put_number(entry, 0, 2);
  append(entry, type);
  put_number(entry, 0, 1);
  return box_of("iinf", joined({full({1}), box_of("infe", entry)}));
}

Bytes location_box(std::size_t position, std::size_t size) {
  Bytes content = full({0x4400, 1, 1, 0, 1});
  put_number(content, position, 4);
  put_number(content, size, 4);
  return box_of("iloc", content);
}

Bytes property_boxes(const OnePicture& picture) {
  Bytes size(4, 0);
  put_number(size, static_cast<unsigned>(picture.size.width), 4);
  put_number(size, static_cast<unsigned>(picture.size.height), 4);
  const bool has_colors = !picture.colors.empty();
  const Bytes properties =
      joined({box_of(picture.type == "av01" ? "av1C" : "hvcC", picture.configuration),
              box_of("ispe", size), has_colors ? box_of("colr", picture.colors) : Bytes()});
  Bytes associations(4, 0);
  put_number(associations, 1, 4);
  put_number(associations, 1, 2);
  put_number(associations, has_colors ? 3 : 2, 1);
  associations.push_back(0x81);  // the decoder cannot do without it
  associations.push_back(2);
  if (has_colors) associations.push_back(3);
  return box_of("iprp", joined({box_of("ipco", properties), box_of("ipma", associations)}));
}

// A file of that picture alone: whatever a file's boxes say, libheif sees only these.
Bytes file_of(const OnePicture& picture) {
  constexpr std::size_t header_size = 8;
  const Bytes type = type_box(picture.type == "av01");
  const auto meta = [&](std::size_t position) {
    return box_of("meta", joined({full({}), handler_box(), box_of("pitm", full({1})),
                                  location_box(position, picture.data.size()),
                                  info_box(picture.type), property_boxes(picture)}));
  };
  const std::size_t position = type.size() + meta(0).size() + header_size;
  return joined({type, meta(position), box_of("mdat", picture.data)});
}

// Decodes one coded picture. Messages begin with `name` and contain `codec`.
class CodedPicture {
 public:
  CodedPicture(const std::string& name, const std::string& codec, const ReadLimits& limits)
      : name_(name),
        codec_(codec),
        limits_(limits),
        context_(libheif().heif_context_alloc(), libheif().heif_context_free),
        decoded_(nullptr, libheif().heif_image_release) {
    if (!context_) refuse("not enough memory");
  }

  // Alpha is opaque. A grey format gets the middle channel of colours. Throws PictureError, also if
  // the decoded picture is not the one that `picture` describes.
  Image decode(const OnePicture& picture, PixelFormat format) {
    const Bytes file = file_of(picture);
    limit();
    check(libheif().heif_context_read_from_memory_without_copy(context_.get(), file.data(),
                                                               file.size(), nullptr));
    heif_image_handle* handle = nullptr;
    check(libheif().heif_context_get_primary_image_handle(context_.get(), &handle));
    const HeifHandle owner(handle, libheif().heif_image_handle_release);
    const std::unique_ptr<heif_decoding_options, decltype(&::heif_decoding_options_free)> options(
        libheif().heif_decoding_options_alloc(), libheif().heif_decoding_options_free);
    if (!options) refuse("not enough memory");
    options->strict_decoding = 1;
    heif_image* decoded = nullptr;
    check(libheif().heif_decode_image(
        handle, &decoded, picture.is_grey ? heif_colorspace_monochrome : heif_colorspace_RGB,
        picture.is_grey ? heif_chroma_monochrome
                        : interleaved_chroma(3, picture.depth == 8 ? 8 : 16),
        options.get()));
    decoded_.reset(decoded);
    Image image(picture.size, format);
    take_pixels(image, picture.depth, picture.is_grey);
    return image;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw PictureError(name_, formatted("damaged {}: {}", codec_, why));
  }

  void check(const heif_error& error) const {
    if (error.code == heif_error_Ok) return;
    if (error.subcode == heif_suberror_Security_limit_exceeded) {
      throw PictureError(name_,
                         formatted("it has a picture of more pixels than the limit of {}, or "
                                   "than libheif reads: raise it with --max-pixels",
                                   limits_.max_pixels));
    }
    if (error.subcode == heif_suberror_Unsupported_codec) {
      throw PictureError(name_,
                         "this libheif has no decoder for it: install "
                         "libheif-plugin-libde265 and libheif-plugin-dav1d");
    }
    if (error.code == heif_error_Decoder_plugin_error &&
        startable_threads(available_cores()) < available_cores()) {
      throw PictureError(name_,
                         "its decoder failed, perhaps because a limit on processes or memory "
                         "allows it too few threads: raise it (ulimit -u)");
    }
    const std::string_view words = error.message;
    refuse(printable(words.substr(0, words.find('\n'))));
  }

  void limit() const {
#if LIBHEIF_HAVE_VERSION(1, 19, 0)
    heif_security_limits* own = libheif().heif_context_get_security_limits(context_.get());
    own->max_image_size_pixels = limits_.max_pixels;
    own->max_memory_block_size = limits_.max_memory;
#else
    constexpr std::uint64_t longest_side = 32768;  // libheif's own limit
    libheif().heif_context_set_maximum_image_size_limit(
        context_.get(), static_cast<int>(std::min(longest_side, limits_.max_pixels + 1)));
#endif
  }

  void take_pixels(Image& image, int depth, bool is_grey) const {
    const heif_channel channel = is_grey ? heif_channel_Y : heif_channel_interleaved;
    const ImageSize size{libheif().heif_image_get_width(decoded_.get(), channel),
                         libheif().heif_image_get_height(decoded_.get(), channel)};
    const int bits = libheif().heif_image_get_bits_per_pixel_range(decoded_.get(), channel);
    int stride = 0;
    const std::uint8_t* rows = libheif().heif_image_get_plane(decoded_.get(), channel, &stride);
    if (size != image.size() || bits != depth || rows == nullptr)
      refuse("its headers contradict each other");
    const bool is_spread = is_grey && is_limited();
    const std::vector<std::uint16_t> samples =
        scaled_samples(depth, is_spread, image.format().max_sample());
    const std::size_t channels = is_grey ? 1 : 3;
    const bool is_same = image.format() == PixelFormat{is_grey ? 1 : 3, 8} && !is_spread;
    const auto take = depth > 8                   ? take_row<std::uint16_t, std::uint16_t>
                      : image.format().depth == 8 ? take_row<std::uint8_t, std::uint8_t>
                                                  : take_row<std::uint8_t, std::uint16_t>;
    for (int y = 0; y < size.height; ++y, rows += stride) {
      if (is_same) {
        std::memcpy(image.rows().row(y), rows, image.rows().row_bytes());
      } else {
        take(rows, channels, samples, image, y);
      }
    }
  }

  // Whether black is 16 and white 235 of 255. libheif sees to that only in colour.
  [[nodiscard]] bool is_limited() const {
    heif_color_profile_nclx* points = nullptr;
    if (libheif().heif_image_get_nclx_color_profile(decoded_.get(), &points).code != heif_error_Ok)
      return false;
    const HeifNclx owner(points, libheif().heif_nclx_color_profile_free);
    return points->full_range_flag == 0;
  }

  // A table of the results for samples of `depth` bits.
  static std::vector<std::uint16_t> scaled_samples(int depth, bool is_limited,
                                                   std::uint32_t new_max) {
    const std::uint32_t max = (1U << static_cast<unsigned>(depth)) - 1U;
    const std::uint32_t unit = 1U << static_cast<unsigned>(depth - 8);
    std::vector<std::uint16_t> samples;
    for (std::uint32_t stored = 0; stored <= max; ++stored) {
      std::uint32_t sample = stored;
      if (is_limited)
        sample =
            scaled_sample(std::clamp(stored, 16 * unit, 235 * unit) - 16 * unit, 219 * unit, max);
      samples.push_back(static_cast<std::uint16_t>(scaled_sample(sample, max, new_max)));
    }
    return samples;
  }

  // `from` has one channel or three.
  template <typename From, typename To>
  static void take_row(const std::uint8_t* from, std::size_t from_channels,
                       const std::vector<std::uint16_t>& samples, Image& image, int y) {
    const PixelFormat format = image.format();
    const auto colors = static_cast<std::size_t>(format.color_channels());
    std::uint8_t* to = image.rows().row(y);
    for (std::size_t at = 0; at < static_cast<std::size_t>(image.width()) * from_channels;
         at += from_channels, to += format.bytes_per_pixel()) {
      for (std::size_t c = 0; c < colors; ++c) {
        const std::size_t channel = from_channels == 1 ? 0 : colors == 1 ? 1 : c;
        const std::size_t stored = load_sample<From>(from, at + channel);
        store_sample(to, c, static_cast<To>(samples[std::min(stored, samples.size() - 1)]));
      }
      if (format.has_alpha()) store_sample(to, colors, static_cast<To>(format.max_sample()));
    }
  }

  const std::string& name_;
  const std::string& codec_;
  const ReadLimits& limits_;
  HeifContext context_;
  HeifImage decoded_;
};

constexpr std::size_t max_profile_bytes = std::size_t{16} << 20U;

// The kind of a "colr" box.
std::string_view kind_of(ByteSpan colors) {
  return as_text(ByteCursor(colors).take(4));
}

struct CodePoints {
  explicit CodePoints(ByteSpan colors) {
    ByteCursor cursor(colors);
    cursor.take(4);
    primaries = cursor.number(2);
    transfer = cursor.number(2);
  }
  std::uint64_t primaries = 0;
  std::uint64_t transfer = 0;
};

// Adds the ICC profile of the picture or of its first part, or, without a profile and for PQ and
// HLG, the code points. sRGB needs none.
void read_heif_colors(const HeifPicture& picture, Metadata& metadata) {
  ByteSpan points;
  const auto read = [&](const HeifPicture& part) {
    for (const Box& box : part.item->properties) {
      if (box.type != "colr") continue;
      const std::string_view kind = kind_of(box.content);
      const ByteSpan content = box.content.subspan(kind.size());
      const bool is_profile = kind == "prof" || kind == "rICC";
      if (is_profile && !metadata.icc_profile && content.size() <= max_profile_bytes)
        metadata.icc_profile.emplace().data.assign(content.begin(), content.end());
      if (kind == "nclx" && points.empty()) points = box.content;
    }
  };
  read(picture);
  if (!picture.parts.empty()) read(*picture.parts.front());
  if (points.empty()) return;
  const auto [primaries, transfer] = CodePoints(points);
  const bool is_hdr = transfer == heif_transfer_characteristic_ITU_R_BT_2100_0_PQ ||
                      transfer == heif_transfer_characteristic_ITU_R_BT_2100_0_HLG;
  const bool is_srgb = primaries == heif_color_primaries_ITU_R_BT_709_5 &&
                       transfer == heif_transfer_characteristic_IEC_61966_2_1;
  const bool is_known = primaries != heif_color_primaries_unspecified &&
                        transfer != heif_transfer_characteristic_unspecified;
  if (is_known && !is_srgb && (is_hdr || !metadata.icc_profile)) {
    metadata.coding_points = {static_cast<std::uint8_t>(primaries),
                              static_cast<std::uint8_t>(transfer), 0, 1};
  }
}

// Applies `placement` to `image`.
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
void fill(const std::array<std::uint16_t, 3>& ground, Image& image) {
  const PixelFormat format = image.format();
  for (int y = 0; y < image.size().height; ++y) {
    const auto channels = static_cast<std::size_t>(format.channels);
    for (std::size_t i = 0; i < static_cast<std::size_t>(image.width()) * channels; ++i) {
      const std::size_t channel = i % channels;
      const bool is_alpha = static_cast<int>(channel) == format.color_channels();
      // libheif has a 16-bit background: its upper bits are used.
      store_sample(image.rows().row(y), i,
                   static_cast<Sample>(is_alpha ? format.max_sample()
                                                : ground[channel] >> (16U - 8U * sizeof(Sample))));
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
      const std::uint32_t alpha = has_alpha ? load_sample<Sample>(from, colors) : max;
      for (std::size_t c = 0; c < colors; ++c) {
        const auto below = load_sample<Sample>(to, c);
        store_sample(
            to, c, static_cast<Sample>(flattened(load_sample<Sample>(from, c), alpha, below, max)));
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

// Takes alpha from a grey picture by nearest neighbour, because its size may differ.
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
      const auto sample = load_sample<Sample>(from, column);
      store_sample(to, colors, sample);
      for (std::size_t c = 0; is_premultiplied && c < colors; ++c) {
        store_sample(to, c,
                     static_cast<Sample>(
                         unpremultiplied(load_sample<Sample>(to, c), sample, format.max_sample())));
      }
    }
  }
}

// Calls use(sample) with a sample of the type that pictures of this depth have.
template <typename Use>
void with_sample(int depth, const Use& use) {
  depth > 8 ? use(std::uint16_t{}) : use(std::uint8_t{});
}

bool has_hevc(const HeifPicture& picture) {
  const auto& parts = picture.parts;
  return picture.item->type == "hvc1" || (picture.alpha && has_hevc(*picture.alpha)) ||
         std::ranges::any_of(parts, [](const auto& part) { return has_hevc(*part); });
}

// Each HEVC decoder waits for its own thread, for ever if that cannot be started.
std::size_t hevc_decoders_at_once(const std::string& name, std::size_t wanted) {
  const std::size_t others = wanted - 1;  // that ours run on
  const std::size_t possible = (startable_threads(others + wanted) + 1) / 2;
  if (possible > 0) return possible;
  throw PictureError(name,
                     "libde265 needs a thread, and a limit on processes or memory allows no more: "
                     "raise it (ulimit -u)");
}

// Decodes pictures and puts them together. libheif decodes one coded picture at a time; everything
// else is done here.
class HeifDecoder {
 public:
  // `name` and `format` are the file's, in messages. All arguments have to outlive it.
  HeifDecoder(const HeifItems& items, const std::string& name, const std::string& format,
              const ReadLimits& limits)
      : items_(items), name_(name), format_(format), limits_(limits) {}

  // The picture in `format`, which is grey only if the picture is grey or only luma is needed.
  // Throws PictureError.
  [[nodiscard]] Image decode(const HeifPicture& picture, PixelFormat format) {
    at_once_ = picture.pictures > 1 ? allowed_threads() : 1;
    if (has_hevc(picture)) at_once_ = hevc_decoders_at_once(name_, at_once_);
    return decode(picture, format, {});
  }

 private:
  [[nodiscard]] Image decode(const HeifPicture& picture, PixelFormat format,
                             ByteSpan colors) const {
    // Parts without colour information inherit the picture's.
    const ByteSpan own = code_points_of(*picture.item);
    if (!own.empty()) colors = own;
    Image image = placed(picture.parts.empty() ? decode_coded(picture, format, colors)
                                               : decode_parts(picture, format, colors),
                         picture.placement);
    if (picture.alpha && format.has_alpha()) add_alpha(picture, image);
    return image;
  }

  [[nodiscard]] Image decode_coded(const HeifPicture& picture, PixelFormat format,
                                   ByteSpan colors) const {
    // Code points with which libheif takes the luma for green.
    static constexpr std::array<std::uint8_t, 11> as_stored{'n', 'c', 'l', 'x', 0,  2,
                                                            0,   2,   0,   0,   128};
    const bool wants_luma = format.color_channels() == 1 && !picture.is_grey;
    const HeifItem& item = *picture.item;
    const Bytes data = items_.data(item);
    return CodedPicture(name_, format_, limits_)
        .decode({item.type, item.configuration(), picture.stored,
                 wants_luma ? ByteSpan(as_stored) : colors, data, picture.depth, picture.is_grey},
                format);
  }

  [[nodiscard]] Image decode_parts(const HeifPicture& picture, PixelFormat format,
                                   ByteSpan colors) const {
    Image image(picture.stored, format);
    if (picture.item->type == "iovl") {
      with_sample(format.depth,
                  [&](auto sample) { fill<decltype(sample)>(picture.ground, image); });
      for (std::size_t i = 0; i < picture.parts.size(); ++i) {
        const bool has_alpha = picture.parts[i]->has_alpha;
        const PixelFormat own{format.color_channels() + (has_alpha ? 1 : 0), format.depth};
        const Image part = decode(*picture.parts[i], own, colors);
        with_sample(format.depth, [&](auto sample) {
          lay<decltype(sample)>(part, has_alpha, picture.positions[i], image);
        });
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

  void add_alpha(const HeifPicture& picture, Image& image) const {
    const Image alpha = decode(*picture.alpha, {1, image.format().depth}, {});
    with_sample(image.format().depth, [&](auto sample) {
      take_alpha<decltype(sample)>(alpha, picture.item->is_premultiplied, image);
    });
  }

  const HeifItems& items_;
  const std::string& name_;
  const std::string& format_;
  const ReadLimits& limits_;
  std::size_t at_once_ = 1;  // coded pictures that are decoded in parallel
};

bool stores_rgb(ByteSpan points) {
  constexpr std::size_t matrix_at = 8;
  if (points.size() < matrix_at + 2) return false;
  return ByteCursor(points.subspan(matrix_at)).number(2) == heif_matrix_coefficients_RGB_GBR;
}

// Whether every sample is stored: as red, green and blue, or as grey. `points` are the code points
// of the picture to which it belongs.
bool is_lossless(const HeifPicture& picture, ByteSpan points) {
  const ByteSpan own = code_points_of(*picture.item);
  if (!own.empty()) points = own;
  if (picture.parts.empty())
    return picture.header.may_be_lossless && (picture.is_grey || stores_rgb(points));
  return std::ranges::all_of(picture.parts,
                             [points](const auto& part) { return is_lossless(*part, points); });
}

// libheif gives libaom one of 64 quantisers, each of which means one of AV1's.
int av1_quality(int quantiser) {
  constexpr int last = 63;
  const int index = quantiser > 252 ? last : std::min((quantiser + 3) / 4, last - 1);
  return index == 0 ? 100 : 100 - (100 * index - 50 + last - 1) / last;
}

// libheif gives x265 a rate factor of (100 - quality) / 2, which x265 makes finer for still
// pictures, by a ratio of 1.4.
int hevc_quality(int quantiser) {
  constexpr double finer = 2.9126;
  return quantiser <= 0 ? 100 : static_cast<int>(std::floor(100 - 2 * (quantiser + finer)));
}

// The highest quality of libheif that gives the quantiser of the picture or of its first part.
// Nothing if its headers are of a rare kind.
std::optional<int> heif_quality(const HeifPicture& picture) {
  if (!picture.parts.empty()) return heif_quality(*picture.parts.front());
  const auto quantiser = picture.header.quantiser;
  if (!quantiser) return std::nullopt;
  const bool is_av1 = picture.item->type == "av01";
  return std::clamp(is_av1 ? av1_quality(*quantiser) : hevc_quality(*quantiser), 1, 100);
}

constexpr std::size_t max_block_bytes = std::size_t{16} << 20U;  // of metadata
constexpr const char* remedy = "make it smaller";

// A file of either format may call itself "mif1".
const Codec& codec_of(ByteSpan file) {
  const auto boxes = boxes_in(file.first(std::min<std::size_t>(file.size(), 1024)));
  ByteCursor brands(content_of(boxes, "ftyp"));
  while (!brands.rest().empty()) {
    if (as_text(brands.take(4)) == "avif") return avif_codec();
  }
  return heic_codec();
}

class HeifReader final : public WholePictureReader {
 public:
  HeifReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : name_(source->name()),
        file_(whole_file(*source, 0, limits, "a HEIC or AVIF", remedy)),
        items_(heif_items(file_)),
        codec_(codec_of(file_)),
        limits_(limits),
        picture_(heif_picture(items_, name_, codec_.name, limits_)) {
    header_.file_format = &codec_;
    read_header();
    read_metadata();
    header_.unread = heif_contents(items_);
    header_.stored =
        std::make_shared<StoredFidelity>(is_lossless(*picture_, {}), heif_quality(*picture_));
  }

 private:
  void read_header() {
    header_.size = picture_->size();
    header_.format = {(picture_->is_grey ? 1 : 3) + (picture_->has_alpha ? 1 : 0),
                      picture_->depth > 8 ? 16 : 8};
    check_size(name_, header_.shape(), limits_);
    header_.file_pixels = file_pixels(header_.format);
    header_.file_pixels.depth = picture_->depth;
    // libheif has planes and interleaved pixels, and there may be a copy that is turned.
    constexpr std::uint64_t copies = 4;
    const std::uint64_t channels = header_.format.has_alpha() ? 4 : 3;
    check_memory(
        name_,
        file_.size() + copies * picture_->largest * channels * header_.format.bytes_per_sample(),
        limits_, "a " + codec_.name, remedy);
  }

  void read_metadata() {
    Metadata& metadata = header_.metadata;
    read_heif_colors(*picture_, metadata);
    metadata.exif = exif_from_box(block("Exif", ""));
    metadata.xmp = block("mime", "application/rdf+xml");
    remove_exif_thumbnail(metadata.exif);
    set_orientation(metadata, 1);
  }

  // The first one of its kind that belongs to the picture.
  [[nodiscard]] Bytes block(std::string_view type, std::string_view content_type) const {
    for (const auto& [id, item] : items_.items) {
      const auto& described = item.described;
      if (item.type != type || item.content_type != content_type ||
          std::ranges::find(described, items_.primary) == described.end())
        continue;
      Bytes bytes = items_.data(item);
      return bytes.size() > max_block_bytes ? Bytes() : std::move(bytes);
    }
    return {};
  }

  Image decode() override {
    // Before 1.17, libheif ends the process on some damaged files.
    constexpr bool known_to_crash = !LIBHEIF_HAVE_VERSION(1, 17, 0);
    if (needs_isolation(known_to_crash)) return decode_isolated(name_, file_, header_, limits_);
    return HeifDecoder(items_, name_, codec_.name, limits_).decode(*picture_, header_.format);
  }

  std::string name_;
  Bytes file_;
  HeifItems items_;
  const Codec& codec_;
  ReadLimits limits_;
  HeifPicturePointer picture_;
};

}  // namespace

std::unique_ptr<RowReader> open_heif(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<HeifReader>(std::move(source), limits);
}

}  // namespace gpufilter
