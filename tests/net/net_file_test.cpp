// ONNX files for --net: what is read, and that each mistake is refused with the file, the node and
// what to do.
#include <protozero/pbf_writer.hpp>

#include "net/net.hpp"
#include "support/instruction_sets.hpp"
#include "support/onnx_case.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Wholes = std::vector<std::int64_t>;
using std::size_t;

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
  net.add({"Einsum", {"x"}, "a"}).add({"Einsum", {"a"}, "b"}).add({"TopK", {"b"}, "y"});
  net.add({"Loop", {"b"}, "unused"});
  EXPECT_EQ(net_objection(net.bytes()),
            "n.onnx: operators that are not supported: Einsum (2 times, first in node a "
            "(Einsum)), TopK (1 times, first in node y (TopK)); docs/stages/net.md lists those "
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
  for (int i = 0; i < 1'100'000; ++i)
    writer.add_message(1, std::string());
  std::string model;
  protozero::pbf_writer(model).add_message(7, graph);
  EXPECT_EQ(net_objection(model), "n.onnx: has more than 1048576 fields, the limit for a network");
}

TEST(NetFile, NodesAndOperationsHaveLimits) {
  OnnxSketch net;
  std::string from = "x";
  for (int i = 0; i < 100'000; ++i) {
    const std::string to = i + 1 < 100'000 ? "v" + std::to_string(i) : "y";
    net.add({"Relu", {from}, to});
    from = to;
  }
  EXPECT_EQ(net_objection(net.bytes()), "n.onnx: has 100000 nodes; at most 65536 are supported");
  net.nodes.resize(10'000);
  net.nodes.back().output = "y";
  EXPECT_EQ(net_objection(net.bytes()),
            "n.onnx: node v8192 (Relu): the network has more than 8192 operations, the limit");
}

TEST(NetFile, ShapesThatOverflowAreRefused) {
  const auto wholes = [](const std::string& name, std::vector<double> numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    return SketchTensor{name, {count}, 7, std::move(numbers)};
  };
  constexpr double least = -0x1p63;
  OnnxSketch filled;
  filled.add(wholes("sizes", {0x1p40, 0x1p40, 0x1p40}));
  filled.add({"ConstantOfShape", {"sizes"}, "a"}).add({"Mul", {"x", "a"}, "y"});
  EXPECT_EQ(net_objection(filled.bytes()),
            "n.onnx: node a (ConstantOfShape): it computes with more than 16 million constants; "
            "export the network for smaller pictures, it then takes larger ones too");
  OnnxSketch padded;
  padded.add(wholes("pads", {0, 0, least, least, 0, 0, 0, 0})).add({"Pad", {"x", "pads"}, "y"});
  EXPECT_EQ(net_objection(padded.bytes()),
            "n.onnx: node y (Pad): it adds or takes -9223372036854775808 and 0 positions; up to "
            "512 are supported");
  OnnxSketch cut;
  cut.add(wholes("begin", {0, 0})).add(wholes("end", {9, 9}));
  cut.add(wholes("axes", {2, 2})).add(wholes("steps", {1, 1}));
  cut.add({"Slice", {"x", "begin", "end", "axes", "steps"}, "y"});
  EXPECT_EQ(net_objection(cut.bytes()), "n.onnx: node y (Slice): its steps or axes are damaged");
  cut.tensors.back() = wholes("steps", {least, 1});
  EXPECT_EQ(net_objection(cut.bytes()), "n.onnx: node y (Slice): its steps or axes are damaged");
  OnnxSketch mixed;
  mixed.add(wholes("a", {1, 2, 3})).add(wholes("b", {1, 2, 3, 4}));
  mixed.add({"Add", {"a", "b"}, "c"}).add({"Reshape", {"x", "c"}, "y"});
  EXPECT_EQ(net_objection(mixed.bytes()),
            "n.onnx: node c (Add): the sizes of its inputs do not match");
}

// What the file computes from constants.
TEST(NetFile, ConstantsAreFolded) {
  const auto sizes_after = [](const std::function<void(OnnxSketch&)>& fill) {
    OnnxSketch net{.side = 24};
    net.add({"zero", {1}, 7, {0}}).add({"one", {1}, 7, {1}}).add({"none", {}, 7, {0}});
    net.add({"list", {4}, 7, {1, 3, 24, 24}}).add({"two", {}, 7, {2}}).add({"four", {}, 7, {4}});
    fill(net);
    net.add({"Reshape", {"x", "sizes"}, "y"});
    return net_objection(net.bytes());
  };
  EXPECT_EQ(sizes_after([](OnnxSketch& net) {
              net.add({"Equal", {"list", "one"}, "same"});
              net.add({"Not", {"same"}, "other"});
              net.add({"Where", {"other", "list", "one"}, "sizes"});
            }),
            "none");
  EXPECT_EQ(sizes_after([](OnnxSketch& net) {
              net.add({"Range", {"none", "four", "two"}, "even"});
              net.add({"Gather", {"list", "even"}, "a"});  // 1, 24
              net.add({"rows", {2, 1}, 7, {1, 3}}).add({"values", {2}, 7, {3, 24}});
              net.add({"ScatterND", {"list", "rows", "values"}, "sizes"});
            }),
            "none");
  EXPECT_EQ(sizes_after([](OnnxSketch& net) {
              net.add({"wide", {1}, 7, {4}}).add({"Expand", {"one", "wide"}, "ones"});
              net.add({"Max", {"list", "ones"}, "sizes"});
            }),
            "none");
  EXPECT_EQ(
      sizes_after([](OnnxSketch& net) {
        net.add({"at", {1, 1}, 7, {3}}).add({"GatherND", {"list", "at"}, "last"});
        net.add({"three", {1}, 7, {3}}).add({"six", {1}, 7, {24}});
        net.add({"Concat", {"one", "three", "last", "six"}, "sizes", {{"axis", std::int64_t{0}}}});
      }),
      "none");
  EXPECT_EQ(sizes_after([](OnnxSketch& net) {
              net.add({"far", {1}, 7, {9}}).add({"Gather", {"list", "far"}, "sizes"});
            }),
            "n.onnx: node sizes (Gather): there is no element 9");
}

TEST(NetFile, MetadataSayHowPixelsAreSeen) {
  OnnxModel model = parse_onnx(one_convolution().bytes(), "n.onnx", {});
  const auto pixels = [&] { return NetBuilder(model, "n.onnx").build().pixels; };
  EXPECT_TRUE(pixels().means.empty());
  model.metadata = {{"Image.BitmapPixelFormat", "Bgr8"},
                    {"Image.NominalPixelRange", "NominalRange_0_255"}};
  EXPECT_TRUE(pixels().blue_first);
  EXPECT_TRUE(pixels().bytes);
  model.metadata = {{"Image.NominalPixelRange", "Normalized_1_1"}};
  EXPECT_EQ(pixels().means, std::vector<float>(3, 0.5F));
  EXPECT_EQ(pixels().deviations, std::vector<float>(3, 0.5F));
  model.metadata = {{"mean", "[0.5, 0.25, 0.125]"}, {"std", "2"}};
  EXPECT_EQ(pixels().means, (std::vector<float>{0.5F, 0.25F, 0.125F}));
  EXPECT_EQ(pixels().deviations, std::vector<float>(3, 2.0F));
  model.metadata = {{"std", "1, 0, 1"}};
  EXPECT_EQ(
      objection_to(pixels),
      "n.onnx: its metadata std \"1, 0, 1\" has no number for each of 3 channels; correct it");
  model.metadata = {{"Image.NominalPixelRange", "NominalRange_16_235"}};
  EXPECT_EQ(objection_to(pixels),
            "n.onnx: its metadata requires pixels in the range NominalRange_16_235; "
            "NominalRange_0_255, Normalized_0_1 and Normalized_1_1 are supported");
}

// Products of values other than those of window attention.
TEST(NetFile, OtherAttentionIsRefused) {
  OnnxSketch net{.side = 24};
  net.add({"flat", {3}, 7, {1, 3, -1}}).add({"Reshape", {"x", "flat"}, "q"});
  net.add({"Transpose", {"q"}, "k", {{"perm", Wholes{0, 2, 1}}}});
  net.add({"MatMul", {"q", "k"}, "y"});
  EXPECT_EQ(net_objection(net.bytes()),
            "n.onnx: node y (MatMul): it multiplies two values; products with constants, and "
            "attention within square windows, are supported");
  OnnxSketch rolled{.side = 24};
  rolled.add({"zero", {1}, 7, {0}}).add({"four", {1}, 7, {4}}).add({"all", {1}, 7, {24}});
  rolled.add({"axis", {1}, 7, {2}});
  rolled.add({"Slice", {"x", "four", "all", "axis"}, "a"});
  rolled.add({"Slice", {"x", "zero", "four", "axis"}, "b"});
  rolled.add({"Concat", {"a", "b"}, "y", {{"axis", std::int64_t{2}}}});
  EXPECT_EQ(net_objection(rolled.bytes()),
            "n.onnx: node y (Concat): its input is rolled, which is supported around window "
            "attention only");
}

TEST(NetFile, ParametersThatDoNotSuitItAreRefused) {
  EXPECT_EQ(objection_to([&] {
              return make_net(parse_net(one_convolution().bytes(), "n.onnx"),
                              {.use = {.input = NetInput::y}});
            }),
            "--net n.onnx: --net-input y is for networks with one channel, this one has 3");
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
  net.add({"w", {27, 1, 1, 1}, 1, std::vector<double>(27, 1)});
  net.add({"Conv", {"b", "w"}, "c", {{"group", std::int64_t{27}}}});
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
