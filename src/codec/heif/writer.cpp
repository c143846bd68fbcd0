#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "codec/heif/library.hpp"
#include "codec/heif/tree.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/whole_picture.hpp"
#include "image/exif.hpp"
#include "image/metadata.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

// Sets how the file of `image`, which has `format`, stores and describes its colours. Anything that
// the file cannot hold is added to `left_out`. False if libheif fails.
bool write_heif_colors(heif_image* image, const PixelFormat& format, const Metadata& metadata,
                       bool is_lossless, LeftOut& left_out) {
  constexpr std::array<std::uint8_t, 4> srgb{1, 13, 0, 1};
  HeifNclx nclx(libheif().heif_nclx_color_profile_alloc(), libheif().heif_nclx_color_profile_free);
  if (!nclx) return false;
  const auto set = [&nclx](const std::array<std::uint8_t, 4>& points) {
    return libheif().heif_nclx_color_profile_set_color_primaries(nclx.get(), points[0]).code ==
               heif_error_Ok &&
           libheif()
                   .heif_nclx_color_profile_set_transfer_characteristics(nclx.get(), points[1])
                   .code == heif_error_Ok;
  };
  const bool has_points = metadata.coding_points && set(*metadata.coding_points);
  if (!has_points) set(srgb);
  nclx->matrix_coefficients = is_lossless && format.color_channels() == 3
                                  ? heif_matrix_coefficients_RGB_GBR
                                  : heif_matrix_coefficients_ITU_R_BT_601_6;
  nclx->full_range_flag = 1;
  const IccProfile* profile = profile_for(format, metadata, left_out);
  if (profile != nullptr && libheif()
                                    .heif_image_set_raw_color_profile(
                                        image, "prof", profile->data.data(), profile->data.size())
                                    .code != heif_error_Ok) {
    left_out.add("the ICC profile (libheif does not accept it)");
    profile = nullptr;
  }
  if (!has_points) note_color_description(metadata, profile != nullptr, left_out);
  return libheif().heif_image_set_nclx_color_profile(image, nclx.get()).code == heif_error_Ok;
}

// The bytes of `file` that `view` shows.
std::uint8_t* bytes_of(Bytes& file, ByteSpan view) {
  return file.data() + (view.data() - file.data());
}

void correct_size(const HeifPicture& picture, Bytes& file) {
  constexpr std::size_t numbers_at = 4;
  const ByteSpan size = picture.item->property("ispe");
  if (size.size() >= numbers_at + 8) {
    std::uint8_t* numbers = bytes_of(file, size.subspan(numbers_at));
    store_number(static_cast<unsigned>(picture.stored.width), {numbers, 4});
    store_number(static_cast<unsigned>(picture.stored.height), {numbers + 4, 4});
  }
  if (picture.alpha) correct_size(*picture.alpha, file);
  for (const HeifPicturePointer& part : picture.parts)
    correct_size(*part, file);
}

void correct_order(Bytes& file) {
  const auto meta = boxes_in(FullBox(content_of(boxes_in(file), "meta")).cursor.rest());
  const auto iprp = boxes_in(content_of(meta, "iprp"));
  const auto properties = boxes_in(content_of(iprp, "ipco"));
  FullBox ipma(content_of(iprp, "ipma"));
  const std::size_t size = (ipma.flags & 1U) != 0 ? 2 : 1;
  const std::uint64_t mask = size == 2 ? 0x7FFF : 0x7F;
  const auto describes = [&](std::uint64_t association) {
    const std::uint64_t number = association & mask;
    if (number == 0 || number > properties.size()) return true;
    const std::string_view type = properties[static_cast<std::size_t>(number) - 1].type;
    return type != "clap" && type != "irot" && type != "imir";
  };
  for (auto left = ipma.cursor.number(4); left > 0; --left) {
    ipma.cursor.number(ipma.version == 0 ? 2 : 4);
    const auto count = static_cast<std::size_t>(ipma.cursor.number(1));
    const ByteSpan place = ipma.cursor.take(count * size);
    ByteCursor cursor(place);
    std::vector<std::uint64_t> associations(count);
    for (std::uint64_t& association : associations)
      association = cursor.number(size);
    std::ranges::stable_partition(associations, describes);
    for (std::size_t i = 0; i < place.size() / size; ++i)
      store_number(associations[i], {bytes_of(file, place) + i * size, size});
  }
}

// Makes every "ispe" the size of its picture as it is stored, before it is turned, and puts what
// turns and crops pictures behind what describes them, as readers expect it (ISO/IEC 23000-22,
// 7.3.6). `name` and `format` are for messages.
void correct_heif_boxes(Bytes& file, const std::string& name, const std::string& format) {
  const HeifItems items = heif_items(file);
  const ReadLimits none{.max_pixels = std::numeric_limits<std::uint64_t>::max()};
  correct_size(*heif_picture(items, name, format, none), file);
  correct_order(file);
}

constexpr int default_quality = 50;
constexpr int full_chroma_quality = 90;  // from which colours have the resolution of the picture

struct Target {
  const Codec& codec;
  heif_compression_format compression;
  const char* package;  // Debian's, of libheif's plugin that encodes
};

// Bits per sample of the input.
int bits_of(const PictureHeader& header) {
  const bool is_heif = header.file_format == &heic_codec() || header.file_format == &avif_codec();
  return is_heif ? header.file_pixels.depth : header.format.depth;
}

// Bits per sample in the file.
int bits_for(const Codec& codec, const PictureHeader& header) {
  if (header.format.depth == 8) return 8;
#if LIBHEIF_HAVE_VERSION(1, 15, 2)
  // The AV1 of earlier versions has the wrong profile for 10 bits, at which libaom aborts the
  // process.
  constexpr int fewest = 10;
  if (bits_of(header) <= fewest) return fewest;
#endif
  return codec.max_depth;
}

std::string words_on_bits(const Codec& codec, const PictureHeader& header) {
  const int bits = bits_for(codec, header);
  const int before = bits_of(header);
  if (bits == 8 || bits == before || before == 16) return formatted(", {} bits", bits);
  return formatted(", {} bits (this libheif writes no {} of {})", bits, codec.name, before);
}

// The picture three times. Throws PictureError if libheif has no encoder.
std::uint64_t memory_of(const Target& target, const PictureHeader& header,
                        const std::string& name) {
  if (libheif().heif_have_encoder_for_format(target.compression) == 0) {
    throw PictureError(name, formatted("this libheif has no encoder for {}: install {}, or write "
                                       "another format",
                                       target.codec.name, target.package));
  }
  return header.size.pixels() * header.format.bytes_per_pixel() * 3;
}

class HeifWriter final : public WholePictureWriter {
 public:
  HeifWriter(const Target& target, ByteSink& sink, const PictureHeader& header,
             const WriteOptions& options)
      : WholePictureWriter(target.codec, sink, header, options,
                           chosen_fidelity(target.codec, header, options, default_quality),
                           memory_of(target, header, sink.name()),
                           words_on_bits(target.codec, header)),
        target_(target),
        size_(header.size),
        format_(header.format),
        bits_(bits_for(target.codec, header)),
        context_(libheif().heif_context_alloc(), libheif().heif_context_free),
        encoder_(nullptr, libheif().heif_encoder_release),
        image_(nullptr, libheif().heif_image_release) {
    if (fidelity_.is_lossless && bits_ < bits_of(header)) {
      log::warn(formatted("{}: its samples of {} bits are rounded to {}, all that {} holds",
                          sink.name(), bits_of(header), bits_, target.codec.name));
    }
    create_image();
  }

  void write(const ConstRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y, ++next_row_) {
      if (format_.depth == 8) {
        write_row<std::uint8_t>(rows.row(y));
      } else {
        write_row<std::uint16_t>(rows.row(y));
      }
    }
  }

 private:
  void encode() override {
    create_encoder();
    const std::unique_ptr<heif_encoding_options, decltype(&::heif_encoding_options_free)> options(
        libheif().heif_encoding_options_alloc(), libheif().heif_encoding_options_free);
    if (!options ||
        !write_heif_colors(image_.get(), format_, metadata(), fidelity_.is_lossless, left_out_)) {
      fail("not enough memory");
    }
    options->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
    options->macOS_compatibility_workaround_no_nclx_profile = 0;
    options->image_orientation =
        static_cast<heif_orientation>(stored_orientation(metadata()).value_or(1));
    heif_image_handle* handle = nullptr;
    check(libheif().heif_context_encode_image(context_.get(), image_.get(), encoder_.get(),
                                              options.get(), &handle));
    const HeifHandle owner(handle, libheif().heif_image_handle_release);
    image_.reset();
    add_metadata(handle);
    write_file();
  }

  void check(const heif_error& error) const {
    if (error.code == heif_error_Ok) return;
    const std::string_view words = error.message;
    fail(printable(words.substr(0, words.find('\n'))));
  }

  // RGB and RGBA are interleaved; grey is a plane, with another for alpha.
  [[nodiscard]] bool is_grey() const { return format_.color_channels() == 1; }

  void create_image() {
    heif_image* image = nullptr;
    check(libheif().heif_image_create(
        size_.width, size_.height, is_grey() ? heif_colorspace_monochrome : heif_colorspace_RGB,
        is_grey() ? heif_chroma_monochrome : interleaved_chroma(format_.channels, format_.depth),
        &image));
    image_.reset(image);
    const auto add = [this](heif_channel channel) {
      check(
          libheif().heif_image_add_plane(image_.get(), channel, size_.width, size_.height, bits_));
    };
    add(is_grey() ? heif_channel_Y : heif_channel_interleaved);
    if (is_grey() && format_.has_alpha()) add(heif_channel_Alpha);
  }

  template <typename Sample>
  void write_row(const std::uint8_t* row) const {
    if (!is_grey())
      return write_samples<Sample>(row, 1, format_.channels, heif_channel_interleaved);
    write_samples<Sample>(row, static_cast<std::size_t>(format_.channels), 1, heif_channel_Y);
    if (format_.has_alpha()) write_samples<Sample>(row + sizeof(Sample), 2, 1, heif_channel_Alpha);
  }

  // `per_pixel` samples of each pixel, of which every one that is a multiple of `step`.
  template <typename Sample>
  void write_samples(const std::uint8_t* row, std::size_t step, int per_pixel,
                     heif_channel channel) const {
    int stride = 0;
    std::uint8_t* plane = libheif().heif_image_get_plane(image_.get(), channel, &stride);
    std::uint8_t* to = plane + std::ptrdiff_t{next_row_} * stride;
    const std::uint32_t max = (1U << static_cast<unsigned>(bits_)) - 1U;
    const auto count = static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(per_pixel);
    for (std::size_t i = 0; i < count; ++i) {
      const auto sample = load_sample<Sample>(row, i * step);
      store_sample(to, i, static_cast<Sample>(scaled_sample(sample, format_.max_sample(), max)));
    }
  }

  void create_encoder() {
    heif_encoder* encoder = nullptr;
    check(libheif().heif_context_get_encoder_for_format(context_.get(), target_.compression,
                                                        &encoder));
    encoder_.reset(encoder);
    if (fidelity_.is_lossless) {
      check(libheif().heif_encoder_set_lossless(encoder, 1));
    } else {
      check(libheif().heif_encoder_set_lossy_quality(encoder, fidelity_.quality));
    }
    const bool full_chroma = fidelity_.is_lossless || fidelity_.quality >= full_chroma_quality;
    // Encoders that do not have a parameter ignore it.
    libheif().heif_encoder_set_parameter(encoder, "chroma", full_chroma ? "444" : "420");
    // x265: half the time of "slow", libheif's default, and files 2 % larger.
    libheif().heif_encoder_set_parameter(encoder, "preset", "medium");
    if (target_.compression == heif_compression_HEVC) limit_x265();
    // libaom's output with one thread differs from its output with several.
    const std::string threads = std::to_string(std::clamp<std::size_t>(allowed_threads(), 2, 16));
    libheif().heif_encoder_set_parameter(encoder, "threads", threads.c_str());
  }

  // x265 waits for ever for threads that cannot be started.
  void limit_x265() const {
    constexpr std::size_t frame_threads = 6;  // at most, in addition to one for each core
    constexpr std::size_t least = 2;
    const std::size_t usual = available_cores() + frame_threads;
    const std::size_t possible = startable_threads(usual);
    if (possible == usual) return;
    if (possible < least) {
      fail(
          "x265 needs threads, and a limit on processes or memory allows no more: raise it "
          "(ulimit -u)");
    }
    libheif().heif_encoder_set_parameter(encoder_.get(), "x265:pools", "1");
    libheif().heif_encoder_set_parameter(encoder_.get(), "x265:frame-threads", "1");
  }

  void add_metadata(const heif_image_handle* handle) const {
    const auto size = [](const Bytes& bytes) { return static_cast<int>(bytes.size()); };
    if (!metadata().exif.empty()) {
      check(libheif().heif_context_add_exif_metadata(context_.get(), handle, metadata().exif.data(),
                                                     size(metadata().exif)));
    }
    if (!metadata().xmp.empty()) {
      check(libheif().heif_context_add_XMP_metadata(context_.get(), handle, metadata().xmp.data(),
                                                    size(metadata().xmp)));
    }
  }

  void write_file() const {
    Bytes file;
    heif_writer writer{};
    writer.writer_api_version = 1;
    writer.write = [](heif_context*, const void* data, std::size_t size, void* user) {
      const auto* bytes = static_cast<const std::uint8_t*>(data);
      try {
        static_cast<Bytes*>(user)->assign(bytes, bytes + size);
      } catch (const std::bad_alloc&) {
        return heif_error{heif_error_Memory_allocation_error, heif_suberror_Unspecified,
                          "not enough memory"};
      }
      return heif_error{heif_error_Ok, heif_suberror_Unspecified, ""};
    };
    check(libheif().heif_context_write(context_.get(), &writer, &file));
    correct_heif_boxes(file, sink_.name(), target_.codec.name);
    sink_.write(file);
  }

  const Target& target_;
  ImageSize size_;
  PixelFormat format_;
  int bits_;
  HeifContext context_;
  HeifEncoder encoder_;
  HeifImage image_;
};

}  // namespace

std::unique_ptr<RowWriter> create_heic(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  static const Target heic{heic_codec(), heif_compression_HEVC, "libheif-plugin-x265"};
  return std::make_unique<HeifWriter>(heic, sink, header, options);
}

std::unique_ptr<RowWriter> create_avif(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  static const Target avif{avif_codec(), heif_compression_AV1, "libheif-plugin-aomenc"};
  return std::make_unique<HeifWriter>(avif, sink, header, options);
}

}  // namespace gpufilter
