#include "host/turn_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/loops.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Rows and columns of a tile: its source and its target stay in the first-level cache, even if all
// rows map to the same sets.
constexpr int tile = 16;

template <size_t bytes>
[[gnu::always_inline]] inline void copy_pixel(const std::uint8_t* from, std::uint8_t* to) {
  std::memcpy(to, from, bytes);
}

// A turn without mirroring is a copy.
template <size_t bytes>
struct MirrorLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const std::uint8_t* from, std::uint8_t* to, int width) {
    const auto count = static_cast<size_t>(width);
    for (size_t x = 0; x < count; ++x)
      copy_pixel<bytes>(from + (count - 1 - x) * bytes, to + x * bytes);
  }
};

template <size_t bytes>
void turn_within_rows(const ConstRows& source, const Turn& turn, const MutableRows& target) {
  const int height = source.rows.count();
  for (int i = 0; i < height; ++i) {
    const std::uint8_t* from =
        source.row(source.rows.begin + (turn.mirrors_y ? height - 1 - i : i));
    std::uint8_t* to = target.row(target.rows.begin + i);
    if (turn.mirrors_x) {
      run_loop<MirrorLoop<bytes>>(from, to, source.width);
    } else {
      std::memcpy(to, from, static_cast<size_t>(source.width) * bytes);
    }
  }
}

// A row of the target is a column of the source.
template <size_t bytes>
struct SwapLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const Turn turn,
                                         const MutableRows target) {
    const int columns = source.rows.count();  // of the target
    const auto pitch = static_cast<std::ptrdiff_t>(source.pitch);
    const std::ptrdiff_t step = turn.mirrors_y ? -pitch : pitch;
    const std::uint8_t* first = source.data + (turn.mirrors_y ? (columns - 1) * pitch : 0);
    for (int row = 0; row < source.width; row += tile) {
      const int row_end = std::min(row + tile, source.width);
      for (int column = 0; column < columns; column += tile) {
        const int count = std::min(tile, columns - column);
        for (int r = row; r < row_end; ++r) {
          const int u = turn.mirrors_x ? source.width - 1 - r : r;
          const std::uint8_t* from = first + column * step + static_cast<size_t>(u) * bytes;
          std::uint8_t* to =
              target.row(target.rows.begin + r) + static_cast<size_t>(column) * bytes;
          for (int i = 0; i < count; ++i)
            copy_pixel<bytes>(from + i * step, to + static_cast<size_t>(i) * bytes);
        }
      }
    }
  }
};

template <size_t bytes>
void turn_pixels(const ConstRows& source, const Turn& turn, const MutableRows& target) {
  if (turn.swaps) {
    run_loop<SwapLoop<bytes>>(source, turn, target);
  } else {
    turn_within_rows<bytes>(source, turn, target);
  }
}

}  // namespace

void turn_rows(const ConstRows& source, const Turn& turn, const MutableRows& target) {
  switch (source.format.bytes_per_pixel()) {
    case 1:
      return turn_pixels<1>(source, turn, target);
    case 2:
      return turn_pixels<2>(source, turn, target);
    case 3:
      return turn_pixels<3>(source, turn, target);
    case 4:
      return turn_pixels<4>(source, turn, target);
    case 6:
      return turn_pixels<6>(source, turn, target);
    case 8:
      return turn_pixels<8>(source, turn, target);
    case 12:
      return turn_pixels<12>(source, turn, target);
    case 16:
      return turn_pixels<16>(source, turn, target);
    default:
      throw std::logic_error("pixels of a format that no stage passes on are to be turned");
  }
}

Image turned(Image image, const Turn& turn) {
  if (turn.changes_nothing()) return image;
  Image result(turn.size_of(image.size()), image.format());
  turn_rows(std::as_const(image).rows(), turn, result.rows());
  return result;
}

}  // namespace gpufilter
