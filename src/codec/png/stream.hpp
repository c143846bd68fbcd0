// A PNG file chunk by chunk: what libpng is to see of it, and the pixels apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "codec/byte_source.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// Which part of the program makes samples of a file's IDAT chunks.
enum class PngDecoder { automatic, libpng };

// Stands between a file and libpng and passes on all bytes, except where the pixels are to be
// decoded by PngPixelReader: then libpng sees one empty IDAT chunk in their place, and read_idat()
// yields them.
class PngStream {
 public:
  // `source` stands at the signature.
  PngStream(std::unique_ptr<ByteSource> source, PngDecoder decoder);

  [[nodiscard]] const std::string& name() const { return source_->name(); }

  // The first bytes of the file, before anything was read.
  [[nodiscard]] std::span<const std::uint8_t> head() { return source_->peek(head_size); }
  static constexpr std::size_t head_size = 33;  // the signature and the IHDR chunk

  // What comes next for libpng; fewer bytes only at the end. Throws PictureError.
  std::size_t read(std::span<std::uint8_t> buffer);

  // Whether the pixels are kept from libpng; known once it has seen the first IDAT chunk's header.
  [[nodiscard]] bool keeps_pixels() const { return keeps_pixels_; }

  // The next bytes of consecutive IDAT chunks' data, fewer only where these end. Throws
  // PictureError where a chunk's checksum is wrong or the file ends.
  std::size_t read_idat(std::span<std::uint8_t> buffer);

  // Reads over the rest of the IDAT chunk that read_idat() stands in; throws as that does. What
  // follows is libpng's.
  void leave_idat();

 private:
  void begin_chunk();
  [[nodiscard]] bool suits_pixel_reader();
  void serve(std::span<const std::uint8_t> bytes);
  void begin_idat(std::span<const std::uint8_t> chunk_head);
  void begin_next_idat();
  void take_idat_bytes(std::span<std::uint8_t> bytes);
  void end_idat();
  void read_all(std::span<std::uint8_t> buffer);

  std::unique_ptr<ByteSource> source_;
  PngDecoder decoder_;
  bool plain_ = false;  // by the header: neither interlaced nor a palette or below 8 bits
  bool has_transparency_ = false;  // a tRNS chunk went by
  bool has_pixels_ = false;        // an IDAT chunk went by
  bool keeps_pixels_ = false;
  Bytes served_;  // for libpng, before anything else
  std::size_t served_at_ = 0;
  std::uint64_t left_;           // bytes that go to libpng before the next chunk begins
  std::uint64_t idat_left_ = 0;  // data bytes of the IDAT chunk that is being read
  std::uint32_t idat_crc_ = 0;
  bool in_idat_ = false;
};

}  // namespace gpufilter
