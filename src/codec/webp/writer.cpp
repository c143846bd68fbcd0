#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/thread_limit.hpp"
#include "codec/exif_and_xmp.hpp"
#include "codec/fidelity.hpp"
#include "codec/row_conversion.hpp"
#include "codec/webp/codec.hpp"
#include "codec/webp/functions.hpp"

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

class WebpWriter final : public RowWriter {
 public:
  WebpWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : sink_(sink),
        fidelity_(chosen_fidelity(webp_codec(), header, options, default_quality)),
        format_(format_in_file(webp_codec(), header.format)),
        conversion_(header.format, format_, header.size.width, {}),
        kinds_(kept_metadata(options)),
        picture_(sink.name()) {
    const ImageSize& size = header.size;
    if (size.width > WEBP_MAX_DIMENSION || size.height > WEBP_MAX_DIMENSION) {
      throw PictureError(
          sink.name(), formatted("{} x {} pixels: WebP holds at most {} a side: write PNG instead",
                                 size.width, size.height, WEBP_MAX_DIMENSION));
    }
    check_memory(sink.name(), size.pixels() * sizeof(std::uint32_t),
                 {.max_memory = options.max_memory()}, "a WebP", "write PNG instead");
    note_private_metadata(header, kinds_);
    metadata_ = kept_part(header.metadata, kinds_);
    log::info(formatted("{}: {}", sink.name(), to_string(fidelity_)));
    picture_.width = size.width;
    picture_.height = size.height;
    picture_.use_argb = 1;
    if (libwebp().WebPPictureAlloc(&picture_) == 0) fail();
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

  void finish(const Metadata& trailing) override {
    add_late_metadata(metadata_, kept_part(trailing, kinds_));
    Encoded encoded;
    picture_.writer = libwebp().WebPMemoryWrite;
    picture_.custom_ptr = &encoded;
    const WebPConfig config = encoder_config();
    if (libwebp().WebPEncode(&config, &picture_) == 0) fail();
    libwebp().WebPPictureFree(&picture_);
    write_file({encoded.mem, encoded.size});
  }

 private:
  [[noreturn]] void fail() const {
    throw PictureError(sink_.name(), formatted("cannot be encoded as WebP: {}",
                                               picture_.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY
                                                   ? "not enough memory"
                                                   : "libwebp refuses the picture"));
  }

  // The second thread changes no bytes. Colours under transparent pixels are kept.
  [[nodiscard]] WebPConfig encoder_config() const {
    WebPConfig config;
    const auto quality =
        static_cast<float>(fidelity_.is_lossless ? lossless_effort : fidelity_.quality);
    if (libwebp().WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT, quality,
                                         WEBP_ENCODER_ABI_VERSION) == 0)
      fail();
    config.lossless = fidelity_.is_lossless ? 1 : 0;
    config.exact = 1;
    config.thread_level = allowed_threads() > 1 ? 1 : 0;
    return config;
  }

  void write_file(const WebPData& bitstream) {
    const IccProfile* profile = profile_for(format_, metadata_, left_out_);
    note_color_description(metadata_, profile != nullptr, left_out_);
    note_all_but_exif_and_xmp(metadata_, left_out_);
    if (profile == nullptr && metadata_.exif.empty() && metadata_.xmp.empty())
      return sink_.write({bitstream.bytes, bitstream.size});
    const auto mux = owned(libwebp().WebPNewInternal(WEBP_MUX_ABI_VERSION));
    const auto set = [&mux](const char* id, const Bytes& bytes) {
      const WebPData chunk{bytes.data(), bytes.size()};
      return bytes.empty() || libwebp().WebPMuxSetChunk(mux.get(), id, &chunk, 1) == WEBP_MUX_OK;
    };
    WebPData file{};
    const bool done = mux && libwebp().WebPMuxSetImage(mux.get(), &bitstream, 0) == WEBP_MUX_OK &&
                      set("ICCP", profile == nullptr ? Bytes() : profile->data) &&
                      set("EXIF", metadata_.exif) && set("XMP ", metadata_.xmp) &&
                      libwebp().WebPMuxAssemble(mux.get(), &file) == WEBP_MUX_OK;
    const auto free_file = [](WebPData* data) {
      libwebp().WebPFree(const_cast<std::uint8_t*>(data->bytes));
    };
    const std::unique_ptr<WebPData, decltype(free_file)> owner(&file, free_file);
    if (!done) throw PictureError(sink_.name(), "cannot be encoded as WebP: its metadata");
    sink_.write({file.bytes, file.size});
  }

  ByteSink& sink_;
  Fidelity fidelity_;
  PixelFormat format_;
  RowConversion conversion_;
  MetadataKinds kinds_;
  Metadata metadata_;
  Picture picture_;
  int next_row_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> create_webp(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  return std::make_unique<WebpWriter>(sink, header, options);
}

}  // namespace gpufilter
