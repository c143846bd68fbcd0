#include "codec/jpeg/move/moved_blocks.hpp"

#include <cstring>

#include "base/division.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t side = DCTSIZE;
using Line [[gnu::vector_size(side * sizeof(JCOEF))]] = JCOEF;
using Block = std::array<Line, side>;

// Numbers in the line of a block whose bits are all set where their sign changes.
Line signs(bool odd_columns, bool whole_line) {
  const auto column = static_cast<JCOEF>(odd_columns != whole_line ? -1 : 0);
  const auto line = static_cast<JCOEF>(whole_line ? -1 : 0);
  return Line{line, column, line, column, line, column, line, column};
}

// By interleaving lines three times.
void transpose(Block& from) {
  for (int round = 0; round < 3; ++round) {
    Block to;
    for (std::size_t n = 0; n < side / 2; ++n) {
      to[2 * n] = __builtin_shufflevector(from[n], from[n + side / 2], 0, 8, 1, 9, 2, 10, 3, 11);
      to[2 * n + 1] =
          __builtin_shufflevector(from[n], from[n + side / 2], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    from = to;
  }
}

}  // namespace

void turn_block(const JCOEF* source, const Turn& turn, JCOEF* target) {
  Block block;
  std::memcpy(&block, source, sizeof block);
  const Line even = signs(turn.mirrors_x, false);
  const Line odd = signs(turn.mirrors_x, turn.mirrors_y);
  for (std::size_t i = 0; i < side; i += 2) {
    block[i] = (block[i] ^ even) - even;
    block[i + 1] = (block[i + 1] ^ odd) - odd;
  }
  if (turn.swaps) transpose(block);
  std::memcpy(target, &block, sizeof block);
}

bool are_in_range(std::span<const JBLOCK> blocks) {
  constexpr unsigned bits = 10;
  constexpr Line all_but_dc{0, -1, -1, -1, -1, -1, -1, -1};
  Line ored{};  // magnitudes
  unsigned dc = 0;
  for (const JBLOCK& coefficients : blocks) {
    Block block;
    std::memcpy(&block, coefficients, sizeof block);
    dc |= static_cast<unsigned>(block[0][0] < 0 ? ~block[0][0] : block[0][0]);
    block[0] &= all_but_dc;
    for (const Line& line : block) {
      const Line sign = line >> 15;
      ored |= (line ^ sign) - sign;
    }
  }
  for (std::size_t i = 0; i < side; ++i)
    dc |= static_cast<unsigned>(ored[i]);
  return dc >> bits == 0;
}

MovedComponent::MovedComponent(const jpeg_decompress_struct& source, int index,
                               const Placement& placement, const std::vector<JBLOCKROW>& rows)
    : turn_(placement.turn), rows_(rows) {
  const jpeg_component_info& info = source.comp_info[index];
  const bool alone = source.num_components == 1;
  const ImageSize mcu = mcu_grid(source).mcu;
  const ImageSize sampling =
      alone ? ImageSize{1, 1} : ImageSize{info.h_samp_factor, info.v_samp_factor};
  const auto begin = [](bool mirrors, int corner, int size, int unit, int blocks) {
    return mirrors ? (corner + size) / unit * blocks - 1 : corner / unit * blocks;
  };
  first_ = {
      begin(turn_.mirrors_x, placement.corner.x, placement.size.width, mcu.width, sampling.width),
      begin(turn_.mirrors_y, placement.corner.y, placement.size.height, mcu.height,
            sampling.height)};
  step_ = {turn_.mirrors_x ? -1 : 1, turn_.mirrors_y ? -1 : 1};
  const ImageSize blocks{divided_up(placement.size.width * sampling.width, mcu.width),
                         divided_up(placement.size.height * sampling.height, mcu.height)};
  count_ = turn_.size_of(blocks);
  sampling_ = turn_.size_of(sampling);
}

void MovedComponent::fill(int row, JBLOCKROW target) const {
  for (int i = 0; i < count_.width; ++i) {
    const int across = turn_.swaps ? row : i;
    const int down = turn_.swaps ? i : row;
    const JBLOCKROW from = rows_[static_cast<std::size_t>(first_.y + down * step_.y)];
    turn_block(from[first_.x + across * step_.x], turn_, target[i]);
  }
}

}  // namespace gpufilter
