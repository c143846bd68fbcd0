#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <isa-l/crc.h>
#include <zlib.h>

#include "base/background.hpp"
#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/formats.hpp"
#include "codec/png/metadata.hpp"
#include "codec/png/read/chunk.hpp"
#include "codec/png/write/compression.hpp"
#include "codec/png/write/held_picture.hpp"
#include "image/metadata.hpp"
#include "image/rows.hpp"

namespace gpufilter {
namespace {

// Deflate, the largest window, and the checksum of these two bytes.
constexpr std::array<std::uint8_t, 2> zlib_header{0x78, 0x9c};

// The memory of the chunks in the background: enough for 24 chunks of the usual size. A chunk has
// its rows, the filtered rows, and the output of two deflaters.
constexpr std::size_t max_memory_of_chunks = std::size_t{48} << 20U;
constexpr std::size_t buffers_a_chunk = 4;

// Cuts the rows of a picture into pieces, compresses them in the background, and passes them on in
// their order, one IDAT chunk each. The size of a piece depends on the picture alone, so the file
// does not depend on the number of threads, on timing, or on how many rows each call of the
// writer has.
class PngPixelWriter {
 public:
  // The data of one IDAT chunk: these parts, one after the other.
  using IdatParts = std::span<const std::span<const std::uint8_t>>;
  using Emit = std::function<void(IdatParts)>;

  // `emit` is called by write_row() and finish(), in the caller's thread.
  PngPixelWriter(ImageSize size, PngStorage storage, int png_level, Emit emit)
      : width_(size.width),
        storage_(std::move(storage)),
        row_bytes_(storage_.row_bytes(size.width)),
        rows_left_(static_cast<std::size_t>(size.height)),
        picture_bytes_(std::uint64_t{row_bytes_} * rows_left_),
        compression_(png_compression(png_level)),
        rows_a_chunk_(png_rows_a_chunk(compression_, row_bytes_)),
        emit_(std::move(emit)),
        max_chunks_(std::max<std::size_t>(
            max_memory_of_chunks / (buffers_a_chunk * rows_a_chunk_ * (row_bytes_ + 1)), 2)) {
    rows_a_chunk_ = std::min(rows_a_chunk_, rows_left_);
  }

  // The rows of every piece but the last.
  [[nodiscard]] std::size_t rows_a_piece() const { return rows_a_chunk_; }

  // Copies the next row. Throws std::bad_alloc and any exception of `emit`.
  void write_row(const std::uint8_t* row) {
    if (!filling_) filling_ = take_chunk();
    Chunk& chunk = filling_->piece;
    const auto place = std::span(chunk.rows).subspan(chunk.row_count * row_bytes_, row_bytes_);
    storage_.pack(row, width_, place.data());
    ++chunk.row_count;
    --rows_left_;
    if (rows_left_ == 0) {
      start(std::move(filling_));
    } else if (chunk.row_count == rows_a_chunk_) {
      auto next = take_chunk();
      rows_since_start_ += rows_a_chunk_;
      if (rows_since_start_ < png_rows_between_starts) {
        next->piece.above.assign(place.begin(), place.end());
      } else {
        rows_since_start_ = 0;
      }
      start(std::exchange(filling_, std::move(next)));
    }
  }

  // Call once, after the last row. Returns when everything has been emitted. Throws as write_row().
  void finish() { emit_down_to(0); }

 private:
  struct Chunk {
    explicit Chunk(std::size_t bytes) : rows(bytes) {}

    std::vector<std::uint8_t> above = {};  // the row above the first one; empty: not to be used
    std::vector<std::uint8_t> rows;        // room for as many as a chunk has
    std::size_t row_count = 0;
    PngCompressor compressor = {};
    PngCompressor::Result result = {};
    bool last = false;
  };
  using Chunks = OrderedPieces<Chunk>;

  void start(Chunks::Owned filled) {
    // Enough for every thread. With more, rows would leave the caches before they are compressed.
    const std::size_t threads = chunks_.threads();
    emit_down_to(std::min({max_chunks_, 2 * threads, threads + 4}) - 1);
    Chunk& chunk = chunks_.add(std::move(filled));
    chunk.last = rows_left_ == 0;
    chunks_.start_last([this, &chunk] {
      const auto rows = std::span(chunk.rows).first(chunk.row_count * row_bytes_);
      chunk.result = chunk.compressor.compress(
          {rows, row_bytes_, chunk.above.empty() ? nullptr : chunk.above.data(),
           storage_.distance(), picture_bytes_},
          compression_, chunk.last);
    });
  }

  void emit_down_to(std::size_t count) {
    chunks_.deliver_down_to(count, [this](const Chunk& chunk) {
      const PngCompressor::Result& result = chunk.result;
      adler32_ = static_cast<std::uint32_t>(
          adler32_combine(adler32_, result.adler32, static_cast<z_off_t>(result.filtered_bytes)));
      Bytes checksum;
      if (chunk.last) put_number(checksum, adler32_, 4);
      const std::array<std::span<const std::uint8_t>, 3> parts{
          std::span(zlib_header).first(std::exchange(first_, false) ? zlib_header.size() : 0),
          result.deflated, checksum};
      emit_(parts);
    });
  }

  [[nodiscard]] Chunks::Owned take_chunk() {
    Chunks::Owned taken = chunks_.take(rows_a_chunk_ * row_bytes_);
    taken->piece.above.clear();
    taken->piece.row_count = 0;
    return taken;
  }

  int width_;
  PngStorage storage_;
  std::size_t row_bytes_;
  std::size_t rows_left_;  // that write() has not been given yet
  std::uint64_t picture_bytes_;
  const PngCompression& compression_;
  std::size_t rows_a_chunk_;
  std::size_t rows_since_start_ = 0;  // since the last chunk that does not refer to the row above
  Emit emit_;
  std::size_t max_chunks_;  // in the background at the same time
  Chunks chunks_;
  Chunks::Owned filling_;
  std::uint32_t adler32_ = 1;
  bool first_ = true;
};

struct PngEncoded {
  PngStorage storage;
  std::vector<Bytes> idats = {};  // the data of the IDAT chunks
  std::size_t rows_a_piece = 0;   // of every chunk but the last
  std::size_t bytes = 0;          // of the chunks that depend on the storage
};

constexpr int highest_level = 9;
constexpr int level_of_trials = 8;

// The storages that are compressed at the highest level: at most `finalists`, as long as the trials
// make them larger than the best by at most 1 / close_storages. All of them if a picture as it is
// has at most small_picture bytes.
constexpr std::size_t finalists = 2;
constexpr std::size_t close_storages = 20;
constexpr std::size_t small_picture = std::size_t{64} << 10U;

constexpr std::size_t chunk_overhead = 12;  // bytes: length, type and checksum

std::size_t chunk_bytes(std::size_t data) {
  return data == 0 ? 0 : data + chunk_overhead;
}

PngEncoded encode(PngHeldPicture& picture, ImageSize size, const PngStorage& storage, int level) {
  PngEncoded encoded{storage};
  encoded.bytes =
      chunk_bytes(storage.palette().size()) + chunk_bytes(storage.transparency().size());
  PngPixelWriter writer(size, storage, level, [&encoded](PngPixelWriter::IdatParts parts) {
    Bytes& idat = encoded.idats.emplace_back();
    for (const auto& part : parts)
      idat.insert(idat.end(), part.begin(), part.end());
    encoded.bytes += chunk_bytes(idat.size());
  });
  encoded.rows_a_piece = writer.rows_a_piece();
  for (int y = 0; y < size.height; ++y)
    writer.write_row(picture.row(y, storage));
  writer.finish();
  return encoded;
}

// Compresses the picture, which is complete, in each of its storages at the level below the
// highest, and in the best of them at the highest. The result depends on the picture alone.
PngEncoded smallest_png(PngHeldPicture& picture, ImageSize size) {
  struct Trial {
    PngStorage storage;
    std::size_t bytes;
  };
  std::vector<Trial> trials;
  for (const PngStorage& storage : picture.storages())
    trials.push_back({storage, 0});
  const bool is_small =
      trials.front().storage.row_bytes(size.width) * static_cast<std::size_t>(size.height) <=
      small_picture;
  if (!is_small && trials.size() > 1) {
    for (Trial& trial : trials)
      trial.bytes = encode(picture, size, trial.storage, level_of_trials).bytes;
    std::ranges::stable_sort(trials,
                             [](const Trial& a, const Trial& b) { return a.bytes < b.bytes; });
    const std::size_t most = trials.front().bytes + trials.front().bytes / close_storages;
    while (trials.size() > finalists || trials.back().bytes > most)
      trials.pop_back();
  }
  PngEncoded best = encode(picture, size, trials.front().storage, highest_level);
  for (std::size_t i = 1; i < trials.size(); ++i) {
    PngEncoded other = encode(picture, size, trials[i].storage, highest_level);
    if (other.bytes < best.bytes) best = std::move(other);
  }
  return best;
}

constexpr std::array<std::uint8_t, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

// A picture that is to stay a palette or grey of few bits is held up to this size, so that memory
// does not depend on its height; the smallest level may use this share of all memory.
constexpr std::uint64_t held_bytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t held_share = 4;

// The reductions to look for before writing; nothing if pixels are stored unchanged.
std::optional<PngHeldPicture::Aim> aim_of(const PictureHeader& header, int level) {
  using Aim = PngHeldPicture::Aim;
  if (level == highest_level) return Aim::smallest;
  const PixelFormat& format = header.format;
  const FilePixels& before = header.file_pixels;
  if (format.depth != 8) return std::nullopt;
  if (format.color_channels() == 3 && before.color.starts_with("palette")) return Aim::palette;
  if (format.channels == 1 && before.color == "grey" && before.depth < 8) return Aim::few_bits;
  return std::nullopt;
}

class PngWriter final : public RowWriter {
 public:
  PngWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : sink_(sink),
        size_(header.size),
        format_(header.format),
        level_(*options.get<int>(png_level_option())),
        kinds_(kept_metadata(options)),
        metadata_(kept_part(header.metadata, kinds_)) {
    if (size_.width < 1 || size_.height < 1) {
      throw PictureError(
          sink.name(), formatted("cannot be encoded as PNG: no PNG has {} x {} pixels", size_.width,
                                 size_.height));
    }
    note_private_metadata(header, kinds_);
    const std::uint64_t most =
        level_ == highest_level ? options.max_memory() / held_share : held_bytes;
    const auto aim = aim_of(header, level_);
    if (aim && PngHeldPicture::bytes(size_, format_, *aim) <= most)
      held_.emplace(size_, format_, *aim, metadata_.icc_profile.has_value());
    if (!held_) begin(PngStorage(format_));
  }

  void write(const ConstRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      if (!held_)
        pixels_->write_row(rows.row(y));
      else if (!held_->add(rows.row(y)))
        write_held(PngStorage(format_));
    }
  }

  void finish(const Metadata& trailing) override {
    if (held_) finish_held();
    if (pixels_) pixels_->finish();
    Metadata rest = kept_part(trailing, kinds_);
    if (!metadata_.exif.empty()) rest.exif.clear();  // a file has at most one
    if (!metadata_.xmp.empty()) rest.xmp.clear();
    if (!metadata_.image_resources.empty()) rest.image_resources.clear();
    write_metadata(rest, PngPlace::after_pixels);
    write_chunk("IEND", {});
  }

 private:
  using Span = std::span<const std::uint8_t>;

  void finish_held() {
    if (level_ != highest_level) return write_held(held_->storages().front());
    const PngEncoded encoded = smallest_png(*held_, size_);
    write_head(encoded.storage, encoded.rows_a_piece);
    for (const Bytes& idat : encoded.idats)
      write_chunk("IDAT", idat);
  }

  // Writes the rows that are held, and from now on every row at once.
  void write_held(const PngStorage& storage) {
    begin(storage);
    for (int y = 0; y < held_->rows(); ++y)
      pixels_->write_row(held_->row(y, storage));
    held_.reset();
  }

  void begin(const PngStorage& storage) {
    pixels_.emplace(size_, storage, level_,
                    [this](PngPixelWriter::IdatParts parts) { write_parts("IDAT", parts); });
    write_head(storage, pixels_->rows_a_piece());
  }

  // Writes everything before the pixels.
  void write_head(const PngStorage& storage, std::size_t rows_a_piece) {
    file_pixels_ = storage.file_pixels();
    sink_.write(signature);
    Bytes header;
    put_number(header, static_cast<unsigned>(size_.width), 4);
    put_number(header, static_cast<unsigned>(size_.height), 4);
    header.push_back(static_cast<std::uint8_t>(storage.depth()));
    header.push_back(static_cast<std::uint8_t>(storage.color_type()));
    header.insert(header.end(), 3, 0);  // compression, filters, no interlacing
    write_chunk("IHDR", header);
    write_metadata(metadata_, PngPlace::before_pixels);
    if (!storage.palette().empty()) write_chunk("PLTE", storage.palette());
    if (!storage.transparency().empty()) write_chunk("tRNS", storage.transparency());
    // A single piece needs no index, and the reader uses none for other storages.
    if (storage.is_plain() && rows_a_piece < static_cast<std::size_t>(size_.height))
      write_chunk(png_index_type, make_png_index(static_cast<std::uint32_t>(rows_a_piece)));
  }

  void write_chunk(std::string_view type, Span data) { write_parts(type, {&data, 1}); }

  // Writes a chunk whose data is `parts`, one after the other.
  void write_parts(std::string_view type, PngPixelWriter::IdatParts parts) {
    std::size_t size = 0;
    for (const auto& part : parts)
      size += part.size();
    Bytes head;
    put_number(head, size, 4);
    head.insert(head.end(), type.begin(), type.end());
    std::uint32_t checksum = crc32_gzip_refl(0, head.data() + 4, type.size());
    sink_.write(head);
    for (const auto& part : parts) {
      checksum = crc32_gzip_refl(checksum, part.data(), part.size());
      sink_.write(part);
    }
    Bytes tail;
    put_number(tail, checksum, 4);
    sink_.write(tail);
  }

  void write_metadata(const Metadata& metadata, PngPlace place) {
    for (const PngChunk& chunk : chunks_from_metadata(metadata, place, format_, left_out_))
      write_chunk(chunk.type, chunk.data);
  }

  ByteSink& sink_;
  ImageSize size_;
  PixelFormat format_;
  int level_;
  MetadataKinds kinds_;
  Metadata metadata_;  // from before the pixels
  // Exactly one of these two exists until the end.
  std::optional<PngHeldPicture> held_;
  std::optional<PngPixelWriter> pixels_;
};

}  // namespace

std::unique_ptr<RowWriter> create_png(ByteSink& sink, const PictureHeader& header,
                                      const WriteOptions& options) {
  return std::make_unique<PngWriter>(sink, header, options);
}

}  // namespace gpufilter
