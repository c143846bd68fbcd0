#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "codec/codec.hpp"
#include "codec/jxl/codec.hpp"
#include "codec/jxl/library.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/whole_picture.hpp"
#include "image/exif.hpp"

namespace gpufilter {
namespace {

struct JxlPicture {
  ImageSize size;
  PixelFormat format;  // of the rows that the reader yields
  FilePixels file_pixels;
  int color_bits = 8;  // of a sample in the file; 0: floating point
  int alpha_bits = 8;
  bool is_lossless = false;         // as far as can be known; not a JPEG in a JPEG XL
  std::uint64_t decoded_bytes = 0;  // that libjxl and the reader need for the pixels
  std::uint64_t frames = 0;         // that are shown one after the other
  std::uint32_t left_out_channels = 0;
  Metadata metadata;
};

constexpr std::size_t first_box_buffer = std::size_t{64} << 10U;
constexpr std::size_t max_box_bytes = std::size_t{16} << 20U;  // after decompression

// Whether the boxes of a container are all there: libjxl does not tell whether it has seen the last
// one, and versions before 0.8 write messages of their own if the input ends in a box.
bool ends_too_early(std::span<const std::uint8_t> file) {
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t left = file.size() - at;
    if (left < 8) return true;
    std::uint64_t size = number_of(file.subspan(at, 4));
    if (size == 0) return false;  // up to the end
    if (size == 1 && left < 16) return true;
    if (size == 1) size = number_of(file.subspan(at + 8, 8));
    if (size > left) return true;
    at += std::max<std::size_t>(8, static_cast<std::size_t>(size));
  }
  return false;
}

// A decoder of `file` that reports `events`, with pixels as stored. Throws PictureError.
OwnedJxlDecoder jxl_decoder(const std::string& name, std::span<const std::uint8_t> file,
                            int events) {
  const LibJxl& jxl = libjxl();
  OwnedJxlDecoder decoder(jxl.JxlDecoderCreate(nullptr), jxl.JxlDecoderDestroy);
  const bool is_ready =
      decoder &&
      jxl.JxlDecoderSetParallelRunner(decoder.get(), run_for_jxl, nullptr) == JXL_DEC_SUCCESS &&
      jxl.JxlDecoderSubscribeEvents(decoder.get(), events) == JXL_DEC_SUCCESS &&
      jxl.JxlDecoderSetKeepOrientation(decoder.get(), JXL_TRUE) == JXL_DEC_SUCCESS &&
      jxl.JxlDecoderSetUnpremultiplyAlpha(decoder.get(), JXL_TRUE) == JXL_DEC_SUCCESS &&
      jxl.JxlDecoderSetInput(decoder.get(), file.data(), file.size()) == JXL_DEC_SUCCESS;
  if (!is_ready) throw PictureError(name, "libjxl cannot be started: not enough memory");
  return decoder;
}

// Why a decoder that returned `status` cannot go on. Throws PictureError.
[[noreturn]] void refuse_jxl(const std::string& name, JxlDecoderStatus status) {
  throw PictureError(name, status == JXL_DEC_NEED_MORE_INPUT
                               ? file_ends_early
                               : "damaged JPEG XL: libjxl cannot decode it");
}

// Reads all headers and metadata of a file, which is complete. Throws PictureError if it is
// damaged, ends too early or has more pixels than `limits` allow.
class Scan {
 public:
  Scan(const std::string& name, std::span<const std::uint8_t> file, const ReadLimits& limits)
      : name_(name),
        limits_(limits),
        decoder_(jxl_decoder(
            name, file,
            JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME | JXL_DEC_BOX)) {
    // Each layer has the size that the file gives it. Raw boxes are good enough if libjxl was built
    // without Brotli.
    libjxl().JxlDecoderSetCoalescing(decoder_.get(), JXL_FALSE);
    libjxl().JxlDecoderSetDecompressBoxes(decoder_.get(), JXL_TRUE);
    const bool is_container = file.size() > 1 && file[0] == 0;
    if (is_container && ends_too_early(file)) refuse_jxl(name, JXL_DEC_NEED_MORE_INPUT);
    if (is_container) libjxl().JxlDecoderCloseInput(decoder_.get());
  }

  JxlPicture run() {
    for (;;) {
      const JxlDecoderStatus status = libjxl().JxlDecoderProcessInput(decoder_.get());
      switch (status) {
        case JXL_DEC_BASIC_INFO:
          take_basic_info();
          break;
        case JXL_DEC_COLOR_ENCODING:
          choose_jxl_colors(decoder_.get());
          read_jxl_colors(decoder_.get(), picture_.metadata);
          break;
        case JXL_DEC_FRAME:
          take_frame();
          break;
        case JXL_DEC_BOX:
          finish_box();
          begin_box();
          break;
        case JXL_DEC_BOX_NEED_MORE_OUTPUT:
          grow_box();
          break;
        case JXL_DEC_SUCCESS:
          finish_box();
          finish();
          return std::move(picture_);
        default:
          refuse_jxl(name_, status);
      }
    }
  }

 private:
  void take_basic_info() {
    if (libjxl().JxlDecoderGetBasicInfo(decoder_.get(), &info_) != JXL_DEC_SUCCESS)
      refuse_jxl(name_, JXL_DEC_ERROR);
    const bool has_alpha = info_.alpha_bits > 0;
    const bool is_float = info_.exponent_bits_per_sample > 0 || info_.alpha_exponent_bits > 0;
    const int channels = static_cast<int>(info_.num_color_channels) + (has_alpha ? 1 : 0);
    const bool is_deep = is_float || info_.bits_per_sample > 8 || info_.alpha_bits > 8;
    picture_.format = {channels, is_deep ? 16 : 8};
    check_size(name_, info_.xsize, info_.ysize, picture_.format, limits_);
    take_extra_channels();
    picture_.size = {static_cast<int>(info_.xsize), static_cast<int>(info_.ysize)};
    picture_.file_pixels = file_pixels(picture_.format);
    picture_.file_pixels.depth = static_cast<int>(info_.bits_per_sample);
    picture_.color_bits =
        info_.exponent_bits_per_sample > 0 ? 0 : static_cast<int>(info_.bits_per_sample);
    picture_.alpha_bits = info_.alpha_exponent_bits > 0 ? 0 : static_cast<int>(info_.alpha_bits);
    largest_frame_ = picture_.size.pixels();
  }

  void take_extra_channels() {
    for (std::uint32_t i = 0; i < info_.num_extra_channels; ++i) {
      JxlExtraChannelInfo channel{};
      if (libjxl().JxlDecoderGetExtraChannelInfo(decoder_.get(), i, &channel) != JXL_DEC_SUCCESS)
        refuse_jxl(name_, JXL_DEC_ERROR);
      if (channel.type == JXL_CHANNEL_BLACK) {
        throw PictureError(name_, "a JPEG XL of CMYK is not supported: convert it to RGB");
      }
      // Spot colours become part of the picture.
      if (channel.type != JXL_CHANNEL_ALPHA && channel.type != JXL_CHANNEL_SPOT_COLOR)
        ++picture_.left_out_channels;
    }
  }

  // Layers may be larger than the picture, and are decoded as a whole.
  void take_frame() {
    JxlFrameHeader frame{};
    if (libjxl().JxlDecoderGetFrameHeader(decoder_.get(), &frame) != JXL_DEC_SUCCESS)
      refuse_jxl(name_, JXL_DEC_ERROR);
    const JxlLayerInfo& layer = frame.layer_info;
    check_size(name_, layer.xsize, layer.ysize, picture_.format, limits_);
    largest_frame_ = std::max(largest_frame_, std::uint64_t{layer.xsize} * layer.ysize);
    if (frame.duration > 0 || frame.is_last == JXL_TRUE) ++picture_.frames;
  }

  void begin_box() {
    JxlBoxType type{};
    libjxl().JxlDecoderGetBoxType(decoder_.get(), type, JXL_TRUE);
    const std::string_view name(type, sizeof type);
    if (name == "jbrd") is_jpeg_ = true;
    Metadata& metadata = picture_.metadata;
    box_target_ = name == "Exif" && metadata.exif.empty()  ? &metadata.exif
                  : name == "xml " && metadata.xmp.empty() ? &metadata.xmp
                                                           : nullptr;
    if (box_target_ == nullptr) return;
    box_.resize(first_box_buffer);
    libjxl().JxlDecoderSetBoxBuffer(decoder_.get(), box_.data(), box_.size());
  }

  void grow_box() {
    const std::size_t filled = box_.size() - libjxl().JxlDecoderReleaseBoxBuffer(decoder_.get());
    if (filled >= max_box_bytes) {
      box_target_ = nullptr;  // the rest is skipped
      return;
    }
    box_.resize(2 * box_.size());
    libjxl().JxlDecoderSetBoxBuffer(decoder_.get(), box_.data() + filled, box_.size() - filled);
  }

  void finish_box() {
    if (box_target_ == nullptr) return;
    box_.resize(box_.size() - libjxl().JxlDecoderReleaseBoxBuffer(decoder_.get()));
    *box_target_ = box_target_ == &picture_.metadata.exif ? exif_from_box(box_) : std::move(box_);
    box_target_ = nullptr;
    box_ = {};
  }

  // The orientation in the codestream is valid, not the one in EXIF.
  void finish() {
    if (picture_.frames == 0) refuse_jxl(name_, JXL_DEC_ERROR);
    remove_exif_thumbnail(picture_.metadata.exif);
    set_orientation(picture_.metadata, info_.orientation);
    picture_.is_lossless = info_.uses_original_profile == JXL_TRUE && !is_jpeg_;
    // libjxl has numbers of 4 bytes for every sample.
    const std::uint64_t planes = std::uint64_t{3} + info_.num_extra_channels;
    picture_.decoded_bytes = largest_frame_ * planes * sizeof(float) +
                             row_pitch(picture_.size.width, picture_.format) *
                                 static_cast<std::uint64_t>(picture_.size.height);
  }

  const std::string& name_;
  const ReadLimits& limits_;
  OwnedJxlDecoder decoder_;
  JxlBasicInfo info_{};
  JxlPicture picture_;
  std::uint64_t largest_frame_ = 0;
  bool is_jpeg_ = false;
  Bytes box_;
  Bytes* box_target_ = nullptr;  // of the box that is being read; nullptr: it is skipped
};

class JxlReader final : public WholePictureReader {
 public:
  JxlReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : name_(source->name()),
        file_(whole_file(*source, 0, limits, holder, remedy)),
        picture_(Scan(name_, file_, limits).run()),
        warns_(limits.warn) {
    check_memory(name_, file_.size() + picture_.decoded_bytes, limits, holder, remedy);
    header_.file_format = &jxl_codec();
    header_.size = picture_.size;
    header_.format = picture_.format;
    header_.file_pixels = picture_.file_pixels;
    header_.metadata = std::move(picture_.metadata);
    header_.stored = std::make_shared<StoredFidelity>(picture_.is_lossless);
    if (picture_.frames > 1)
      header_.unread.push_back(
          counted(static_cast<std::size_t>(picture_.frames - 1), "more frame"));
  }

  Metadata finish() override {
    if (warns_ && picture_.left_out_channels > 0) {
      log::warn(formatted("{}: {} of its channels are neither colours nor alpha, and are left out",
                          name_, picture_.left_out_channels));
    }
    return WholePictureReader::finish();
  }

 private:
  static constexpr const char* holder = "a JPEG XL";
  static constexpr const char* remedy = "make it smaller";

  Image decode() override {
    Image image(header_.size, header_.format);
    const OwnedJxlDecoder decoder =
        jxl_decoder(name_, file_, JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE);
    for (;;) {
      const JxlDecoderStatus status = libjxl().JxlDecoderProcessInput(decoder.get());
      if (status == JXL_DEC_FULL_IMAGE) break;
      const JxlPixelFormat format = jxl_format(header_.format);
      if (status == JXL_DEC_COLOR_ENCODING) {
        choose_jxl_colors(decoder.get());
      } else if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER ||
                 libjxl().JxlDecoderSetImageOutBuffer(decoder.get(), &format, image.rows().data,
                                                      image.bytes()) != JXL_DEC_SUCCESS) {
        refuse_jxl(name_, status);
      }
    }
    file_ = {};
    round_samples(image);
    return image;
  }

  // libjxl computes in floating point: its samples of other depths than 8 and 16 may be off by one.
  void round_samples(Image& image) const {
    const auto is_whole = [&](int bits) { return bits == 0 || bits == header_.format.depth; };
    const bool has_alpha = header_.format.has_alpha();
    if (is_whole(picture_.color_bits) && (!has_alpha || is_whole(picture_.alpha_bits))) return;
    for (int y = 0; y < header_.size.height; ++y) {
      round_to_bits(image.rows().row(y), header_.size.width, header_.format,
                    {picture_.color_bits, picture_.alpha_bits});
    }
  }

  std::string name_;
  Bytes file_;
  JxlPicture picture_;
  bool warns_;
};

}  // namespace

std::unique_ptr<RowReader> open_jxl(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<JxlReader>(std::move(source), limits);
}

}  // namespace gpufilter
