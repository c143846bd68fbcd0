// PNG for tests without libpng: an independently written decoder, files taken apart and put
// together chunk by chunk, and what zlib makes of deflated data.
#pragma once

#include "image/metadata.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// Samples as the codec yields them: palettes and grey below 8 bits as 8 bits, tRNS as alpha, 16
// bits as numbers.
struct DecodedPng {
  int width = 0;
  int height = 0;
  int channels = 0;
  int depth = 0;
  std::vector<std::uint16_t> samples;
};

// Decodes a valid file. Throws std::runtime_error if it cannot; checksums are ignored.
[[nodiscard]] DecodedPng decode_png(std::span<const std::uint8_t> file);

// The samples of each pixel as red, green, blue and alpha.
[[nodiscard]] std::vector<std::uint16_t> as_rgba(const DecodedPng& decoded);

struct PngPart {
  std::string type;
  Bytes data;
  std::size_t offset = 0;  // of the data in the file
  bool damaged = false;
};

// The chunks of a complete file.
[[nodiscard]] std::vector<PngPart> split_png(std::span<const std::uint8_t> file);

// A file with these chunks, with signature, lengths and checksums, which are wrong if `damaged`
// says so; offsets are ignored.
[[nodiscard]] Bytes join_png(std::span<const PngPart> parts);

// The data of an IHDR chunk.
[[nodiscard]] Bytes png_header(std::uint32_t width, std::uint32_t height, int depth, int color_type,
                               int interlacing = 0);

[[nodiscard]] Bytes deflated(std::span<const std::uint8_t> plain, int level = 6);

// A file of `rows` (filter bytes included), deflated, with the chunks `between` before them.
[[nodiscard]] Bytes file_of_rows(const Bytes& header, const std::vector<PngPart>& between,
                                 const Bytes& rows);

struct Inflated {
  Bytes bytes;
  bool complete = false;  // the final block was there
  bool joinable = true;   // more blocks may follow: the last one is complete and ends on a byte
  std::size_t rest = 0;   // of the input, behind it
  int blocks = 0;
};

// Inflates raw deflate data; up to 100 bytes more than `size` are noticed.
[[nodiscard]] Inflated inflated(std::span<const std::uint8_t> deflated, std::size_t size);

}  // namespace gpufilter::test
