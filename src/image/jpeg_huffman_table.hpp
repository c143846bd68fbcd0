// A Huffman code of a JPEG.
#pragma once

#include <array>
#include <cstdint>

namespace gpufilter {

struct JpegHuffmanTable {
  std::array<std::uint8_t, 17> counts{};  // of codes of 1 to 16 bits; the first element is unused
  std::array<std::uint8_t, 256> symbols{};
};

}  // namespace gpufilter
