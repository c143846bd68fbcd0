#include "stages/net_integer_kernels.hpp"

#include <bit>
#include <cstddef>
#include <span>

#include "base/division.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/net_fours.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr int pair_outputs = 32;  // of two matrices of weights
constexpr int team = 32;          // work-items that multiply matrices together

const NetValue& value(const NetGraph& graph, int index) {
  return graph.values[static_cast<size_t>(index)];
}

std::string result_macros(const NetValue& result, float low, float high) {
  return formatted("-D OUT_LOW=({}) -D LOW=({:a}f) -D HIGH=({:a}f)", result.low, low, high);
}

NetIntegerKernel quantizing(const NetGraph& graph, const NetOperation& operation) {
  const NetValue& result = value(graph, operation.output);
  const float scale = operation.numbers.front();
  return {.function = "net_quantize",
          .macros = result_macros(result, operation.low, operation.high),
          .weights = {0},
          .numbers = to_bytes(std::span<const float>(std::vector<float>{scale, 1 / scale})),
          .blocks = result.planes()};
}

NetIntegerKernel dequantizing(const NetGraph& graph, const NetOperation& operation) {
  const auto low = static_cast<float>(value(graph, operation.inputs.front()).low);
  return {.function = "net_dequantize",
          .macros = {},
          .weights = {0},
          .numbers =
              to_bytes(std::span<const float>(std::vector<float>{operation.numbers.front(), low})),
          .blocks = value(graph, operation.output).channels};
}

// Of each output up to `count` the start and the scale.
std::vector<float> output_numbers(const NetFours& fours, const NetIntegers& integers,
                                  size_t count) {
  std::vector<float> numbers;
  for (size_t o = 0; o < count; ++o) {
    const std::int32_t start = o < fours.starts.size() ? fours.starts[o] : 0;
    numbers.push_back(std::bit_cast<float>(start));
    numbers.push_back(o < integers.scales.size() ? integers.scales[o] : 0.0F);
  }
  return numbers;
}

// The word of four weights at place k of those of an output; 0 where there is none.
std::uint32_t word_at(const NetFours& fours, size_t output, size_t k) {
  const size_t each = fours.words_of_block();
  if (output / 4 >= fours.first_planes.size() || 4 * k >= each) return 0;
  return fours.words[output / 4 * each + 4 * k + output % 4];
}

// The parts of matrices that the work-items of teams hold: PTX, "Matrix Fragments for
// mma.m16n8k32".
std::vector<std::uint32_t> tile_weights(const NetFours& fours, int blocks, int pairs) {
  const size_t words = fours.words_of_block() / 4;
  std::vector<std::uint32_t> parts;
  for (int block = 0; block < blocks; ++block) {
    for (size_t step = 0; step < (words + 7) / 8; ++step) {
      for (int matrix = 0; matrix < 2 * pairs; ++matrix) {
        for (int item = 0; item < team; ++item) {
          for (int i = 0; i < 4; ++i) {
            const int row_of_pair = item / 4 * 4 + matrix % 2 * 2 + i % 2;
            const int output = (block * pairs + matrix / 2) * pair_outputs + row_of_pair;
            const auto place = static_cast<size_t>(item % 4 + i / 2 * 4);
            parts.push_back(word_at(fours, static_cast<size_t>(output), 8 * step + place));
          }
        }
      }
    }
  }
  return parts;
}

NetIntegerKernel convolving(const NetGraph& graph, const NetOperation& operation,
                            const DeviceInfo& device) {
  const NetValue& result = value(graph, operation.output);
  const NetFours fours = net_fours(graph, operation);
  const auto count = static_cast<int>(fours.first_planes.size());
  NetIntegerKernel kernel;
  // mma.m16n8k32 for bytes came with 8.0.
  const bool tiles = device.compute_capability >= 80 && operation.groups == 1 && fours.parts == 1;
  kernel.macros = formatted(
      "-D PLANES={} -D PARTS={} -D BLOCKS={} -D KERNEL_WIDTH={} -D KERNEL_HEIGHT={} -D LEFT={} "
      "-D TOP={} -D REQUANTIZE={} {}",
      fours.planes, fours.parts, count, operation.kernel_width, operation.kernel_height,
      operation.left, operation.top, operation.integers.scales.empty() ? 0 : 1,
      result_macros(result, operation.integers.low, operation.integers.high));
  if (tiles) {
    const int pairs = result.channels > pair_outputs ? 2 : 1;
    const int pixel_tiles = 8 / pairs;
    kernel.function = "net_tiles";
    kernel.columns = pixel_tiles / 4;
    kernel.blocks = divided_up(result.channels, pairs * pair_outputs);
    kernel.macros += formatted(" -D OUTPUT_PAIRS={} -D PIXEL_TILES={}", pairs, pixel_tiles);
    kernel.weights =
        to_bytes(std::span<const std::uint32_t>(tile_weights(fours, kernel.blocks, pairs)));
    const auto outputs = static_cast<size_t>(kernel.blocks * pairs * pair_outputs);
    kernel.numbers =
        to_bytes(std::span<const float>(output_numbers(fours, operation.integers, outputs)));
    return kernel;
  }
  kernel.function = "net_fours";
  kernel.columns = device.kind == DeviceKind::gpu ? 4 : 1;
  kernel.blocks = count;
  kernel.macros += formatted(" -D COLUMNS={}", kernel.columns);
  kernel.weights = to_bytes(std::span<const std::uint32_t>(fours.words));
  std::vector<float> numbers =
      output_numbers(fours, operation.integers, static_cast<size_t>(4 * count));
  for (const int plane : fours.first_planes)
    numbers.push_back(std::bit_cast<float>(plane));
  kernel.numbers = to_bytes(std::span<const float>(numbers));
  return kernel;
}

}  // namespace

bool is_integer(const NetOperation& operation) {
  return operation.integer || operation.kind == NetOperator::quantize ||
         operation.kind == NetOperator::dequantize;
}

NetIntegerKernel net_integer_kernel(const NetGraph& graph, const NetOperation& operation,
                                    const DeviceInfo& device) {
  if (operation.kind == NetOperator::quantize) return quantizing(graph, operation);
  if (operation.kind == NetOperator::dequantize) return dequantizing(graph, operation);
  return convolving(graph, operation, device);
}

}  // namespace gpufilter
