// --net gives the bits of the definitions of ONNX's operators, with the chains of fma that the
// documentation states: the processor with each instruction set, then every device.
#include "net/net.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/filtering.hpp"
#include "support/naive_net.hpp"
#include "support/onnx_sketch.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::add_convolution;
using test::NaivePlanes;
using test::OnnxSketch;
using test::same_pixels;

using Wholes = std::vector<std::int64_t>;

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

struct NetCase {
  const char* name;
  OnnxSketch net;
  NetUse use;
  PixelFormat format;
  enum { nowhere, as_cpu, as_gpu, everywhere } on_devices = everywhere;  // compiling takes long
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
  };
}

StageChain chain_of(const NetCase& each, std::uint64_t scratch = 0) {
  return {make_net(parse_net(each.net.bytes(), "net.onnx"), {.use = each.use, .scratch = scratch})};
}

TEST(NetOnProcessor, EqualsTheDefinitions) {
  for (const NetCase& each : cases()) {
    const StageChain chain = chain_of(each);
    for (const ImageSize size : {ImageSize{1, 1}, {2, 3}, {23, 19}, {150, 21}}) {
      if (size.width > 100 && each.format.depth == 16) continue;
      const Image image = test::random_image(size, each.format, 1);
      const Image expected = test::naive_net(image, each.net, each.use);
      SCOPED_TRACE(each.name);
      test::check_on_host(image, chain, expected, {1000, 5}, test::RowEnds::hold);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(NetKernel, EqualsTheProcessor) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (Session* session : test::kernel_sessions()) {
    for (const NetCase& each : cases()) {
      const auto kind =
          session->device().kind == DeviceKind::cpu ? NetCase::as_cpu : NetCase::as_gpu;
      if (each.on_devices != NetCase::everywhere && each.on_devices != kind) continue;
      const Image image = test::random_image({37, 23}, each.format, 2);
      const Image expected = test::filter_on_host(image, chain_of(each), {});
      // The second has so little memory that blocks are cut in both directions.
      for (const std::uint64_t scratch : {0, 60'000}) {
        const Image result = test::filter_on_device(*session, image, chain_of(each, scratch),
                                                    {.band_rows = scratch == 0 ? 100 : 17});
        ASSERT_TRUE(same_pixels(result, expected))
            << session->device().name << ", " << each.name << ", scratch " << scratch;
      }
    }
  }
}

}  // namespace
}  // namespace gpufilter
