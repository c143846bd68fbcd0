// ONNX files for --net: what is read, and that each mistake is refused with the file, the node and
// what to do.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "base/error.hpp"
#include "net/net.hpp"
#include "net/net_planes.hpp"
#include "support/objection.hpp"
#include "support/onnx_sketch.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using test::add_convolution;
using test::OnnxSketch;
using test::SketchTensor;
using Wholes = std::vector<std::int64_t>;

std::string net_objection(const std::string& bytes, const std::string& folder = {}) {
  return test::objection_to([&] { return parse_net(bytes, "n.onnx", folder); });
}

OnnxSketch one_convolution() {
  OnnxSketch net;
  add_convolution(net, "x", "y", 3, 3, 3);
  return net;
}

// The network with one attribute set.
OnnxSketch with_attribute(const std::string& name, test::SketchAttribute value) {
  OnnxSketch net = one_convolution();
  net.nodes[0].attributes[name] = std::move(value);
  return net;
}

OnnxSketch with_tensor(const std::string& name, const std::function<void(SketchTensor&)>& change) {
  OnnxSketch net = one_convolution();
  for (SketchTensor& tensor : net.tensors) {
    if (tensor.name == name) change(tensor);
  }
  return net;
}

TEST(NetFile, IsDescribed) {
  OnnxSketch sketch;
  add_convolution(sketch, "x", "a", 3, 8, 5);
  sketch.add({"Relu", {"a"}, "b"});
  add_convolution(sketch, "b", "c", 8, 12, 3);
  sketch.add({"DepthToSpace", {"c"}, "y", {{"blocksize", std::int64_t{2}}}});
  const NetGraph graph = parse_net(sketch.bytes(), "folder/n.onnx");
  EXPECT_EQ(graph.name, "n.onnx");
  EXPECT_EQ(graph.channels(), 3);
  EXPECT_EQ(graph.scale(), 2);
  EXPECT_EQ(graph.operations.size(), 3U);  // the Relu is in the first convolution
  EXPECT_EQ(net_radius(graph), 3);
  EXPECT_EQ(net_parameters(graph), 3U * 8 * 25 + 8 + 8 * 12 * 9 + 12);
  EXPECT_EQ(net_products(graph), (3 * 8 * 25 + 8 * 12 * 9) / 4.0);
}

TEST(NetFile, OperationsThatNothingNeedsAreLeftOut) {
  OnnxSketch sketch = one_convolution();
  add_convolution(sketch, "x", "unused", 3, 64, 7);
  EXPECT_EQ(parse_net(sketch.bytes(), "n.onnx").operations.size(), 1U);
}

TEST(NetFile, OtherFilesAreRefused) {
  EXPECT_EQ(net_objection("{}"), "n.onnx: is not an ONNX network, or damaged");
  EXPECT_EQ(net_objection(""), "n.onnx: is not an ONNX network: it has no graph");
  const std::string good = one_convolution().bytes();
  EXPECT_EQ(net_objection(good), "none");
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_NE(net_objection(good.substr(0, size)), "none") << size;
}

TEST(NetFile, UnknownOperatorsAreNamed) {
  OnnxSketch net;
  net.add({"Softmax", {"x"}, "y"});
  EXPECT_EQ(net_objection(net.bytes()),
            "n.onnx: node y (Softmax): the operator is not supported; these are: Add, Cast, Clip, "
            "Concat, Constant, Conv, ConvInteger, ConvTranspose, DepthToSpace, DequantizeLinear, "
            "Dropout, Identity, LeakyRelu, Mul, PRelu, QLinearConv, QuantizeLinear, Relu, Resize, "
            "Sub, Upsample");
}

TEST(NetFile, ConvolutionsThatDoNotFitAreRefused) {
  const std::string node = "n.onnx: node y (Conv): ";
  EXPECT_EQ(net_objection(with_attribute("pads", Wholes{0, 0, 0, 0}).bytes()),
            node + "its padding changes the size; train it with padding 1, which keeps it");
  EXPECT_EQ(net_objection(with_attribute("pads", Wholes{-5, 1, 7, 1}).bytes()),
            node + "its padding changes the size; train it with padding 1, which keeps it");
  EXPECT_EQ(net_objection(with_attribute("strides", Wholes{2, 2}).bytes()),
            node + "its strides are not 1");
  EXPECT_EQ(net_objection(with_attribute("dilations", Wholes{2, 2}).bytes()),
            node + "its dilations are not 1");
  EXPECT_EQ(net_objection(with_attribute("group", std::int64_t{3}).bytes()),
            node + "its weights are for 3 channels in 3 groups, its input has 3");
  EXPECT_EQ(net_objection(with_attribute("group", std::int64_t{0}).bytes()),
            node + "its weights are for 3 channels in 0 groups, its input has 3");
  OnnxSketch large;
  add_convolution(large, "x", "y", 3, 3, 11);
  EXPECT_EQ(net_objection(large.bytes()), node + "a kernel of 11 x 11; up to 9 x 9 is supported");
  OnnxSketch wide;
  add_convolution(wide, "x", "y", 3, 600, 1);
  EXPECT_EQ(net_objection(wide.bytes()), node + "600 outputs of 3 inputs; up to 512 are supported");
}

TEST(NetFile, NumbersThatAreNotFiniteAreRefused) {
  for (const double number :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    const std::string told =
        net_objection(with_tensor("y_w", [&](SketchTensor& t) { t.numbers[5] = number; }).bytes());
    EXPECT_EQ(told, "n.onnx: node y (Conv): the tensor y_w holds " +
                        std::string(std::isnan(number) ? "nan" : "-inf") +
                        ", which is not a finite number; train or export the network again");
  }
}

TEST(NetFile, TensorsOfTheWrongSizeAreRefused) {
  EXPECT_EQ(
      net_objection(with_tensor("y_w", [](SketchTensor& t) { t.numbers.pop_back(); }).bytes()),
      "n.onnx: the tensor y_w: 320 bytes where its dimensions ask for 324; the file is "
      "damaged");
  EXPECT_EQ(net_objection(with_tensor("y_w",
                                      [](SketchTensor& t) {
                                        t.dimensions = {std::int64_t{1} << 31, 1 << 20, 3, 3};
                                      })
                              .bytes()),
            "n.onnx: the tensor y_w: more than 16777216 numbers in all, the limit for a network");
  EXPECT_EQ(
      net_objection(with_tensor("y_w", [](SketchTensor& t) { t.dimensions[0] = -3; }).bytes()),
      "n.onnx: the tensor y_w: more than 16777216 numbers in all, the limit for a network");
  EXPECT_EQ(net_objection(with_tensor("y_b",
                                      [](SketchTensor& t) {
                                        t.dimensions = {2};
                                        t.numbers.pop_back();
                                      })
                              .bytes()),
            "n.onnx: node y (Conv): 2 biases for 3 outputs");
  EXPECT_EQ(net_objection(with_tensor("y_b", [](SketchTensor& t) { t.type = 8; }).bytes()),
            "n.onnx: the tensor y_b: its type is number 8; only float, double, uint8, int8, int32 "
            "and int64 are supported");
}

TEST(NetFile, ShapesThatDoNotChainAreRefused) {
  OnnxSketch net;
  add_convolution(net, "x", "a", 3, 4, 3);
  net.add({"Add", {"a", "x"}, "y"});
  EXPECT_EQ(net_objection(net.bytes()),
            "n.onnx: node y (Add): its inputs do not match: 4 channels at 1 times the size and 3 "
            "channels at 1 times");
  OnnxSketch wide;
  add_convolution(wide, "x", "y", 3, 4, 3);
  EXPECT_EQ(net_objection(wide.bytes()),
            "n.onnx: it turns 3 channels into 4; networks with as many outputs as inputs are "
            "supported");
  OnnxSketch early;
  early.add({"Relu", {"later"}, "y"});
  EXPECT_EQ(net_objection(early.bytes()),
            "n.onnx: node y (Relu): its input later is not computed before it");
  OnnxSketch block = one_convolution();
  block.nodes[0].output = "a";
  block.add({"DepthToSpace", {"a"}, "y", {{"blocksize", std::int64_t{2}}}});
  EXPECT_EQ(net_objection(block.bytes()),
            "n.onnx: node y (DepthToSpace): a block size of 2 does not suit 3 channels");
  OnnxSketch four{.channels = 4};
  add_convolution(four, "x", "y", 4, 4, 3);
  EXPECT_EQ(
      net_objection(four.bytes()),
      "n.onnx: its input x has 4 channels; networks for 3 (RGB) or 1 (luma) are supported, as "
      "N x channels x height x width");
}

TEST(NetFile, DataInOtherFilesIsReadFromTheSameFolderOnly) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "nets";
  std::filesystem::create_directory(path);
  OnnxSketch net = one_convolution();
  std::string data(net.at("y_b").numbers.size() * 4, '\0');
  test::write_file(path + "/data.bin", data);
  test::write_file(folder / "data.bin", data);
  const auto with_place = [](const std::string& place) {
    return with_tensor("y_b", [&](SketchTensor& t) { t.external = place; }).bytes();
  };
  EXPECT_EQ(net_objection(with_place("data.bin"), path), "none");
  for (const std::string place : {"../data.bin", "/etc/passwd", "a/../../data.bin", "."}) {
    EXPECT_EQ(net_objection(with_place(place), path),
              "n.onnx: the tensor y_b: its data is in \"" + place +
                  "\", outside the network's folder; put both files into one folder, or export a "
                  "single file");
  }
  std::filesystem::create_symlink(folder / "data.bin", path + "/link.bin");
  EXPECT_NE(net_objection(with_place("link.bin"), path), "none");
  EXPECT_EQ(net_objection(with_place("none.bin"), path), path + "/none.bin: no such file");
}

// Tensors that name one file of zeros, which takes no room, would take gigabytes.
TEST(NetFile, TensorsHaveALimitInAll) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "zeros.bin", "");
  std::filesystem::resize_file(folder / "zeros.bin", std::uintmax_t{8} << 20U);
  OnnxSketch net = one_convolution();
  for (int i = 0; i < 9; ++i) {
    net.add(SketchTensor{
        .name = "t" + std::to_string(i), .dimensions = {2 << 20}, .external = "zeros.bin"});
  }
  EXPECT_EQ(net_objection(net.bytes(), folder.path()),
            "n.onnx: the tensor t7: more than 16777216 numbers in all, the limit for a network");
  std::filesystem::resize_file(folder / "zeros.bin", std::uintmax_t{64} << 30U);
  EXPECT_EQ(net_objection(net.bytes(), folder.path()),
            "n.onnx: the tensor t0: 68719476736 bytes where its dimensions ask for 8388608; the "
            "file is damaged");
}

TEST(NetFile, FieldsHaveALimit) {
  std::string graph;
  protozero::pbf_writer writer(graph);
  for (int i = 0; i < 300'000; ++i)
    writer.add_message(1, std::string());
  std::string model;
  protozero::pbf_writer(model).add_message(7, graph);
  EXPECT_EQ(net_objection(model), "n.onnx: has more than 262144 fields, the limit for a network");
}

TEST(NetFile, ParametersThatDoNotSuitItAreRefused) {
  try {
    static_cast<void>(
        make_net(parse_net(one_convolution().bytes(), "n.onnx"), {.use = {.input = NetInput::y}}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "--net n.onnx: --net-input y is for networks with one channel, this one has 3");
  }
}

}  // namespace
}  // namespace gpufilter
