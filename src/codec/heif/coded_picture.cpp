#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "codec/heif/library.hpp"
#include "codec/sample_conversion.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

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

// A version and flags of 0, and numbers of 2 bytes.
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
                         "its decoder failed, perhaps because a limit of processes or memory "
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

  // What each sample of `depth` bits becomes.
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

}  // namespace

Image decode_coded_picture(const OnePicture& picture, PixelFormat format, const std::string& name,
                           const std::string& codec, const ReadLimits& limits) {
  return CodedPicture(name, codec, limits).decode(picture, format);
}

}  // namespace gpufilter
