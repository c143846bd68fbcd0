#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/words.hpp"
#include "codec/fidelity.hpp"
#include "codec/unread.hpp"
#include "codec/webp/codec.hpp"
#include "codec/webp/functions.hpp"
#include "codec/webp/quality.hpp"
#include "codec/whole_picture_reader.hpp"
#include "image/exif_parts.hpp"
#include "image/region.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t header_size = 12;  // of the RIFF container
constexpr std::size_t head_size = 64;    // of which the picture's header is read
constexpr std::uint64_t piece_size = std::uint64_t{1} << 20U;
constexpr const char* words_for_end = "the file ends too early";

// Of the content of the chunk that begins there.
std::uint32_t chunk_size(std::span<const std::uint8_t> head) {
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= std::uint32_t{head[4 + i]} << 8 * i;
  return size;
}

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
    check_size(name(), static_cast<std::uint64_t>(features_.width),
               static_cast<std::uint64_t>(features_.height), {features_.has_alpha != 0 ? 4 : 3, 8},
               limits);
    header_.file_format = &webp_codec();
    header_.size = {features_.width, features_.height};
    header_.format = {features_.has_alpha != 0 ? 4 : 3, 8};
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
    const std::uint64_t size = chunk_size(source_->peek(header_size)) + std::uint64_t{8};
    const std::uint64_t pixels = row_pitch(header_.size.width, header_.format) *
                                 std::uint64_t{static_cast<unsigned>(header_.size.height)};
    check_memory(name(), size + pixels, limits_, "a WebP", "make it smaller");
    while (file_.size() < size) {
      const std::size_t before = file_.size();
      file_.resize(static_cast<std::size_t>(std::min(size, before + piece_size)));
      const std::size_t count = source_->read(std::span(file_).subspan(before));
      if (before + count == file_.size()) continue;
      if (limits_.damaged == Damaged::fail) throw PictureError(name(), words_for_end);
      file_.resize(before + count);
      ends_early_ = true;
      return;
    }
  }

  // What the first frame does not cover is transparent.
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

  void read_metadata() {
    const auto take = [this](std::string_view id, Bytes& into) {
      const auto bytes = chunk(id);
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

  // The content of the first chunk of that name, if all of it is there. What libwebpmux says of a
  // whole file; it reads no others.
  [[nodiscard]] std::span<const std::uint8_t> chunk(std::string_view id) const {
    constexpr std::size_t head = 8;
    std::span<const std::uint8_t> rest = std::span(file_).subspan(header_size);
    while (rest.size() >= head) {
      const std::size_t size = chunk_size(rest);
      const auto found = rest.subspan(head, std::min(size, rest.size() - head));
      if (found.size() < size) break;
      if (std::equal(id.begin(), id.end(), rest.begin())) return found;
      rest = rest.subspan(std::min(head + size + size % 2, rest.size()));
    }
    return {};
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
    end_at(rows, ends_early_ ? PictureError(name(), words_for_end) : damage(words_for(status)));
  }

  std::unique_ptr<ByteSource> source_;
  ReadLimits limits_;
  WebPBitstreamFeatures features_{};
  PixelPosition corner_{};  // of what the bitstream holds
  Bytes file_;
  bool ends_early_ = false;
};

}  // namespace

std::unique_ptr<RowReader> open_webp(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<WebpReader>(std::move(source), limits);
}

}  // namespace gpufilter
