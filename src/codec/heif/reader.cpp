#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/thread_limit.hpp"
#include "base/words.hpp"
#include "codec/exif_and_xmp.hpp"
#include "codec/fidelity.hpp"
#include "codec/heif/boxes.hpp"
#include "codec/heif/codec.hpp"
#include "codec/heif/color.hpp"
#include "codec/heif/functions.hpp"
#include "codec/whole_picture_reader.hpp"
#include "image/exif_orientation.hpp"
#include "image/exif_parts.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_block_bytes = std::size_t{16} << 20U;  // of metadata
constexpr const char* remedy = "make it smaller";

// A file of either format may call itself "mif1".
const Codec& codec_of(const Bytes& file) {
  const int size = static_cast<int>(std::min<std::size_t>(file.size(), 1024));
  const bool is_avif = libheif().heif_has_compatible_brand(file.data(), size, "avif") == 1;
  return is_avif ? avif_codec() : heic_codec();
}

class HeifReader final : public WholePictureReader {
 public:
  HeifReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : name_(source->name()),
        file_(whole_file(*source, 0, limits, "a HEIC or AVIF", remedy)),
        max_pixels_(limits.max_pixels),
        context_(libheif().heif_context_alloc(), libheif().heif_context_free),
        handle_(nullptr, libheif().heif_image_handle_release) {
    header_.file_format = &codec_of(file_);
    open(limits);
    read_header(limits);
    read_metadata();
    header_.stored = std::make_shared<StoredFidelity>(stores_rgb(handle_.get()));
    const int count = libheif().heif_context_get_number_of_top_level_images(context_.get());
    if (count > 1)
      header_.unread.push_back(counted(static_cast<std::size_t>(count - 1), "more picture"));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw PictureError(name_, formatted("damaged {}: {}", header_.file_format->name, why));
  }

  void check(const heif_error& error) const {
    if (error.code == heif_error_Ok) return;
    if (error.subcode == heif_suberror_Security_limit_exceeded) {
      throw PictureError(name_,
                         formatted("it has a picture of more pixels than the limit of {}, or "
                                   "than libheif reads: raise it with --max-pixels",
                                   max_pixels_));
    }
    if (error.subcode == heif_suberror_Unsupported_codec) {
      throw PictureError(name_,
                         "this libheif has no decoder for it: install "
                         "libheif-plugin-libde265 and libheif-plugin-dav1d");
    }
    const std::string_view words = error.message;
    refuse(printable(words.substr(0, words.find('\n'))));
  }

  void open(const ReadLimits& limits) {
    if (!context_) refuse("not enough memory");
    if (!has_bounded_parts(file_)) refuse("its pictures contain themselves, or too many others");
#if LIBHEIF_HAVE_VERSION(1, 19, 0)
    heif_security_limits* own = libheif().heif_context_get_security_limits(context_.get());
    own->max_image_size_pixels = limits.max_pixels;
    own->max_memory_block_size = limits.max_memory;
#else
    constexpr std::uint64_t longest_side = 32768;  // libheif's own limit
    libheif().heif_context_set_maximum_image_size_limit(
        context_.get(), static_cast<int>(std::min(longest_side, limits.max_pixels + 1)));
#endif
    libheif().heif_context_set_max_decoding_threads(context_.get(),
                                                    static_cast<int>(allowed_threads()));
    check(libheif().heif_context_read_from_memory_without_copy(context_.get(), file_.data(),
                                                               file_.size(), nullptr));
    heif_image_handle* handle = nullptr;
    check(libheif().heif_context_get_primary_image_handle(context_.get(), &handle));
    handle_.reset(handle);
  }

  void read_header(const ReadLimits& limits) {
    const int width = libheif().heif_image_handle_get_width(handle_.get());
    const int height = libheif().heif_image_handle_get_height(handle_.get());
    const int bits = libheif().heif_image_handle_get_luma_bits_per_pixel(handle_.get());
    if (width <= 0 || height <= 0) refuse("its width or height is 0");
    if (bits < 8 || bits > 16) refuse("it does not say how many bits a sample has");
    const bool has_alpha = libheif().heif_image_handle_has_alpha_channel(handle_.get()) != 0;
    header_.size = {width, height};
    header_.format = {(is_grey_heif(file_) ? 1 : 3) + (has_alpha ? 1 : 0), bits > 8 ? 16 : 8};
    check_size(name_, static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height),
               header_.format, limits);
    header_.file_pixels = file_pixels(header_.format);
    header_.file_pixels.depth = bits;
    // libheif has planes, interleaved pixels and while it turns them another copy.
    constexpr std::uint64_t copies = 4;
    check_memory(name_, file_.size() + copies * header_.size.pixels() * pixel_bytes(), limits,
                 "a " + header_.file_format->name, remedy);
  }

  // libheif's interleaved pixels are never grey.
  [[nodiscard]] int interleaved_channels() const {
    return header_.format.has_alpha() ? 4 : 3;
  }
  [[nodiscard]] std::uint64_t pixel_bytes() const {
    return static_cast<unsigned>(interleaved_channels()) * header_.format.bytes_per_sample();
  }

  void read_metadata() {
    Metadata& metadata = header_.metadata;
    read_heif_colors(handle_.get(), metadata);
    std::vector<heif_item_id> ids(static_cast<std::size_t>(std::max(
        0, libheif().heif_image_handle_get_number_of_metadata_blocks(handle_.get(), nullptr))));
    libheif().heif_image_handle_get_list_of_metadata_block_IDs(handle_.get(), nullptr, ids.data(),
                                                               static_cast<int>(ids.size()));
    for (const heif_item_id id : ids) {
      const std::string_view type =
          libheif().heif_image_handle_get_metadata_type(handle_.get(), id);
      const std::string_view content =
          libheif().heif_image_handle_get_metadata_content_type(handle_.get(), id);
      if (type == "Exif" && metadata.exif.empty()) metadata.exif = exif_from_box(block(id));
      if (type == "mime" && content == "application/rdf+xml" && metadata.xmp.empty())
        metadata.xmp = block(id);
    }
    remove_exif_thumbnail(metadata.exif);
    set_orientation(metadata, 1);
  }

  [[nodiscard]] Bytes block(heif_item_id id) const {
    const std::size_t size = libheif().heif_image_handle_get_metadata_size(handle_.get(), id);
    if (size == 0 || size > max_block_bytes) return {};
    Bytes bytes(size);
    check(libheif().heif_image_handle_get_metadata(handle_.get(), id, bytes.data()));
    return bytes;
  }

  Image decode() override {
    const std::unique_ptr<heif_decoding_options, decltype(&::heif_decoding_options_free)> options(
        libheif().heif_decoding_options_alloc(), libheif().heif_decoding_options_free);
    if (!options) refuse("not enough memory");
    options->strict_decoding = 1;
    heif_image* decoded = nullptr;
    check(libheif().heif_decode_image(
        handle_.get(), &decoded, heif_colorspace_RGB,
        interleaved_chroma(interleaved_channels(), header_.format.depth), options.get()));
    const HeifImage owner(decoded, libheif().heif_image_release);
    Image image(header_.size, header_.format);
    take_pixels(decoded, image);
    return image;
  }

  void take_pixels(heif_image* decoded, Image& image) const {
    constexpr heif_channel channel = heif_channel_interleaved;
    const ImageSize size{libheif().heif_image_get_width(decoded, channel),
                         libheif().heif_image_get_height(decoded, channel)};
    const int bits = libheif().heif_image_get_bits_per_pixel_range(decoded, channel);
    int stride = 0;
    const std::uint8_t* rows = libheif().heif_image_get_plane(decoded, channel, &stride);
    if (size != header_.size || bits != header_.file_pixels.depth || rows == nullptr)
      refuse("its headers contradict each other");
    for (int y = 0; y < size.height; ++y, rows += stride) {
      if (header_.format.depth == 8) {
        take_row<std::uint8_t>(rows, image.rows().row(y));
      } else {
        take_row<std::uint16_t>(rows, image.rows().row(y));
      }
    }
  }

  template <typename Sample>
  void take_row(const std::uint8_t* interleaved, std::uint8_t* row) const {
    const std::uint32_t max = (1U << static_cast<unsigned>(header_.file_pixels.depth)) - 1U;
    const std::uint32_t new_max = header_.format.max_sample();
    const auto from = static_cast<std::size_t>(interleaved_channels());
    const auto channels = static_cast<std::size_t>(header_.format.channels);
    const auto colors = static_cast<std::size_t>(header_.format.color_channels());
    const bool is_premultiplied =
        header_.format.has_alpha() &&
        libheif().heif_image_handle_is_premultiplied_alpha(handle_.get()) != 0;
    const auto load = [interleaved](std::size_t i) {
      Sample sample{};
      std::memcpy(&sample, interleaved + i * sizeof sample, sizeof sample);
      return std::uint32_t{sample};
    };
    for (std::size_t x = 0; x < static_cast<std::size_t>(header_.size.width); ++x) {
      const std::uint32_t alpha = is_premultiplied ? load(x * from + 3) : 0;
      for (std::size_t c = 0; c < channels; ++c) {
        std::uint32_t sample = load(x * from + (c < colors ? c : 3));
        if (is_premultiplied && c < colors) sample = unpremultiplied(sample, alpha, max);
        const auto stored = static_cast<Sample>(scaled_sample(std::min(sample, max), max, new_max));
        std::memcpy(row + (x * channels + c) * sizeof stored, &stored, sizeof stored);
      }
    }
  }

  std::string name_;
  Bytes file_;
  std::uint64_t max_pixels_;
  HeifContext context_;
  HeifHandle handle_;
};

}  // namespace

std::unique_ptr<RowReader> open_heif(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<HeifReader>(std::move(source), limits);
}

}  // namespace gpufilter
