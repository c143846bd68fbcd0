#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <isa-l/igzip_lib.h>
#include <png.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "codec/deflate/isal_state.hpp"
#include "codec/formats.hpp"
#include "codec/png/metadata.hpp"
#include "codec/png/read/rows.hpp"
#include "codec/png/read/stream.hpp"
#include "image/image.hpp"
#include "image/rows.hpp"

namespace gpufilter {
namespace {

// libpng's errors return by longjmp, which runs no destructors, and no exception may pass through
// its C functions.

// Passed from libpng's callbacks to the C++ code that called libpng.
struct PngReport {
  std::string name;                        // of the file, for messages
  std::string trouble;                     // the message before libpng's words: "damaged PNG"
  std::array<char, 200> words{};           // libpng's, of the error that ended the call
  std::exception_ptr exception = nullptr;  // thrown by a source, a sink or an allocation
  bool ended_early = false;                // the source has no more bytes
  bool warnings_are_damage = false;        // while pixels are decoded

  PngReport(std::string of_file, std::string of_trouble)
      : name(std::move(of_file)), trouble(std::move(of_trouble)) {}
};

PngReport& report_of(png_structp png) {
  return *static_cast<PngReport*>(png_get_error_ptr(png));
}

// The warning about bytes after the end of the compressed pixels. The pixels are complete then, and
// their checksum was right.
constexpr const char* harmless_in_pixels = "IDAT: Extra compressed data";

// The error function for png_create_*_struct, whose error pointer is a PngReport.
[[noreturn]] void png_take_error(png_structp png, png_const_charp words) {
  PngReport& report = report_of(png);
  std::strncpy(report.words.data(), words, report.words.size() - 1);
  png_longjmp(png, 1);
}

// Warnings go to log::debug; while `warnings_are_damage` they are errors.
void png_take_warning(png_structp png, png_const_charp words) {
  const PngReport& report = report_of(png);
  if (report.warnings_are_damage && std::strcmp(words, harmless_in_pixels) != 0) {
    png_error(png, words);
  }
  try {
    log::debug(report.name + ": libpng: " + words);
  } catch (const std::exception&) {
    return;  // out of memory for a debug line; an exception must not reach libpng
  }
}

// Calls body(data). False if libpng left it with an error.
bool png_guarded(png_structp png, void (*body)(const void*), const void* data) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  body(data);
  return true;
}

// Throws the exception in the report or, if there is none, a PictureError with libpng's words.
[[noreturn]] void png_throw(const PngReport& report) {
  if (report.exception) std::rethrow_exception(report.exception);
  if (report.ended_early) throw PictureError(report.name, file_ends_early);
  throw PictureError(report.name, report.trouble + ": " + report.words.data());
}

// Calls `body`, which calls libpng. An error is thrown as by png_throw(). Neither `body` nor the
// functions that it calls may own anything with a destructor, since longjmp does not run it.
template <typename Body>
void png_call(png_structp png, const PngReport& report, const Body& body) {
  static_assert(std::is_trivially_destructible_v<Body>);
  if (!png_guarded(
          png, [](const void* data) { (*static_cast<const Body*>(data))(); }, &body)) {
    png_throw(report);
  }
}

// The data of libpng's read callbacks.
struct Input {
  PngReport report;
  PngStream stream;

  bool fill(std::span<std::uint8_t> bytes) noexcept {
    try {
      report.ended_early = stream.read(bytes) < bytes.size();
    } catch (...) {
      report.exception = std::current_exception();
    }
    return !report.ended_early && !report.exception;
  }
};

void read_bytes(png_structp png, png_bytep data, std::size_t count) {
  auto& input = *static_cast<Input*>(png_get_io_ptr(png));
  if (!input.fill({data, count})) png_error(png, "no more bytes");
}

// Owns libpng's structs.
struct ReadStructs {
  explicit ReadStructs(PngReport& report)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &report, png_take_error,
                                   png_take_warning)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {
    if (info == nullptr) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      throw PictureError(report.name, "libpng cannot be used: out of memory, or another version");
    }
  }
  ~ReadStructs() { png_destroy_read_struct(&png, &info, nullptr); }
  ReadStructs(const ReadStructs&) = delete;
  ReadStructs& operator=(const ReadStructs&) = delete;

  png_structp png;
  png_infop info;
};

// Width and height have been checked. Wrong values in tRNS are harmless, but a wrong checksum in
// any chunk that libpng sees means that the pixels are damaged.
void set_checks(png_structp png) {
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_benign_errors(png, 1);
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
}

// Palette to RGB, grey to 8 bits, tRNS to alpha, 16 bits to the machine's byte order.
void set_transformations(png_structp png) {
  png_set_expand(png);
  if constexpr (std::endian::native == std::endian::little) png_set_swap(png);
}

constexpr std::size_t max_at_a_time = std::size_t{1} << 30U;  // ISA-L counts in 32 bits

// Adler-32 as ISA-L's state holds it: the lower half, which begins at 1, is less by 1.
std::uint32_t isal_adler32_state(std::uint32_t adler32) {
  constexpr std::uint32_t modulus = 65521;
  return (adler32 & 0xffff0000U) | ((adler32 & 0xffffU) + modulus - 1) % modulus;
}

// Filtered bytes inflated at a time: few enough for the caches, enough to outweigh the cost of a
// call of ISA-L.
constexpr std::size_t batch_size = std::size_t{256} << 10U;

// Inflates the data of PngStream's IDAT chunks by ISA-L. Messages of PictureError use the words of
// libpng and zlib.
class PngInflater {
 public:
  // `stream` outlives the inflater and is at `from`. From there on everything is as if this
  // inflater had begun with the first byte, messages included.
  //
  // The input is read in parts with the same borders wherever the inflater begins, so that a file
  // that is damaged twice is always refused for the same reason.
  explicit PngInflater(PngStream& stream, const PngInflatePlace& from)
      : stream_(stream), next_read_(input_size - from.compressed_bytes % input_size) {
    isal_inflate_init(&state_);
    state_.crc_flag = from.compressed_bytes == 0 ? ISAL_ZLIB : ISAL_ZLIB_NO_HDR_VER;
    state_.crc = isal_adler32_state(from.adler32);
    if (from.history.empty()) return;
    const auto history = from.history.last(std::min(from.history.size(), longest_distance));
    if (isal_inflate_set_dict(&state_, const_cast<std::uint8_t*>(history.data()),  // it only reads
                              static_cast<std::uint32_t>(history.size())) != COMP_OK) {
      throw std::logic_error("ISA-L does not accept what was inflated before");
    }
  }

  // Fills `output`. Throws PictureError if the data is damaged or ends too early.
  void inflate(std::span<std::uint8_t> output) {
    inflated_ = 0;
    while (!output.empty()) {
      const std::size_t count = step(output.first(std::min(output.size(), max_at_a_time)));
      if (count == 0 && (isal_has_ended(state_) || is_out_of_input())) refuse_end();
      output = output.subspan(count);
      inflated_ += count;
    }
  }

  // Bytes of `output` that the last call filled.
  [[nodiscard]] std::size_t inflated() const { return inflated_; }

  // Throws PictureError unless the data ends here, with the right checksum.
  void expect_end() {
    // ISA-L is also at its end if the checksum is wrong.
    while (failure_ != nullptr || !isal_has_ended(state_)) {
      std::array<std::uint8_t, 1> excess{};
      if (step(excess) != 0) refuse("IDAT: Too much image data");
      if (!isal_has_ended(state_) && is_out_of_input()) refuse_end();
    }
  }

 private:
  [[nodiscard]] bool is_out_of_input() const { return input_ended_ && state_.avail_in == 0; }

  // Inflates zero or more bytes into `output` and returns their number. ISA-L inflates ahead,
  // by an amount that depends on where it began. A failure found there is reported only once the
  // bytes before it have been returned, and input is read only when it is needed: so the message
  // does not depend on that amount.
  std::size_t step(std::span<std::uint8_t> output) {
    if (failure_ == nullptr && !isal_has_ended(state_)) {
      if (state_.avail_in == 0 && isal_kept_output(state_).empty()) read_input();
      state_.next_out = output.data();
      state_.avail_out = static_cast<std::uint32_t>(output.size());
      const int result = isal_inflate(&state_);
      if (result == ISAL_INCORRECT_CHECKSUM) {
        failure_ = "IDAT: incorrect data check";
      } else if (result != ISAL_DECOMP_OK) {
        failure_ = "IDAT: invalid compressed data";
      }
      const std::size_t count = output.size() - state_.avail_out;
      if (failure_ == nullptr || count > 0) return count;
    }
    if (failure_ == nullptr) return 0;
    const std::size_t count = take_kept_output(output);
    if (count == 0) refuse(failure_);
    return count;
  }

  void read_input() {
    const std::size_t count = stream_.read_idat(std::span(input_).first(next_read_));
    input_ended_ = count < next_read_;
    next_read_ = input_.size();
    state_.next_in = input_.data();
    state_.avail_in = static_cast<std::uint32_t>(count);
  }

  // After a failure ISA-L must not be called again: it would begin to inflate the damaged data.
  std::size_t take_kept_output(std::span<std::uint8_t> output) {
    const auto kept = isal_kept_output(state_);
    const std::size_t count = std::min(output.size(), kept.size());
    std::copy_n(kept.begin(), count, output.begin());
    isal_drop_kept_output(state_, count);
    return count;
  }

  [[noreturn]] void refuse_end() const {
    stream_.throw_damage();
    refuse("Not enough image data");
  }

  [[noreturn]] void refuse(const char* why) const {
    throw PictureError(stream_.name(), std::string("damaged PNG: ") + why);
  }

  // Compressed bytes read at a time. The file has its own, larger buffer.
  static constexpr std::size_t input_size = std::size_t{16} << 10U;

  PngStream& stream_;
  std::array<std::uint8_t, input_size> input_{};
  std::size_t next_read_;  // bytes
  bool input_ended_ = false;
  std::size_t inflated_ = 0;
  const char* failure_ = nullptr;  // the error after the last byte that was inflated
  inflate_state state_{};
};

// Reads rows from the first to the last. In large pictures, another thread inflates the next rows
// while these are unfiltered and used.
class PngSerialReader {
 public:
  // `stream` outlives the reader and is at `from`.
  PngSerialReader(PngStream& stream, const PngRowShape& shape, const PngRowPlace& from = {})
      : stream_(stream),
        shape_(shape),
        inflater_(stream, from.stream),
        batch_rows_(std::clamp<std::size_t>(batch_size / shape.filtered_bytes(), 1, shape.rows)),
        to_inflate_(from.row),
        above_(from.above) {
    above_.resize(shape.pitch());
    if (shape.is_large()) background_.emplace();
    for (Batch& batch : batches_) {
      if (background_) batch.task.emplace(*background_);
      batch.filtered.reserve(batch_rows_ * shape.filtered_bytes() + unfilter_slack);
      batch.samples.reserve(batch_rows_ * shape.pitch());
    }
    if (background_) start_inflating(batches_[0]);
  }

  // Writes the next row's samples to `row`. Throws PictureError.
  void read(std::uint8_t* row) {
    if (next_row_ == batches_.at(current_).rows && !batches_.at(current_).failure) advance();
    const Batch& batch = batches_.at(current_);
    if (next_row_ == batch.rows) std::rethrow_exception(batch.failure);
    const auto samples =
        std::span(batch.samples.data() + next_row_ * shape_.pitch(), shape_.row_bytes);
    copy_samples(samples, row, shape_.depth);
    ++next_row_;
  }

  // Call it once all rows are read: throws PictureError if the compressed data does not end there.
  void finish() {
    inflater_.expect_end();
    stream_.leave_idat();
  }

 private:
  // Rows that are inflated together.
  struct Batch {
    ScratchBytes filtered;
    ScratchBytes samples;  // unfiltered, in PNG's byte order
    std::size_t rows = 0;
    std::exception_ptr failure = {};                    // of the row after them
    std::optional<BackgroundTask> task = std::nullopt;  // destroyed first: it fills `filtered`
  };

  // Batch boundaries do not depend on the row at which reading began, so that a file with several
  // errors is always refused for the same one.
  void start_inflating(Batch& batch) {
    const std::size_t end =
        std::min(to_inflate_ - to_inflate_ % batch_rows_ + batch_rows_, shape_.rows);
    batch.rows = end - to_inflate_;
    to_inflate_ = end;
    if (background_) {
      batch.task->start([this, &batch] { inflate(batch); });
    } else {
      inflate(batch);
    }
  }

  void inflate(Batch& batch) {
    try {
      inflater_.inflate(std::span(batch.filtered.data(), batch.rows * shape_.filtered_bytes()));
    } catch (const PictureError&) {
      batch.failure = std::current_exception();
      batch.rows = inflater_.inflated() / shape_.filtered_bytes();
    }
  }

  void unfilter(Batch& batch, const std::uint8_t* above) {
    if (png_unfilter_rows(shape_, batch.rows, batch.filtered.data(), above, batch.samples.data()))
      return;
    constexpr std::uint8_t last_filter = 4;
    std::size_t sound = 0;
    while (batch.filtered.data()[sound * shape_.filtered_bytes()] <= last_filter)
      ++sound;
    batch.rows = sound;
    batch.failure = std::make_exception_ptr(
        PictureError(stream_.name(), "damaged PNG: bad adaptive filter value"));
  }

  // Moves on to the next batch, and starts inflating the one after it.
  void advance() {
    const Batch& last = batches_.at(current_);
    const std::uint8_t* above =
        last.rows == 0 ? above_.data() : last.samples.data() + (last.rows - 1) * shape_.pitch();
    current_ = 1 - current_;
    Batch& batch = batches_.at(current_);
    const auto start_next = [&](Batch& next) {
      if (to_inflate_ < shape_.rows) start_inflating(next);
    };
    if (background_) {
      batch.task->wait();
      if (!batch.failure) start_next(batches_.at(1 - current_));
    } else {
      start_next(batch);
    }
    unfilter(batch, above);
    next_row_ = 0;
  }

  PngStream& stream_;
  PngRowShape shape_;
  PngInflater inflater_;
  std::size_t batch_rows_;
  std::size_t to_inflate_;                // the next row
  std::vector<std::uint8_t> above_;       // before the first batch
  std::optional<Background> background_;  // if the picture is large
  std::array<Batch, 2> batches_;
  std::size_t current_ = 1;   // index of the batch that is being delivered
  std::size_t next_row_ = 0;  // of that batch
};

class PngReader final : public RowReader {
 public:
  PngReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits, PngDecoder decoder)
      : input_{{source->name(), "damaged PNG"}, {std::move(source), decoder}},
        structs_(input_.report),
        warns_(limits.warn),
        keeps_damaged_(limits.damaged == Damaged::keep) {
    if (keeps_damaged_) keep_damaged();
    const PngHeader& stored = input_.stream.header();
    check_size(input_.report.name, stored.width, stored.height, stored.format, limits);
    read_chunks_before_pixels();
    header_.file_format = &png_codec();
    header_.size = {static_cast<int>(stored.width), static_cast<int>(stored.height)};
    header_.format = {png_get_channels(png(), info()), png_get_bit_depth(png(), info())};
    header_.file_pixels = stored.file_pixels;
    if (header_.format.has_alpha() && !stored.format.has_alpha())
      header_.file_pixels.color += " with transparency";
    check_size(input_.report.name, stored.width, stored.height, header_.format, limits);
    if (stored.interlaced) check_interlaced_size(limits);
    header_.metadata = take_metadata(PngPlace::before_pixels);
    if (const auto frames = input_.stream.ancillary().more_frames(); frames > 0)
      header_.unread.push_back(counted(frames, "more frame"));
  }

  void read(const MutableRows& rows) override {
    if (input_.stream.keeps_pixels()) return read_own(rows);
    if (passes_ == 1) return decode(rows);
    if (!interlaced_) decode_interlaced();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      if (next_row_ == interlaced_rows_) std::rethrow_exception(damage_);
      std::memcpy(rows.row(y), interlaced_->rows().row(next_row_++), rows.row_bytes());
    }
  }

  Metadata finish() override {
    interlaced_.reset();
    if (damage_) std::rethrow_exception(damage_);
    if (serial_) serial_->finish();
    // Without an info struct libpng would skip the remaining chunks.
    call([png = png(), info = info()] { png_read_end(png, info); });
    Metadata metadata = take_metadata(PngPlace::after_pixels);
    input_.stream.note_rest(header_.unread);
    warn_of_skipped_chunks();
    return metadata;
  }

 private:
  [[nodiscard]] png_structp png() const { return structs_.png; }
  [[nodiscard]] png_infop info() const { return structs_.info; }

  template <typename Body>
  void call(const Body& body) {
    png_call(png(), input_.report, body);
  }

  void check_interlaced_size(const ReadLimits& limits) const {
    const std::uint64_t bytes = std::uint64_t{row_pitch(header_.size.width, header_.format)} *
                                static_cast<unsigned>(header_.size.height);
    check_memory(input_.report.name, bytes, limits, "an interlaced PNG",
                 "save it without interlacing");
  }

  // libpng otherwise inflates nothing of compressed data that it cannot read as a whole.
  void keep_damaged() {
    input_.stream.keep_damaged();
    call([png = png()] { png_set_compression_buffer_size(png, 1); });
  }

  void read_chunks_before_pixels() {
    call([png = png(), info = info(), &input = input_, &passes = passes_] {
      set_checks(png);
      png_set_read_fn(png, &input, read_bytes);
      png_read_info(png, info);
      set_transformations(png);
      passes = png_set_interlace_handling(png);
      png_read_update_info(png, info);
    });
  }

  // The rows of common files, without libpng but with the checks that it makes: the checksums of
  // the chunks and of the samples, too little data, too much data, unknown filters.
  void read_own(const MutableRows& rows) {
    if (!pieces_ && !serial_) begin_own();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      if (pieces_) {
        if (pieces_->read(rows.row(y))) continue;
        serial_ = std::make_unique<PngSerialReader>(input_.stream, shape(), pieces_->give_up());
        pieces_.reset();
      }
      serial_->read(rows.row(y));
    }
  }

  void begin_own() {
    const auto rows_a_piece = input_.stream.ancillary().rows_a_piece();
    const bool worthwhile = shape().is_large() || input_.stream.decoder() == PngDecoder::pieces;
    if (worthwhile && rows_a_piece && PngPieceReader::suits(shape(), *rows_a_piece)) {
      pieces_ = std::make_unique<PngPieceReader>(input_.stream, shape(), *rows_a_piece);
    } else {
      serial_ = std::make_unique<PngSerialReader>(input_.stream, shape());
    }
  }

  [[nodiscard]] PngRowShape shape() const { return {header_.size, header_.format}; }

  // Decodes one pass. Of an interlaced picture, `rows` has to hold all rows; if it may be damaged,
  // each pass fills them all, more finely than the one before.
  void decode(const MutableRows& rows) {
    input_.report.warnings_are_damage = true;
    const bool fills = keeps_damaged_ && passes_ > 1;
    call([png = png(), &rows, fills, &decoded = decoded_] {
      for (decoded = 0; decoded < rows.rows.count(); ++decoded) {
        png_bytep row = rows.row(rows.rows.begin + decoded);
        png_read_row(png, fills ? nullptr : row, fills ? row : nullptr);
      }
    });
    input_.report.warnings_are_damage = false;
  }

  void decode_interlaced() {
    try {
      interlaced_.emplace(header_.size, header_.format);
    } catch (const std::bad_alloc&) {
      throw PictureError(input_.report.name,
                         "not enough memory: an interlaced picture has to be held whole");
    }
    interlaced_rows_ = header_.size.height;
    int pass = 0;
    try {
      for (; pass < passes_; ++pass)
        decode(interlaced_->rows());
    } catch (const PictureError&) {
      if (!keeps_damaged_) throw;
      damage_ = std::current_exception();
      if (pass == 0) interlaced_rows_ = decoded_;
    }
  }

  Metadata take_metadata(PngPlace place) {
    PngAncillary& ancillary = input_.stream.ancillary();
    return metadata_from_chunks(ancillary.take_chunks(), place, input_.report.name,
                                ancillary.skipped());
  }

  // Called at the end, so that a picture that is refused has only one message.
  void warn_of_skipped_chunks() {
    const std::string skipped = input_.stream.ancillary().skipped().list();
    if (!warns_ || skipped.empty()) return;
    log::warn(formatted("{}: skipped damaged metadata: {}", input_.report.name, skipped));
  }

  Input input_;
  ReadStructs structs_;
  bool warns_;
  bool keeps_damaged_;
  // If libpng does not decode the pixels: once reading has begun, one of them exists.
  std::unique_ptr<PngPieceReader> pieces_;
  std::unique_ptr<PngSerialReader> serial_;
  int passes_ = 1;  // 7 if interlaced
  std::optional<Image> interlaced_;
  int next_row_ = 0;         // of interlaced_
  int interlaced_rows_ = 0;  // of them, those that there are
  int decoded_ = 0;          // rows, by the last call of decode()
  std::exception_ptr damage_;
};

}  // namespace

std::unique_ptr<RowReader> open_png(std::unique_ptr<ByteSource> source, const ReadLimits& limits,
                                    PngDecoder decoder) {
  return std::make_unique<PngReader>(std::move(source), limits, decoder);
}

}  // namespace gpufilter
