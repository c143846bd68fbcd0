// --net with quantized values gives the numbers that ONNX defines, rounded as onnxruntime does: the
// processor with each instruction set, then every device, also as if it had matrix units.
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/device_rows.hpp"
#include "host/amx.hpp"
#include "net/net.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/naive_net.hpp"
#include "support/onnx_sketch.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::OnnxSketch;
using test::same_pixels;
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
  const std::map<std::string, test::SketchAttribute> attributes{
      {"pads", Wholes{pad, pad, pad, pad}}, {"group", std::int64_t{weights.groups}}};
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
  for (const QuantizedCase& each : quantized_cases()) {
    for (const ImageSize size : {ImageSize{1, 1}, {2, 3}, {23, 19}, {150, 9}}) {
      const Image image = test::random_image(size, {3, 8}, 1);
      const Image expected = test::naive_net(image, each.meaning, {.border = each.border});
      const auto check = [&] {
        for (const int rows : {1000, 5}) {
          const Image result = test::filter_on_host(image, chain_of(each), {.band_rows = rows});
          ASSERT_TRUE(same_pixels(result, expected))
              << each.name << ", " << size.width << "x" << size.height << ", bands of " << rows;
        }
      };
      test::with_each_instruction_set(check);
      if (HasFatalFailure()) return;
      if (!amx_in_use()) continue;
      const AmxLeftOut left_out;
      check();
      if (HasFatalFailure()) return;
    }
  }
}

// The results are not all black or white.
TEST(NetIntegersOnProcessor, HaveResultsOfAllSizes) {
  for (const QuantizedCase& each : quantized_cases()) {
    const Image result =
        test::filter_on_host(test::random_image({23, 19}, {3, 8}, 1), chain_of(each), {});
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
  for (const auto& session : test::all_sessions()) {
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
  for (const auto& session : all) {
    for (const QuantizedCase& each : quantized_cases()) {
      if (!each.on_devices) continue;
      const Image image = test::random_image({75, 13}, {3, 8}, 2);
      const Image expected = test::filter_on_host(image, chain_of(each), {});
      for (const std::uint64_t scratch : {0, 60'000}) {
        const Image result = test::filter_on_device(*session, image, chain_of(each, scratch),
                                                    {.band_rows = scratch == 0 ? 100 : 7});
        ASSERT_TRUE(same_pixels(result, expected))
            << session->device().name << ", " << session->device().compute_capability << ", "
            << each.name << ", scratch " << scratch;
      }
    }
  }
}

}  // namespace
}  // namespace gpufilter
