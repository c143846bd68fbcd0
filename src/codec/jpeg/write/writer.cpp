#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/background.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/formats.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "codec/read_limits.hpp"
#include "codec/sample_conversion.hpp"
#include "image/jpeg_coding.hpp"
#include "image/rows.hpp"

namespace gpufilter {
namespace {

std::atomic<std::size_t> strip_writers{0};

// Bytes for the strips in the background, in all pictures together. Each picture may have two in
// any case. A strip holds its rows and their encoding.
constexpr std::size_t max_memory = std::size_t{48} << 20U;
constexpr std::size_t buffers_a_strip = 2;

// More strips than threads, so that no thread waits until earlier strips have been written.
constexpr std::size_t strips_for(std::size_t threads) {
  return threads == 1 ? 1 : threads + 4;
}

// Encodes one strip after another (whole rows of MCUs, from one restart marker to the next) and
// reuses its memory. All functions throw std::bad_alloc, and Stopped as check_stop().
class JpegStripEncoder {
 public:
  // `name` is the picture's name in messages.
  JpegStripEncoder(const std::string& name, const JpegPicture& picture)
      : errors_(name),
        sink_(memory_sink(encoded_, name)),
        output_(*sink_, errors_),
        jpeg_(errors_),
        conversion_(picture.format, format_in_file(jpeg_codec(), picture.format),
                    picture.size.width, picture.background) {
    errors_.run([&] {
      create_compressor(jpeg_, picture);
      jpeg_.dest = &output_;
    });
  }

  // Begins a strip of `count` rows, which are then passed one by one.
  void begin(int count) {
    errors_.run([&] {
      jpeg_.image_height = static_cast<JDIMENSION>(count);
      jpeg_start_compress(&jpeg_, TRUE);
      jpeg_write_scanlines(&jpeg_, nullptr, 0);  // writes the headers alone
      output_.flush();
    });
    encoded_.clear();
  }

  void write_row(const std::uint8_t* row) {
    // libjpeg only reads it, although its parameter is not const.
    auto* converted = const_cast<JSAMPROW>(conversion_.convert(row));
    errors_.run([&] { jpeg_write_scanlines(&jpeg_, &converted, 1); });
  }

  // The entropy-coded data of the strip and an end marker, valid until the next strip begins.
  [[nodiscard]] std::span<std::uint8_t> finish() {
    errors_.run([this] { jpeg_finish_compress(&jpeg_); });
    return encoded_;
  }

 private:
  JpegErrors errors_;
  std::vector<std::uint8_t> encoded_;
  std::unique_ptr<ByteSink> sink_;  // to `encoded_`
  JpegOutput output_;
  Compressor jpeg_;
  RowConversion conversion_;
};

// Divides a picture into strips, encodes them and emits them in order, with restart markers between
// them and an end marker after the last one. So the file does not depend on the threads, on their
// timing, or on how many rows write() gets at a time. If another thread is free, the rows of a
// strip are copied for it; otherwise they are encoded at once.
class JpegStripWriter {
 public:
  using Emit = std::function<void(std::span<const std::uint8_t>)>;

  // `name` is the picture's name in messages. write() and finish() call `emit` in the caller's
  // thread.
  JpegStripWriter(std::string name, const JpegPicture& picture, int rows_a_strip, Emit emit)
      : name_(std::move(name)),
        picture_(picture),
        row_bytes_(row_bytes(picture.size.width, picture.format)),
        rows_left_(picture.size.height),
        rows_a_strip_(rows_a_strip),
        emit_(std::move(emit)),
        share_(strip_writers),
        max_strips_(std::min(strips_for(strips_.threads()),
                             std::max<std::size_t>(
                                 max_memory / (buffers_a_strip *
                                               static_cast<std::size_t>(rows_a_strip) * row_bytes_),
                                 2))) {}

  // Takes the next rows, which are not needed after the call. Throws `emit`'s exceptions and
  // std::bad_alloc.
  void write(const ConstRows& rows) {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      add_row(rows.row(y));
  }

  // Takes the data of whole strips, instead of their rows, and sets the markers in them.
  void write_coded(const CodedRows& rows) {
    finish();  // the strips before
    rows_left_ -= rows.rows.count();
    for (const std::size_t end : rows.ends) {
      rows.bytes[end - 2] = 0xFF;
      rows.bytes[end - 1] = next_marker(rows_left_ == 0 && end == rows.bytes.size());
    }
    emit_(rows.bytes);
  }

  // Call once, after the picture's last row: returns when everything has been emitted. Throws as
  // write() does.
  void finish() { emit_down_to(0); }

  [[nodiscard]] int rows_left() const { return rows_left_; }

 private:
  struct Strip {
    Strip(const std::string& name, const JpegPicture& picture) : encoder(name, picture) {}

    int row_count = 0;  // in all
    int taken = 0;      // of these
    bool is_copied = false;
    std::vector<std::uint8_t> rows;  // where they are copied
    std::atomic<bool> is_encoded{false};
    JpegStripEncoder encoder;
    std::span<std::uint8_t> encoded;
    bool last = false;
  };
  using Strips = OrderedPieces<Strip>;

  void add_row(const std::uint8_t* row) {
    if (!filling_) filling_ = take_strip();
    Strip& strip = filling_->piece;
    if (strip.is_copied) {
      std::memcpy(strip.rows.data() + static_cast<std::size_t>(strip.taken) * row_bytes_, row,
                  row_bytes_);
    } else {
      strip.encoder.write_row(row);
    }
    ++strip.taken;
    --rows_left_;
    if (strip.taken == strip.row_count) start(std::move(filling_));
  }

  void start(Strips::Owned filled) {
    emit_down_to(share_.of(max_strips_) - 1);
    Strip& strip = strips_.add(std::move(filled));
    strip.last = rows_left_ == 0;
    if (strip.is_copied) {
      strips_.start_last([&strip] { encode(strip); });
    } else {
      strip.encoded = strip.encoder.finish();
      strip.is_encoded = true;
    }
  }

  // Encodes a copied strip, in the background.
  static void encode(Strip& strip) {
    strip.encoder.begin(strip.row_count);
    const std::size_t row_bytes = strip.rows.size() / static_cast<std::size_t>(strip.row_count);
    for (int i = 0; i < strip.row_count; ++i)
      strip.encoder.write_row(strip.rows.data() + static_cast<std::size_t>(i) * row_bytes);
    strip.encoded = strip.encoder.finish();
    strip.is_encoded = true;
  }

  void emit_down_to(std::size_t count) {
    strips_.deliver_down_to(count, [this](Strip& strip) {
      strip.encoded.back() = next_marker(strip.last);
      emit_(strip.encoded);
    });
  }

  // The marker after the next strip. Restart markers are numbered from 0 to 7 again and again.
  [[nodiscard]] std::uint8_t next_marker(bool is_last) {
    return static_cast<std::uint8_t>(is_last ? JPEG_EOI : JPEG_RST0 + emitted_++ % 8);
  }

  // The caller's thread is assumed to be busy.
  [[nodiscard]] bool has_thread_left() const {
    const auto& pending = strips_.pending();
    const auto busy =
        std::ranges::count_if(pending, [](const auto& entry) { return !entry->piece.is_encoded; });
    return static_cast<std::size_t>(busy) + 1 < share_.of_threads(strips_.threads());
  }

  [[nodiscard]] Strips::Owned take_strip() {
    Strips::Owned taken = strips_.take(name_, picture_);
    Strip& strip = taken->piece;
    strip.row_count = std::min(rows_a_strip_, rows_left_);
    strip.taken = 0;
    strip.is_encoded = false;
    strip.is_copied = has_thread_left();
    if (strip.is_copied) {
      strip.rows.resize(static_cast<std::size_t>(strip.row_count) * row_bytes_);
    } else {
      strip.encoder.begin(strip.row_count);
    }
    return taken;
  }

  std::string name_;
  JpegPicture picture_;
  std::size_t row_bytes_;
  int rows_left_;  // until the last one was taken
  int rows_a_strip_;
  Emit emit_;
  FairShare share_;
  Strips strips_;
  std::size_t max_strips_;  // in the background at a time, in all pictures; limits memory
  Strips::Owned filling_;
  unsigned emitted_ = 0;
};

class JpegWriter final : public RowWriter {
 public:
  JpegWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : picture_(jpeg_picture(header, options)),
        sink_(sink),
        errors_(sink.name()),
        output_(sink, errors_),
        jpeg_(errors_),
        conversion_(header.format, format_in_file(jpeg_codec(), header.format), header.size.width,
                    picture_.background),
        kinds_(kept_metadata(options)) {
    check_size(header.size);
    notes_ = notes_on(picture_.settings);
    log::info(formatted("{}: {}", errors_.name(), notes_->text));
    const bool progressive = picture_.settings.progressive;
    if (progressive) {
      check_memory(errors_.name(), coefficient_bytes(picture_),
                   {.max_memory = options.max_memory()}, "a progressive JPEG",
                   "leave out --progressive");
    }
    const int mcu_rows = restart_rows(picture_, options);
    errors_.run([&] {
      create_compressor(jpeg_, picture_);
      jpeg_.dest = &output_;
    });
    const Metadata metadata = kept_part(header.metadata, kinds_);
    set_jpeg_density(jpeg_, metadata, left_out_);
    errors_.run([&] {
      jpeg_.restart_in_rows = mcu_rows;
      jpeg_start_compress(&jpeg_, TRUE);
    });
    write_metadata(header, metadata);
    if (mcu_rows > 0) start_strips(mcu_rows * mcu_grid(picture_).mcu.height);
  }

  void write(const ConstRows& rows) override {
    if (strips_) return strips_->write(rows);
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      // libjpeg only reads it, although its parameter is not const.
      auto* row = const_cast<JSAMPROW>(conversion_.convert(rows.row(y)));
      errors_.run([&] { jpeg_write_scanlines(&jpeg_, &row, 1); });
    }
  }

  void write_coded(const CodedRows& rows) override {
    if (!strips_) start_strips(picture_.size.height);
    strips_->write_coded(rows);
  }

  // In a JPEG, metadata comes before the pixels.
  void finish(const Metadata& trailing) override {
    note_content(kept_part(trailing, kinds_), left_out_, " that follows the pixels in a stream");
    if (strips_ && strips_->rows_left() == 0) return strips_->finish();
    errors_.run([this] { jpeg_finish_compress(&jpeg_); });
  }

 private:
  void write_metadata(const PictureHeader& header, const Metadata& metadata) {
    const JpegEncoding* input = stored_jpeg_encoding(header);
    JpegMetadataLayout layout;
    if (input != nullptr) layout = kept_part(input->metadata_layout, kinds_);
    write_jpeg_metadata(jpeg_, errors_,
                        {metadata, header.format, input == nullptr ? nullptr : &layout}, left_out_);
  }

  void check_size(const ImageSize& size) const {
    constexpr int max_side = JPEG_MAX_DIMENSION;
    if (size.width <= max_side && size.height <= max_side) return;
    throw PictureError(errors_.name(),
                       formatted("{} x {} pixels: JPEG holds at most {} a side: write PNG instead",
                                 size.width, size.height, max_side));
  }

  // jpeg_ writes only the headers of the whole picture.
  void start_strips(int rows) {
    errors_.run([this] {
      jpeg_write_scanlines(&jpeg_, nullptr, 0);
      output_.flush();
    });
    strips_.emplace(errors_.name(), picture_, rows,
                    [this](std::span<const std::uint8_t> bytes) { sink_.write(bytes); });
  }

  JpegPicture picture_;
  ByteSink& sink_;
  JpegErrors errors_;
  JpegOutput output_;
  Compressor jpeg_;
  RowConversion conversion_;
  MetadataKinds kinds_;
  std::optional<JpegStripWriter> strips_;
};

}  // namespace

std::unique_ptr<RowWriter> create_jpeg(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  return std::make_unique<JpegWriter>(sink, header, options);
}

}  // namespace gpufilter
