#include <cstring>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "codec/fidelity.hpp"
#include "codec/jxl/codec.hpp"
#include "codec/jxl/color.hpp"
#include "codec/jxl/scan.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/whole_picture_reader.hpp"

namespace gpufilter {
namespace {

class JxlReader final : public WholePictureReader {
 public:
  JxlReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : name_(source->name()),
        file_(whole_file(*source, 0, limits, holder, remedy)),
        picture_(scan_jxl(name_, file_, limits)),
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
