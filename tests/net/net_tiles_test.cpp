// Convolutions of quantized values by AMX: its tiles hold all weights, and give the sums of plain
// loops.
#include "net/net_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "host/amx.hpp"
#include "net/net_rows.hpp"

namespace gpufilter {
namespace {

struct ConvolutionShape {
  int inputs, outputs;
  int width, height;  // of the kernel
  int groups = 1;
  int largest_weight = 127;  // 255: two parts

  [[nodiscard]] std::string text() const {
    return formatted("{} to {} channels, {}x{}, groups {}, weights to {}", inputs, outputs, width,
                     height, groups, largest_weight);
  }
};

// Channels around 4, 16 and 64; kernels whose rows fill tiles exactly, by one less and by one more;
// groups within a word, of whole words and of whole tiles.
const ConvolutionShape convolution_shapes[] = {
    {1, 1, 1, 1},          {3, 32, 3, 3},     {3, 17, 9, 9},          {4, 16, 3, 1},
    {5, 33, 2, 3},         {7, 15, 1, 9},     {16, 3, 3, 3},          {20, 31, 3, 3},
    {21, 64, 3, 3},        {32, 32, 3, 3},    {33, 50, 3, 3, 1, 255}, {60, 4, 5, 5},
    {61, 63, 1, 1},        {64, 64, 3, 3},    {64, 5, 1, 3, 1, 255},  {65, 70, 3, 2},
    {6, 6, 3, 3, 6},       {18, 12, 3, 3, 3}, {64, 64, 3, 3, 2},      {136, 40, 3, 3, 2},
    {70, 66, 2, 2, 2, 255}};

struct Convolution {
  explicit Convolution(const ConvolutionShape& shape, bool to_floats = false) : random(7) {
    graph.values = {{.channels = shape.inputs, .quantized = true, .low = -3},
                    {.channels = shape.outputs, .quantized = !to_floats, .low = -128}};
    operation.inputs = {0};
    operation.output = 1;
    operation.kernel_width = shape.width;
    operation.kernel_height = shape.height;
    operation.left = shape.width / 2;
    operation.top = shape.height / 2;
    operation.groups = shape.groups;
    operation.integer = true;
    NetIntegers& integers = operation.integers;
    const int taps = shape.width * shape.height * shape.inputs / shape.groups;
    const int low = shape.largest_weight == 127 ? -128 : -255;
    for (int i = 0; i < shape.outputs * taps; ++i)
      integers.weights.push_back(static_cast<std::int16_t>(between(low, shape.largest_weight)));
    integers.weights.front() = static_cast<std::int16_t>(low);
    integers.weights.back() = static_cast<std::int16_t>(shape.largest_weight);
    for (int o = 0; o < shape.outputs; ++o) {
      integers.bias.push_back(between(-100000, 100000));
      const float factor =
          static_cast<float>(between(50, 99)) / 2e4F / std::sqrt(static_cast<float>(taps));
      (to_floats ? integers.factors : integers.scales).push_back(factor);
      if (to_floats) integers.offsets.push_back(0.25F * static_cast<float>(o));
    }
    integers.low = -128;
    integers.high = 127;
  }

  int between(int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  }

  [[nodiscard]] const NetValue& input() const { return graph.values[0]; }
  [[nodiscard]] int outputs() const { return graph.values[1].channels; }
  [[nodiscard]] int group_inputs() const { return input().channels / operation.groups; }
  // The first channel that an output reads.
  [[nodiscard]] int first_channel(int output) const {
    return output / (outputs() / operation.groups) * group_inputs();
  }
  [[nodiscard]] int weight(int output, int ky, int kx, int input) const {
    const int tap = (output * operation.kernel_height + ky) * operation.kernel_width + kx;
    return operation.integers.weights[static_cast<std::size_t>(tap * group_inputs() + input)];
  }

  std::mt19937 random;
  NetGraph graph;
  NetOperation operation;
};

// For an output, what each byte of a window of whole planes is multiplied by: rows of planes of
// columns of bytes.
class Window {
 public:
  explicit Window(const Convolution& of)
      : columns_(static_cast<std::size_t>(of.operation.kernel_width)),
        bytes_(static_cast<std::size_t>(of.input().planes() * of.operation.kernel_height) *
               columns_ * 4) {}

  int& at(std::size_t plane, std::size_t column, std::size_t byte) {
    return bytes_.at((plane * columns_ + column) * 4 + byte);
  }
  bool operator==(const Window&) const = default;

 private:
  std::size_t columns_;
  std::vector<int> bytes_;
};

Window window_of(const Convolution& of, int output) {
  Window window(of);
  for (int ky = 0; ky < of.operation.kernel_height; ++ky) {
    for (int kx = 0; kx < of.operation.kernel_width; ++kx) {
      for (int i = 0; i < of.group_inputs(); ++i) {
        const int channel = of.first_channel(output) + i;
        window.at(static_cast<std::size_t>(ky * of.input().planes() + channel / 4),
                  static_cast<std::size_t>(kx), static_cast<std::size_t>(channel % 4)) =
            of.weight(output, ky, kx, i);
      }
    }
  }
  return window;
}

// As the tiles multiply it.
Window window_of(const Convolution& of, const NetTiles& tiles, const NetFours& fours,
                 std::size_t output) {
  constexpr std::size_t side = NetTiles::side;
  Window window(of);
  for (std::size_t t = 0; t < tiles.tiles.size(); ++t) {
    const NetTiles::Tile& tile = tiles.tiles[t];
    if (output / 4 < tile.first_block || output / 4 >= tile.first_block + tile.blocks) continue;
    const std::size_t o = output - 4 * tile.first_block;
    for (std::size_t s = 0; s < tiles.steps.size(); ++s) {
      for (std::size_t r = 0; r < tiles.rows; ++r) {
        const std::uint32_t word =
            tiles.weights.at((t * tiles.steps.size() + s) * side + o).words.at(r);
        const auto first = static_cast<std::size_t>(fours.first_planes[tile.first_block]);
        for (std::size_t i = 0; i < 4; ++i) {
          window.at(first + tiles.steps[s].planes + r, tiles.steps[s].column, i) +=
              static_cast<std::int8_t>(word >> (8 * i) & 255);
        }
      }
    }
  }
  return window;
}

TEST(NetTiles, HoldAllWeights) {
  for (const ConvolutionShape& shape : convolution_shapes) {
    const Convolution convolution(shape);
    const NetFours fours = net_fours(convolution.graph, convolution.operation);
    const NetTiles tiles = net_tiles(convolution.graph, convolution.operation, fours);
    EXPECT_LE(tiles.rows, NetTiles::side);
    EXPECT_LE(tiles.outputs, NetTiles::side);
    for (int o = 0; o < shape.outputs; ++o) {
      ASSERT_EQ(window_of(convolution, tiles, fours, static_cast<std::size_t>(o)),
                window_of(convolution, o))
          << shape.text() << ", output " << o;
    }
  }
}

// Tiles as tall as a value's planes allow: 3 rows of 8 planes are two tiles of 12 rows.
TEST(NetTiles, AreFilledFromSeveralRows) {
  const auto tiles_of = [](const ConvolutionShape& shape) {
    const Convolution convolution(shape);
    return net_tiles(convolution.graph, convolution.operation,
                     net_fours(convolution.graph, convolution.operation));
  };
  const NetTiles wide = tiles_of({32, 32, 3, 3});
  EXPECT_EQ(wide.rows, 12U);
  EXPECT_EQ(wide.outputs, 16U);
  EXPECT_EQ(wide.tiles.size(), 2U);
  EXPECT_EQ(wide.steps.size(), 6U);
  EXPECT_TRUE(wide.pay());
  const NetTiles depthwise = tiles_of({16, 16, 3, 3, 16});
  EXPECT_EQ(depthwise.rows, 1U);
  EXPECT_EQ(depthwise.tiles.size(), 4U);
  EXPECT_FALSE(depthwise.pay());
}

// A convolution of random bytes, also in the columns after the last.
class RandomRun {
 public:
  RandomRun(Convolution& convolution, int width, int height)
      : convolution_(convolution),
        size_{width, height},
        in_(convolution.input(), around(width, operation().left, operation().kernel_width)),
        out_(convolution.graph.values[1], {0, width}) {
    const RowRange rows = around(height, operation().top, operation().kernel_height);
    static_cast<void>(in_.advance(rows));
    for (int y = rows.begin; y < rows.end; ++y) {
      std::uint32_t* const words = in_.words(y, 0);
      std::generate(words, words + in_.row_pitch(),
                    [&] { return static_cast<std::uint32_t>(convolution.random()); });
    }
    static_cast<void>(out_.advance({0, height}));
  }

  // The words or the bits of the floats of the result.
  std::vector<std::uint32_t> compute(const NetWeights& weights) {
    for (int y = 0; y < size_.height; ++y)
      std::fill_n(out_.words(y, 0), out_.row_pitch(), 0xA5A5A5A5U);
    const NetPlanes* const inputs[] = {&in_};
    net_operation_rows(operation(), weights, inputs, out_, {0, size_.height}, {0, size_.width});
    std::vector<std::uint32_t> words;
    for (int y = 0; y < size_.height; ++y) {
      for (int plane = 0; plane < out_.value().planes(); ++plane)
        words.insert(words.end(), out_.words(y, plane), out_.words(y, plane) + size_.width);
    }
    return words;
  }

  [[nodiscard]] std::vector<std::uint32_t> expected() const {
    std::vector<std::uint32_t> words;
    for (int y = 0; y < size_.height; ++y) {
      for (int plane = 0; plane < out_.value().planes(); ++plane) {
        for (int x = 0; x < size_.width; ++x)
          words.push_back(expected_word(plane, x, y));
      }
    }
    return words;
  }

 private:
  static RowRange around(int length, int before, int kernel) {
    return {-before, length + kernel - 1 - before};
  }

  [[nodiscard]] const NetOperation& operation() const { return convolution_.operation; }

  [[nodiscard]] std::uint32_t expected_word(int plane, int x, int y) const {
    if (!out_.value().quantized) {
      const auto o = static_cast<std::size_t>(plane);
      const NetIntegers& integers = operation().integers;
      const float scaled = sum(plane, x, y) * integers.factors[o];
      const float number = scaled + integers.offsets[o];
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      return bits;
    }
    std::uint32_t word = 0;
    for (int i = 0; i < 4 && 4 * plane + i < convolution_.outputs(); ++i) {
      const NetIntegers& integers = operation().integers;
      const float scaled =
          sum(4 * plane + i, x, y) * integers.scales[static_cast<std::size_t>(4 * plane + i)];
      const float whole = std::nearbyint(std::clamp(scaled, integers.low, integers.high));
      word |= static_cast<std::uint32_t>(static_cast<int>(whole) - out_.value().low) << (8 * i);
    }
    return word;
  }

  // With the bias, as a float.
  [[nodiscard]] float sum(int output, int x, int y) const {
    std::int64_t sum = operation().integers.bias[static_cast<std::size_t>(output)];
    for (int ky = 0; ky < operation().kernel_height; ++ky) {
      for (int kx = 0; kx < operation().kernel_width; ++kx) {
        for (int i = 0; i < convolution_.group_inputs(); ++i) {
          const int channel = convolution_.first_channel(output) + i;
          const int column = x + kx - operation().left - in_.columns().begin;
          const std::uint32_t word = in_.words(y + ky - operation().top, channel / 4)[column];
          const int number = static_cast<int>(word >> (8 * (channel % 4)) & 255) + in_.value().low;
          sum += std::int64_t{number} * convolution_.weight(output, ky, kx, i);
        }
      }
    }
    return static_cast<float>(static_cast<std::int32_t>(sum));
  }

  Convolution& convolution_;
  ImageSize size_;
  NetPlanes in_, out_;
};

TEST(NetTileRows, EqualPlainLoops) {
  if (!amx_permitted()) GTEST_SKIP() << "skipped: no AMX here";
  for (const ConvolutionShape& shape : convolution_shapes) {
    for (const bool to_floats : {false, true}) {
      for (const int width : {1, 16, 17, 33, 65, 131}) {
        Convolution convolution(shape, to_floats);
        NetWeights weights{.fours = net_fours(convolution.graph, convolution.operation)};
        RandomRun run(convolution, width, 3);
        const std::vector<std::uint32_t> expected = run.expected();
        ASSERT_EQ(run.compute(weights), expected) << "vectors, " << shape.text();
        weights.tiles = net_tiles(convolution.graph, convolution.operation, weights.fours);
        ASSERT_EQ(run.compute(weights), expected)
            << shape.text() << (to_floats ? " to floats, " : ", ") << width << " columns";
      }
    }
  }
}

TEST(NetTileRows, AreUsedWhereTheyPay) {
  const Convolution convolution(ConvolutionShape{32, 32, 3, 3});
  const auto has_tiles = [&] {
    return !net_weights(convolution.graph, convolution.operation).tiles.steps.empty();
  };
  EXPECT_EQ(has_tiles(), amx_in_use());
  const AmxLeftOut left_out;
  EXPECT_FALSE(has_tiles());
}

}  // namespace
}  // namespace gpufilter
