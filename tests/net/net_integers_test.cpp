// --net with quantized values gives the numbers that ONNX defines, rounded as onnxruntime does: the
// processor with each instruction set, then every device, also as if it had matrix units.

#include "device/device_rows.hpp"
#include "host/amx.hpp"
#include "net/net.hpp"
#include "net/net_rows.hpp"
#include "net/net_tiles.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/naive_net.hpp"

namespace gpufilter::test {
namespace {

using Wholes = std::vector<std::int64_t>;

constexpr int int8 = 3;  // ONNX's numbers
constexpr int uint8 = 2;
constexpr int int32 = 6;

// Scale and zero point: NAME_s and NAME_z.
void add_quantization(OnnxSketch& net, const std::string& name, double scale, double zero_point,
                      int type) {
  net.add({name + "_s", {}, 1, {static_cast<double>(static_cast<float>(scale))}});
  net.add({name + "_z", {}, type, {zero_point}});
}

// Weights: NAME, NAME_s and NAME_z, with a scale for each output.
struct Weights {
  std::string name;
  int outputs;
  int inputs;  // of a group
  int side;
  int type = int8;
  int groups = 1;
  double zero_point = 0;
};

void add_weights(OnnxSketch& net, const Weights& weights) {
  const std::string& name = weights.name;
  net.random(name, {weights.outputs, weights.inputs, weights.side, weights.side}, 127.9,
             weights.type);
  for (double& number : net.tensors.back().numbers)
    number += weights.type == uint8 ? 128 : 0;
  // The ends of the type's range.
  net.tensors.back().numbers.front() = weights.type == uint8 ? 255 : -128;
  net.tensors.back().numbers.back() = weights.type == uint8 ? 0 : 127;
  net.random(name + "_s", {weights.outputs}, 1);
  const double taps = weights.inputs * weights.side * weights.side;
  for (double& scale : net.tensors.back().numbers)
    scale = static_cast<double>(static_cast<float>((1.5 + scale) / 40 / std::sqrt(taps)));
  const auto count = static_cast<std::size_t>(weights.outputs);
  net.add({name + "_z",
           {weights.outputs},
           weights.type,
           std::vector<double>(count, weights.zero_point)});
}

// How a convolution is written.
enum class Style { linear, between_floats };

// From FROM_q, a value quantized by FROM_s and FROM_z, to TO_q; with biases.
void add_quantized_convolution(OnnxSketch& net, Style style, const std::string& from,
                               const std::string& to, const Weights& weights) {
  const std::string& w = weights.name;
  add_weights(net, weights);
  net.random(w + "_b", {weights.outputs}, 3000, int32);
  // Between floats. The scale of a bias is the product of the others'; nothing depends on it.
  net.add({w + "_bs", {}, 1, {0.001}}).add({w + "_bz", {}, int32, {0}});
  const std::int64_t pad = weights.side / 2;
  const std::map<std::string, SketchAttribute> attributes{{"pads", Wholes{pad, pad, pad, pad}},
                                                          {"group", std::int64_t{weights.groups}}};
  if (style == Style::linear) {
    net.add({"QLinearConv",
             {from + "_q", from + "_s", from + "_z", w, w + "_s", w + "_z", to + "_s", to + "_z",
              w + "_b"},
             to + "_q",
             attributes});
    return;
  }
  net.add({"DequantizeLinear", {from + "_q", from + "_s", from + "_z"}, from + "_for_" + w});
  net.add({"DequantizeLinear", {w, w + "_s", w + "_z"}, w + "_f", {{"axis", std::int64_t{0}}}});
  net.add({"DequantizeLinear", {w + "_b", w + "_bs", w + "_bz"}, w + "_bf"});
  net.add({"Conv", {from + "_for_" + w, w + "_f", w + "_bf"}, to + "_f", attributes});
  net.add({"QuantizeLinear", {to + "_f", to + "_s", to + "_z"}, to + "_q"});
}

OnnxSketch begun(double zero_point, int type) {
  OnnxSketch net;
  add_quantization(net, "x", 0.0039, zero_point, type);
  net.add({"QuantizeLinear", {"x", "x_s", "x_z"}, "x_q"});
  return net;
}

OnnxSketch& ended(OnnxSketch& net, const std::string& last) {
  return net.add({"DequantizeLinear", {last + "_q", last + "_s", last + "_z"}, "y"});
}

// 7 channels leave a byte of each second word unused.
OnnxSketch two_convolutions(Style style) {
  OnnxSketch net = begun(3, uint8);
  add_quantization(net, "m", 0.0117, -7, int8);
  add_quantization(net, "n", 0.0078, 11, uint8);
  add_quantized_convolution(net, style, "x", "m", {"w", 7, 3, 3});
  add_quantized_convolution(net, style, "m", "n", {"v", 3, 7, 3});
  return ended(net, "n");
}

// Whole groups in a word, groups across words, a group for each channel.
OnnxSketch grouped() {
  OnnxSketch net = begun(-128, int8);
  for (const std::string name : {"a", "b", "c", "d"})
    add_quantization(net, name, 0.01, name == "c" ? 255 : 0, uint8);
  add_quantized_convolution(net, Style::linear, "x", "a", {"wa", 18, 3, 1});
  add_quantized_convolution(net, Style::linear, "a", "b", {"wb", 6, 6, 3, int8, 3});
  add_quantized_convolution(net, Style::linear, "b", "c", {"wc", 6, 1, 5, int8, 6});
  add_quantized_convolution(net, Style::linear, "c", "d", {"wd", 3, 2, 3, int8, 3});
  return ended(net, "d");
}

// Unsigned weights that have 9 bits without their zero points.
OnnxSketch unsigned_weights(double zero_point) {
  OnnxSketch net = begun(128, uint8);
  add_quantization(net, "m", 0.0117, 100, uint8);
  add_quantized_convolution(net, Style::linear, "x", "m", {"w", 3, 3, 3, uint8, 1, zero_point});
  return ended(net, "m");
}

// More outputs than a team of work-items computes, and more words of input than a step takes.
OnnxSketch wide_integers() {
  OnnxSketch net = begun(0, uint8);
  for (const std::string name : {"a", "b", "c"})
    add_quantization(net, name, 0.02, 0, uint8);
  add_quantized_convolution(net, Style::linear, "x", "a", {"wa", 70, 3, 1});
  add_quantized_convolution(net, Style::linear, "a", "b", {"wb", 33, 70, 3});
  add_quantized_convolution(net, Style::linear, "b", "c", {"wc", 3, 33, 1});
  return ended(net, "c");
}

// Sums as numbers, with a factor and an offset for each channel.
OnnxSketch sums() {
  OnnxSketch net = begun(7, uint8);
  add_weights(net, {"w", 3, 3, 3});
  net.add({"wz", {}, int8, {0}});
  net.add({"ConvInteger", {"x_q", "w", "x_z", "wz"}, "whole", {{"pads", Wholes{1, 1, 1, 1}}}});
  net.add({"Cast", {"whole"}, "sum", {{"to", std::int64_t{1}}}});
  net.add({"scales", {3, 1, 1}, 1, {0x1p-17, 0x1p-18, 0x1p-16}});
  net.add({"offsets", {3, 1, 1}, 1, {0.125, 0.25, -0.3125}});
  net.add({"Mul", {"sum", "scales"}, "scaled"}).add({"Add", {"scaled", "offsets"}, "y"});
  return net;
}

struct QuantizedCase {
  const char* name;
  OnnxSketch net;
  OnnxSketch meaning;  // whose plain result is expected
  Border border = Border::constant;
  bool on_devices = true;  // where compiling takes long
};

std::vector<QuantizedCase> quantized_cases() {
  const auto same = [](const char* name, const OnnxSketch& net, bool on_devices,
                       Border border = Border::constant) {
    return QuantizedCase{name, net, net, border, on_devices};
  };
  return {same("two convolutions", two_convolutions(Style::linear), true),
          same("mirror", two_convolutions(Style::linear), false, Border::mirror),
          {"between floats", two_convolutions(Style::between_floats),
           two_convolutions(Style::linear), Border::constant, false},
          same("groups", grouped(), true),
          same("groups, wrap", grouped(), false, Border::wrap),
          same("wide", wide_integers(), true),
          same("zero point 0", unsigned_weights(0), false),
          same("zero point 128", unsigned_weights(128), false),
          same("zero point 255", unsigned_weights(255), false),
          same("sums", sums(), true)};
}

StageChain chain_of(const QuantizedCase& each, std::uint64_t scratch = 0) {
  return {make_net(parse_net(each.net.bytes(), "net.onnx"),
                   {.use = {.border = each.border}, .scratch = scratch})};
}

TEST(NetIntegersOnProcessor, EqualTheDefinitions) {
  for (const auto& [each, size] :
       each_of(quantized_cases(), Sizes{{1, 1}, {2, 3}, {23, 19}, {150, 9}})) {
    const Image image = random_image(size, {3, 8}, 1);
    const Image expected = naive_net(image, each.meaning, {.border = each.border});
    const auto check = [&] {
      for (const int rows : {1000, 5}) {
        const Image result = filter_on_host(image, chain_of(each), {.band_rows = rows});
        ASSERT_TRUE(same_pixels(result, expected))
            << each.name << ", " << size.width << "x" << size.height << ", bands of " << rows;
      }
    };
    ASSERT_NO_FATAL_FAILURE(with_each_instruction_set(check));
    if (!amx_in_use()) continue;
    const AmxLeftOut left_out;
    ASSERT_NO_FATAL_FAILURE(check());
  }
}

// The results are not all black or white.
TEST(NetIntegersOnProcessor, HaveResultsOfAllSizes) {
  for (const QuantizedCase& each : quantized_cases()) {
    const Image result = filter_on_host(random_image({23, 19}, {3, 8}, 1), chain_of(each), {});
    std::size_t middle = 0;
    for (std::size_t i = 0; i < result.bytes(); ++i) {
      const std::uint8_t sample = result.rows().data[i];
      middle += sample > 0 && sample < 255 ? 1 : 0;
    }
    EXPECT_GT(middle, result.bytes() / 4) << each.name;
  }
}

// The devices here and, if they have none, as if they had matrix units.
std::vector<std::unique_ptr<Session>> int8_sessions() {
  std::vector<std::unique_ptr<Session>> all;
  for (const auto& session : all_sessions()) {
    DeviceInfo device = session->device();
    all.push_back(std::make_unique<Session>(device, std::nullopt));
    if (has_byte_products(device)) continue;
    device.compute_capability = 75;
    all.push_back(std::make_unique<Session>(device, std::nullopt));
  }
  return all;
}

TEST(NetIntegersOnDevice, EqualTheProcessor) {
  const auto all = int8_sessions();
  if (all.empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (const auto& [session, each] : each_of(all, quantized_cases())) {
    if (!each.on_devices) continue;
    const Image image = random_image({75, 13}, {3, 8}, 2);
    const Image expected = filter_on_host(image, chain_of(each), {});
    for (const std::uint64_t scratch : {0, 60'000}) {
      const Image result = filter_on_device(*session, image, chain_of(each, scratch),
                                            {.band_rows = scratch == 0 ? 100 : 7});
      ASSERT_TRUE(same_pixels(result, expected))
          << session->device().name << ", " << session->device().compute_capability << ", "
          << each.name << ", scratch " << scratch;
    }
  }
}

// Convolutions of quantized values by AMX: its tiles hold all weights, and give the sums of plain
// loops.

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
  for (const auto& [shape, to_floats, width] :
       each_of(convolution_shapes, std::array{false, true}, std::array{1, 16, 17, 33, 65, 131})) {
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
}  // namespace gpufilter::test
