#include "net/net_loops.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/amx.hpp"
#include "host/loops.hpp"
#include "net/net_float_rows.hpp"
#include "net/net_integer_rows.hpp"
#include "net/net_regions.hpp"
#include "net/net_tile_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Above 2^22 half of the distance of neighbours is 0.5: the sum is rounded half to even.
[[gnu::always_inline]] inline float rounded(float number) {
  constexpr float above = 0x1.8p23F;
  return (number + above) - above;
}

[[gnu::always_inline]] inline float limited(float number, float low, float high) {
  const float raised = number > low ? number : low;  // a NaN is not above
  return raised < high ? raised : high;
}

// Values are read before the loops, so that stores cannot change them: otherwise GCC does not
// vectorise.
[[gnu::always_inline]] inline void activate(const float* from, float* to, size_t count,
                                            const NetActivation& activation, size_t channel) {
  const bool sloped = !activation.slopes.empty();
  const float slope = sloped ? activation.slopes[channel] : 1;
  const bool limits = activation.limits;
  const float low = activation.low;
  const float high = activation.high;
  if (sloped && limits) {
    for (size_t i = 0; i < count; ++i)
      to[i] = limited(from[i] < 0 ? from[i] * slope : from[i], low, high);
  } else if (sloped) {
    for (size_t i = 0; i < count; ++i)
      to[i] = from[i] < 0 ? from[i] * slope : from[i];
  } else if (limits) {
    for (size_t i = 0; i < count; ++i)
      to[i] = limited(from[i], low, high);
  } else {
    for (size_t i = 0; i < count; ++i)
      to[i] = from[i];
  }
}

std::vector<std::ptrdiff_t> tap_distances(const NetOperation& operation, const NetPlanes& in) {
  std::vector<std::ptrdiff_t> taps;
  const int inputs = in.value().channels / operation.groups;
  for (int ky = 0; ky < operation.kernel_height; ++ky) {
    for (int kx = 0; kx < operation.kernel_width; ++kx) {
      for (int i = 0; i < inputs; ++i) {
        taps.push_back(static_cast<std::ptrdiff_t>(static_cast<size_t>(ky) * in.row_pitch() +
                                                   static_cast<size_t>(i) * in.pitch()) +
                       kx);
      }
    }
  }
  return taps;
}

// Column x of a row.
[[gnu::always_inline]] inline const float* place(const NetPlanes& planes, int y, int channel,
                                                 int x) {
  return planes.row(y, channel) + (x - planes.columns().begin);
}
[[gnu::always_inline]] inline float* place(NetPlanes& planes, int y, int channel, int x) {
  return planes.row(y, channel) + (x - planes.columns().begin);
}

void convolution(const NetOperation& operation, const NetBlocks& weights, const NetPlanes& in,
                 NetPlanes& out, const RowRange& rows, const RowRange& columns) {
  const std::vector<std::ptrdiff_t> distances = tap_distances(operation, in);
  const auto inputs = static_cast<size_t>(in.value().channels / operation.groups);
  for (int y = rows.begin; y < rows.end; ++y) {
    net_float_row({.weights = weights,
                   .activation = operation.activation,
                   .distances = distances,
                   .in = place(in, y - operation.top, 0, columns.begin - operation.left),
                   .group_pitch = inputs * in.pitch(),
                   .out = place(out, y, 0, columns.begin),
                   .out_pitch = out.pitch(),
                   .columns = static_cast<size_t>(columns.count())});
  }
}

// Operations that compute a number from the numbers at the same place.
struct PointLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetOperation* operation, const NetPlanes* first,
                                         const NetPlanes* second, NetPlanes* out,
                                         const RowRange rows, const RowRange columns) {
    const auto count = static_cast<size_t>(columns.count());
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int c = 0; c < out->value().channels; ++c) {
        const auto channel = static_cast<size_t>(c);
        const float* const a = place(*first, y, c, columns.begin);
        const float* const b = place(*second, y, c, columns.begin);
        float* const to = place(*out, y, c, columns.begin);
        const float number = channel < operation->numbers.size() ? operation->numbers[channel] : 0;
        switch (operation->kind) {
          case NetOperator::activation:
            activate(a, to, count, operation->activation, channel);
            break;
          case NetOperator::add:
            for (size_t i = 0; i < count; ++i)
              to[i] = a[i] + b[i];
            break;
          case NetOperator::subtract:
            for (size_t i = 0; i < count; ++i)
              to[i] = a[i] - b[i];
            break;
          case NetOperator::multiply:
            for (size_t i = 0; i < count; ++i)
              to[i] = a[i] * number;
            break;
          default:  // offset
            for (size_t i = 0; i < count; ++i)
              to[i] = a[i] + number;
        }
      }
    }
  }
};

// Floats to bytes, four channels at a time.
struct QuantizeLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetOperation* operation, const NetPlanes* in,
                                         NetPlanes* out, const RowRange rows,
                                         const RowRange columns) {
    const auto count = static_cast<size_t>(columns.count());
    const int begin = columns.begin - in->columns().begin;
    const float scale = operation->numbers.front();
    const float low = operation->low;
    const float high = operation->high;
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int c = 0; c < in->value().channels; ++c) {
        const float* const from = in->row(y, c) + begin;
        std::uint32_t* const to = out->words(y, c / 4) + (columns.begin - out->columns().begin);
        const int shift = 8 * (c % 4);
        const std::uint32_t kept = shift == 0 ? 0 : ~std::uint32_t{0};
        for (size_t i = 0; i < count; ++i) {
          const float whole = rounded(limited(from[i] / scale, low, high));
          to[i] =
              (to[i] & kept) + (static_cast<std::uint32_t>(static_cast<int>(whole - low)) << shift);
        }
      }
    }
  }
};

struct DequantizeLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetOperation* operation, const NetPlanes* in,
                                         NetPlanes* out, const RowRange rows,
                                         const RowRange columns) {
    const auto count = static_cast<size_t>(columns.count());
    const int low = in->value().low;
    const float scale = operation->numbers.front();
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int c = 0; c < out->value().channels; ++c) {
        const std::uint32_t* const from =
            in->words(y, c / 4) + (columns.begin - in->columns().begin);
        float* const to = out->row(y, c) + (columns.begin - out->columns().begin);
        const int shift = 8 * (c % 4);
        for (size_t i = 0; i < count; ++i) {
          const int byte = static_cast<int>(from[i] >> shift & 255U);
          to[i] = static_cast<float>(byte + low) * scale;
        }
      }
    }
  }
};

// For each word of weights.
std::vector<std::ptrdiff_t> word_distances(const NetOperation& operation, const NetFours& fours,
                                           const NetPlanes& in) {
  std::vector<std::ptrdiff_t> distances;
  for (int ky = 0; ky < operation.kernel_height; ++ky) {
    for (int kx = 0; kx < operation.kernel_width; ++kx) {
      for (int plane = 0; plane < fours.planes; ++plane) {
        const size_t planes =
            static_cast<size_t>(ky) * in.row_pitch() + static_cast<size_t>(plane) * in.pitch();
        distances.insert(distances.end(), static_cast<size_t>(fours.parts),
                         static_cast<std::ptrdiff_t>(planes) + kx);
      }
    }
  }
  return distances;
}

void integer_convolution(const NetOperation& operation, const NetWeights& weights,
                         const NetPlanes& in, NetPlanes& out, const RowRange& rows,
                         const RowRange& columns) {
  const std::vector<std::ptrdiff_t> distances = word_distances(operation, weights.fours, in);
  const int left = columns.begin - operation.left - in.columns().begin;
  const NetIntegerRows all{
      .first = {.fours = weights.fours,
                .integers = operation.integers,
                .distances = distances,
                .in = in.words(rows.begin - operation.top, 0) + left,
                .in_pitch = in.pitch(),
                .out = out.words(rows.begin, 0) + (columns.begin - out.columns().begin),
                .out_pitch = out.pitch(),
                .outputs = static_cast<size_t>(out.value().channels),
                .out_low = out.value().low,
                .columns = static_cast<size_t>(columns.count())},
      .rows = static_cast<size_t>(rows.count()),
      .in_row_pitch = in.row_pitch(),
      .out_row_pitch = out.row_pitch()};
  if (weights.tiles.steps.empty()) return net_integer_rows(all);
  net_tile_rows(weights.tiles, all);
}

void copy_row(const float* from, float* to, int count) {
  for (int i = 0; i < count; ++i)
    to[i] = from[i];
}

void concatenate(std::span<const NetPlanes* const> inputs, NetPlanes& out, const RowRange& rows,
                 const RowRange& columns) {
  int channel = 0;
  for (const NetPlanes* in : inputs) {
    for (int c = 0; c < in->value().channels; ++c, ++channel) {
      for (int y = rows.begin; y < rows.end; ++y) {
        copy_row(place(*in, y, c, columns.begin), place(out, y, channel, columns.begin),
                 columns.count());
      }
    }
  }
}

// Each pixel of the result is a number of its block in the input.
void enlarge(const NetOperation& operation, const NetPlanes& in, NetPlanes& out,
             const RowRange& rows, const RowRange& columns) {
  const int factor = operation.factor;
  const bool shuffles = operation.kind == NetOperator::depth_to_space;
  const auto source_channel = [&](int c, int dx, int dy) {
    if (!shuffles) return c;
    const int place_in_block = dy * factor + dx;
    return operation.channels_first ? c * factor * factor + place_in_block
                                    : place_in_block * out.value().channels + c;
  };
  for (int y = rows.begin; y < rows.end; ++y) {
    const int source_y = floor_divide(y, factor);
    for (int c = 0; c < out.value().channels; ++c) {
      float* const to = place(out, y, c, 0);
      for (int dx = 0; dx < factor; ++dx) {
        const float* const from =
            place(in, source_y, source_channel(c, dx, y - source_y * factor), 0);
        int x = floor_divide(columns.begin, factor) * factor + dx;
        if (x < columns.begin) x += factor;
        for (int source_x = floor_divide(x, factor); x < columns.end; x += factor, ++source_x)
          to[x] = from[source_x];
      }
    }
  }
}

}  // namespace

NetWeights net_weights(const NetGraph& graph, const NetOperation& operation) {
  if (operation.kind != NetOperator::convolution) return {};
  if (operation.integer) {
    NetWeights weights{.fours = net_fours(graph, operation)};
    if (amx_in_use()) {
      NetTiles tiles = net_tiles(graph, operation, weights.fours);
      if (tiles.pay()) weights.tiles = std::move(tiles);
    }
    return weights;
  }
  const int outputs = graph.values[static_cast<size_t>(operation.output)].channels;
  return {.blocks = net_blocks_of(operation, outputs)};
}

void net_operation_rows(const NetOperation& operation, const NetWeights& weights,
                        std::span<const NetPlanes* const> inputs, NetPlanes& output,
                        const RowRange& rows, const RowRange& columns) {
  if (rows.count() <= 0 || columns.count() <= 0) return;
  const NetPlanes& first = *inputs.front();
  switch (operation.kind) {
    case NetOperator::convolution:
      if (operation.integer)
        return integer_convolution(operation, weights, first, output, rows, columns);
      return convolution(operation, weights.blocks, first, output, rows, columns);
    case NetOperator::quantize:
      return run_loop<QuantizeLoop>(&operation, &first, &output, rows, columns);
    case NetOperator::dequantize:
      return run_loop<DequantizeLoop>(&operation, &first, &output, rows, columns);
    case NetOperator::concat:
      return concatenate(inputs, output, rows, columns);
    case NetOperator::depth_to_space:
    case NetOperator::nearest:
      return enlarge(operation, first, output, rows, columns);
    default:
      return run_loop<PointLoop>(&operation, &first, inputs.back(), &output, rows, columns);
  }
}

}  // namespace gpufilter
