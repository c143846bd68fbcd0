#include "codec/deflate/isal_deflater.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <isa-l/igzip_lib.h>

#include "codec/deflate/pieces.hpp"

namespace gpufilter {
namespace {

constexpr std::uint32_t level_buffer_size(int level) {
  constexpr std::array<std::uint32_t, 4> sizes{0, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                               ISAL_DEF_LVL3_DEFAULT};
  return sizes.at(static_cast<std::size_t>(level));
}

// What a piece becomes at most: stored, in blocks, with the end of the last one.
constexpr std::size_t deflate_bound(std::size_t size) {
  return size + size / 8 + 4096;
}

}  // namespace

struct IsalDeflater::State {
  isal_zstream stream{};
  ScratchBytes level_buffer;
  ScratchBytes deflated;

  std::size_t deflate_piece(std::span<const std::uint8_t> piece, int level, bool last,
                            std::uint8_t* out) {
    isal_deflate_stateless_init(&stream);
    stream.level = static_cast<std::uint32_t>(level);
    stream.level_buf = level_buffer.data();
    stream.level_buf_size = level_buffer_size(level);
    stream.flush = FULL_FLUSH;
    stream.end_of_stream = last ? 1 : 0;
    stream.next_in = const_cast<std::uint8_t*>(piece.data());  // ISA-L only reads it
    stream.avail_in = static_cast<std::uint32_t>(piece.size());
    stream.next_out = out;
    stream.avail_out = static_cast<std::uint32_t>(deflate_bound(piece.size()));
    if (isal_deflate_stateless(&stream) != COMP_OK || stream.avail_in != 0) {
      throw std::logic_error("ISA-L found no room for a deflated chunk");
    }
    return stream.total_out;
  }
};

IsalDeflater::IsalDeflater() : state_(std::make_unique<State>()) {}
IsalDeflater::~IsalDeflater() = default;

std::span<const std::uint8_t> IsalDeflater::deflate(std::span<const std::uint8_t> data, int level,
                                                    bool last) {
  State& state = *state_;
  state.level_buffer.reserve(level_buffer_size(level));
  return deflate_pieces(data, deflate_bound(std::min(data.size(), longest_piece)), last,
                        state.deflated,
                        [&](std::span<const std::uint8_t> piece, std::uint8_t* out, bool is_last) {
                          return state.deflate_piece(piece, level, is_last, out);
                        });
}

}  // namespace gpufilter
