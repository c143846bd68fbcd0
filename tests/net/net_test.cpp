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

}  // namespace
}  // namespace gpufilter::test
