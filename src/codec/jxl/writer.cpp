#include <algorithm>
#include <cstring>
#include <memory>

#include "codec/jxl/codec.hpp"
#include "codec/jxl/library.hpp"
#include "codec/whole_picture.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

constexpr int default_quality = 90;

// As cjxl's: quality 100 is lossless.
Fidelity fidelity_for(const PictureHeader& header, const WriteOptions& options) {
  const Fidelity fidelity = chosen_fidelity(jxl_codec(), header, options, default_quality);
  return fidelity.quality == 100 ? Fidelity{true, 0, "quality 100"} : fidelity;
}

// As cjxl's: "visually lossless", 1, at 90. Libraries before 0.8 take at most 15.
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

std::unique_ptr<RowWriter> create_jxl(ByteSink& sink, const PictureHeader& header,
                                      const WriteOptions& options) {
  return std::make_unique<JxlWriter>(sink, header, options);
}

}  // namespace gpufilter
