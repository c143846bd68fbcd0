// --net gives the bits of the definitions of ONNX's operators, with the chains of fma that the
// documentation states: the processor with each instruction set, then every device.
#include "net/net.hpp"

#include <protozero/pbf_writer.hpp>

#include "support/instruction_sets.hpp"
#include "support/onnx_case.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Wholes = std::vector<std::int64_t>;
using std::size_t;

// Every operator of single precision but those that enlarge.
OnnxSketch same_size() {
  OnnxSketch net;
  add_convolution(net, "x", "first", 3, 6, 3);
  net.random("slopes", {6, 1, 1}, 0.5).add({"PRelu", {"first", "slopes"}, "sloped"});
  add_convolution(net, "sloped", "each", 6, 6, 5, 6);
  net.add({"LeakyRelu", {"each"}, "leaky", {{"alpha", 0.2F}}});
  add_convolution(net, "leaky", "grouped", 6, 4, 1, 2);
  net.add({"Relu", {"grouped"}, "positive"});
  net.add({"Concat", {"positive", "x", "sloped"}, "all", {{"axis", std::int64_t{1}}}});
  add_convolution(net, "all", "narrow", 13, 3, 7);
  net.add({"factors", {3, 1, 1}, 1, {0.5, 0.75, 1.25}})
      .add({"Mul", {"factors", "narrow"}, "scaled"});
  net.add({"shift", {1}, 1, {0.125}}).add({"Add", {"scaled", "shift"}, "shifted"});
  net.add({"low", {}, 1, {-0.4}}).add({"high", {}, 1, {0.3}});
  net.add({"Clip", {"shifted", "low", "high"}, "limited"});
  net.add({"Add", {"x", "limited"}, "more"});
  net.add({"Sub", {"more", "scaled"}, "y"});
  return net;
}

OnnxSketch twice_the_size(int channels) {
  OnnxSketch net{.channels = channels};
  add_convolution(net, "x", "wide", channels, 4 * channels, 3);
  net.add({"DepthToSpace",
           {"wide"},
           "shuffled",
           {{"blocksize", std::int64_t{2}}, {"mode", std::string("CRD")}}});
  net.add({"scales", {4}, 1, {1, 1, 2, 2}});
  net.add({"Resize",
           {"x", "", "scales"},
           "repeated",
           {{"mode", std::string("nearest")},
            {"coordinate_transformation_mode", std::string("asymmetric")},
            {"nearest_mode", std::string("floor")}}});
  net.add({"Add", {"shuffled", "repeated"}, "sum"});
  add_convolution(net, "sum", "y", channels, channels, 3);
  return net;
}

OnnxSketch transposed(int side) {
  OnnxSketch net;
  add_convolution(net, "x", "wide", 3, 5, 3);
  net.random("t_w", {5, 3, side, side}, 0.3).random("t_b", {3}, 0.5);
  const std::int64_t pad = side == 4 ? 1 : 0;
  net.add({"ConvTranspose",
           {"wide", "t_w", "t_b"},
           "y",
           {{"strides", Wholes{2, 2}}, {"pads", Wholes{pad, pad, pad, pad}}}});
  return net;
}

// DCR blocks, enlarged 4 times.
OnnxSketch four_times() {
  OnnxSketch net;
  add_convolution(net, "x", "a", 3, 12, 1);
  net.add({"DepthToSpace", {"a"}, "b", {{"blocksize", std::int64_t{2}}}});
  add_convolution(net, "b", "c", 3, 12, 3);
  net.add({"DepthToSpace", {"c"}, "y", {{"blocksize", std::int64_t{2}}}});
  return net;
}

// More inputs and outputs than a work-group holds weights of at a time.
OnnxSketch wide() {
  OnnxSketch net;
  add_convolution(net, "x", "a", 3, 70, 1);
  add_convolution(net, "a", "y", 70, 3, 3);
  return net;
}

// Windows that reach further to the right and down.
OnnxSketch lopsided() {
  OnnxSketch net;
  std::string from = "x";
  for (const std::string name : {"a", "b", "y"}) {
    net.random(name + "_w", {3, 3, 2, 4}, 0.3).random(name + "_b", {3}, 0.3);
    net.add({"Conv", {from, name + "_w", name + "_b"}, name, {{"pads", Wholes{0, 0, 1, 3}}}});
    from = name;
  }
  return net;
}

// Windows that make values smaller, with and without gaps, and their opposites.
OnnxSketch down_and_up() {
  OnnxSketch net;
  net.random("a_w", {4, 3, 3, 3}, 0.3).random("a_b", {4}, 0.3);
  net.add({"Conv",
           {"x", "a_w", "a_b"},
           "a",
           {{"pads", Wholes{1, 1, 1, 1}}, {"strides", Wholes{2, 2}}}});
  net.random("b_w", {4, 2, 3, 3}, 0.3).random("b_b", {4}, 0.3);
  net.add(
      {"Conv",
       {"a", "b_w", "b_b"},
       "b",
       {{"pads", Wholes{2, 3, 2, 3}}, {"dilations", Wholes{2, 3}}, {"group", std::int64_t{2}}}});
  net.add(
      {"MaxPool",
       {"b"},
       "c",
       {{"kernel_shape", Wholes{3, 2}}, {"strides", Wholes{2, 2}}, {"pads", Wholes{1, 0, 1, 0}}}});
  net.random("d_w", {4, 1, 5, 5}, 0.3).random("d_b", {4}, 0.3);
  net.add({"ConvTranspose",
           {"c", "d_w", "d_b"},
           "d",
           {{"pads", Wholes{2, 2, 2, 2}},
            {"strides", Wholes{2, 2}},
            {"output_padding", Wholes{1, 1}},
            {"group", std::int64_t{4}}}});
  net.add({"Concat", {"d", "b"}, "e", {{"axis", std::int64_t{1}}}});
  net.random("y_w", {8, 3, 2, 2}, 0.3).random("y_b", {3}, 0.3);
  net.add({"ConvTranspose", {"e", "y_w", "y_b"}, "y", {{"strides", Wholes{2, 2}}}});
  return net;
}

// Twice the size from windows without padding, as waifu2x has them.
OnnxSketch without_padding() {
  OnnxSketch net;
  net.random("a_w", {6, 3, 3, 3}, 0.3).random("a_b", {6}, 0.3);
  net.add({"Conv", {"x", "a_w", "a_b"}, "a", {{"pads", Wholes{0, 0, 0, 0}}}});
  net.random("y_w", {6, 3, 4, 4}, 0.3).random("y_b", {3}, 0.3);
  net.add({"ConvTranspose",
           {"a", "y_w", "y_b"},
           "y",
           {{"strides", Wholes{2, 2}}, {"pads", Wholes{3, 3, 3, 3}}}});
  return net;
}

// Functions of numbers, and what two values give.
OnnxSketch functions() {
  OnnxSketch net;
  add_convolution(net, "x", "a", 3, 3, 3);
  net.add({"Sigmoid", {"a"}, "s"}).add({"Mul", {"a", "s"}, "silu"});
  net.add({"Tanh", {"silu"}, "t"}).add({"Erf", {"a"}, "f"}).add({"Exp", {"t"}, "e"});
  net.add({"Div", {"f", "e"}, "q"}).add({"Abs", {"q"}, "m"}).add({"Sqrt", {"m"}, "r"});
  net.add({"Sub", {"r", "silu"}, "y"});
  return net;
}

// Channels that the whole picture weights, and values with one channel for all.
OnnxSketch means() {
  OnnxSketch net;
  add_convolution(net, "x", "a", 3, 5, 3);
  net.add({"GlobalAveragePool", {"a"}, "m"});
  add_convolution(net, "m", "w", 5, 5, 1);
  net.add({"Mul", {"a", "w"}, "b"});
  net.add({"ReduceMean", {"b"}, "c", {{"axes", Wholes{1}}}});
  net.add({"Sub", {"b", "c"}, "d"});
  add_convolution(net, "d", "y", 5, 3, 3);
  return net;
}

// More and fewer columns and rows, and single channels.
OnnxSketch parts(const std::string& mode) {
  OnnxSketch net;
  net.add({"pads", {8}, 7, {0, 0, 3, 2, 0, 0, 1, 4}}).add({"number", {}, 1, {0.25}});
  net.add({"Pad", {"x", "pads", "number"}, "a", {{"mode", mode}}});
  net.add({"one", {1}, 7, {1}}).add({"two", {1}, 7, {2}}).add({"three", {1}, 7, {3}});
  net.add({"last", {1}, 7, {-1}});
  net.add({"Slice", {"a", "two", "last", "three"}, "b"});
  net.random("c_w", {4, 3, 5, 4}, 0.3).random("c_b", {4}, 0.3);
  net.add({"Conv", {"b", "c_w", "c_b"}, "c", {{"pads", Wholes{0, 0, 0, 0}}}});
  net.add({"four", {1}, 7, {4}});
  net.add({"Slice", {"c", "one", "four", "one"}, "y"});
  return net;
}

OnnxSketch resized(const std::string& mode, const std::string& positions) {
  OnnxSketch net;
  add_convolution(net, "x", "a", 3, 3, 3);
  net.add({"scales", {4}, 1, {1, 1, 2, 2}});
  net.add({"Resize",
           {"a", "", "scales"},
           "b",
           {{"mode", mode}, {"coordinate_transformation_mode", positions}}});
  add_convolution(net, "b", "y", 3, 3, 3);
  return net;
}

struct NetCase {
  const char* name;
  OnnxSketch net;
  NetUse use;
  PixelFormat format;
  enum { nowhere, as_cpu, as_gpu, everywhere } on_devices = everywhere;  // compiling takes long
  NetFrame frame = {};
  int scale = 0;

  [[nodiscard]] Image expected(const Image& image) const {
    return naive_net(image, net, use, frame, scale);
  }
};

std::vector<NetCase> cases() {
  return {
      {"same size", same_size(), {}, {3, 8}, NetCase::as_gpu},
      {"same size, replicate", same_size(), {.border = Border::replicate}, {4, 8}, NetCase::as_cpu},
      {"same size, mirror",
       same_size(),
       {.input = NetInput::rgb255, .border = Border::mirror, .strength = 0.3F},
       {3, 16},
       NetCase::as_gpu},
      {"same size, wrap",
       same_size(),
       {.border = Border::wrap, .strength = 0.7F},
       {1, 8},
       NetCase::as_cpu},
      {"twice", twice_the_size(3), {}, {3, 8}, NetCase::as_cpu},
      {"twice, mirror", twice_the_size(3), {.border = Border::mirror}, {3, 16}, NetCase::as_gpu},
      {"twice, wrap", twice_the_size(3), {.border = Border::wrap}, {3, 8}, NetCase::nowhere},
      {"twice, luma of grey", twice_the_size(1), {.input = NetInput::y}, {1, 16}, NetCase::as_cpu},
      {"transposed 2", transposed(2), {}, {3, 8}, NetCase::nowhere},
      {"transposed 4", transposed(4), {}, {3, 8}},
      {"transposed 4, wrap", transposed(4), {.border = Border::wrap}, {3, 8}, NetCase::nowhere},
      {"four times", four_times(), {.border = Border::replicate}, {3, 8}, NetCase::nowhere},
      {"wide", wide(), {}, {3, 8}},
      {"lopsided", lopsided(), {.border = Border::mirror}, {3, 8}},
      {"down and up", down_and_up(), {}, {3, 8}, NetCase::everywhere, {.multiple = 4}, 1},
      {"down and up, mirror",
       down_and_up(),
       {.border = Border::mirror},
       {4, 16},
       NetCase::as_cpu,
       {.multiple = 4},
       1},
      {"down and up, replicate",
       down_and_up(),
       {.border = Border::replicate},
       {3, 8},
       NetCase::as_cpu,
       {.multiple = 4},
       1},
      {"without padding", without_padding(), {}, {3, 8}, NetCase::everywhere, {1, 2, 0}, 2},
      {"without padding, wrap",
       without_padding(),
       {.border = Border::wrap},
       {3, 8},
       NetCase::as_cpu,
       {1, 2, 0},
       2},
      {"functions", functions(), {}, {3, 16}},
      {"means", means(), {}, {3, 8}},
      {"means, mirror", means(), {.border = Border::mirror}, {3, 8}, NetCase::as_cpu},
      {"reflect", parts("reflect"), {}, {3, 8}, NetCase::everywhere, {}, 1},
      {"edge", parts("edge"), {}, {3, 8}, NetCase::as_cpu, {}, 1},
      {"constant", parts("constant"), {.border = Border::mirror}, {3, 8}, NetCase::as_cpu, {}, 1},
      {"linear", resized("linear", "half_pixel"), {}, {3, 8}},
      {"linear, corners", resized("linear", "align_corners"), {}, {3, 8}, NetCase::as_cpu},
      {"cubic, wrap",
       resized("cubic", "half_pixel"),
       {.border = Border::wrap},
       {3, 8},
       NetCase::as_cpu}};
}

StageChain chain_of(const NetCase& each, std::uint64_t scratch = 0) {
  return {make_net(parse_net(each.net.bytes(), "net.onnx"), {.use = each.use, .scratch = scratch})};
}

TEST(NetOnProcessor, EqualsTheDefinitions) {
  for (const NetCase& each : cases()) {
    const StageChain chain = chain_of(each);
    for (const ImageSize size : {ImageSize{1, 1}, {2, 3}, {23, 19}, {150, 21}}) {
      if (size.width > 100 && each.format.depth == 16) continue;
      const Image image = random_image(size, each.format, 1);
      const Image expected = each.expected(image);
      SCOPED_TRACE(each.name);
      ASSERT_NO_FATAL_FAILURE(check_on_host(image, chain, expected, {1000, 5}, RowEnds::hold));
    }
  }
}

TEST(NetKernel, EqualsTheProcessor) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (Session* session : kernel_sessions()) {
    for (const NetCase& each : cases()) {
      const auto kind =
          session->device().kind == DeviceKind::cpu ? NetCase::as_cpu : NetCase::as_gpu;
      if (each.on_devices != NetCase::everywhere && each.on_devices != kind) continue;
      const Image image = random_image({37, 23}, each.format, 2);
      const Image expected = filter_on_host(image, chain_of(each), {});
      // The second has so little memory that blocks are cut in both directions.
      for (const std::uint64_t scratch : {0, 60'000}) {
        const Image result = filter_on_device(*session, image, chain_of(each, scratch),
                                              {.band_rows = scratch == 0 ? 100 : 17});
        ASSERT_TRUE(same_pixels(result, expected))
            << session->device().name << ", " << each.name << ", scratch " << scratch;
      }
    }
  }
}

// ONNX files for --net: what is read, and that each mistake is refused with the file, the node and
// what to do.

std::string net_objection(const std::string& bytes, const std::string& folder = {}) {
  return objection_to([&] { return parse_net(bytes, "n.onnx", folder); });
}

OnnxSketch one_convolution() {
  OnnxSketch net;
  add_convolution(net, "x", "y", 3, 3, 3);
  return net;
}

// The network with one attribute set.
OnnxSketch with_attribute(const std::string& name, SketchAttribute value) {
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

TEST(NetFile, OtherFilesAreRefusedAndUnknownOperatorsAreNamed) {
  EXPECT_EQ(net_objection("{}"), "n.onnx: is not an ONNX network, or damaged");
  EXPECT_EQ(net_objection(""), "n.onnx: is not an ONNX network: it has no graph");
  const std::string good = one_convolution().bytes();
  EXPECT_EQ(net_objection(good), "none");
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_NE(net_objection(good.substr(0, size)), "none") << size;
  OnnxSketch net;
  net.add({"Softmax", {"x"}, "a"}).add({"Softmax", {"a"}, "b"}).add({"TopK", {"b"}, "y"});
  net.add({"Loop", {"b"}, "unused"});
  EXPECT_EQ(net_objection(net.bytes()),
            "n.onnx: operators that are not supported: Softmax (2 times, first in node a "
            "(Softmax)), TopK (1 times, first in node y (TopK)); docs/stages/net.md lists those "
            "that are");
}

TEST(NetFile, ConvolutionsThatDoNotFitAreRefused) {
  const std::string node = "n.onnx: node y (Conv): ";
  EXPECT_EQ(net_objection(with_attribute("pads", Wholes{-5, 1, 7, 1}).bytes()),
            node + "its padding is not from 0 to 63");
  EXPECT_EQ(net_objection(with_attribute("strides", Wholes{2, 0}).bytes()),
            node + "its strides are not two numbers from 1 to 8");
  EXPECT_EQ(net_objection(with_attribute("dilations", Wholes{9, 1}).bytes()),
            node + "its dilations are not two numbers from 1 to 8");
  EXPECT_EQ(net_objection(with_attribute("strides", Wholes{2, 2}).bytes()),
            "n.onnx: its result has 1/2 of the picture's size; 1 to 8 times is supported");
  EXPECT_EQ(net_objection(with_attribute("group", std::int64_t{3}).bytes()),
            node + "its weights are for 3 channels in 3 groups, its input has 3");
  EXPECT_EQ(net_objection(with_attribute("group", std::int64_t{0}).bytes()),
            node + "its weights are for 3 channels in 0 groups, its input has 3");
  OnnxSketch large;
  add_convolution(large, "x", "y", 3, 3, 11);
  EXPECT_EQ(net_objection(large.bytes()), node + "a kernel of 11 x 11; up to 9 x 9 is supported");
  OnnxSketch wide;
  add_convolution(wide, "x", "y", 3, 2050, 1);
  EXPECT_EQ(net_objection(wide.bytes()),
            node + "2050 outputs of 3 inputs; up to 2048 are supported");
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
      "n.onnx: the tensor y_w: 320 bytes where its dimensions require 324; the file is "
      "damaged");
  EXPECT_EQ(net_objection(with_tensor("y_w",
                                      [](SketchTensor& t) {
                                        t.dimensions = {std::int64_t{1} << 31, 1 << 20, 3, 3};
                                      })
                              .bytes()),
            "n.onnx: the tensor y_w: more than 268435456 numbers in all, the limit for a network");
  EXPECT_EQ(
      net_objection(with_tensor("y_w", [](SketchTensor& t) { t.dimensions[0] = -3; }).bytes()),
      "n.onnx: the tensor y_w: more than 268435456 numbers in all, the limit for a network");
  EXPECT_EQ(net_objection(with_tensor("y_b",
                                      [](SketchTensor& t) {
                                        t.dimensions = {2};
                                        t.numbers.pop_back();
                                      })
                              .bytes()),
            "n.onnx: node y (Conv): 2 biases for 3 outputs");
  EXPECT_EQ(net_objection(with_tensor("y_b", [](SketchTensor& t) { t.type = 8; }).bytes()),
            "n.onnx: the tensor y_b: its type is number 8; only float, double, float16, bfloat16, "
            "uint8, int8, int32, int64 and bool are supported");
}

TEST(NetFile, ShapesThatDoNotChainAreRefused) {
  OnnxSketch net;
  add_convolution(net, "x", "a", 3, 4, 3);
  net.add({"Add", {"a", "x"}, "y"});
  EXPECT_EQ(
      net_objection(net.bytes()),
      "n.onnx: node y (Add): its inputs do not match: 4 channels of 1/1 of the picture's size "
      "and 3 channels of 1/1 of the picture's size");
  OnnxSketch wide;
  add_convolution(wide, "x", "y", 3, 4, 3);
  EXPECT_EQ(net_objection(wide.bytes()),
            "n.onnx: it turns 3 channels into 4; networks with as many outputs as inputs are "
            "supported");
  OnnxSketch early;
  early.add({"Relu", {"later"}, "y"});
  EXPECT_EQ(
      net_objection(early.bytes()),
      "n.onnx: node y (Relu): its input later is not computed before it; sort the nodes, which "
      "must not form a circle");
  OnnxSketch circle;
  circle.add({"Add", {"x", "b"}, "a"}).add({"Relu", {"a"}, "b"}).add({"Relu", {"b"}, "y"});
  EXPECT_EQ(net_objection(circle.bytes()),
            "n.onnx: node a (Add): its input b is not computed before it; sort the nodes, which "
            "must not form a circle");
  OnnxSketch huge;
  huge.add({"sizes", {4}, 7, {1e12, 1e12, 1e12, 1e12}});
  huge.add({"Reshape", {"x", "sizes"}, "y"});
  EXPECT_EQ(net_objection(huge.bytes()),
            "n.onnx: node y (Reshape): its shape does not have as many numbers as its input");
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
  const TemporaryFolder folder;
  const std::string path = folder / "nets";
  std::filesystem::create_directory(path);
  OnnxSketch net = one_convolution();
  std::string data(net.at("y_b").numbers.size() * 4, '\0');
  write_file(path + "/data.bin", data);
  write_file(folder / "data.bin", data);
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
  const TemporaryFolder folder;
  write_file(folder / "zeros.bin", "");
  std::filesystem::resize_file(folder / "zeros.bin", std::uintmax_t{4} << 26U);
  OnnxSketch net = one_convolution();
  for (int i = 0; i < 5; ++i) {
    net.add(SketchTensor{
        .name = "t" + std::to_string(i), .dimensions = {1 << 26}, .external = "zeros.bin"});
  }
  EXPECT_EQ(net_objection(net.bytes(), folder.path()),
            "n.onnx: the tensor t3: more than 268435456 numbers in all, the limit for a network");
  std::filesystem::resize_file(folder / "zeros.bin", std::uintmax_t{64} << 30U);
  EXPECT_EQ(net_objection(net.bytes(), folder.path()),
            "n.onnx: the tensor t0: 68719476736 bytes where its dimensions require 268435456; the "
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
  EXPECT_EQ(objection_to([&] {
              return make_net(parse_net(one_convolution().bytes(), "n.onnx"),
                              {.use = {.input = NetInput::y}});
            }),
            "--net n.onnx: --net-input y is for networks with one channel, this one has 3");
}

// The same network with its convention as nodes.
TEST(NetConvention, IsWhatNodesWouldDo) {
  OnnxSketch plain;
  add_convolution(plain, "x", "y", 3, 3, 3);
  OnnxSketch nodes;
  nodes.tensors = plain.tensors;
  nodes.add({"order", {3}, 7, {2, 1, 0}});
  nodes.add({"mean", {3, 1, 1}, 1, {0.5, 0.25, 0.125}}).add({"factor", {3, 1, 1}, 1, {2, 4, 0.5}});
  nodes.add({"deviation", {3, 1, 1}, 1, {0.5, 0.25, 2}});
  nodes.add({"Gather", {"x", "order"}, "a", {{"axis", std::int64_t{1}}}});
  nodes.add({"Sub", {"a", "mean"}, "b"}).add({"Mul", {"b", "factor"}, "c"});
  nodes.add({"Conv", {"c", "y_w", "y_b"}, "d", {{"pads", Wholes{1, 1, 1, 1}}}});
  nodes.add({"Mul", {"d", "deviation"}, "e"}).add({"Add", {"e", "mean"}, "f"});
  nodes.add({"Gather", {"f", "order"}, "y", {{"axis", std::int64_t{1}}}});
  const NetGraph graph = with_convention(
      parse_net(plain.bytes(), "n.onnx"),
      {.blue_first = true, .means = {0.5F, 0.25F, 0.125F}, .deviations = {0.5F, 0.25F, 2}});
  const Image image = random_image({31, 17}, {3, 8}, 4);
  const Image expected =
      filter_on_host(image, {make_net(parse_net(nodes.bytes(), "n.onnx"), {})}, {});
  EXPECT_TRUE(same_pixels(filter_on_host(image, {make_net(graph, {})}, {}), expected));
}

// Functions are near those of the library.
TEST(NetFunctions, AreNearTheLibrary) {
  const std::map<std::string, double (*)(double)> functions{
      {"Exp", std::exp},
      {"Tanh", std::tanh},
      {"Erf", std::erf},
      {"Gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"HardSwish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"Sqrt", [](double x) { return std::sqrt(std::max(x, 0.0)); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }}};
  NaivePlanes x(3, 4000, 1);
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 4000; ++i)
      x.at(c, i, 0) = static_cast<float>(std::pow(10.0, c - 1) * (i - 2000) / 1000.0);
  }
  for (const auto& [type, function] : functions) {
    OnnxSketch net;
    net.add({type, {"x"}, "y"});
    NaivePlanes y = run_planes(parse_net(net.bytes(), "n.onnx"), x);
    for (size_t i = 0; i < x.numbers.size(); ++i) {
      const double right = function(static_cast<double>(x.numbers[i]));
      ASSERT_NEAR(y.numbers[i], right, 6e-7 * std::max(1.0, std::abs(right)))
          << type << ' ' << x.numbers[i];
    }
  }
}

// Blocks of pixels become channels and channels blocks again, by Reshape and Transpose as PyTorch
// exports them: nothing has changed, at any size.
TEST(NetFile, ReshapesMoveBlocksOfPixels) {
  OnnxSketch net{.side = 24};
  const auto shape = [&](const std::string& name, const Wholes& sizes) {
    net.add({name, {static_cast<std::int64_t>(sizes.size())}, 7, {sizes.begin(), sizes.end()}});
  };
  shape("s1", {1, 3, 8, 3, 8, 3});
  shape("s2", {1, 27, 8, 8});
  shape("s3", {0, 3, 3, 3, 8, -1});
  shape("s4", {1, 3, 24, 24});
  net.add({"Reshape", {"x", "s1"}, "r1"});
  net.add({"Transpose", {"r1"}, "t1", {{"perm", Wholes{0, 1, 3, 5, 2, 4}}}});
  net.add({"Reshape", {"t1", "s2"}, "b"});
  net.add({"Relu", {"b"}, "c"});
  net.add({"Reshape", {"c", "s3"}, "r2"});
  net.add({"Transpose", {"r2"}, "t2", {{"perm", Wholes{0, 1, 4, 2, 5, 3}}}});
  net.add({"Reshape", {"t2", "s4"}, "y"});
  const auto graph = parse_net(net.bytes(), "n.onnx");
  EXPECT_EQ(graph.columns.multiple, 3);
  const StageChain chain{make_net(graph, {})};
  for (const ImageSize size : {ImageSize{24, 24}, {17, 31}, {1, 2}}) {
    const Image image = random_image(size, {3, 8}, 5);
    ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {}), image));
  }
  // The order in between is that of SpaceToDepth with the channel first: its place in a block last.
  net.nodes.resize(3);
  NaivePlanes x(3, 6, 3);
  for (size_t i = 0; i < x.numbers.size(); ++i)
    x.numbers[i] = static_cast<float>(i);
  net.nodes[2].output = "y";
  const OnnxModel model = parse_onnx(net.bytes(), "n.onnx", {});
  NaivePlanes y = run_planes(NetBuilder(model, "n.onnx").read(), x);
  ASSERT_EQ(y.channels, 27);
  ASSERT_EQ(y.width, 2);
  for (int c = 0; c < 27; ++c) {
    for (int px = 0; px < 2; ++px)
      EXPECT_EQ(y.at(c, px, 0), x.at(c / 9, 3 * px + c % 3, c / 3 % 3));
  }
}

// Weights of 16 bits, a normalization behind a convolution, and shapes that the file computes.
TEST(NetFile, ShortFloatsNormalizationsAndComputedShapesAreRead) {
  OnnxSketch net;
  net.add({"w", {3, 1, 1, 1}, 10, {0x3c00, 0xc000, 0x0001}});  // 1, -2, 2^-24
  net.add({"b", {3}, 16, {0x3f80, 0xbf00, 0}});                // 1, -0.5
  net.add({"Conv", {"x", "w", "b"}, "a", {{"group", std::int64_t{3}}}});
  net.add({"scale", {3}, 1, {2, 1, 1}}).add({"shift", {3}, 1, {0.5, 0, 0}});
  net.add({"mean", {3}, 1, {1, 0, 0}}).add({"variance", {3}, 1, {4, 1, 1}});
  net.add({"BatchNormalization",
           {"a", "scale", "shift", "mean", "variance"},
           "n",
           {{"epsilon", 0.0F}}});
  // The last two sizes of the input, twice: Shape, Slice, Mul, Concat, Resize by sizes.
  net.add({"Shape", {"x"}, "shape"});
  net.add({"two", {1}, 7, {2}}).add({"four", {1}, 7, {4}}).add({"zero", {1}, 7, {0}});
  net.add({"Slice", {"shape", "two", "four", "zero"}, "sides"});
  net.add({"Mul", {"sides", "two"}, "twice"});
  net.add({"Slice", {"shape", "zero", "two", "zero"}, "others"});
  net.add({"Concat", {"others", "twice"}, "sizes", {{"axis", std::int64_t{0}}}});
  net.add({"Resize",
           {"n", "", "", "sizes"},
           "y",
           {{"mode", std::string("nearest")},
            {"coordinate_transformation_mode", std::string("asymmetric")},
            {"nearest_mode", std::string("floor")}}});
  const NetGraph graph = parse_net(net.bytes(), "n.onnx");
  ASSERT_EQ(graph.operations.size(), 2U);
  EXPECT_EQ(graph.scale(), 2);
  EXPECT_EQ(graph.operations[0].weights, (std::vector<float>{1, -2, 0x1p-24F}));
  EXPECT_EQ(graph.operations[0].bias, (std::vector<float>{0.5F, -0.5F, 0}));
}

}  // namespace
}  // namespace gpufilter::test
