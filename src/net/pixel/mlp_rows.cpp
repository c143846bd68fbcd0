#include <algorithm>
#include <utility>

#include "host/arithmetic.hpp"
#include "net/pixel/mlp.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Pixels that pass through the layers together. Between two layers there is a plane of this many
// values for each output, which stays in the first two cache levels.
constexpr size_t block_pixels = 64;

struct Planes {
  alignas(64) std::array<float, network_width * block_pixels> numbers;

  [[gnu::always_inline]] float* of(size_t index) { return numbers.data() + index * block_pixels; }
};

// Sums that are kept in registers: this many pixels, and this many outputs of each. GCC splits
// fewer than 32 pixels into scalars before it vectorises.
template <InstructionSet set>
constexpr size_t lanes = set == InstructionSet::avx512 ? 64 : 32;
template <InstructionSet set>
constexpr size_t outputs_at_once = set == InstructionSet::avx512 ? 4 : 2;

// The activation of `sum`. NaNs need no distinction: all of them become sample 0.
[[gnu::always_inline]] inline float activated(float sum, Activation activation) {
  if (activation == Activation::none) return sum;
  const float positive = sum > 0 ? sum : 0;
  return activation == Activation::relu ? positive : (positive < 1 ? positive : 1);
}

// `group` outputs of a layer from `first` on.
template <InstructionSet set, size_t group>
[[gnu::always_inline]] inline void compute_outputs(const NetworkLayer& layer, size_t first,
                                                   Planes& in, Planes& out) {
  const auto inputs = static_cast<size_t>(layer.inputs);
  const float* const weights = layer.weights.data() + first * inputs;
  for (size_t begin = 0; begin < block_pixels; begin += lanes<set>) {
    std::array<std::array<float, lanes<set>>, group> sums;
    for (size_t o = 0; o < group; ++o)
      sums[o].fill(layer.bias[first + o]);
    for (size_t k = 0; k < inputs; ++k) {
      const float* const x = in.of(k) + begin;
      for (size_t o = 0; o < group; ++o) {
        const float weight = weights[o * inputs + k];
        for (size_t i = 0; i < lanes<set>; ++i)
          sums[o][i] = fused_multiply_add<set>(weight, x[i], sums[o][i]);
      }
    }
    for (size_t o = 0; o < group; ++o) {
      float* const y = out.of(first + o) + begin;
      for (size_t i = 0; i < lanes<set>; ++i)
        y[i] = activated(sums[o][i], layer.activation);
    }
  }
}

template <InstructionSet set>
[[gnu::always_inline]] inline void compute_layer(const NetworkLayer& layer, Planes& in,
                                                 Planes& out) {
  const size_t outputs = layer.bias.size();
  size_t done = 0;
  for (; done + outputs_at_once<set> <= outputs; done += outputs_at_once<set>)
    compute_outputs<set, outputs_at_once<set>>(layer, done, in, out);
  for (; done < outputs; ++done)
    compute_outputs<set, 1>(layer, done, in, out);
}

template <typename Sample>
using Block = std::array<Sample, 4 * block_pixels>;  // RGBA

template <typename Sample>
[[gnu::always_inline]] inline void unpack(const Block<Sample>& block, Planes& planes) {
  constexpr float inverse_max = 1.0F / static_cast<float>(std::numeric_limits<Sample>::max());
  for (size_t i = 0; i < block_pixels; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(block.data() + 4 * i);
    planes.of(0)[i] = static_cast<float>(pixel.get(0)) * inverse_max;
    planes.of(1)[i] = static_cast<float>(pixel.get(1)) * inverse_max;
    planes.of(2)[i] = static_cast<float>(pixel.get(2)) * inverse_max;
    planes.of(3)[i] = static_cast<float>(pixel.get(3)) * inverse_max;
  }
}

// Colours, and alpha if `has_alpha`, replace those in `block`.
template <typename Sample>
[[gnu::always_inline]] inline void pack(Planes& planes, bool has_alpha, Block<Sample>& block) {
  constexpr float max = std::numeric_limits<Sample>::max();
  for (size_t i = 0; i < block_pixels; ++i) {
    const auto before = Pixel<Sample, 4>::read(block.data() + 4 * i);
    Pixel<Sample, 4> pixel;
    pixel.put(0, to_sample<Sample>(planes.of(0)[i] * max));
    pixel.put(1, to_sample<Sample>(planes.of(1)[i] * max));
    pixel.put(2, to_sample<Sample>(planes.of(2)[i] * max));
    pixel.put(3, has_alpha ? to_sample<Sample>(planes.of(3)[i] * max)
                           : static_cast<std::uint32_t>(before.get(3)));
    pixel.write(block.data() + 4 * i);
  }
}

template <typename Sample>
struct MlpLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const Network* network) {
    Planes planes;
    Planes next;
    change_rgba_blocks<set, Sample, block_pixels>(
        source, target, [&](Block<Sample> & block, size_t) __attribute__((always_inline)) {
          unpack(block, planes);
          Planes* from = &planes;
          Planes* to = &next;
          for (const NetworkLayer& layer : network->layers) {
            compute_layer<set>(layer, *from, *to);
            std::swap(from, to);
          }
          pack(*from, network->outputs() == 4, block);
        });
  }
};

}  // namespace

void mlp_rows(const ConstRows& source, const MutableRows& target, const Network& network) {
  run_loop_of_depth<MlpLoop>(source.format.depth, source, target, &network);
}

}  // namespace gpufilter
