#include <cstdint>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/webp/codec.hpp"
#include "codec/webp/functions.hpp"
#include "codec/whole_picture.hpp"

namespace gpufilter {
namespace {

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

}  // namespace

std::unique_ptr<RowWriter> create_webp(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  return std::make_unique<WebpWriter>(sink, header, options);
}

}  // namespace gpufilter
