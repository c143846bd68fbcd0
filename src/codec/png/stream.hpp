// A PNG file chunk by chunk: what libpng is to see of it, and the pixels apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "codec/byte_source.hpp"
#include "codec/png/ancillary.hpp"
#include "codec/png/chunk.hpp"
#include "codec/png/header.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// Which part of the program makes samples of a file's IDAT chunks.
// `pieces`: as automatic, but the index of a small file is used as well, which is slower.
enum class PngDecoder { automatic, libpng, pieces };

// Stands between a file and libpng, which sees the critical chunks and tRNS. All others go to
// ancillary(). Where the pixels are to be decoded by PngPixelReader, libpng sees one empty IDAT
// chunk in their place, and read_idat() yields them.
class PngStream {
 public:
  // `source` stands at the signature. Reads the header; throws as read_png_header() does.
  PngStream(std::unique_ptr<ByteSource> source, PngDecoder decoder);

  [[nodiscard]] const std::string& name() const { return source_->name(); }
  [[nodiscard]] const PngHeader& header() const { return header_; }
  [[nodiscard]] PngDecoder decoder() const { return decoder_; }

  // What comes next for libpng; fewer bytes only at the end. Throws PictureError.
  std::size_t read(std::span<std::uint8_t> buffer);

  // What was met of it so far.
  [[nodiscard]] PngAncillary& ancillary() { return ancillary_; }

  // Whether the pixels are kept from libpng; known once it has seen the first IDAT chunk's header.
  [[nodiscard]] bool keeps_pixels() const { return keeps_pixels_; }

  // The next bytes of consecutive IDAT chunks' data, fewer only where these end. Throws
  // PictureError where a chunk's checksum is wrong or the file ends.
  std::size_t read_idat(std::span<std::uint8_t> buffer);

  // Reads over the rest of the IDAT chunk that read_idat() stands in; throws as that does.
  void leave_idat();

  // Reads the next IDAT chunk into `bytes` as it stands in the file: length, type, data, checksum,
  // which is not checked. False where the file ends, and where another chunk or one with more data
  // than `longest` comes: `bytes` then holds what was read of it. Only where no part of an IDAT
  // chunk was read otherwise.
  [[nodiscard]] bool take_idat(Bytes& bytes, std::size_t longest);

  // Goes back to the first of `bytes`, what the last calls of take_idat() read, one after the
  // other. What follows is then read as if they had not been called; throws as read_idat() does.
  void put_back(Bytes bytes);

 private:
  using ChunkHead = std::array<std::uint8_t, 8>;  // length and type

  [[nodiscard]] bool begin_chunk();
  void begin_first_idat(const ChunkHead& head);
  [[nodiscard]] bool suits_pixel_reader();
  void serve(std::span<const std::uint8_t> bytes);
  void begin_idat(const ChunkHead& head);
  void begin_next_idat();
  void take_idat_bytes(std::span<std::uint8_t> bytes);
  void end_idat();
  void read_all(std::span<std::uint8_t> buffer);

  std::unique_ptr<ByteSource> source_;
  PngDecoder decoder_;
  PngHeader header_;
  PngAncillary ancillary_;
  std::optional<ChunkHead> next_head_;  // already read, of the chunk that comes next
  bool has_transparency_ = false;       // a tRNS chunk went by
  bool has_pixels_ = false;             // an IDAT chunk went by
  bool keeps_pixels_ = false;
  Bytes served_;  // for libpng, before anything else
  std::size_t served_at_ = 0;
  std::uint64_t left_ = 0;       // bytes that go to libpng before the next chunk begins
  std::uint64_t idat_left_ = 0;  // data bytes of the IDAT chunk that is being read
  std::uint32_t idat_crc_ = 0;
  bool in_idat_ = false;
};

}  // namespace gpufilter
