// The compressed pixels of a PNG file, inflated from front to back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <isa-l/igzip_lib.h>

#include "codec/png/stream.hpp"

namespace gpufilter {

// A place between two blocks of a zlib stream, on a whole byte, and what was inflated before.
struct PngInflatePlace {
  std::uint64_t compressed_bytes = 0;          // of the zlib stream; 0: its beginning
  std::span<const std::uint8_t> history = {};  // the last 32 KiB at least, or all there is
  std::uint32_t adler32 = 1;                   // of all that was inflated
};

// Inflates what PngStream yields, by ISA-L. Throws PictureError in the words of libpng and zlib.
class PngInflater {
 public:
  // `stream` outlives the inflater; it stands at `from`. Reading goes on exactly as if this
  // inflater had come there by itself.
  explicit PngInflater(PngStream& stream, const PngInflatePlace& from = {});

  // Fills `output`; throws where the data end before.
  void inflate(std::span<std::uint8_t> output);

  // Throws unless the data end here, with the right checksum.
  void expect_end();

 private:
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] bool is_out_of_input() const;
  std::size_t step(std::span<std::uint8_t> output);
  void read_input();
  std::size_t take_kept_output(std::span<std::uint8_t> output);
  [[noreturn]] void refuse(const char* why) const;

  // Compressed bytes read at a time. More are read from the file's own buffer anyway.
  static constexpr std::size_t input_size = std::size_t{16} << 10U;

  PngStream& stream_;
  std::array<std::uint8_t, input_size> input_{};
  std::size_t next_read_;  // bytes
  bool input_ended_ = false;
  const char* failure_ = nullptr;  // what is wrong behind that which was inflated
  inflate_state state_{};
};

}  // namespace gpufilter
