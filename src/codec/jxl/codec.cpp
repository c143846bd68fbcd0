#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/parallel_runner.h>
#include <jxl/version.h>

#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "codec/formats.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/unread.hpp"
#include "codec/whole_picture.hpp"
#include "host/parallel.hpp"
#include "image/exif.hpp"
#include "image/icc.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

// The functions of libjxl, which is loaded at its first use. The parameters of some differ between
// versions 0.7 and 0.11.
struct LibJxl : LazyLibrary {
  using LazyLibrary::LazyLibrary;

  GPUFILTER_LIBRARY_FUNCTIONS(JxlDecoderVersion, JxlDecoderCreate, JxlDecoderDestroy,
                              JxlDecoderSetParallelRunner, JxlDecoderSubscribeEvents,
                              JxlDecoderSetKeepOrientation, JxlDecoderSetUnpremultiplyAlpha,
                              JxlDecoderSetCoalescing, JxlDecoderSetDecompressBoxes,
                              JxlDecoderSetInput, JxlDecoderCloseInput, JxlDecoderProcessInput,
                              JxlDecoderGetBasicInfo, JxlDecoderGetExtraChannelInfo,
                              JxlDecoderSetPreferredColorProfile, JxlDecoderGetFrameHeader,
                              JxlDecoderGetBoxType, JxlDecoderSetBoxBuffer,
                              JxlDecoderReleaseBoxBuffer, JxlDecoderSetImageOutBuffer)

  GPUFILTER_LIBRARY_FUNCTIONS(JxlEncoderCreate, JxlEncoderDestroy, JxlEncoderSetParallelRunner,
                              JxlEncoderInitBasicInfo, JxlEncoderSetBasicInfo,
                              JxlColorEncodingSetToSRGB, JxlEncoderSetColorEncoding,
                              JxlEncoderSetICCProfile, JxlEncoderUseBoxes, JxlEncoderAddBox,
                              JxlEncoderFrameSettingsCreate, JxlEncoderFrameSettingsSetOption,
                              JxlEncoderSetFrameLossless, JxlEncoderSetFrameDistance,
                              JxlEncoderAddImageFrame, JxlEncoderCloseInput,
                              JxlEncoderProcessOutput)

  // The description of the colours of the decoded pixels, or of the original. Before 0.9 the second
  // parameter was a pixel format, which had no effect.
  [[nodiscard]] JxlDecoderStatus encoded_profile(const JxlDecoder* decoder,
                                                 JxlColorProfileTarget target,
                                                 JxlColorEncoding* colors) const {
    return call(JxlDecoderGetColorAsEncodedProfile, decoder, target, colors);
  }
  [[nodiscard]] JxlDecoderStatus icc_size(const JxlDecoder* decoder, JxlColorProfileTarget target,
                                          std::size_t* size) const {
    return call(JxlDecoderGetICCProfileSize, decoder, target, size);
  }
  [[nodiscard]] JxlDecoderStatus icc(const JxlDecoder* decoder, JxlColorProfileTarget target,
                                     std::uint8_t* data, std::size_t size) const {
    return call(JxlDecoderGetColorAsICCProfile, decoder, target, data, size);
  }

 private:
  GPUFILTER_LIBRARY_FUNCTIONS(JxlDecoderGetColorAsEncodedProfile, JxlDecoderGetICCProfileSize,
                              JxlDecoderGetColorAsICCProfile)

  template <typename Function, typename... Results>
  static JxlDecoderStatus call(Function function, const JxlDecoder* decoder,
                               JxlColorProfileTarget target, Results... results) {
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
    return function(decoder, nullptr, target, results...);
#else
    return function(decoder, target, results...);
#endif
  }
};

// Throws LibraryNotLoaded.
const LibJxl& libjxl() {
  static const LibJxl library(GPUFILTER_JXL_LIBRARY);
  return library;
}

std::string jxl_libraries() {
  const std::uint32_t version = libjxl().JxlDecoderVersion();
  return formatted("libjxl {}.{}.{}", version / 1'000'000, version / 1000 % 1000, version % 1000);
}

// Pixels as Image has them.
JxlPixelFormat jxl_format(const PixelFormat& format) {
  return {static_cast<std::uint32_t>(format.channels),
          format.depth == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16, JXL_NATIVE_ENDIAN, row_alignment};
}

using OwnedJxlDecoder = std::unique_ptr<JxlDecoder, decltype(&::JxlDecoderDestroy)>;
using OwnedJxlEncoder = std::unique_ptr<JxlEncoder, decltype(&::JxlEncoderDestroy)>;

// A stateless JxlParallelRunner.
JxlParallelRetCode run_for_jxl(void* /*runner*/, void* jxl, JxlParallelRunInit init,
                               JxlParallelRunFunction function, std::uint32_t begin,
                               std::uint32_t end) try {
  const std::size_t threads =
      std::clamp<std::size_t>(allowed_threads(), 1, std::max<std::uint32_t>(end - begin, 1));
  if (const JxlParallelRetCode failure = init(jxl, threads); failure != 0) return failure;
  std::atomic<std::uint64_t> next = begin;
  run_parts(static_cast<int>(threads), [&](int thread) {
    for (std::uint64_t value = next++; value < end; value = next++)
      function(jxl, static_cast<std::uint32_t>(value), static_cast<std::size_t>(thread));
  });
  return 0;
} catch (...) {
  return JXL_PARALLEL_RET_RUNNER_ERROR;
}

using Points = std::array<std::uint8_t, 4>;  // of ITU-T H.273

struct Primaries {
  std::uint8_t point;
  JxlPrimaries primaries;
  JxlWhitePoint white;
};

constexpr std::array<Primaries, 4> known_primaries{{{1, JXL_PRIMARIES_SRGB, JXL_WHITE_POINT_D65},
                                                    {9, JXL_PRIMARIES_2100, JXL_WHITE_POINT_D65},
                                                    {11, JXL_PRIMARIES_P3, JXL_WHITE_POINT_DCI},
                                                    {12, JXL_PRIMARIES_P3, JXL_WHITE_POINT_D65}}};

bool is_srgb(const JxlColorEncoding& colors) {
  return colors.white_point == JXL_WHITE_POINT_D65 &&
         colors.transfer_function == JXL_TRANSFER_FUNCTION_SRGB &&
         (colors.color_space == JXL_COLOR_SPACE_GRAY ||
          (colors.color_space == JXL_COLOR_SPACE_RGB && colors.primaries == JXL_PRIMARIES_SRGB));
}

// Transfer functions have the same numbers in JPEG XL.
std::optional<Points> hdr_points(const JxlColorEncoding& colors) {
  if (colors.transfer_function != JXL_TRANSFER_FUNCTION_PQ &&
      colors.transfer_function != JXL_TRANSFER_FUNCTION_HLG) {
    return std::nullopt;
  }
  for (const Primaries& known : known_primaries) {
    if (known.primaries == colors.primaries && known.white == colors.white_point)
      return Points{known.point, static_cast<std::uint8_t>(colors.transfer_function), 0, 1};
  }
  return std::nullopt;
}

// RGB of full range, in colours that JPEG XL has names for.
bool set_points(const Points& points, JxlColorEncoding& colors) {
  constexpr std::array<JxlTransferFunction, 6> known_functions{
      JXL_TRANSFER_FUNCTION_709, JXL_TRANSFER_FUNCTION_LINEAR, JXL_TRANSFER_FUNCTION_SRGB,
      JXL_TRANSFER_FUNCTION_PQ,  JXL_TRANSFER_FUNCTION_DCI,    JXL_TRANSFER_FUNCTION_HLG};
  if (points[2] != 0 || points[3] != 1) return false;
  for (const Primaries& primaries : known_primaries) {
    for (const JxlTransferFunction function : known_functions) {
      if (primaries.point != points[0] || function != points[1]) continue;
      colors.primaries = primaries.primaries;
      colors.white_point = primaries.white;
      colors.transfer_function = function;
      return true;
    }
  }
  return false;
}

// Empty if libjxl has none.
Bytes profile_of(const JxlDecoder* decoder, JxlColorProfileTarget target) {
  std::size_t size = 0;
  if (libjxl().icc_size(decoder, target, &size) != JXL_DEC_SUCCESS) return {};
  Bytes profile(size);
  const bool has_it = libjxl().icc(decoder, target, profile.data(), size) == JXL_DEC_SUCCESS;
  return has_it ? profile : Bytes();
}

// Chooses the colours of the pixels that `decoder` returns, at JXL_DEC_COLOR_ENCODING: lossy files
// with a profile get its primaries and white point, with sRGB's curve. libjxl would return linear
// colours, which are too coarse in 8 bits.
void choose_jxl_colors(JxlDecoder* decoder) {
  constexpr auto original = JXL_COLOR_PROFILE_TARGET_ORIGINAL;
  JxlBasicInfo info{};
  if (libjxl().JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS ||
      info.uses_original_profile == JXL_TRUE ||
      libjxl().encoded_profile(decoder, original, nullptr) == JXL_DEC_SUCCESS) {
    return;
  }
  const bool is_grey = info.num_color_channels == 1;
  JxlColorEncoding colors{};
  libjxl().JxlColorEncodingSetToSRGB(&colors, is_grey ? JXL_TRUE : JXL_FALSE);
  const auto primaries = is_grey ? std::nullopt : icc_primaries(profile_of(decoder, original));
  if (primaries) {
    constexpr std::array<double, 2> d50{0.3457, 0.3585};
    colors.white_point = JXL_WHITE_POINT_CUSTOM;
    colors.primaries = JXL_PRIMARIES_CUSTOM;
    std::copy_n(d50.begin(), 2, colors.white_point_xy);
    std::copy_n(primaries->begin(), 2, colors.primaries_red_xy);
    std::copy_n(primaries->begin() + 2, 2, colors.primaries_green_xy);
    std::copy_n(primaries->begin() + 4, 2, colors.primaries_blue_xy);
  }
  libjxl().JxlDecoderSetPreferredColorProfile(decoder, &colors);
}

// Adds to `metadata` what describes the pixels that `decoder` returns, after
// choose_jxl_colors(): sRGB by its rendering intent, all other colours by an ICC profile, PQ and
// HLG by code points too.
void read_jxl_colors(const JxlDecoder* decoder, Metadata& metadata) {
  constexpr auto data = JXL_COLOR_PROFILE_TARGET_DATA;
  JxlColorEncoding colors{};
  if (libjxl().encoded_profile(decoder, data, &colors) == JXL_DEC_SUCCESS) {
    if (is_srgb(colors)) {
      metadata.srgb_intent = colors.rendering_intent;
      return;
    }
    metadata.coding_points = hdr_points(colors);
  }
  Bytes profile = profile_of(decoder, data);
  if (!profile.empty()) metadata.icc_profile.emplace().data = std::move(profile);
}

// Sets the colours that `metadata` describes, sRGB if it has no description. What JPEG XL cannot
// hold is added to `left_out`. False if libjxl fails.
bool write_jxl_colors(JxlEncoder* encoder, const PixelFormat& format, const Metadata& metadata,
                      LeftOut& left_out) {
  JxlColorEncoding colors{};
  libjxl().JxlColorEncodingSetToSRGB(&colors, format.color_channels() == 1 ? JXL_TRUE : JXL_FALSE);
  if (metadata.coding_points && set_points(*metadata.coding_points, colors))
    return libjxl().JxlEncoderSetColorEncoding(encoder, &colors) == JXL_ENC_SUCCESS;
  const IccProfile* profile = profile_for(format, metadata, left_out);
  if (profile != nullptr &&
      libjxl().JxlEncoderSetICCProfile(encoder, profile->data.data(), profile->data.size()) !=
          JXL_ENC_SUCCESS) {
    left_out.add("the ICC profile (libjxl does not accept it)");
    profile = nullptr;
  }
  note_color_description(metadata, profile != nullptr, left_out);
  if (profile != nullptr) return true;
  if (metadata.srgb_intent)
    colors.rendering_intent = static_cast<JxlRenderingIntent>(*metadata.srgb_intent);
  return libjxl().JxlEncoderSetColorEncoding(encoder, &colors) == JXL_ENC_SUCCESS;
}

struct JxlPicture {
  PictureHeader header;
  int color_bits = 8;  // of a sample in the file; 0: floating point
  int alpha_bits = 8;
  bool is_lossless = false;         // as far as can be known; not a JPEG in a JPEG XL
  std::uint64_t decoded_bytes = 0;  // that libjxl and the reader need for the pixels
  std::uint64_t frames = 0;         // that are shown one after the other
  std::uint32_t left_out_channels = 0;
};

constexpr std::size_t first_box_buffer = std::size_t{64} << 10U;
constexpr std::size_t max_box_bytes = std::size_t{16} << 20U;  // after decompression

// Whether boxes of a container are missing: libjxl does not tell whether it has seen the last one,
// and versions before 0.8 write messages of their own if the input ends in a box.
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
    // Each layer has the size that the file gives it. Raw boxes suffice if libjxl was built without
    // Brotli.
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
          read_jxl_colors(decoder_.get(), picture_.header.metadata);
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
    picture_.header.format = {channels, is_deep ? 16 : 8};
    check_size(name_, info_.xsize, info_.ysize, picture_.header.format, limits_);
    take_extra_channels();
    picture_.header.size = {static_cast<int>(info_.xsize), static_cast<int>(info_.ysize)};
    picture_.header.file_pixels = file_pixels(picture_.header.format);
    picture_.header.file_pixels.depth = static_cast<int>(info_.bits_per_sample);
    picture_.color_bits =
        info_.exponent_bits_per_sample > 0 ? 0 : static_cast<int>(info_.bits_per_sample);
    picture_.alpha_bits = info_.alpha_exponent_bits > 0 ? 0 : static_cast<int>(info_.alpha_bits);
    largest_frame_ = picture_.header.size.pixels();
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
    check_size(name_, layer.xsize, layer.ysize, picture_.header.format, limits_);
    largest_frame_ = std::max(largest_frame_, std::uint64_t{layer.xsize} * layer.ysize);
    if (frame.duration > 0 || frame.is_last == JXL_TRUE) ++picture_.frames;
  }

  void begin_box() {
    JxlBoxType type{};
    libjxl().JxlDecoderGetBoxType(decoder_.get(), type, JXL_TRUE);
    const std::string_view name(type, sizeof type);
    if (name == "jbrd") is_jpeg_ = true;
    Metadata& metadata = picture_.header.metadata;
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
    *box_target_ =
        box_target_ == &picture_.header.metadata.exif ? exif_from_box(box_) : std::move(box_);
    box_target_ = nullptr;
    box_ = {};
  }

  // The codestream's orientation applies, not EXIF's.
  void finish() {
    if (picture_.frames == 0) refuse_jxl(name_, JXL_DEC_ERROR);
    remove_exif_thumbnail(picture_.header.metadata.exif);
    set_orientation(picture_.header.metadata, info_.orientation);
    picture_.is_lossless = info_.uses_original_profile == JXL_TRUE && !is_jpeg_;
    // libjxl uses 4 bytes for every sample.
    const std::uint64_t planes = std::uint64_t{3} + info_.num_extra_channels;
    picture_.decoded_bytes = largest_frame_ * planes * sizeof(float) +
                             row_pitch(picture_.header.size.width, picture_.header.format) *
                                 static_cast<std::uint64_t>(picture_.header.size.height);
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
    header_ = std::move(picture_.header);
    header_.file_format = &jxl_codec();
    header_.stored = std::make_shared<StoredFidelity>(picture_.is_lossless);
    if (picture_.frames > 1)
      header_.unread.push_back(
          counted(static_cast<std::size_t>(picture_.frames - 1), "more frame"));
  }

  Metadata finish() override {
    if (warns_ && picture_.left_out_channels > 0) {
      log::warn(formatted("{}: {} left out, neither colour nor alpha", name_,
                          counted(picture_.left_out_channels, "channel")));
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

constexpr int default_quality = 90;

// The meaning of cjxl: quality 100 is lossless.
Fidelity fidelity_for(const PictureHeader& header, const WriteOptions& options) {
  const Fidelity fidelity = chosen_fidelity(jxl_codec(), header, options, default_quality);
  return fidelity.quality == 100 ? Fidelity{true, 0, "quality 100"} : fidelity;
}

// The distances of cjxl: "visually lossless", 1, at 90. Libraries before 0.8 take at most 15.
float distance_of(int quality) {
  const auto q = static_cast<float>(quality);
  if (quality >= 30) return 0.1F + (100.0F - q) * 0.09F;
  return std::min(15.0F, 53.0F / 3000.0F * q * q - 23.0F / 20.0F * q + 25.0F);
}

// The picture, and a float for each sample.
std::uint64_t memory_of(const PictureHeader& header) {
  const std::uint64_t samples =
      header.size.pixels() * static_cast<unsigned>(header.format.channels);
  return samples * (header.format.bytes_per_sample() + sizeof(float));
}

class JxlWriter final : public WholePictureWriter {
 public:
  JxlWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : WholePictureWriter(jxl_codec(), sink, header, options, fidelity_for(header, options),
                           memory_of(header)),
        effort_(options.get<int>(jxl_effort_option()).value_or(fidelity_.is_lossless ? 3 : 5)),
        encoder_(libjxl().JxlEncoderCreate(nullptr), libjxl().JxlEncoderDestroy),
        image_(header.size, header.format) {}

  void write(const ConstRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      std::memcpy(image_.rows().row(next_row_++), rows.row(y), image_.rows().row_bytes());
  }

 private:
  void encode() override {
    check(encoder_ != nullptr && libjxl().JxlEncoderSetParallelRunner(encoder_.get(), run_for_jxl,
                                                                      nullptr) == JXL_ENC_SUCCESS);
    set_info();
    check(write_jxl_colors(encoder_.get(), image_.format(), metadata(), left_out_));
    add_boxes();
    add_pixels();
    libjxl().JxlEncoderCloseInput(encoder_.get());
    write_file();
  }

  void check(bool success) const {
    if (!success) fail("libjxl refuses the picture");
  }

  void set_info() const {
    const PixelFormat format = image_.format();
    JxlBasicInfo info;
    libjxl().JxlEncoderInitBasicInfo(&info);
    info.xsize = static_cast<std::uint32_t>(image_.width());
    info.ysize = static_cast<std::uint32_t>(image_.size().height);
    info.bits_per_sample = static_cast<std::uint32_t>(format.depth);
    info.num_color_channels = static_cast<std::uint32_t>(format.color_channels());
    info.num_extra_channels = format.has_alpha() ? 1 : 0;
    info.alpha_bits = format.has_alpha() ? info.bits_per_sample : 0;
    info.uses_original_profile = fidelity_.is_lossless ? JXL_TRUE : JXL_FALSE;
    info.orientation = static_cast<JxlOrientation>(stored_orientation(metadata()).value_or(1));
    check(libjxl().JxlEncoderSetBasicInfo(encoder_.get(), &info) == JXL_ENC_SUCCESS);
  }

  void add_boxes() {
    if (metadata().exif.empty() && metadata().xmp.empty()) return;
    check(libjxl().JxlEncoderUseBoxes(encoder_.get()) == JXL_ENC_SUCCESS);
    const auto add = [this](const char* type, const Bytes& content) {
      check(content.empty() ||
            libjxl().JxlEncoderAddBox(encoder_.get(), type, content.data(), content.size(),
                                      JXL_FALSE) == JXL_ENC_SUCCESS);
    };
    add("Exif", metadata().exif.empty() ? Bytes() : exif_for_box(metadata().exif));
    add("xml ", metadata().xmp);
  }

  // Colours under transparent pixels are kept. libjxl copies the pixels.
  void add_pixels() {
    JxlEncoderFrameSettings* settings =
        libjxl().JxlEncoderFrameSettingsCreate(encoder_.get(), nullptr);
    const JxlPixelFormat format = jxl_format(image_.format());
    const auto set = [settings](JxlEncoderFrameSettingId id, int value) {
      return libjxl().JxlEncoderFrameSettingsSetOption(settings, id, value) == JXL_ENC_SUCCESS;
    };
    check(settings != nullptr && set(JXL_ENC_FRAME_SETTING_EFFORT, effort_) &&
          set(JXL_ENC_FRAME_SETTING_KEEP_INVISIBLE, 1));
    check((fidelity_.is_lossless
               ? libjxl().JxlEncoderSetFrameLossless(settings, JXL_TRUE)
               : libjxl().JxlEncoderSetFrameDistance(settings, distance_of(fidelity_.quality))) ==
          JXL_ENC_SUCCESS);
    check(libjxl().JxlEncoderAddImageFrame(settings, &format, image_.rows().data, image_.bytes()) ==
          JXL_ENC_SUCCESS);
    image_ = Image();
  }

  void write_file() {
    Bytes piece(std::size_t{1} << 20U);
    for (;;) {
      std::uint8_t* next = piece.data();
      std::size_t left = piece.size();
      const JxlEncoderStatus status =
          libjxl().JxlEncoderProcessOutput(encoder_.get(), &next, &left);
      check(status == JXL_ENC_SUCCESS || status == JXL_ENC_NEED_MORE_OUTPUT);
      sink_.write({piece.data(), piece.size() - left});
      if (status == JXL_ENC_SUCCESS) return;
    }
  }

  int effort_;
  OwnedJxlEncoder encoder_;
  Image image_;
};

}  // namespace

const WriteOption& jxl_effort_option() {
  static const WriteOption option{"jxl-effort", WriteOption::WholeNumber{1, 9}, "",
                                  "Effort of JPEG XL output: 1 is fast, 9 slow. By default 5, or 3 "
                                  "for lossless files."};
  return option;
}

const Codec& jxl_codec() {
  static const Codec codec{.name = "JPEG XL",
                           .extensions = {".jxl"},
                           .signatures = {"\xff\x0a", {"\0\0\0\x0cJXL \r\n\x87\n", 12}},
                           .holds_alpha = true,
                           .color_tags = ColorTags::points,
                           .holds_late_metadata = false,
                           .encodes_in_parallel = true,
                           .decoding = {"decode JPEG XL", 15e-9, 0},
                           .encoding = {"encode JPEG XL", 90e-9, 0},
                           .report_key = "encoding",
                           .options = {&quality_option(), &max_bytes_option(), &lossless_option(),
                                       &jxl_effort_option(), &strip_option(), &keep_option()},
                           .open = [](std::unique_ptr<ByteSource> source,
                                      const ReadLimits& limits) -> std::unique_ptr<RowReader> {
                             return std::make_unique<JxlReader>(std::move(source), limits);
                           },
                           .create = [](ByteSink& sink, const PictureHeader& header,
                                        const WriteOptions& options) -> std::unique_ptr<RowWriter> {
                             return std::make_unique<JxlWriter>(sink, header, options);
                           },
                           .libraries = jxl_libraries,
                           .loaded_later = "libjxl " GPUFILTER_JXL_VERSION};
  return codec;
}

}  // namespace gpufilter
