#include "net/net_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "base/division.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"

namespace gpufilter {
namespace {

using std::size_t;

int channels(const NetGraph& graph, int value) {
  return graph.values[static_cast<size_t>(value)].channels;
}

std::vector<std::uint8_t> bytes_of(const std::vector<float>& numbers) {
  return to_bytes(std::span<const float>(numbers));
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
  return bytes_of(numbers);
}

// For each block of outputs of a group and each tap those of the block; 0 where there is none.
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
  return bytes_of(packed);
}

// Columns that a work-item computes.
int columns_of(const DeviceInfo& device) {
  return device.kind == DeviceKind::gpu ? 4 : 1;
}

std::string window_macros(const NetOperation& operation, int inputs) {
  return formatted("-D INPUTS={} -D KERNEL_WIDTH={} -D KERNEL_HEIGHT={} -D LEFT={} -D TOP={} {}",
                   inputs, operation.kernel_width, operation.kernel_height, operation.left,
                   operation.top, activation_macros(operation.activation));
}

// How the work-items of a group share a tile (kernels/net/net_tiles.cl).
struct Sharing {
  ImageSize tile;
  int spots;
  int teams;
  int outputs;  // of a work-item
  int chunk;    // inputs whose weights are in local memory at a time
  int taps;     // so many kernel rows and columns of them
};

// For tiles of this size; none if too little of the weights fits beside it.
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
  if (device.kind != DeviceKind::gpu || operation.groups > 1) return std::nullopt;
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
  const int outputs = channels(graph, operation.output);
  const int inputs = channels(graph, operation.inputs.front()) / operation.groups;
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

}  // namespace

std::uint64_t net_tile_area(const NetOperation& convolution, ImageSize tile) {
  return static_cast<std::uint64_t>(tile.width + convolution.kernel_width - 1) *
         static_cast<std::uint64_t>(tile.height + convolution.kernel_height - 1);
}

NetKernel kernel_of(const NetGraph& graph, const NetOperation& operation,
                    const DeviceInfo& device) {
  const int outputs = channels(graph, operation.output);
  switch (operation.kind) {
    case NetOperator::quantize:
    case NetOperator::dequantize:
      return net_integer_kernel(graph, operation, device);
    case NetOperator::convolution:
      return operation.integer ? net_integer_kernel(graph, operation, device)
                               : convolution(graph, operation, device);
    case NetOperator::depth_to_space:
    case NetOperator::nearest:
      return {.file = "net.cl",
              .function = "net_enlarge",
              .macros = formatted("-D SHUFFLE={} -D FACTOR={} -D CHANNELS_FIRST={}",
                                  operation.kind == NetOperator::depth_to_space ? 1 : 0,
                                  operation.factor, operation.channels_first ? 1 : 0),
              .blocks = outputs};
    default:
      return {
          .file = "net.cl",
          .function = "net_point",
          .macros = formatted("-D OPERATION={} -D COLUMNS={} {}", static_cast<int>(operation.kind),
                              columns_of(device), activation_macros(operation.activation)),
          .numbers = channel_numbers(operation, operation.numbers, outputs),
          .blocks = outputs,
          .pixels = {64 * columns_of(device), 1}};
  }
}

}  // namespace gpufilter
