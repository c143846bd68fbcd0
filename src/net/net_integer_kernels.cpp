#include <bit>
#include <cstddef>
#include <optional>
#include <span>

#include "base/division.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "net/net_fours.hpp"
#include "net/net_kernels.hpp"
#include "stage/byte_products.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr int matrix_rows = 16;  // outputs of a matrix of weights
constexpr int matrix_team = 32;  // work-items that multiply matrices together

const NetValue& value(const NetGraph& graph, int index) {
  return graph.values[static_cast<size_t>(index)];
}

std::string result_macros(const NetValue& result, float low, float high) {
  return formatted("-D OUT_LOW=({}) -D LOW=({:a}f) -D HIGH=({:a}f)", result.low, low, high);
}

constexpr const char* file = "net_integers.cl";

NetKernel quantizing(const NetGraph& graph, const NetOperation& operation) {
  const NetValue& result = value(graph, operation.output);
  const float scale = operation.numbers.front();
  return {.file = file,
          .function = "net_quantize",
          .macros = result_macros(result, operation.low, operation.high),
          .numbers = to_bytes(std::span<const float>(std::vector<float>{scale, 1 / scale})),
          .blocks = result.planes()};
}

NetKernel dequantizing(const NetGraph& graph, const NetOperation& operation) {
  const auto low = static_cast<float>(value(graph, operation.inputs.front()).low);
  return {.file = file,
          .function = "net_dequantize",
          .numbers =
              to_bytes(std::span<const float>(std::vector<float>{operation.numbers.front(), low})),
          .blocks = value(graph, operation.output).channels};
}

// For each output up to `count` the start, the scale or factor, and the offset. A factor of 1 and
// an offset of -0 change nothing.
std::vector<float> output_numbers(const NetFours& fours, const NetIntegers& integers,
                                  size_t count) {
  std::vector<float> numbers;
  for (size_t o = 0; o < count; ++o) {
    const std::int32_t start = o < fours.starts.size() ? fours.starts[o] : 0;
    numbers.push_back(std::bit_cast<float>(start));
    const std::vector<float>& factors =
        integers.scales.empty() ? integers.factors : integers.scales;
    numbers.push_back(o < factors.size() ? factors[o] : 1.0F);
    numbers.push_back(o < integers.offsets.size() ? integers.offsets[o] : -0.0F);
  }
  return numbers;
}

// The word of four weights at place k of those of an output; 0 where there is none.
std::uint32_t word_at(const NetFours& fours, size_t output, size_t k) {
  const size_t each = fours.words_of_block();
  if (output / 4 >= fours.first_planes.size() || 4 * k >= each) return 0;
  return fours.words[output / 4 * each + 4 * k + output % 4];
}

// The output of a row of one of a team's matrices: OUTPUT_OF of kernels/net/net_integers.cl.
int output_of(int matrix, int row, bool words) {
  if (!words) return matrix * matrix_rows + row;
  return matrix / 2 * 2 * matrix_rows + row % 8 * 4 + matrix % 2 * 2 + row / 8;
}

// The parts of `matrices` matrices of each block that the work-items of teams hold: PTX, "Matrix
// Fragments for mma.m16n8k32".
std::vector<std::uint32_t> tile_weights(const NetFours& fours, int blocks, int matrices,
                                        bool words_follow) {
  const size_t words = fours.words_of_block() / 4;
  std::vector<std::uint32_t> parts;
  for (int block = 0; block < blocks; ++block) {
    for (size_t step = 0; step < (words + 7) / 8; ++step) {
      for (int matrix = 0; matrix < matrices; ++matrix) {
        for (int item = 0; item < matrix_team; ++item) {
          for (int i = 0; i < 4; ++i) {
            const int output = block * matrices * matrix_rows +
                               output_of(matrix, item / 4 + i % 2 * 8, words_follow);
            const auto place = static_cast<size_t>(item % 4 + i / 2 * 4);
            parts.push_back(word_at(fours, static_cast<size_t>(output), 8 * step + place));
          }
        }
      }
    }
  }
  return parts;
}

// Matrices of a team, and the runs of eight pixels whose sums then fit into registers.
struct TeamShape {
  int matrices;
  int runs;
};

TeamShape team_shape(int outputs, bool words) {
  if (!words && outputs <= matrix_rows) return {1, 8};
  return outputs <= 2 * matrix_rows ? TeamShape{2, 8} : TeamShape{4, 4};
}

// The largest tile whose input fits.
std::optional<ImageSize> matrix_tile(const NetOperation& operation, int planes, int runs) {
  for (const ImageSize tile : {ImageSize{32, 8}, {32, 4}, {16, 4}, {8, 4}}) {
    const std::uint64_t plane = (net_tile_area(operation, tile) + 23) / 32 * 32 + 8;
    if (tile.width * tile.height >= 8 * runs &&
        plane * static_cast<std::uint64_t>(planes) * sizeof(std::uint32_t) <= net_tile_bytes)
      return tile;
  }
  return std::nullopt;
}

NetKernel convolving(const NetGraph& graph, const NetOperation& operation,
                     const DeviceInfo& device) {
  const NetValue& result = value(graph, operation.output);
  const NetFours fours = net_fours(graph, operation);
  const auto count = static_cast<int>(fours.first_planes.size());
  NetKernel kernel{.file = file, .function = "net_fours"};
  kernel.macros = formatted(
      "-D PLANES={} -D PARTS={} -D BLOCKS={} -D KERNEL_WIDTH={} -D KERNEL_HEIGHT={} -D LEFT={} "
      "-D TOP={} -D REQUANTIZE={} {}",
      fours.planes, fours.parts, count, operation.kernel_width, operation.kernel_height,
      operation.left, operation.top, operation.integers.scales.empty() ? 0 : 1,
      result_macros(result, operation.integers.low, operation.integers.high));
  const bool words = !operation.integers.scales.empty();
  const auto [matrices, runs] = team_shape(result.channels, words);
  if (has_byte_products(device) && operation.groups == 1 && fours.parts == 1) {
    if (const auto tile = matrix_tile(operation, fours.planes, runs)) {
      kernel.function = "net_matrices";
      kernel.pixels = *tile;
      kernel.items = tile->width * tile->height / 8 / runs * matrix_team;
      kernel.blocks = divided_up(result.channels, matrices * matrix_rows);
      kernel.macros += formatted(" -D MATRICES={} -D RUNS={} -D TILE_WIDTH={} -D TILE_HEIGHT={}",
                                 matrices, runs, tile->width, tile->height) +
                       byte_product_macros(device);
      kernel.weights = to_bytes(
          std::span<const std::uint32_t>(tile_weights(fours, kernel.blocks, matrices, words)));
      const auto outputs = static_cast<size_t>(kernel.blocks * matrices * matrix_rows);
      kernel.numbers =
          to_bytes(std::span<const float>(output_numbers(fours, operation.integers, outputs)));
      return kernel;
    }
  }
  const int columns = device.kind == DeviceKind::gpu ? 4 : 1;
  kernel.pixels.width *= columns;
  kernel.blocks = count;
  kernel.macros += formatted(" -D COLUMNS={}", columns);
  kernel.weights = to_bytes(std::span<const std::uint32_t>(fours.words));
  std::vector<float> numbers =
      output_numbers(fours, operation.integers, static_cast<size_t>(4 * count));
  for (const int plane : fours.first_planes)
    numbers.push_back(std::bit_cast<float>(plane));
  kernel.numbers = to_bytes(std::span<const float>(numbers));
  return kernel;
}

}  // namespace

NetKernel net_integer_kernel(const NetGraph& graph, const NetOperation& operation,
                             const DeviceInfo& device) {
  if (operation.kind == NetOperator::quantize) return quantizing(graph, operation);
  if (operation.kind == NetOperator::dequantize) return dequantizing(graph, operation);
  return convolving(graph, operation, device);
}

}  // namespace gpufilter
