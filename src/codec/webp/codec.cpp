#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "codec/formats.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/unread.hpp"
#include "codec/whole_picture.hpp"
#include "image/exif.hpp"
#include "image/rows.hpp"

namespace gpufilter {
namespace {

// The functions of libwebp and libwebpmux that are used. The libraries' headers define some of
// their functions, such as WebPInitDecoderConfig(), as calls of others with the version of the
// interface; here are the others.
struct LibWebp : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTIONS(WebPGetDecoderVersion, WebPGetFeaturesInternal,
                              WebPInitDecoderConfigInternal, WebPDecode, WebPIDecode, WebPIUpdate,
                              WebPIDecGetRGB, WebPIDelete)

  GPUFILTER_LIBRARY_FUNCTIONS(WebPConfigInitInternal, WebPPictureInitInternal, WebPPictureAlloc,
                              WebPPictureFree, WebPMemoryWriterInit, WebPMemoryWriterClear,
                              WebPMemoryWrite, WebPEncode)

  GPUFILTER_LIBRARY_FUNCTIONS(WebPNewInternal, WebPMuxCreateInternal, WebPMuxDelete,
                              WebPMuxGetFrame, WebPMuxNumChunks, WebPMuxSetChunk, WebPMuxSetImage,
                              WebPMuxAssemble, WebPFree)
};

// libwebpmux brings libwebp. Throws LibraryNotLoaded.
const LibWebp& libwebp() {
  static const LibWebp library(GPUFILTER_WEBP_LIBRARY);
  return library;
}

using OwnedMux = std::unique_ptr<WebPMux, decltype(&::WebPMuxDelete)>;
OwnedMux owned(WebPMux* mux) {
  return {mux, libwebp().WebPMuxDelete};
}

// The size of the content of the chunk that begins there.
std::size_t chunk_size(ByteSpan head) {
  return number_of(head.subspan(4, 4), ByteOrder::little);
}

constexpr int max_quantiser = 127;

// VP8's arithmetic decoder, for bits that are as likely 0 as 1 (RFC 6386, section 7).
class EvenBits {
 public:
  explicit EvenBits(ByteSpan bytes) : bytes_(bytes) { value_ = next() << 8U | next(); }

  bool flag() {
    const std::uint32_t split = 1 + ((range_ - 1) * 128 >> 8U);
    const bool bit = value_ >= split << 8U;
    if (bit) value_ -= split << 8U;
    range_ = bit ? range_ - split : split;
    for (; range_ < 128; range_ <<= 1U) {
      value_ <<= 1U;
      if (++shifts_ == 8) {
        shifts_ = 0;
        value_ |= next();
      }
    }
    return bit;
  }

  int number(int bits) {
    int value = 0;
    for (; bits > 0; --bits)
      value = 2 * value + (flag() ? 1 : 0);
    return value;
  }

  // A flag, and if it is set a number and its sign.
  int optional_number(int bits) {
    if (!flag()) return 0;
    const int value = number(bits);
    return flag() ? -value : value;
  }

 private:
  std::uint32_t next() {
    const std::uint32_t byte = bytes_.empty() ? 0 : bytes_.front();
    bytes_ = bytes_.subspan(bytes_.empty() ? 0 : 1);
    return byte;
  }

  ByteSpan bytes_;
  std::uint32_t value_ = 0;
  std::uint32_t range_ = 255;
  int shifts_ = 0;
};

// The content of the first chunk of this type; where the file ends within it, what there is of it
// if it `may_be_cut`.
ByteSpan chunk(ByteSpan file, std::string_view type, bool may_be_cut) {
  constexpr std::size_t container = 12;
  constexpr std::size_t head = 8;
  std::size_t at = container;
  while (at + head <= file.size()) {
    const ByteSpan rest = file.subspan(at);
    const std::size_t size = chunk_size(rest);
    const ByteSpan found = rest.subspan(head, std::min(size, rest.size() - head));
    if (std::equal(type.begin(), type.end(), rest.begin()))
      return found.size() == size || may_be_cut ? found : ByteSpan();
    at += head + size + size % 2;
  }
  return {};
}

// One for each segment that says so, otherwise the picture's.
std::vector<int> quantisers(ByteSpan picture) {
  constexpr std::size_t head = 10;  // of a key frame
  EvenBits bits(picture.subspan(head));
  bits.number(2);
  std::vector<int> segments;
  bool is_absolute = false;
  if (bits.flag()) {
    const bool has_map = bits.flag();
    if (bits.flag()) {
      is_absolute = bits.flag();
      for (int i = 0; i < 4; ++i)
        segments.push_back(bits.optional_number(7));
      for (int i = 0; i < 4; ++i)
        bits.optional_number(6);
    }
    for (int i = 0; has_map && i < 3; ++i) {
      if (bits.flag()) bits.number(8);
    }
  }
  bits.number(1 + 6 + 3);
  if (bits.flag() && bits.flag()) {
    for (int i = 0; i < 8; ++i)
      bits.optional_number(6);
  }
  bits.number(2);
  const int base = bits.number(7);
  if (segments.empty()) return {base};
  for (int& segment : segments)
    segment = std::clamp(is_absolute ? segment : base + segment, 0, max_quantiser);
  return segments;
}

// Quantisers of the qualities 0 to 100 in libwebp: 127 (1 - x^(e / 3)), rounded down. x is
// quality / 150 below 75, otherwise quality / 50 - 1. e is 1; in pictures with several segments it
// is 1 + 127 / 128 * 0.9 * 0.5 for the coarsest, which differs from the average by as much as the
// default setting allows, in nearly all pictures. Numbers, because pow() differs between machines.
constexpr std::array<std::uint8_t, 101> quantisers_of_qualities{
    127, 103, 96, 92, 89, 86, 83, 81, 79, 77, 75, 73, 72, 70, 69, 68, 66, 65, 64, 63, 62,
    61,  60,  59, 58, 57, 56, 55, 54, 53, 52, 51, 51, 50, 49, 48, 48, 47, 46, 45, 45, 44,
    43,  43,  42, 41, 41, 40, 40, 39, 38, 38, 37, 37, 36, 36, 35, 35, 34, 33, 33, 32, 32,
    31,  31,  30, 30, 29, 29, 28, 28, 28, 27, 27, 26, 26, 24, 23, 22, 21, 19, 18, 17, 16,
    15,  14,  13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0,  0,
};
constexpr std::array<std::uint8_t, 101> coarsest_of_qualities{
    127, 115, 111, 107, 104, 102, 100, 98, 96, 94, 92, 90, 89, 87, 86, 85, 83, 82, 81, 80, 78,
    77,  76,  75,  74,  73,  72,  71,  70, 69, 68, 67, 66, 65, 64, 64, 63, 62, 61, 60, 59, 59,
    58,  57,  56,  55,  55,  54,  53,  52, 52, 51, 50, 50, 49, 48, 48, 47, 46, 46, 45, 44, 44,
    43,  42,  42,  41,  40,  40,  39,  39, 38, 37, 37, 36, 36, 34, 32, 30, 29, 27, 26, 24, 23,
    21,  20,  18,  17,  15,  14,  12,  11, 10, 8,  7,  6,  5,  3,  2,  1,  0,
};

// On libwebp's scale, from the quantisers in the header of a lossy picture (RFC 6386, section 9).
// `file` is the whole file. Nothing if there is no such picture.
// The highest one that gives the quantiser: written again and again, it stays the same.
std::optional<int> webp_quality(ByteSpan file) {
  constexpr std::size_t least = 11;
  const ByteSpan picture = chunk(file, "VP8 ", true);
  if (picture.size() < least) return std::nullopt;
  const std::vector<int> all = quantisers(picture);
  const auto [finest, coarsest] = std::ranges::minmax_element(all);
  const auto& table = *finest != *coarsest ? coarsest_of_qualities : quantisers_of_qualities;
  int quality = 100;
  while (quality > 1 && table.at(static_cast<std::size_t>(quality)) < *coarsest)
    --quality;
  return quality;
}

constexpr std::size_t header_size = 12;  // of the RIFF container
constexpr std::size_t head_size = 64;    // of which the picture's header is read
constexpr std::uint64_t piece_size = std::uint64_t{1} << 20U;

const char* words_for(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "it ends too early";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "not enough memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it has a feature that libwebp does not know";
    default:
      return "its data is invalid";
  }
}

class WebpReader final : public WholePictureReader {
 public:
  WebpReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(std::move(source)), limits_(limits) {
    read_features(source_->peek(head_size));
    header_.file_format = &webp_codec();
    header_.size = {features_.width, features_.height};
    header_.format = {features_.has_alpha != 0 ? 4 : 3, 8};
    check_size(name(), header_.shape(), limits);
    header_.file_pixels = file_pixels(header_.format);
    read_file();
    note_rest(*source_, header_.unread);
    read_features(file_);
    const ImageSize size{features_.width, features_.height};
    if (size != header_.size) refuse("its headers contradict each other");
    read_metadata();
    if (features_.has_animation != 0) take_first_frame();
    constexpr int lossless = 2;
    header_.stored =
        std::make_shared<StoredFidelity>(features_.format == lossless, webp_quality(file_));
  }

 private:
  [[nodiscard]] const std::string& name() const { return source_->name(); }

  [[nodiscard]] PictureError damage(const char* why) const {
    return {name(), std::string("damaged WebP: ") + why};
  }
  [[noreturn]] void refuse(const char* why) const { throw damage(why); }

  // The beginning of a file says everything but whether it is lossless.
  void read_features(std::span<const std::uint8_t> bytes) {
    const VP8StatusCode status = libwebp().WebPGetFeaturesInternal(
        bytes.data(), bytes.size(), &features_, WEBP_DECODER_ABI_VERSION);
    if (status != VP8_STATUS_OK) refuse(words_for(status));
  }

  // Within the memory limit, the pixels counted too; what follows the container is not read.
  void read_file() {
    const std::uint64_t size = chunk_size(source_->peek(header_size)) + 8;
    const std::uint64_t pixels = row_pitch(header_.size.width, header_.format) *
                                 std::uint64_t{static_cast<unsigned>(header_.size.height)};
    check_memory(name(), size + pixels, limits_, "a WebP", "make it smaller");
    while (file_.size() < size) {
      const std::size_t before = file_.size();
      file_.resize(static_cast<std::size_t>(std::min(size, before + piece_size)));
      const std::size_t count = source_->read(std::span(file_).subspan(before));
      if (before + count == file_.size()) continue;
      if (limits_.damaged == Damaged::fail) throw PictureError(name(), file_ends_early);
      file_.resize(before + count);
      ends_early_ = true;
      return;
    }
  }

  // Pixels outside the first frame are transparent.
  void take_first_frame() {
    const WebPData data{file_.data(), file_.size()};
    const auto mux = owned(libwebp().WebPMuxCreateInternal(&data, 0, WEBP_MUX_ABI_VERSION));
    WebPMuxFrameInfo frame{};
    int frames = 0;
    if (!mux || libwebp().WebPMuxNumChunks(mux.get(), WEBP_CHUNK_ANMF, &frames) != WEBP_MUX_OK ||
        libwebp().WebPMuxGetFrame(mux.get(), 1, &frame) != WEBP_MUX_OK)
      refuse("its first frame is missing");
    const std::unique_ptr<void, decltype(&::WebPFree)> owner(
        const_cast<std::uint8_t*>(frame.bitstream.bytes), libwebp().WebPFree);
    file_.assign(frame.bitstream.bytes, frame.bitstream.bytes + frame.bitstream.size);
    read_features(file_);
    corner_ = {frame.x_offset, frame.y_offset};
    const ImageSize whole = header_.size;
    const ImageSize own{features_.width, features_.height};
    if (corner_.x < 0 || corner_.y < 0 || own.width > whole.width - corner_.x ||
        own.height > whole.height - corner_.y)
      refuse("its first frame lies outside of the picture");
    if (own != whole) header_.format = {4, 8};
    header_.file_pixels = file_pixels(header_.format);
    if (frames > 1)
      header_.unread.push_back(counted(static_cast<std::uint64_t>(frames - 1), "more frame"));
  }

  // Reads metadata without libwebpmux, which reads only whole files.
  void read_metadata() {
    const auto take = [this](std::string_view id, Bytes& into) {
      const ByteSpan bytes = chunk(file_, id, false);
      into.assign(bytes.begin(), bytes.end());
    };
    Metadata& metadata = header_.metadata;
    IccProfile profile;
    take("ICCP", profile.data);
    if (!profile.data.empty()) metadata.icc_profile = std::move(profile);
    take("XMP ", metadata.xmp);
    take("EXIF", metadata.exif);
    remove_exif_prefix(metadata.exif);
    remove_exif_thumbnail(metadata.exif);
  }

  Image decode() override {
    Image image(header_.size, header_.format);
    WebPDecoderConfig config;
    if (libwebp().WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION) == 0)
      refuse("another version of libwebp is needed");
    config.output.colorspace = header_.format.has_alpha() ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    if (ImageSize{features_.width, features_.height} != header_.size)
      std::memset(image.rows().data, 0, image.bytes());
    const std::size_t begin =
        static_cast<std::size_t>(corner_.y) * image.pitch() +
        static_cast<std::size_t>(corner_.x) * header_.format.bytes_per_pixel();
    config.output.u.RGBA = {image.rows().data + begin, static_cast<int>(image.pitch()),
                            image.bytes() - begin};
    if (limits_.damaged == Damaged::keep) {
      decode_what_there_is(config);
    } else {
      const VP8StatusCode status = libwebp().WebPDecode(file_.data(), file_.size(), &config);
      if (status != VP8_STATUS_OK) refuse(words_for(status));
    }
    file_ = {};
    return image;
  }

  void decode_what_there_is(WebPDecoderConfig& config) {
    const std::unique_ptr<WebPIDecoder, decltype(&::WebPIDelete)> decoder(
        libwebp().WebPIDecode(nullptr, 0, &config), libwebp().WebPIDelete);
    if (!decoder) refuse(words_for(VP8_STATUS_OUT_OF_MEMORY));
    const VP8StatusCode status = libwebp().WebPIUpdate(decoder.get(), file_.data(), file_.size());
    if (status == VP8_STATUS_OK && !ends_early_) return;
    int rows = 0;
    libwebp().WebPIDecGetRGB(decoder.get(), &rows, nullptr, nullptr, nullptr);
    end_at(rows, ends_early_ ? PictureError(name(), file_ends_early) : damage(words_for(status)));
  }

  std::unique_ptr<ByteSource> source_;
  ReadLimits limits_;
  WebPBitstreamFeatures features_{};
  PixelPosition corner_{};  // of what the bitstream holds
  Bytes file_;
  bool ends_early_ = false;
};

constexpr int default_quality = 75;
constexpr int lossless_effort =
    70;  // WebP's "quality" of lossless files, as cwebp -lossless has it

// Owns libwebp's memory.
struct Picture : WebPPicture {
  explicit Picture(const std::string& name) : WebPPicture{} {
    if (libwebp().WebPPictureInitInternal(this, WEBP_ENCODER_ABI_VERSION) == 0)
      throw PictureError(name, "another version of libwebp is needed");
  }
  ~Picture() { libwebp().WebPPictureFree(this); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
};

struct Encoded : WebPMemoryWriter {
  Encoded() : WebPMemoryWriter{} { libwebp().WebPMemoryWriterInit(this); }
  ~Encoded() { libwebp().WebPMemoryWriterClear(this); }
  Encoded(const Encoded&) = delete;
  Encoded& operator=(const Encoded&) = delete;
};

std::uint64_t memory_of(const ImageSize& size, const std::string& name) {
  if (size.width > WEBP_MAX_DIMENSION || size.height > WEBP_MAX_DIMENSION) {
    throw PictureError(name,
                       formatted("{} x {} pixels: WebP holds at most {} a side: write PNG instead",
                                 size.width, size.height, WEBP_MAX_DIMENSION));
  }
  return size.pixels() * sizeof(std::uint32_t);
}

class WebpWriter final : public WholePictureWriter {
 public:
  WebpWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : WholePictureWriter(webp_codec(), sink, header, options,
                           chosen_fidelity(webp_codec(), header, options, default_quality),
                           memory_of(header.size, sink.name())),
        format_(format_in_file(webp_codec(), header.format)),
        conversion_(header.format, format_, header.size.width, {}),
        picture_(sink.name()) {
    picture_.width = header.size.width;
    picture_.height = header.size.height;
    picture_.use_argb = 1;
    if (libwebp().WebPPictureAlloc(&picture_) == 0) fail_to_encode();
  }

  void write(const ConstRows& rows) override {
    const auto channels = static_cast<std::size_t>(format_.channels);
    for (int y = rows.rows.begin; y < rows.rows.end; ++y, ++next_row_) {
      const std::uint8_t* pixel = conversion_.convert(rows.row(y));
      std::uint32_t* row = picture_.argb + std::ptrdiff_t{next_row_} * picture_.argb_stride;
      for (int x = 0; x < rows.width; ++x, pixel += channels) {
        const std::uint32_t alpha = channels == 4 ? pixel[3] : 255U;
        row[x] = alpha << 24U | std::uint32_t{pixel[0]} << 16U | std::uint32_t{pixel[1]} << 8U |
                 std::uint32_t{pixel[2]};
      }
    }
  }

 private:
  void encode() override {
    Encoded encoded;
    picture_.writer = libwebp().WebPMemoryWrite;
    picture_.custom_ptr = &encoded;
    const WebPConfig config = encoder_config();
    if (libwebp().WebPEncode(&config, &picture_) == 0) fail_to_encode();
    libwebp().WebPPictureFree(&picture_);
    write_file({encoded.mem, encoded.size});
  }

  [[noreturn]] void fail_to_encode() const {
    fail(picture_.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY ? "not enough memory"
                                                            : "libwebp refuses the picture");
  }

  // The second thread changes no bytes. Colours under transparent pixels are kept.
  [[nodiscard]] WebPConfig encoder_config() const {
    WebPConfig config;
    const auto quality =
        static_cast<float>(fidelity_.is_lossless ? lossless_effort : fidelity_.quality);
    if (libwebp().WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT, quality,
                                         WEBP_ENCODER_ABI_VERSION) == 0)
      fail_to_encode();
    config.lossless = fidelity_.is_lossless ? 1 : 0;
    config.exact = 1;
    config.thread_level = allowed_threads() > 1 ? 1 : 0;
    return config;
  }

  void write_file(const WebPData& bitstream) {
    const IccProfile* profile = profile_for(format_, metadata(), left_out_);
    note_color_description(metadata(), profile != nullptr, left_out_);
    if (profile == nullptr && metadata().exif.empty() && metadata().xmp.empty())
      return sink_.write({bitstream.bytes, bitstream.size});
    const auto mux = owned(libwebp().WebPNewInternal(WEBP_MUX_ABI_VERSION));
    const auto set = [&mux](const char* id, const Bytes& bytes) {
      const WebPData chunk{bytes.data(), bytes.size()};
      return bytes.empty() || libwebp().WebPMuxSetChunk(mux.get(), id, &chunk, 1) == WEBP_MUX_OK;
    };
    WebPData file{};
    const bool done = mux && libwebp().WebPMuxSetImage(mux.get(), &bitstream, 0) == WEBP_MUX_OK &&
                      set("ICCP", profile == nullptr ? Bytes() : profile->data) &&
                      set("EXIF", metadata().exif) && set("XMP ", metadata().xmp) &&
                      libwebp().WebPMuxAssemble(mux.get(), &file) == WEBP_MUX_OK;
    const auto free_file = [](WebPData* data) {
      libwebp().WebPFree(const_cast<std::uint8_t*>(data->bytes));
    };
    const std::unique_ptr<WebPData, decltype(free_file)> owner(&file, free_file);
    if (!done) fail("its metadata");
    sink_.write({file.bytes, file.size});
  }

  PixelFormat format_;
  RowConversion conversion_;
  Picture picture_;
};

std::string webp_libraries() {
  const auto version = static_cast<unsigned>(libwebp().WebPGetDecoderVersion());
  return formatted("libwebp {}.{}.{}", version >> 16U, version >> 8U & 255U, version & 255U);
}

}  // namespace

const Codec& webp_codec() {
  static const Codec codec{.name = "WebP",
                           .extensions = {".webp"},
                           .signatures = {"RIFF????WEBP"},
                           .holds_alpha = true,
                           .color_tags = ColorTags::profile,
                           .color_channels = 3,
                           .max_depth = 8,
                           .decoding = {"decode WebP", 8e-9, 0},
                           .encoding = {"encode WebP", 35e-9, 0},
                           .report_key = "encoding",
                           .options = {&quality_option(), &max_bytes_option(), &lossless_option(),
                                       &strip_option(), &keep_option()},
                           .open = [](std::unique_ptr<ByteSource> source,
                                      const ReadLimits& limits) -> std::unique_ptr<RowReader> {
                             return std::make_unique<WebpReader>(std::move(source), limits);
                           },
                           .create = [](ByteSink& sink, const PictureHeader& header,
                                        const WriteOptions& options) -> std::unique_ptr<RowWriter> {
                             return std::make_unique<WebpWriter>(sink, header, options);
                           },
                           .libraries = webp_libraries,
                           .loaded_later = "libwebp " GPUFILTER_WEBP_VERSION};
  return codec;
}

}  // namespace gpufilter
