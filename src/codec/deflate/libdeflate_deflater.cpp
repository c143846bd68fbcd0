#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include <libdeflate.h>

#include "codec/deflate/deflaters.hpp"
#include "codec/deflate/format.hpp"
#include "codec/deflate/isal_state.hpp"

namespace gpufilter {
namespace {

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

// A whole deflate stream. Places in it are bits from its beginning.
using Stream = std::span<std::uint8_t>;

bool bit_at(Stream stream, std::size_t place) {
  return (stream[place / 8] >> place % 8 & 1U) != 0;
}

void clear_bit(Stream stream, std::size_t place) {
  stream[place / 8] = static_cast<std::uint8_t>(stream[place / 8] & ~(1U << place % 8));
}

// Inflates a stream block by block.
class BlockInflater {
 public:
  // Inflated blocks will be written to `inflated`, one after the other.
  void start(std::span<std::uint8_t> inflated) {
    inflated_ = inflated;
    inflated_size_ = 0;
  }

  // Inflates the next block, which begins at `begin`, and returns its end. ISA-L stops only after a
  // final block, so every block is presented as one. Each call sets up ISA-L's input again.
  std::size_t inflate(Stream stream, std::size_t begin) {
    const std::size_t history = std::min(inflated_size_, longest_distance);
    std::uint8_t* next_out = inflated_.data() + inflated_size_;
    isal_inflate_init(&state_);
    if (isal_inflate_set_dict(&state_, next_out - history, static_cast<std::uint32_t>(history)) !=
        COMP_OK)
      throw std::logic_error("ISA-L does not accept the bytes before a block");
    isal_set_single_block(state_, stream, begin);
    state_.next_out = next_out;
    state_.avail_out = static_cast<std::uint32_t>(inflated_.size() - inflated_size_);
    if (isal_inflate(&state_) != ISAL_DECOMP_OK || !isal_has_ended(state_))
      throw std::logic_error("ISA-L cannot inflate the output of libdeflate");
    inflated_size_ = inflated_.size() - state_.avail_out;
    return stream.size() * 8 - isal_unread_bits(state_);
  }

  [[nodiscard]] std::size_t inflated_size() const { return inflated_size_; }

 private:
  inflate_state state_{};
  std::span<std::uint8_t> inflated_;
  std::size_t inflated_size_ = 0;
};

// ISA-L counts in 32 bits, and a chunk with a single long row may exceed them.
constexpr std::size_t longest_piece = std::size_t{4} << 20U;

// A stored block without data, after the three bits that it begins with.
constexpr std::array<std::uint8_t, 4> empty_stored_block{0x00, 0x00, 0xff, 0xff};
constexpr std::size_t block_type_bits = 3;
constexpr std::size_t max_appended = empty_stored_block.size() + 1;

}  // namespace

struct LibdeflateDeflater::State {
  static constexpr std::size_t levels = 13;
  std::array<std::unique_ptr<libdeflate_compressor, FreeCompressor>, levels> compressors;
  libdeflate_compressor* compressor = nullptr;  // the current compressor
  BlockInflater inflater;
  ScratchBytes inflated;
  ScratchBytes deflated;

  void set_level(int level) {
    auto& of_level = compressors.at(static_cast<std::size_t>(level));
    if (!of_level) of_level.reset(libdeflate_alloc_compressor(level));
    if (!of_level) throw std::bad_alloc();
    compressor = of_level.get();
  }

  // Changes `stream`, the deflated `piece`, so that another block can follow, and returns its new
  // size; there is room for max_appended bytes after it. libdeflate marks the last block as final
  // and does not report its beginning, so the blocks are inflated to find it. The mark is removed,
  // and an empty stored block fills the last byte.
  std::size_t open_end(std::span<const std::uint8_t> piece, Stream stream) {
    inflated.reserve(piece.size());
    inflater.start({inflated.data(), piece.size()});
    std::size_t begin = 0;
    std::size_t end = inflater.inflate(stream, begin);
    while (!bit_at(stream, begin)) {
      begin = end;
      end = inflater.inflate(stream, begin);
    }
    const std::size_t unused = stream.size() * 8 - end;  // bits
    if (unused >= 8 || inflater.inflated_size() != piece.size() ||
        !std::equal(piece.begin(), piece.end(), inflated.data()))
      throw std::logic_error("what libdeflate deflated inflates to something else");
    clear_bit(stream, begin);
    std::uint8_t* next = stream.data() + stream.size();
    if (unused < block_type_bits) *next++ = 0;
    next = std::copy(empty_stored_block.begin(), empty_stored_block.end(), next);
    return static_cast<std::size_t>(next - stream.data());
  }
};

LibdeflateDeflater::LibdeflateDeflater() : state_(std::make_unique<State>()) {}
LibdeflateDeflater::~LibdeflateDeflater() = default;

std::span<const std::uint8_t> LibdeflateDeflater::deflate(std::span<const std::uint8_t> data,
                                                          int level, bool last) {
  State& state = *state_;
  state.set_level(level);
  const std::size_t bound =
      libdeflate_deflate_compress_bound(state.compressor, std::min(data.size(), longest_piece));
  const std::size_t pieces =
      std::max<std::size_t>((data.size() + longest_piece - 1) / longest_piece, 1);
  state.deflated.reserve(pieces * (bound + max_appended));
  std::uint8_t* out = state.deflated.data();
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * longest_piece;
    const auto piece = data.subspan(begin, std::min(longest_piece, data.size() - begin));
    const std::size_t size =
        libdeflate_deflate_compress(state.compressor, piece.data(), piece.size(), out, bound);
    if (size == 0) throw std::logic_error("libdeflate found no room for a deflated chunk");
    out += last && i + 1 == pieces ? size : state.open_end(piece, {out, size});
  }
  return {state.deflated.data(), out};
}

}  // namespace gpufilter
