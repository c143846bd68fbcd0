// The headers of Netpbm's formats, as its manual pages ppm(5), pgm(5), pbm(5) and pam(5) describe
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "codec/byte_source.hpp"

namespace gpufilter {

// The file's bytes one by one, for text, and in pieces. Failures name the file.
class NetpbmInput {
 public:
  explicit NetpbmInput(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  [[nodiscard]] const std::string& name() const { return source_->name(); }

  // The next byte; throws PictureError at the end of the file.
  [[nodiscard]] char next();

  // The next byte of plain text in which "#" begins a comment that lasts to the end of its line;
  // the comment reads as a line feed.
  [[nodiscard]] char next_of_text();

  // A number of plain text, after white space. The byte behind it is consumed; it may be the end of
  // the file.
  [[nodiscard]] std::uint32_t number();

  // Fills `bytes`, or throws PictureError.
  void read(std::span<std::uint8_t> bytes);

  // Whether another picture follows.
  [[nodiscard]] bool begins_another();

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  [[nodiscard]] bool is_at_end();

  std::unique_ptr<ByteSource> source_;
  std::array<std::uint8_t, 4096> text_{};  // read ahead by next()
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

struct NetpbmHeader {
  char kind = '6';  // of the magic number
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int channels = 3;
  std::uint32_t maxval = 255;

  [[nodiscard]] bool is_plain() const { return kind <= '3'; }
  [[nodiscard]] bool is_bitmap() const { return kind == '1' || kind == '4'; }
};

// Reads up to the first sample. Throws PictureError.
[[nodiscard]] NetpbmHeader read_netpbm_header(NetpbmInput& input);

}  // namespace gpufilter
