// Whether the pixels of a TIFF's strips and tiles are those that were compressed by deflate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/tiff/directory.hpp"
#include "codec/tiff/library.hpp"

namespace gpufilter {

// libtiff stops at the last pixel, before the checksum.
class ZlibCheck {
 public:
  // Both have to outlive this object. `stride`: samples from one to the next of the same channel.
  ZlibCheck(const TiffFile& file, const TiffReadAt& read, std::size_t stride);
  ~ZlibCheck();

  // Throws PictureError unless that strip or tile is a whole zlib stream: inflates it again,
  // without keeping anything.
  void expect_end(std::uint32_t block);

  // The same, for a block of which libtiff made these bytes in rows of `row_bytes`: faster if they
  // have the checksum in the last bytes of the block.
  void expect_end(std::uint32_t block, std::span<const std::uint8_t> bytes, std::size_t row_bytes);

 private:
  struct State;
  [[nodiscard]] std::uint32_t checksum_of(std::span<const std::uint8_t> bytes,
                                          std::size_t row_bytes);

  const TiffFile& file_;
  const TiffReadAt& read_;
  std::size_t stride_;
  bool is_reversed_;      // the bits of a byte
  std::uint16_t bits_;    // of a sample
  bool has_differences_;  // the stream has those between samples
  bool has_own_bytes_;    // what libtiff makes is what the stream has, but for differences
  std::vector<std::uint8_t> differences_;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
