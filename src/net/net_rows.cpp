#include "net/net_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "base/stop.hpp"
#include "host/amx.hpp"
#include "host/loops.hpp"
#include "net/net_attention_rows.hpp"
#include "net/net_integer_rows.hpp"
#include "net/net_moves.hpp"
#include "net/net_planes.hpp"
#include "net/net_points.hpp"
#include "net/net_schedule.hpp"
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

// Of each tap from the first one, in the chain's order.
std::vector<std::ptrdiff_t> tap_distances(const NetOperation& operation, const NetPlanes& in) {
  std::vector<std::ptrdiff_t> taps;
  const int inputs = in.value().channels / operation.groups;
  for (int ky = 0; ky < operation.kernel_height; ++ky) {
    const size_t row = static_cast<size_t>(ky * operation.dilation_y) * in.row_pitch();
    for (int kx = 0; kx < operation.kernel_width; ++kx) {
      for (int i = 0; i < inputs; ++i) {
        taps.push_back(static_cast<std::ptrdiff_t>(row + static_cast<size_t>(i) * in.pitch()) +
                       kx * operation.dilation_x);
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

// The input's numbers for a row of results that are `stride` columns apart: for each channel,
// kernel row and remainder of columns a row of those that are as far apart, so that loops find what
// neighbours read beside each other.
class StridedRow {
 public:
  StridedRow(const NetOperation& operation, const NetPlanes& in, int columns)
      : operation_(operation),
        in_(in),
        stride_(operation.stride_x),
        reach_(columns + (operation.kernel_width - 1) * operation.dilation_x / stride_ + 1),
        pitch_(static_cast<size_t>(reach_ + net_slack)),
        channel_(pitch_ * static_cast<size_t>(operation.kernel_height * stride_)),
        numbers_(channel_ * static_cast<size_t>(in.value().channels)) {
    const int inputs = in.value().channels / operation.groups;
    for (int ky = 0; ky < operation.kernel_height; ++ky) {
      for (int kx = 0; kx < operation.kernel_width; ++kx) {
        const int x = kx * operation.dilation_x;
        const size_t at = static_cast<size_t>(ky * stride_ + x % stride_) * pitch_ +
                          static_cast<size_t>(x / stride_);
        for (int i = 0; i < inputs; ++i)
          distances.push_back(static_cast<std::ptrdiff_t>(at + static_cast<size_t>(i) * channel_));
      }
    }
  }

  // For results of row y, from column x on.
  void fill(int y, int x) {
    const RowRange& held = in_.columns();
    for (int c = 0; c < in_.value().channels; ++c) {
      for (int ky = 0; ky < operation_.kernel_height; ++ky) {
        const float* const from =
            in_.row(y * operation_.stride_y + ky * operation_.dilation_y - operation_.top, c);
        for (int phase = 0; phase < stride_; ++phase) {
          float* const to = numbers_.data() + static_cast<size_t>(c) * channel_ +
                            static_cast<size_t>(ky * stride_ + phase) * pitch_;
          const int first = x * stride_ - operation_.left + phase - held.begin;
          const int count = std::min(reach_, (held.count() - first + stride_ - 1) / stride_);
          for (int i = 0; i < count; ++i)
            to[i] = from[first + i * stride_];
        }
      }
    }
  }

  [[nodiscard]] const float* numbers() const { return numbers_.data(); }
  [[nodiscard]] size_t channel_pitch() const { return channel_; }

  std::vector<std::ptrdiff_t> distances = {};

 private:
  const NetOperation& operation_;
  const NetPlanes& in_;
  int stride_;
  int reach_;  // numbers of a row
  size_t pitch_;
  size_t channel_;
  std::vector<float> numbers_;
};

void convolution(const NetOperation& operation, const NetBlocks& weights, const NetPlanes& in,
                 NetPlanes& out, const RowRange& rows, const RowRange& columns) {
  const auto inputs = static_cast<size_t>(in.value().channels / operation.groups);
  const auto row = [&](int y, const float* from, size_t pitch,
                       const std::vector<std::ptrdiff_t>& distances) {
    net_float_row({.weights = weights,
                   .activation = operation.activation,
                   .distances = distances,
                   .in = from,
                   .group_pitch = inputs * pitch,
                   .out = place(out, y, 0, columns.begin),
                   .out_pitch = out.pitch(),
                   .columns = static_cast<size_t>(columns.count())});
  };
  if (operation.stride_x > 1) {
    StridedRow strided(operation, in, columns.count());
    for (int y = rows.begin; y < rows.end; ++y) {
      strided.fill(y, columns.begin);
      row(y, strided.numbers(), strided.channel_pitch(), strided.distances);
    }
    return;
  }
  const std::vector<std::ptrdiff_t> distances = tap_distances(operation, in);
  for (int y = rows.begin; y < rows.end; ++y) {
    const int first = y * operation.stride_y - operation.top;
    row(y, place(in, first, 0, columns.begin - operation.left), in.pitch(), distances);
  }
}

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
    case NetOperator::activation:
    case NetOperator::add:
    case NetOperator::subtract:
    case NetOperator::multiply:
    case NetOperator::offset:
    case NetOperator::product:
    case NetOperator::quotient:
    case NetOperator::function:
      return net_point_rows(operation, first, *inputs.back(), output, rows, columns);
    case NetOperator::attention:
      return net_attention_rows(operation, {first, *inputs[1], *inputs[2]}, output, rows, columns);
    default:
      return net_move_rows(operation, inputs, output, rows, columns);
  }
}

namespace {

// A strip of columns is as wide as the rows of all values fit the second-level cache, but at least
// several times as wide as its halo.
constexpr size_t cached_numbers = size_t{192} << 10U;
constexpr int minimum_radii = 8;
constexpr int minimum_columns = 128;
// Rows of the network's input whose results are computed before the next layer's; fewer where the
// values would take much memory.
constexpr int rows_at_once = 8;
constexpr int fewest_at_once = 2;
constexpr std::uint64_t much_memory = std::uint64_t{512} << 20U;

// How a picture is divided.
struct StripShape {
  int at_once = rows_at_once;
  int columns = 0;  // of the source
  std::uint64_t bytes = 0;
};

// With so many rows at once.
StripShape strip_shape_of(const NetGraph& graph, ImageSize size, int at_once) {
  const std::vector<int> rows = net_held_rows(graph, size.height, at_once);
  const auto bytes_of = [&](const std::vector<RowRange>& columns) {
    std::uint64_t numbers = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      numbers += static_cast<std::uint64_t>(rows[i]) *
                 static_cast<std::uint64_t>(graph.values[i].planes()) *
                 static_cast<std::uint64_t>(columns[i].count() + net_slack);
    }
    return numbers * sizeof(float);
  };
  const auto spans = [&](int columns) {
    return net_spans(graph, NetAxis::columns, {0, columns * graph.scale()}, size.width,
                     Border::constant);
  };
  StripShape shape{.at_once = at_once, .columns = size.width};
  if (!graph.is_whole()) {
    std::uint64_t a_column = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const NetLength& length = graph.values[i].size.columns;
      a_column += static_cast<std::uint64_t>(
          divided_up(rows[i] * graph.values[i].planes() * std::max(length.times, 1), length.by));
    }
    const auto suiting = static_cast<int>(cached_numbers / std::max<std::uint64_t>(a_column, 1));
    shape.columns = std::min(
        size.width, std::max({suiting, minimum_columns, minimum_radii * net_radius(graph)}));
    const int multiple = graph.columns.multiple;
    shape.columns = divided_up(shape.columns, multiple) * multiple;
  }
  shape.bytes = bytes_of(spans(std::min(shape.columns, size.width)));
  return shape;
}

StripShape strip_shape(const NetGraph& graph, ImageSize size) {
  StripShape shape = strip_shape_of(graph, size, rows_at_once);
  if (shape.bytes > much_memory) shape = strip_shape_of(graph, size, fewest_at_once);
  return shape;
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
    for (size_t i = 0; i < spans.size(); ++i) {
      planes_.emplace_back(graph.values[i], spans[i], net_value_size(graph, graph.values[i], size),
                           use.border);
    }
  }

  // Computes rows of the picture's result.
  void compute(const ConstRows& base, const MutableRows& target, int at_once) {
    NetSchedule schedule(graph_, target.rows, size_.height, use_.border, at_once);
    while (!schedule.is_done()) {
      check_stop();
      const NetSchedule::Step step = schedule.next();
      NetPlanes& planes = planes_[static_cast<size_t>(step.value)];
      static_cast<void>(planes.advance(step.held));
      if (step.operation < 0) {
        net_unpack(graph_, use_, source_, size_, step.fresh, planes);
      } else {
        run(static_cast<size_t>(step.operation), step.fresh);
      }
      if (step.value == graph_.output) pack(step.fresh.moved(-graph_.rows.begin), base, target);
    }
  }

 private:
  void pack(const RowRange& rows, const ConstRows& base, const MutableRows& target) const {
    const NetPlanes& result = planes_[static_cast<size_t>(graph_.output)];
    const int end = std::min(rows.end, target.rows.end);
    for (int y = std::max(rows.begin, target.rows.begin); y < end; ++y)
      net_pack(graph_, use_, result, y, columns_, base, target);
  }

  void run(size_t index, const RowRange& fresh) {
    const NetOperation& operation = graph_.operations[index];
    NetPlanes& planes = planes_[static_cast<size_t>(operation.output)];
    const RowRange rows = computed_span(fresh, planes.size().height, use_.border);
    const RowRange columns = computed_span(planes.columns(), planes.size().width, use_.border);
    std::vector<const NetPlanes*> inputs;
    for (const int input : operation.inputs)
      inputs.push_back(&planes_[static_cast<size_t>(input)]);
    net_operation_rows(operation, weights_[index], inputs, planes, rows, columns);
    planes.fill_outside(rows, fresh);
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
  const StripShape shape = strip_shape(graph, size);
  const int across = shape.columns * graph.scale();
  const int width = size.width * graph.scale();
  std::vector<NetWeights> weights;
  for (const NetOperation& operation : graph.operations)
    weights.push_back(net_weights(graph, operation));
  for (int x = 0; x < width; x += across) {
    const RowRange columns{x, std::min(x + across, width)};
    Strip(graph, weights, use, source, size, columns).compute(base, target, shape.at_once);
  }
}

std::uint64_t net_rows_memory(const NetGraph& graph, ImageSize size) {
  return strip_shape(graph, size).bytes;
}

int net_suitable_rows(const NetGraph& graph, ImageSize size) {
  if (graph.is_whole()) return size.height * graph.scale();
  return std::max(2 * rows_at_once, minimum_radii * net_radius(graph)) * graph.scale();
}

}  // namespace gpufilter
