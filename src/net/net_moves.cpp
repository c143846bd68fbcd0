#include "net/net_moves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Column x of a row is at [x].
const float* row_of(const NetPlanes& planes, int y, int channel) {
  return planes.row(y, channel) - planes.columns().begin;
}
float* row_of(NetPlanes& planes, int y, int channel) {
  return planes.row(y, channel) - planes.columns().begin;
}

void concatenate(const NetOperation& operation, std::span<const NetPlanes* const> inputs,
                 NetPlanes& out, const RowRange& rows, const RowRange& columns) {
  int channel = 0;
  for (const NetPick& pick : operation.picks) {
    const NetPlanes& in = *inputs[static_cast<size_t>(pick.input)];
    for (int c = pick.first; c < pick.first + pick.count; ++c, ++channel) {
      for (int y = rows.begin; y < rows.end; ++y) {
        std::copy_n(row_of(in, y, c) + columns.begin, columns.count(),
                    row_of(out, y, channel) + columns.begin);
      }
    }
  }
}

// The channel whose blocks of pixels become channels, and back.
int channel_of_block(const NetOperation& operation, int c, int place, int channels) {
  return operation.channels_first ? c * operation.factor * operation.factor + place
                                  : place * channels + c;
}

// Each pixel of the result is a number of its block in the input.
void enlarge(const NetOperation& operation, const NetPlanes& in, NetPlanes& out,
             const RowRange& rows, const RowRange& columns) {
  const int factor = operation.factor;
  const bool shuffles = operation.kind == NetOperator::depth_to_space;
  const int channels = out.value().channels;
  for (int y = rows.begin; y < rows.end; ++y) {
    const int source_y = floor_divide(y, factor);
    for (int c = 0; c < channels; ++c) {
      float* const to = row_of(out, y, c);
      for (int dx = 0; dx < factor; ++dx) {
        const int place = (y - source_y * factor) * factor + dx;
        const float* const from =
            row_of(in, source_y, shuffles ? channel_of_block(operation, c, place, channels) : c);
        int x = floor_divide(columns.begin, factor) * factor + dx;
        if (x < columns.begin) x += factor;
        for (int source_x = floor_divide(x, factor); x < columns.end; x += factor, ++source_x)
          to[x] = from[source_x];
      }
    }
  }
}

void reduce(const NetOperation& operation, const NetPlanes& in, NetPlanes& out,
            const RowRange& rows, const RowRange& columns) {
  const int factor = operation.factor;
  const int channels = in.value().channels;
  for (int c = 0; c < channels; ++c) {
    for (int place = 0; place < factor * factor; ++place) {
      const int channel = channel_of_block(operation, c, place, channels);
      for (int y = rows.begin; y < rows.end; ++y) {
        const float* const from = row_of(in, y * factor + place / factor, c);
        float* const to = row_of(out, y, channel);
        for (int x = columns.begin; x < columns.end; ++x)
          to[x] = from[x * factor + place % factor];
      }
    }
  }
}

// The position of the input that Pad puts at i; -1: none, there is 0.
int padded_position(NetPadding padding, int i, int length, Border border) {
  if (border == Border::wrap) return i;
  if (padding == NetPadding::constant) return i >= 0 && i < length ? i : -1;
  return border_position(padding == NetPadding::edge ? Border::replicate : Border::mirror, i,
                         length);
}

void pad(const NetOperation& operation, const NetPlanes& in, NetPlanes& out, const RowRange& rows,
         const RowRange& columns) {
  // Without limits where the picture wraps.
  const bool wraps = in.border() == Border::wrap;
  for (int y = rows.begin; y < rows.end; ++y) {
    const int from_y =
        padded_position(operation.padding, y - operation.top, in.size().height, in.border());
    for (int x = columns.begin; x < columns.end; ++x) {
      const int from_x =
          padded_position(operation.padding, x - operation.left, in.size().width, in.border());
      const bool inside = wraps || (from_x >= 0 && from_y >= 0);
      for (int c = 0; c < out.value().channels; ++c)
        row_of(out, y, c)[x] = inside ? row_of(in, from_y, c)[from_x] : operation.numbers[0];
    }
  }
}

void maximum(const NetOperation& operation, const NetPlanes& in, NetPlanes& out,
             const RowRange& rows, const RowRange& columns) {
  const bool limits = in.border() == Border::constant;
  for (int c = 0; c < out.value().channels; ++c) {
    for (int y = rows.begin; y < rows.end; ++y) {
      float* const to = row_of(out, y, c);
      std::fill(to + columns.begin, to + columns.end, -std::numeric_limits<float>::infinity());
      for (int ky = 0; ky < operation.kernel_height; ++ky) {
        const int from_y = y * operation.stride_y + ky * operation.dilation_y - operation.top;
        if (limits && (from_y < 0 || from_y >= in.size().height)) continue;
        const float* const from = row_of(in, from_y, c);
        for (int kx = 0; kx < operation.kernel_width; ++kx) {
          const int before = operation.left - kx * operation.dilation_x;
          for (int x = columns.begin; x < columns.end; ++x) {
            const int from_x = x * operation.stride_x - before;
            if (limits && (from_x < 0 || from_x >= in.size().width)) continue;
            to[x] = from[from_x] > to[x] ? from[from_x] : to[x];
          }
        }
      }
    }
  }
}

// Sums in `lanes`: each of numbers that are as many apart, then of halves of them. The order
// depends on the count alone.
constexpr int lanes = 64;
float sum_of(std::array<float, lanes>& sums) {
  for (size_t half = lanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i)
      sums[i] += sums[i + half];
  }
  return sums[0];
}

void sum_columns(const NetPlanes& in, NetPlanes& out, const RowRange& rows) {
  const int width = in.size().width;
  const auto factor = static_cast<float>(1.0 / width);
  for (int y = rows.begin; y < rows.end; ++y) {
    for (int c = 0; c < out.value().channels; ++c) {
      const float* const from = row_of(in, y, c);
      std::array<float, lanes> sums{};
      for (int x = 0; x < width; x += lanes) {
        const int count = std::min(lanes, width - x);
        for (int i = 0; i < count; ++i)
          sums[static_cast<size_t>(i)] += from[x + i];
      }
      row_of(out, y, c)[0] = sum_of(sums) * factor;
    }
  }
}

void sum_rows(const NetPlanes& in, NetPlanes& out) {
  const int height = in.size().height;
  const auto factor = static_cast<float>(1.0 / height);
  for (int c = 0; c < out.value().channels; ++c) {
    std::array<float, lanes> sums{};
    for (int y = 0; y < height; ++y)
      sums[static_cast<size_t>(y % lanes)] += row_of(in, y, c)[0];
    row_of(out, 0, c)[0] = sum_of(sums) * factor;
  }
}

// The taps of positions, whose input positions are limited to the input's unless it wraps.
struct ResizeAxis {
  std::vector<NetTap> taps;
  bool limits;
  int length;  // of the input

  ResizeAxis(const NetResize& resize, const RowRange& span, int from, int to, Border border)
      : limits(border != Border::wrap), length(from) {
    for (int i = span.begin; i < span.end; ++i)
      taps.push_back(net_tap(resize, i, from, to));
  }
  [[nodiscard]] int position(const NetTap& tap, int k) const {
    return limits ? std::clamp(tap.first + k, 0, length - 1) : tap.first + k;
  }
};

struct ResizeLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ResizeAxis* across,
                                         const std::array<const float*, 4>* from,
                                         const NetTap* down, int taps, float* to) {
    for (size_t x = 0; x < across->taps.size(); ++x) {
      const NetTap& tap = across->taps[x];
      float sum = 0;
      for (int ky = 0; ky < taps; ++ky) {
        float row = 0;
        for (int kx = 0; kx < taps; ++kx) {
          row = fused_multiply_add<set>(tap.weights[static_cast<size_t>(kx)],
                                        (*from)[static_cast<size_t>(ky)][across->position(tap, kx)],
                                        row);
        }
        sum = fused_multiply_add<set>(down->weights[static_cast<size_t>(ky)], row, sum);
      }
      to[x] = sum;
    }
  }
};

void resize(const NetOperation& operation, const NetPlanes& in, NetPlanes& out,
            const RowRange& rows, const RowRange& columns) {
  const ResizeAxis across(operation.resize, columns, in.size().width, out.size().width,
                          in.border());
  const ResizeAxis down(operation.resize, rows, in.size().height, out.size().height, in.border());
  const int taps = operation.resize.cubic ? 4 : 2;
  for (int c = 0; c < out.value().channels; ++c) {
    for (int y = rows.begin; y < rows.end; ++y) {
      const NetTap& tap = down.taps[static_cast<size_t>(y - rows.begin)];
      std::array<const float*, 4> from{};
      for (int k = 0; k < taps; ++k)
        from[static_cast<size_t>(k)] = row_of(in, down.position(tap, k), c);
      run_loop<ResizeLoop>(&across, &from, &tap, taps, row_of(out, y, c) + columns.begin);
    }
  }
}

}  // namespace

void net_move_rows(const NetOperation& operation, std::span<const NetPlanes* const> inputs,
                   NetPlanes& output, const RowRange& rows, const RowRange& columns) {
  const NetPlanes& in = *inputs.front();
  switch (operation.kind) {
    case NetOperator::concat:
      return concatenate(operation, inputs, output, rows, columns);
    case NetOperator::space_to_depth:
      return reduce(operation, in, output, rows, columns);
    case NetOperator::pad:
      return pad(operation, in, output, rows, columns);
    case NetOperator::maximum:
      return maximum(operation, in, output, rows, columns);
    case NetOperator::sum_columns:
      return sum_columns(in, output, rows);
    case NetOperator::sum_rows:
      return sum_rows(in, output);
    case NetOperator::resize:
      return resize(operation, in, output, rows, columns);
    default:
      return enlarge(operation, in, output, rows, columns);
  }
}

}  // namespace gpufilter
