// --mlp: applies a small network, which maps colours to colours, to every pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compute/matrix_product.hpp"
#include "image/rows.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// y = act(W x + b).
struct NetworkLayer {
  int inputs = 0;
  std::vector<float> weights;  // W, a row of `inputs` weights for each output
  std::vector<float> bias;     // b, a number for each output
  Activation activation = Activation::none;

  [[nodiscard]] int outputs() const { return static_cast<int>(bias.size()); }
};

// 3 (RGB) or 4 (RGBA) inputs and outputs, 0..1; at most network_width values between two layers.
struct Network {
  std::vector<NetworkLayer> layers;

  [[nodiscard]] int inputs() const { return layers.front().inputs; }
  [[nodiscard]] int outputs() const { return layers.back().outputs(); }
  // The maximum count of values between two layers, before the first or after the last.
  [[nodiscard]] int widest() const;
};

inline constexpr int network_width = 256;

// Why layer `index` does not fit its neighbours: "layer 2 takes 8 inputs, layer 1 gives 16"; empty
// if it fits.
[[nodiscard]] std::string objection_to_layer(const Network& network, std::size_t index);

// Why these layers, each valid, do not form a network from colours to colours; empty if they do.
[[nodiscard]] std::string objection_to_ends(const Network& network);

// Reads a network from a file of this form, rounding its numbers to single precision:
//   {"format": "gpufilter-network-1", "comment": "what it does",
//    "layers": [{"weights": [[...], ...], "bias": [...], "activation": "relu"}, ...]}
// Activations: none, relu, clamp. Throws UsageError "PATH:LINE: reason".
[[nodiscard]] Network read_network(const InputFile& file);

// Reads a network from memory; `name` replaces the path in messages.
[[nodiscard]] Network parse_network(std::string_view text, const std::string& name);

// How much a device computes at a time. No size changes the result.
struct MlpBlock {
  int pixels = 0;  // the maximum for matrix products; 0: a number that suits the device
  // Memory for the numbers between two layers of matrix products on blocks: enough work for a GPU.
  std::uint64_t bytes = std::uint64_t{128} << 20U;
};

// x is a pixel's samples times 1 / maximum, in single precision; grey counts as equal red, green
// and blue, a missing alpha as the maximum. The outputs are multiplied by the maximum, rounded half
// to even and saturated, NaN to 0. Three outputs do not change alpha, four compute it. Throws
// UsageError if the layers do not form a network.
[[nodiscard]] std::shared_ptr<const Stage> make_mlp(Network network, MlpBlock block = {});

// Fills `target` from the same rows of `source`; target.format is the output format of make_mlp()'s
// stage for source.format.
void mlp_rows(const ConstRows& source, const MutableRows& target, const Network& network);

}  // namespace gpufilter
