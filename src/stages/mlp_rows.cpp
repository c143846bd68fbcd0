#include "stages/mlp_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compute/matrix_product_host.hpp"

namespace gpufilter {
namespace {

// Pixels that go through the layers together: what stands between two layers stays in the caches.
constexpr int block_pixels = 512;

// `count` pixels of a row as planes: all first inputs, then all second ones.
template <typename Sample>
void unpack(const Sample* in, const PixelFormat& format, int inputs, int count, float* planes) {
  constexpr Sample max = std::numeric_limits<Sample>::max();
  constexpr float inverse_max = 1.0F / static_cast<float>(max);
  for (int input = 0; input < inputs; ++input) {
    const bool missing = input == 3 && !format.has_alpha();
    const int channel =
        input == 3 ? format.channels - 1 : (format.color_channels() == 3 ? input : 0);
    for (int i = 0; i < count; ++i) {
      const Sample sample = missing ? max : in[i * format.channels + channel];
      *planes++ = static_cast<float>(sample) * inverse_max;
    }
  }
}

template <typename Sample>
Sample to_sample(float output) {
  constexpr float max = std::numeric_limits<Sample>::max();
  const float scaled = output * max;
  // A NaN is not above 0. rint rounds half to even: nobody changes the rounding mode.
  return static_cast<Sample>(scaled > 0 ? (scaled < max ? std::rint(scaled) : max) : 0);
}

template <typename Sample>
void pack(const float* planes, int outputs, int count, const Sample* in, int in_channels,
          Sample* out, int out_channels) {
  for (int i = 0; i < count; ++i) {
    for (int c = 0; c < out_channels; ++c) {
      out[i * out_channels + c] = c < outputs ? to_sample<Sample>(planes[c * count + i])
                                              : in[i * in_channels + in_channels - 1];
    }
  }
}

template <typename Sample>
void run(const ConstRows& source, const MutableRows& target, const Network& network) {
  const auto numbers = static_cast<std::size_t>(network.widest()) * block_pixels;
  std::vector<float> planes(numbers);
  std::vector<float> next(numbers);
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    const auto* in = reinterpret_cast<const Sample*>(source.row(y));
    auto* out = reinterpret_cast<Sample*>(target.row(y));
    for (int x = 0; x < source.width; x += block_pixels) {
      const int count = std::min(block_pixels, source.width - x);
      unpack(in, source.format, network.inputs(), count, planes.data());
      for (const NetworkLayer& layer : network.layers) {
        matrix_product_host(layer.weights.data(), planes.data(), layer.bias.data(), next.data(),
                            {layer.outputs(), count, layer.inputs}, layer.activation);
        std::swap(planes, next);
      }
      pack(planes.data(), network.outputs(), count, in, source.format.channels, out,
           target.format.channels);
      in += static_cast<std::ptrdiff_t>(count) * source.format.channels;
      out += static_cast<std::ptrdiff_t>(count) * target.format.channels;
    }
  }
}

}  // namespace

void mlp_rows(const ConstRows& source, const MutableRows& target, const Network& network) {
  if (source.format.depth == 8) {
    run<std::uint8_t>(source, target, network);
  } else {
    run<std::uint16_t>(source, target, network);
  }
}

}  // namespace gpufilter
