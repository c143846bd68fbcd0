// Memory for the output of deflaters, and deflating long data in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// Uninitialised memory; std::vector would fill it with zeros first.
class ScratchBytes {
 public:
  // Makes room for `size` bytes. The content is lost if the memory has to grow.
  void reserve(std::size_t size) {
    if (size <= size_) return;
    size_ = 0;
    bytes_.reset(new std::uint8_t[size]);
    size_ = size;
  }
  [[nodiscard]] std::uint8_t* data() const { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
};

// The maximum size of a piece. ISA-L counts in 32 bits, and a chunk with a single long row may
// exceed them.
constexpr std::size_t longest_piece = std::size_t{4} << 20U;

// Calls deflate_piece(piece, out, is_last) for each piece of `data`, at least once. It writes at
// most `bound` bytes to `out` and returns their number; `is_last` says that the stream ends with
// the piece. Returns all bytes written, which are in `deflated`.
template <typename DeflatePiece>
std::span<const std::uint8_t> deflate_pieces(std::span<const std::uint8_t> data, std::size_t bound,
                                             bool last, ScratchBytes& deflated,
                                             const DeflatePiece& deflate_piece) {
  const std::size_t pieces =
      std::max<std::size_t>((data.size() + longest_piece - 1) / longest_piece, 1);
  deflated.reserve(pieces * bound);
  std::size_t size = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * longest_piece;
    const auto piece = data.subspan(begin, std::min(longest_piece, data.size() - begin));
    size += deflate_piece(piece, deflated.data() + size, last && i + 1 == pieces);
  }
  return {deflated.data(), size};
}

}  // namespace gpufilter
