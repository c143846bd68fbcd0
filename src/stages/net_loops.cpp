#include "stages/net_loops.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "stages/net_regions.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Sums that are kept in registers: this many columns, and this many outputs of each. GCC splits
// fewer than 32 columns into scalars before it vectorises.
template <InstructionSet set>
constexpr size_t lanes = set == InstructionSet::avx512 ? 64 : 32;
template <InstructionSet set>
constexpr size_t outputs_at_once = set == InstructionSet::avx512 ? 4 : 2;
static_assert(lanes<InstructionSet::avx512> + net_kernel <= net_slack);

// Above 2^22 half of the distance of neighbours is 0.5: the sum is rounded half to even.
[[gnu::always_inline]] inline float rounded(float number) {
  constexpr float above = 0x1.8p23F;
  return (number + above) - above;
}

[[gnu::always_inline]] inline float limited(float number, float low, float high) {
  const float raised = number > low ? number : low;  // a NaN is not above
  return raised < high ? raised : high;
}

[[gnu::always_inline]] inline float activated(float number, const NetActivation& activation,
                                              size_t channel) {
  if (!activation.slopes.empty())
    number = number < 0 ? number * activation.slopes[channel] : number;
  return activation.limits ? limited(number, activation.low, activation.high) : number;
}

[[gnu::always_inline]] inline float requantized(float sum, const NetIntegers& integers,
                                                size_t output) {
  const auto exact = static_cast<float>(static_cast<std::int32_t>(sum) + integers.bias[output]);
  if (integers.scales.empty()) return exact;
  return rounded(limited(exact * integers.scales[output], integers.low, integers.high));
}

// One row of a convolution.
struct ConvolutionRow {
  const NetOperation& operation;
  const float* in;                          // the first tap of the first column
  const std::vector<std::ptrdiff_t>& taps;  // their distances from there, in the chain's order
  float* out;                               // the first column of channel 0
  size_t out_pitch;                         // from a channel to the next
  size_t columns;
};

// `count` outputs from `first` on; `in` is where the first input of their group begins.
template <InstructionSet set, size_t count>
[[gnu::always_inline]] inline void convolve(const ConvolutionRow& row, const float* in,
                                            size_t first) {
  const NetOperation& operation = row.operation;
  const size_t taps = row.taps.size();
  const float* const weights = operation.weights.data() + first * taps;
  for (size_t begin = 0; begin < row.columns; begin += lanes<set>) {
    std::array<std::array<float, lanes<set>>, count> sums;
    for (size_t o = 0; o < count; ++o)
      sums[o].fill(operation.integer ? 0.0F : operation.bias[first + o]);
    for (size_t k = 0; k < taps; ++k) {
      const float* const x = in + row.taps[k] + begin;
      for (size_t o = 0; o < count; ++o) {
        const float weight = weights[o * taps + k];
        for (size_t i = 0; i < lanes<set>; ++i)
          sums[o][i] = fused_multiply_add<set>(weight, x[i], sums[o][i]);
      }
    }
    for (size_t o = 0; o < count; ++o) {
      float* const y = row.out + (first + o) * row.out_pitch + begin;
      if (operation.integer) {
        for (size_t i = 0; i < lanes<set>; ++i)
          y[i] = requantized(sums[o][i], operation.integers, first + o);
      } else {
        for (size_t i = 0; i < lanes<set>; ++i)
          y[i] = activated(sums[o][i], operation.activation, first + o);
      }
    }
  }
}

template <InstructionSet set>
[[gnu::always_inline]] inline void convolve_row(const ConvolutionRow& row, size_t outputs,
                                                size_t input_pitch) {
  const auto groups = static_cast<size_t>(row.operation.groups);
  const size_t window = static_cast<size_t>(row.operation.kernel_width) *
                        static_cast<size_t>(row.operation.kernel_height);
  const size_t inputs = row.taps.size() / window;  // of a group
  const size_t each = outputs / groups;
  for (size_t g = 0; g < groups; ++g) {
    const float* const in = row.in + g * inputs * input_pitch;
    size_t done = 0;
    for (; done + outputs_at_once<set> <= each; done += outputs_at_once<set>)
      convolve<set, outputs_at_once<set>>(row, in, g * each + done);
    for (; done < each; ++done)
      convolve<set, 1>(row, in, g * each + done);
  }
}

std::vector<std::ptrdiff_t> tap_distances(const NetOperation& operation, const NetPlanes& in) {
  std::vector<std::ptrdiff_t> taps;
  const int inputs = in.channels() / operation.groups;
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

struct ConvolutionLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetOperation* operation, const NetPlanes* in,
                                         NetPlanes* out, const RowRange rows,
                                         const RowRange columns,
                                         const std::vector<std::ptrdiff_t>* taps) {
    for (int y = rows.begin; y < rows.end; ++y) {
      convolve_row<set>(
          {*operation, place(*in, y - operation->top, 0, columns.begin - operation->left), *taps,
           place(*out, y, 0, columns.begin), out->pitch(), static_cast<size_t>(columns.count())},
          static_cast<size_t>(out->channels()), in->pitch());
    }
  }
};

// Operations that compute a number from the numbers at the same place.
struct PointLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetOperation* operation, const NetPlanes* first,
                                         const NetPlanes* second, NetPlanes* out,
                                         const RowRange rows, const RowRange columns) {
    const auto count = static_cast<size_t>(columns.count());
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int c = 0; c < out->channels(); ++c) {
        const auto channel = static_cast<size_t>(c);
        const float* const a = place(*first, y, c, columns.begin);
        const float* const b = place(*second, y, c, columns.begin);
        float* const to = place(*out, y, c, columns.begin);
        switch (operation->kind) {
          case NetOperator::activation:
            for (size_t i = 0; i < count; ++i)
              to[i] = activated(a[i], operation->activation, channel);
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
              to[i] = a[i] * operation->numbers[channel];
            break;
          case NetOperator::offset:
            for (size_t i = 0; i < count; ++i)
              to[i] = a[i] + operation->numbers[channel];
            break;
          case NetOperator::quantize:
            for (size_t i = 0; i < count; ++i)
              to[i] =
                  rounded(limited(a[i] / operation->numbers[0], operation->low, operation->high));
            break;
          default:  // dequantize
            for (size_t i = 0; i < count; ++i)
              to[i] = a[i] * operation->numbers[0];
        }
      }
    }
  }
};

void copy_row(const float* from, float* to, int count) {
  for (int i = 0; i < count; ++i)
    to[i] = from[i];
}

void concatenate(std::span<const NetPlanes* const> inputs, NetPlanes& out, const RowRange& rows,
                 const RowRange& columns) {
  int channel = 0;
  for (const NetPlanes* in : inputs) {
    for (int c = 0; c < in->channels(); ++c, ++channel) {
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
                                    : place_in_block * out.channels() + c;
  };
  for (int y = rows.begin; y < rows.end; ++y) {
    const int source_y = floor_divide(y, factor);
    for (int c = 0; c < out.channels(); ++c) {
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

void net_operation_rows(const NetOperation& operation, std::span<const NetPlanes* const> inputs,
                        NetPlanes& output, const RowRange& rows, const RowRange& columns) {
  if (rows.count() <= 0 || columns.count() <= 0) return;
  const NetPlanes& first = *inputs.front();
  switch (operation.kind) {
    case NetOperator::convolution: {
      const std::vector<std::ptrdiff_t> taps = tap_distances(operation, first);
      return run_loop<ConvolutionLoop>(&operation, &first, &output, rows, columns, &taps);
    }
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
