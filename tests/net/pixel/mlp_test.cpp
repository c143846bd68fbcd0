// The network gives the same bits everywhere: the processor with each instruction set
// against its definition, then every device, format, size, band height and block against the
// processor.
#include "net/pixel/mlp.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "support/filtering.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

// Widths of inputs, of the values between layers, and of outputs.
using Widths = std::vector<int>;

// Random weights that keep the numbers between layers near 0..1, so that outputs fall below, into
// and above the range of samples; times `scale`.
Network random_network(const Widths& widths, std::uint64_t seed, float scale = 1.0F) {
  std::mt19937_64 engine(seed);
  const auto number = [&](float size) {
    const auto word = static_cast<std::int32_t>(engine() >> 32U);
    return static_cast<float>(word) * 0x1p-31F * size;
  };
  constexpr std::array activations{Activation::relu, Activation::none, Activation::clamp};
  Network network;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    NetworkLayer layer;
    layer.inputs = widths[i];
    const float size = 3.0F / std::sqrt(static_cast<float>(widths[i]));
    for (int row = 0; row < widths[i + 1]; ++row) {
      for (int k = 0; k < widths[i]; ++k)
        layer.weights.push_back(number(size * scale));
      layer.bias.push_back(number(0.5F) + 0.3F);
    }
    layer.activation = activations[(i + seed) % activations.size()];
    network.layers.push_back(layer);
  }
  return network;
}

// Sums overflow to infinity, and infinities meet: some outputs are NaN.
Network overflowing_network() {
  Network network = random_network({3, 8, 8, 3}, 1, 1e38F);
  for (NetworkLayer& layer : network.layers)
    layer.activation = Activation::none;
  return network;
}

Network identity_network(int channels) {
  NetworkLayer layer{channels, {}, {}, Activation::none};
  for (int row = 0; row < channels; ++row) {
    for (int column = 0; column < channels; ++column)
      layer.weights.push_back(row == column ? 1.0F : 0.0F);
    layer.bias.push_back(0.0F);
  }
  return {{layer}};
}

// x = relu(x) - relu(-x), through 2 * channels numbers.
Network folded_identity(int channels) {
  NetworkLayer fold{channels, {}, {}, Activation::relu};
  NetworkLayer unfold{2 * channels, {}, {}, Activation::clamp};
  for (int row = 0; row < 2 * channels; ++row) {
    for (int column = 0; column < channels; ++column) {
      fold.weights.push_back(row / 2 == column ? (row % 2 == 0 ? 1.0F : -1.0F) : 0.0F);
    }
    fold.bias.push_back(0.0F);
  }
  for (int row = 0; row < channels; ++row) {
    for (int column = 0; column < 2 * channels; ++column) {
      unfold.weights.push_back(column / 2 == row ? (column % 2 == 0 ? 1.0F : -1.0F) : 0.0F);
    }
    unfold.bias.push_back(0.0F);
  }
  return {{fold, unfold}};
}

// One pixel's outputs, from the definition.
std::vector<float> outputs(const Network& network, std::vector<float> x) {
  for (const NetworkLayer& layer : network.layers) {
    std::vector<float> y;
    for (std::size_t row = 0; row < layer.bias.size(); ++row) {
      float sum = layer.bias[row];
      for (std::size_t k = 0; k < x.size(); ++k)
        sum = std::fma(layer.weights[row * x.size() + k], x[k], sum);
      if (layer.activation != Activation::none) sum = sum > 0 ? sum : 0;
      if (layer.activation == Activation::clamp) sum = sum < 1 ? sum : 1;
      y.push_back(sum);
    }
    x = y;
  }
  return x;
}

std::uint32_t sample_of(float output, std::uint32_t max) {
  const float scaled = output * static_cast<float>(max);
  if (std::isnan(scaled) || scaled <= 0) return 0;
  if (scaled >= static_cast<float>(max)) return max;
  return static_cast<std::uint32_t>(std::nearbyint(scaled));
}

Image by_definition(const Image& image, const Network& network) {
  const PixelFormat format = image.format();
  const std::uint32_t max = format.max_sample();
  const float inverse_max = 1.0F / static_cast<float>(max);
  const bool has_alpha = network.outputs() == 4 || format.has_alpha();
  Image result = test::poisoned_image(image.size(), {has_alpha ? 4 : 3, format.depth});
  for (const auto [x, y] : test::each_pixel(image.size())) {
    const std::uint32_t alpha =
        format.has_alpha() ? test::sample_at(image, x, y, format.channels - 1) : max;
    std::vector<float> inputs;
    for (int c = 0; c < network.inputs(); ++c) {
      const std::uint32_t sample =
          c == 3 ? alpha : test::sample_at(image, x, y, format.color_channels() == 1 ? 0 : c);
      inputs.push_back(static_cast<float>(sample) * inverse_max);
    }
    const std::vector<float> results = outputs(network, inputs);
    for (int c = 0; c < result.format().channels; ++c) {
      const auto i = static_cast<std::size_t>(c);
      test::set_sample(result, x, y, c, i < results.size() ? sample_of(results[i], max) : alpha);
    }
  }
  return result;
}

struct NetworkCase {
  const char* name;
  Network network;
  std::vector<PixelFormat> formats;
};

// Every format goes through a network, every number of inputs and outputs through a few formats.
std::vector<NetworkCase> network_cases() {
  return {
      {"3 to 3", random_network({3, 3}, 2), {{3, 8}, {4, 8}}},
      {"3 to 16 to 16 to 3", random_network({3, 16, 16, 3}, 3), test::all_formats()},
      {"3 to 256 to 3", random_network({3, 256, 3}, 4), {{3, 8}, {4, 16}}},
      {"overflowing", overflowing_network(), {{1, 8}, {3, 16}}},
      {"4 to 17 to 4", random_network({4, 17, 4}, 5), test::all_formats()},
      {"3 to 5 to 33 to 4", random_network({3, 5, 33, 4}, 6), {{1, 8}, {3, 16}, {4, 8}}},
      {"4 to 64 to 3", random_network({4, 64, 3}, 7), {{2, 8}, {3, 8}, {4, 16}}},
  };
}

std::vector<Image> random_and_extreme(ImageSize size, PixelFormat format) {
  std::vector<Image> made;
  made.push_back(test::random_image(size, format, 1));
  made.push_back(test::extreme_image(size, format, 2));
  return made;
}

TEST(MlpOnProcessor, EqualsTheDefinition) {
  for (const NetworkCase& each : network_cases()) {
    for (const PixelFormat& format : each.formats) {
      for (const ImageSize size :
           {ImageSize{1, 1}, {2, 1}, {3, 2}, {31, 7}, {63, 1}, {64, 2}, {65, 1}, {1100, 2}}) {
        for (const Image& image : random_and_extreme(size, format)) {
          const Image expected = by_definition(image, each.network);
          SCOPED_TRACE(each.name);
          test::check_on_host(image, {make_mlp(each.network)}, expected, {1000},
                              test::RowEnds::hold);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(MlpOnProcessor, OverflowingNetworksGiveNanWhichBecomesZero) {
  const std::vector<float> results = outputs(overflowing_network(), {0.5F, 0.25F, 1.0F});
  EXPECT_TRUE(std::isnan(results[0]) || std::isnan(results[1]) || std::isnan(results[2]));
}

// Exact at 16 bits as well: v * (1 / 65535) * 65535 is off by less than 0.01.
TEST(MlpOnProcessor, IdentityKeepsEverySample) {
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 8}, {3, 16}, {4, 16}}) {
    const int values = static_cast<int>(format.max_sample()) + 1;
    Image image({values, 1}, format);
    for (int x = 0; x < values; ++x) {
      for (int c = 0; c < format.channels; ++c) {
        test::set_sample(image, x, 0, c, static_cast<std::uint32_t>((x + c * 77) % values));
      }
    }
    for (const Network& network : {identity_network(3), identity_network(format.channels),
                                   folded_identity(format.channels)}) {
      EXPECT_TRUE(same_pixels(test::filter_on_host(image, {make_mlp(network)}, {}), image))
          << to_string(format);
    }
  }
}

TEST(Mlp, MakesTheFormatThatItsOutputsNeed) {
  const auto output = [](int inputs, int outputs, const PixelFormat& format) {
    const auto stage = make_mlp(random_network({inputs, outputs}, 1));
    return test::result_of(stage, {{9, 9}, format}).format;
  };
  EXPECT_EQ(output(3, 3, {1, 8}), (PixelFormat{3, 8}));
  EXPECT_EQ(output(3, 3, {2, 16}), (PixelFormat{4, 16}));
  EXPECT_EQ(output(4, 3, {3, 8}), (PixelFormat{3, 8}));
  EXPECT_EQ(output(4, 3, {4, 8}), (PixelFormat{4, 8}));
  EXPECT_EQ(output(3, 4, {1, 16}), (PixelFormat{4, 16}));
}

TEST(Mlp, ThreeOutputsLeaveAlphaAsItIs) {
  const Image image = test::mixed_alpha_image({31, 33}, {2, 8}, 3);
  const Image result = test::filter_on_host(image, {make_mlp(random_network({4, 8, 3}, 9))}, {});
  for (const auto [x, y] : test::each_pixel({31, 33}))
    ASSERT_EQ(test::sample_at(result, x, y, 3), test::sample_at(image, x, y, 1));
}

TEST(MlpKernel, EqualsTheProcessor) {
  for (const NetworkCase& each : network_cases()) {
    SCOPED_TRACE(each.name);
    for (const int block : {0, 100}) {
      const auto chain = [&](Border, AlphaMode) {
        return StageChain{make_mlp(each.network, MlpBlock{block})};
      };
      test::expect_the_processors_bits(
          {chain}, {.formats = each.formats,
                    .sizes = {{1, 1}, {1, 40}, {40, 1}, {31, 33}, {257, 19}},
                    .pictures = random_and_extreme,
                    .bands = block == 0 ? std::vector{1, 7, 1000} : std::vector{7}});
      if (HasFatalFailure()) return;
    }
  }
}

// A picture that does not fit in one block of the size that suits the device.
TEST(MlpKernel, EqualsTheProcessorOnALargePicture) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Image image = test::random_image({1501, 403}, {3, 8}, 5);
  const StageChain chain{make_mlp(random_network({3, 4, 3}, 8))};
  const Image expected = test::filter_on_host(image, chain, {});
  for (const auto& session : test::all_sessions()) {
    EXPECT_TRUE(same_pixels(test::filter_on_device(*session, image, chain, {}), expected))
        << session->device().name;
  }
}

void expect_refusal(const Network& network, const std::string& text) {
  EXPECT_EQ(test::objection_to([&] { return make_mlp(network); }), "network: " + text);
}

TEST(Mlp, RefusesLayersThatAreNoNetwork) {
  expect_refusal({}, "there are no layers");
  expect_refusal(random_network({2, 3}, 1),
                 "layer 1 takes 2 inputs; the first takes 3 (RGB) or 4 (RGBA)");
  expect_refusal(random_network({3, 8, 5}, 1),
                 "layer 2 gives 5 outputs; the last gives 3 (RGB) or 4 (RGBA)");
  expect_refusal(random_network({3, 257, 3}, 1),
                 "layer 1 has 3 inputs and 257 outputs; 1 to 256 are possible");
  Network network = random_network({3, 8, 3}, 1);
  network.layers[1].inputs = 6;
  network.layers[1].weights.resize(18);
  expect_refusal(network, "layer 2 takes 6 inputs, layer 1 gives 8");
  network.layers[1].inputs = 0;
  expect_refusal(network, "layer 2 has 0 inputs and 3 outputs; 1 to 256 are possible");
  network = random_network({3, 3}, 1);
  network.layers[0].weights.pop_back();
  expect_refusal(network, "layer 1 has 8 weights and 3 outputs; it takes 3 for each output");
  network = random_network({3, 3}, 1);
  network.layers[0].bias[1] = std::numeric_limits<float>::infinity();
  expect_refusal(network, "layer 1 has a weight or bias that is not finite");
}

}  // namespace
}  // namespace gpufilter
