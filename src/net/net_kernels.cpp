#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "device/device_rows.hpp"
#include "net/net_fours.hpp"
#include "net/net_step.hpp"

namespace gpufilter {
namespace {

// Every GPU has this much local memory for a work-group, and runs several of them at a time.
constexpr std::uint64_t net_tile_bytes = std::uint64_t{48} << 10U;

// Positions of the input that a tile of a convolution reads.
std::uint64_t net_tile_area(const NetOperation& convolution, ImageSize tile) {
  return static_cast<std::uint64_t>(tile.width + convolution.kernel_width - 1) *
         static_cast<std::uint64_t>(tile.height + convolution.kernel_height - 1);
}

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
          .numbers = to_bytes(std::vector<float>{scale, 1 / scale}),
          .blocks = result.planes()};
}

NetKernel dequantizing(const NetGraph& graph, const NetOperation& operation) {
  const auto low = static_cast<float>(value(graph, operation.inputs.front()).low);
  return {.file = file,
          .function = "net_dequantize",
          .numbers = to_bytes(std::vector<float>{operation.numbers.front(), low}),
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

// The word of four weights at index k of an output's; 0 if there is none.
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

// Columns that a work-item computes.
int columns_of(const DeviceInfo& device) {
  return device.kind == DeviceKind::gpu ? 4 : 1;
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
      kernel.weights = to_bytes(tile_weights(fours, kernel.blocks, matrices, words));
      const auto outputs = static_cast<size_t>(kernel.blocks * matrices * matrix_rows);
      kernel.numbers = to_bytes(output_numbers(fours, operation.integers, outputs));
      return kernel;
    }
  }
  const int columns = columns_of(device);
  kernel.pixels.width *= columns;
  kernel.blocks = count;
  kernel.macros += formatted(" -D COLUMNS={}", columns);
  kernel.weights = to_bytes(fours.words);
  std::vector<float> numbers =
      output_numbers(fours, operation.integers, static_cast<size_t>(4 * count));
  for (const int plane : fours.first_planes)
    numbers.push_back(std::bit_cast<float>(plane));
  kernel.numbers = to_bytes(numbers);
  return kernel;
}

std::string activation_macros(const NetActivation& activation) {
  return formatted("-D SLOPES={} -D LIMITS={}", activation.slopes.empty() ? 0 : 1,
                   activation.limits ? 1 : 0);
}

// For each channel its first number, then for each its slope; then the limits.
std::vector<std::uint8_t> channel_numbers(const NetOperation& operation, std::vector<float> numbers,
                                          int channels) {
  numbers.resize(static_cast<size_t>(channels), 0.0F);
  std::vector<float> slopes = operation.activation.slopes;
  slopes.resize(static_cast<size_t>(channels), 0.0F);
  numbers.insert(numbers.end(), slopes.begin(), slopes.end());
  numbers.push_back(operation.activation.low);
  numbers.push_back(operation.activation.high);
  return to_bytes(numbers);
}

// For each block of outputs of a group and each tap, the block's weights; 0 for missing outputs.
std::vector<std::uint8_t> packed_weights(const NetOperation& operation, int outputs, int block) {
  const int each = outputs / operation.groups;
  const int taps = static_cast<int>(operation.weights.size()) / outputs;
  std::vector<float> packed;
  for (int group = 0; group < operation.groups; ++group) {
    for (int first = 0; first < each; first += block) {
      for (int k = 0; k < taps; ++k) {
        for (int j = 0; j < block; ++j) {
          const int output = group * each + first + j;
          const bool exists = first + j < each;
          packed.push_back(exists ? operation.weights[static_cast<size_t>(output * taps + k)]
                                  : 0.0F);
        }
      }
    }
  }
  return to_bytes(packed);
}

std::string window_macros(const NetOperation& operation, int inputs) {
  return formatted(
      "-D INPUTS={} -D KERNEL_WIDTH={} -D KERNEL_HEIGHT={} -D LEFT={} -D TOP={} -D STRIDE_X={} "
      "-D STRIDE_Y={} -D DILATION_X={} -D DILATION_Y={} {}",
      inputs, operation.kernel_width, operation.kernel_height, operation.left, operation.top,
      operation.stride_x, operation.stride_y, operation.dilation_x, operation.dilation_y,
      activation_macros(operation.activation));
}

// How the work-items of a group share a tile (kernels/net/net_tiles.cl).
struct Sharing {
  ImageSize tile;
  int spots;
  int teams;
  int outputs;  // of a work-item
  int chunk;    // inputs whose weights are in local memory at a time
  int taps;     // kernel rows and columns
};

// The sharing for tiles of this size; none if too few of the weights fit beside the tile.
std::optional<Sharing> sharing_with(const NetOperation& operation, int inputs, int outputs,
                                    ImageSize tile) {
  constexpr int maximum_teams = 8;
  constexpr int suitable_chunk = 32;
  const int each = outputs <= 4 ? 4 : 8;
  const int blocks = divided_up(divided_up(outputs, each), maximum_teams);
  const int teams = divided_up(divided_up(outputs, each), blocks);
  // Numbers are stored two by two.
  const std::uint64_t bytes = sizeof(float) * 2 *
                              static_cast<std::uint64_t>(divided_up(inputs, 2)) *
                              net_tile_area(operation, tile);
  if (bytes > net_tile_bytes) return std::nullopt;
  const int room = static_cast<int>((net_tile_bytes - bytes) / sizeof(float)) / (each * teams);
  const int chunk = std::min({inputs, suitable_chunk, room / 4 * 4});
  if (chunk < std::min(inputs, 16)) return std::nullopt;
  // All weights of a small layer are loaded at once: then its work-items need not wait for each
  // other. More would be slower.
  constexpr int small_layer = 1280;  // floats
  const int taps = operation.kernel_width * operation.kernel_height;
  const int all = taps * inputs * each * teams;
  // A work-item has at most eight pixels.
  const int pixels = tile.width * tile.height;
  int spots = std::max(tile.width, pixels / 8);
  const int suitable_items = teams == 1 ? 128 : 64;
  while (spots * teams < suitable_items && pixels % (2 * spots) == 0)
    spots *= 2;
  const bool at_once = chunk == inputs && all <= small_layer && taps * chunk <= room;
  return Sharing{tile, spots, teams, each, chunk, at_once ? taps : 1};
}

std::optional<Sharing> sharing_of(const NetOperation& operation, int inputs, int outputs,
                                  const DeviceInfo& device) {
  const bool dense = operation.stride_x == 1 && operation.stride_y == 1 &&
                     operation.dilation_x == 1 && operation.dilation_y == 1;
  if (device.kind != DeviceKind::gpu || operation.groups > 1 || !dense) return std::nullopt;
  for (const ImageSize tile : {ImageSize{32, 8}, {16, 8}, {16, 6}, {16, 4}, {8, 4}}) {
    const auto sharing = sharing_with(operation, inputs, outputs, tile);
    if (sharing &&
        device.fits(static_cast<size_t>(sharing->spots * sharing->teams), 1, net_tile_bytes))
      return sharing;
  }
  return std::nullopt;
}

NetKernel tiled_convolution(const NetOperation& operation, int inputs, int outputs,
                            const Sharing& sharing) {
  const int block = sharing.teams * sharing.outputs;
  return {.file = "net_tiles.cl",
          .function = "net_tiled_convolution",
          .macros = formatted("-D TILE_WIDTH={} -D TILE_HEIGHT={} -D SPOTS={} -D TEAMS={} -D "
                              "BLOCK={} -D CHUNK={} -D TAPS={} {}",
                              sharing.tile.width, sharing.tile.height, sharing.spots, sharing.teams,
                              sharing.outputs, sharing.chunk, sharing.taps,
                              window_macros(operation, inputs)),
          .weights = packed_weights(operation, outputs, block),
          .numbers = channel_numbers(operation, operation.bias, outputs),
          .blocks = divided_up(outputs, block),
          .items = sharing.spots * sharing.teams,
          .pixels = sharing.tile};
}

NetKernel convolution(const NetGraph& graph, const NetOperation& operation,
                      const DeviceInfo& device) {
  const int outputs = value(graph, operation.output).channels;
  const int inputs = value(graph, operation.inputs.front()).channels / operation.groups;
  if (const auto sharing = sharing_of(operation, inputs, outputs, device))
    return tiled_convolution(operation, inputs, outputs, *sharing);
  constexpr int maximum_outputs = 8;  // of a work-item
  const int each = outputs / operation.groups;
  const int block = std::min(maximum_outputs, each);
  const int columns = columns_of(device);
  NetKernel kernel{.file = "net.cl", .function = "net_convolution"};
  kernel.macros = formatted("-D OUTPUTS={} -D BLOCK={} -D COLUMNS={} {}", each, block, columns,
                            window_macros(operation, inputs));
  kernel.weights = packed_weights(operation, outputs, block);
  kernel.numbers = channel_numbers(operation, operation.bias, outputs);
  kernel.blocks = operation.groups * divided_up(each, block);
  kernel.pixels.width *= columns;
  return kernel;
}

// The taps of all columns and rows of a resized value: net_resize.
std::vector<std::uint8_t> resize_taps(const NetResize& resize, ImageSize from, ImageSize to) {
  std::vector<float> numbers;
  const auto add = [&](int source, int target) {
    for (int i = 0; i < target; ++i) {
      const NetTap tap = net_tap(resize, i, source, target);
      numbers.push_back(std::bit_cast<float>(tap.first));
      numbers.insert(numbers.end(), tap.weights.begin(),
                     tap.weights.begin() + (resize.cubic ? 4 : 2));
    }
  };
  add(from.width, to.width);
  add(from.height, to.height);
  return to_bytes(numbers);
}

// Those of kernels/net/net_moves.cl.
NetKernel moving(const NetGraph& graph, const NetOperation& operation, ImageSize picture) {
  const ImageSize from = net_value_size(graph, value(graph, operation.inputs.front()), picture);
  const NetValue& result = value(graph, operation.output);
  NetKernel kernel{.file = "net_moves.cl", .function = "net_enlarge", .blocks = result.channels};
  switch (operation.kind) {
    case NetOperator::pad:
      kernel.function = "net_pad";
      kernel.macros = formatted("-D PADDING={} {}", static_cast<int>(operation.padding),
                                window_macros(operation, 1));
      kernel.numbers = to_bytes(operation.numbers);
      break;
    case NetOperator::maximum:
      kernel.function = "net_maximum";
      kernel.macros = window_macros(operation, 1);
      break;
    case NetOperator::sum_columns:
    case NetOperator::sum_rows: {
      const bool along_rows = operation.kind == NetOperator::sum_columns;
      const float factor = static_cast<float>(1.0 / (along_rows ? from.width : from.height));
      kernel.function = "net_sum";
      kernel.macros = formatted("-D ALONG_ROWS={}", along_rows ? 1 : 0);
      kernel.numbers = to_bytes(std::vector<float>{factor});
      break;
    }
    case NetOperator::resize:
      kernel.function = "net_resize";
      kernel.macros = formatted("-D TAPS={}", operation.resize.cubic ? 4 : 2);
      kernel.numbers = resize_taps(operation.resize, from, net_value_size(graph, result, picture));
      break;
    default:
      kernel.macros = formatted("-D ENLARGES={} -D FACTOR={} -D CHANNELS_FIRST={}",
                                operation.kind == NetOperator::nearest          ? 0
                                : operation.kind == NetOperator::depth_to_space ? 1
                                                                                : 2,
                                operation.factor, operation.channels_first ? 1 : 0);
  }
  return kernel;
}

NetKernel attending(const NetGraph& graph, const NetOperation& operation) {
  NetKernel kernel{.file = "net_attention.cl", .function = "net_attention"};
  kernel.blocks = operation.groups;
  kernel.macros = formatted(
      "-D SIDE={} -D BEFORE_X={} -D BEFORE_Y={} -D DEPTH_OF_KEYS={} -D DEPTH_OF_VALUES={} -D "
      "BIASED={}",
      operation.factor, operation.left, operation.top,
      value(graph, operation.inputs[1]).channels / operation.groups,
      value(graph, operation.inputs[2]).channels / operation.groups,
      operation.numbers.empty() ? 0 : 1);
  if (!operation.numbers.empty()) kernel.numbers = to_bytes(operation.numbers);
  return kernel;
}

const char* function_name(NetFunction function) {
  constexpr std::array names{"net_exponential", "net_root",    "net_reciprocal",
                             "net_sigmoid",     "net_tangent", "net_error"};
  return names.at(static_cast<size_t>(function));
}

NetKernel point_kernel(const NetGraph& graph, const NetOperation& operation,
                       const DeviceInfo& device) {
  const int outputs = value(graph, operation.output).channels;
  const NetValue& second = value(graph, operation.inputs.back());
  return {
      .file = "net.cl",
      .function = "net_point",
      .macros = formatted(
          "-D OPERATION={} -D COLUMNS={} -D FUNCTION={} -D B_CHANNELS={} -D B_IS_ONE={} {}",
          static_cast<int>(operation.kind), columns_of(device), function_name(operation.function),
          second.channels, second.size.is_one() ? 1 : 0, activation_macros(operation.activation)),
      .numbers = channel_numbers(operation, operation.numbers, outputs),
      .blocks = outputs,
      .pixels = {64 * columns_of(device), 1}};
}

}  // namespace

NetKernel kernel_of(const NetGraph& graph, const NetOperation& operation, const DeviceInfo& device,
                    ImageSize picture) {
  switch (operation.kind) {
    case NetOperator::quantize:
      return quantizing(graph, operation);
    case NetOperator::dequantize:
      return dequantizing(graph, operation);
    case NetOperator::convolution:
      return operation.integer ? convolving(graph, operation, device)
                               : convolution(graph, operation, device);
    case NetOperator::activation:
    case NetOperator::add:
    case NetOperator::subtract:
    case NetOperator::multiply:
    case NetOperator::offset:
    case NetOperator::concat:
    case NetOperator::product:
    case NetOperator::quotient:
    case NetOperator::function:
      return point_kernel(graph, operation, device);
    case NetOperator::attention:
      return attending(graph, operation);
    default:
      return moving(graph, operation, picture);
  }
}

}  // namespace gpufilter
