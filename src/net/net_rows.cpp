#include "net/net_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/stop.hpp"
#include "host/amx.hpp"
#include "host/loops.hpp"
#include "net/net_integer_rows.hpp"
#include "net/net_planes.hpp"
#include "net/net_tiles.hpp"

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

// Operations that compute a value from the values at the same position.
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

// Each pixel of the result is a value of its block in the input.
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

namespace {

// A strip of columns is as wide as the rows of all values fit the second-level cache, but at least
// several times as wide as its halo.
constexpr size_t cached_numbers = size_t{192} << 10U;
constexpr int minimum_radii = 8;
constexpr int minimum_columns = 128;
// Rows of the network's input whose results are computed before the next layer's.
constexpr int rows_at_once = 8;

// Numbers of all values for a column of a strip.
size_t numbers_a_column(const NetGraph& graph) {
  const auto spans =
      net_spans(graph, NetAxis::rows, {0, rows_at_once * graph.scale()}, 1, Border::wrap);
  size_t sum = 0;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    sum += static_cast<size_t>(spans[i].count()) *
           static_cast<size_t>(graph.values[i].planes() * graph.values[i].scale);
  }
  return sum;
}

// Columns of the source.
int strip_columns(const NetGraph& graph, int width) {
  const auto suiting = static_cast<int>(cached_numbers / numbers_a_column(graph));
  return std::min(width, std::max({suiting, minimum_columns, minimum_radii * net_radius(graph)}));
}

// Goes down one strip of columns.
class Strip {
 public:
  Strip(const NetGraph& graph, const std::vector<NetWeights>& weights, const NetUse& use,
        const ConstRows& source, ImageSize size, const RowRange& columns)
      : graph_(graph),
        weights_(weights),
        use_(use),
        source_(source),
        size_(size),
        columns_(columns) {
    const auto spans = net_spans(graph, NetAxis::columns, columns, size.width, use.border);
    for (size_t i = 0; i < spans.size(); ++i)
      planes_.emplace_back(graph.values[i], spans[i]);
  }

  // Computes these rows of the result; they follow those before.
  void compute(const RowRange& rows) {
    const auto spans = net_spans(graph_, NetAxis::rows, rows, size_.height, use_.border);
    const RowRange fresh = planes_.front().advance(spans.front());
    net_unpack(use_, source_, size_, fresh, planes_.front());
    for (size_t i = 0; i < graph_.operations.size(); ++i) {
      const auto output = static_cast<size_t>(graph_.operations[i].output);
      run(graph_.operations[i], weights_[i], planes_[output].advance(spans[output]));
    }
  }

  void pack(const RowRange& rows, const ConstRows& base, const MutableRows& target) const {
    const NetPlanes& result = planes_[static_cast<size_t>(graph_.output)];
    for (int y = rows.begin; y < rows.end; ++y)
      net_pack(use_, result, y, columns_, base, target);
  }

 private:
  void run(const NetOperation& operation, const NetWeights& weights, const RowRange& fresh) {
    const auto output = static_cast<size_t>(operation.output);
    const NetValue& value = graph_.values[output];
    NetPlanes& planes = planes_[output];
    const RowRange rows = computed_span(value, fresh, size_.height, use_.border);
    const RowRange columns = computed_span(value, planes.columns(), size_.width, use_.border);
    std::vector<const NetPlanes*> inputs;
    for (const int input : operation.inputs)
      inputs.push_back(&planes_[static_cast<size_t>(input)]);
    net_operation_rows(operation, weights, inputs, planes, rows, columns);
    if (use_.border == Border::wrap) return;
    planes.fill_columns(rows, size_.width * value.scale, use_.border);
    planes.fill_rows(fresh, size_.height * value.scale, use_.border);
  }

  const NetGraph& graph_;
  const std::vector<NetWeights>& weights_;
  const NetUse& use_;
  const ConstRows& source_;
  ImageSize size_;
  RowRange columns_;
  std::vector<NetPlanes> planes_;
};

}  // namespace

void net_rows(const NetGraph& graph, const NetUse& use, const ConstRows& source,
              const ConstRows& base, const MutableRows& target, ImageSize size) {
  const int scale = graph.scale();
  const int across = strip_columns(graph, size.width) * scale;
  const int down = rows_at_once * scale;
  const int width = size.width * scale;
  std::vector<NetWeights> weights;
  for (const NetOperation& operation : graph.operations)
    weights.push_back(net_weights(graph, operation));
  for (int x = 0; x < width; x += across) {
    const RowRange columns{x, std::min(x + across, width)};
    Strip strip(graph, weights, use, source, size, columns);
    for (int y = target.rows.begin; y < target.rows.end; y += down) {
      check_stop();
      const RowRange rows{y, std::min(y + down, target.rows.end)};
      strip.compute(rows);
      strip.pack(rows, base, target);
    }
  }
}

std::uint64_t net_rows_memory(const NetGraph& graph, int width) {
  const int columns = strip_columns(graph, width) + 2 * net_radius(graph) + net_slack;
  return sizeof(float) * static_cast<std::uint64_t>(columns) * numbers_a_column(graph);
}

int net_suitable_rows(const NetGraph& graph) {
  return std::max(2 * rows_at_once, minimum_radii * net_radius(graph)) * graph.scale();
}

}  // namespace gpufilter
