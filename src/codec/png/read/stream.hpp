// Splits a PNG file into the part that libpng reads and the part that this program reads itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "codec/byte_source.hpp"
#include "codec/formats.hpp"
#include "codec/png/read/chunk.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// The values of a valid IHDR chunk.
struct PngHeader {
  std::uint32_t width = 0;   // 1 to 2^31 - 1
  std::uint32_t height = 0;  // the same
  int depth = 0;             // bits a sample
  int color_type = 0;
  bool interlaced = false;
  // The format in which rows are read, unless a tRNS chunk adds alpha.
  PixelFormat format;
  FilePixels file_pixels;
  // The signature and the chunk as in the file, for libpng.
  std::array<std::uint8_t, 33> bytes{};
};

// libpng reads the file through read(): it sees the critical chunks and tRNS. All other chunks go
// to ancillary(). If this program decodes the pixels, libpng sees one empty IDAT chunk instead,
// and read_idat() returns the pixels' data.
class PngStream {
 public:
  // The signature is the next thing in `source`. Reads the header: throws PictureError
  // if the file ends, if another chunk is the first, or if the checksum or a value is wrong.
  PngStream(std::unique_ptr<ByteSource> source, PngDecoder decoder);

  [[nodiscard]] const std::string& name() const { return source_->name(); }
  [[nodiscard]] const PngHeader& header() const { return header_; }
  [[nodiscard]] PngDecoder decoder() const { return decoder_; }

  // The next bytes for libpng, fewer only at the end. Throws PictureError.
  std::size_t read(std::span<std::uint8_t> buffer);

  // The ancillary chunks that were read so far.
  [[nodiscard]] PngAncillary& ancillary() { return ancillary_; }

  // Whether this program decodes the pixels. Known once libpng has read the header of an IDAT
  // chunk.
  [[nodiscard]] bool keeps_pixels() const { return keeps_pixels_; }

  // From now on read_idat() yields all bytes before damage, and then fewer than requested.
  void keep_damaged() { keeps_damaged_ = true; }
  // Throws what read_idat() would have thrown then.
  void throw_damage() const {
    if (damage_) std::rethrow_exception(damage_);
  }

  // The next data bytes of consecutive IDAT chunks, fewer only at the end of the last one. Throws
  // PictureError if a chunk's checksum is wrong or the file ends.
  std::size_t read_idat(std::span<std::uint8_t> buffer);

  // Skips the rest of the current IDAT chunk, but checks it. Throws as read_idat().
  void leave_idat();

  // Reads the next IDAT chunk as in the file: length, type, data, checksum, which is not checked.
  // False if the file ends, if another chunk follows, or if the chunk has more than `longest` data
  // bytes: `bytes` then holds the part that was read. Not to be mixed with read_idat().
  [[nodiscard]] bool take_idat(Bytes& bytes, std::size_t longest);

  // After the last chunk: as gpufilter::note_rest().
  void note_rest(std::vector<std::string>& unread) { gpufilter::note_rest(*source_, unread); }

  // Undoes the last calls of take_idat(), whose results `bytes` holds one after the other.
  // read_idat() continues with them. Throws as read_idat().
  void put_back(Bytes bytes);

 private:
  using ChunkHead = std::array<std::uint8_t, 8>;  // length and type

  [[nodiscard]] bool begin_chunk();
  void begin_first_idat(const ChunkHead& head);
  [[nodiscard]] bool suits_pixel_reader();
  void serve(std::span<const std::uint8_t> bytes);
  void begin_idat(const ChunkHead& head);
  void begin_next_idat();
  void note_damage();
  std::size_t take_idat_bytes(std::span<std::uint8_t> bytes);
  void end_idat();

  std::unique_ptr<ByteSource> source_;
  PngDecoder decoder_;
  PngHeader header_;
  PngAncillary ancillary_;
  std::optional<ChunkHead> next_head_;  // already read, of the chunk that comes next
  bool has_transparency_ = false;       // a tRNS chunk was read
  bool has_pixels_ = false;             // an IDAT chunk was read
  bool keeps_pixels_ = false;
  Bytes served_;  // for libpng, before anything else
  std::size_t served_at_ = 0;
  std::uint64_t left_ = 0;       // bytes that go to libpng before the next chunk begins
  std::uint64_t idat_left_ = 0;  // data bytes of the IDAT chunk that is being read
  std::uint32_t idat_crc_ = 0;
  bool in_idat_ = false;
  bool keeps_damaged_ = false;
  std::exception_ptr damage_;
};

}  // namespace gpufilter
