// Networks as people have them: small ones with seeded weights, written by PyTorch's old exporter
// and its new one, and what onnxruntime makes of a picture. lab/peers/networks/compare.py wrote
// them.
#include <iomanip>
#include <iostream>
#include <random>

#include "net/net.hpp"
#include "support/onnx_case.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

const std::filesystem::path networks =
    std::filesystem::path(GPUFILTER_SOURCE) / "tests/net/networks";

constexpr std::array names{"compact-x2", "compact-x4", "convnext", "cunet",   "dncnn",
                           "dncnn-luma", "dncnn-norm", "drunet",   "edsr",    "espcn-relu",
                           "espcn-tanh", "fsrcnn",     "nafnet",   "rrdb-x2", "rrdb-x4",
                           "scunet",     "span",       "swin",     "unet",    "unet-bilinear",
                           "unet-group", "upconv-7",   "upcunet"};

std::string network_file(const std::string& name, const std::string& exporter) {
  return (networks / (name + "-" + exporter + ".onnx")).string();
}

// Networks for one channel get the red one.
Image picture_for(const NetGraph& graph) {
  Image image = read_picture((networks / "in.png").string());
  if (graph.channels() == 3) return image;
  Image grey(image.size(), {1, 8});
  for (const auto [x, y] : each_pixel(image.size()))
    grey.rows().row(y)[x] = image.rows().row(y)[3 * x];
  return grey;
}

TEST(Architectures, AreWithinOneOfOnnxruntime) {
  for (const std::string name : names) {
    for (const std::string exporter : {"old", "dynamo"}) {
      SCOPED_TRACE(name + ", " + exporter);
      const NetGraph graph = read_net(network_file(name, exporter));
      const Image result = filter_on_host(picture_for(graph), {make_net(graph, {})}, {});
      const Image expected = read_picture((networks / (name + ".png")).string());
      ASSERT_EQ(result.size(), expected.size());
      ASSERT_EQ(result.format(), expected.format());
      int largest = 0;
      int differing = 0;
      const auto samples = each_sample(result);
      for (const auto [x, y, c] : samples) {
        const int at = x * result.format().channels + c;
        const int distance = std::abs(result.rows().row(y)[at] - expected.rows().row(y)[at]);
        largest = std::max(largest, distance);
        differing += distance > 0 ? 1 : 0;
      }
      const double share = 100.0 * differing / static_cast<double>(samples.size());
      EXPECT_LE(largest, 1);
      EXPECT_LE(share, 0.5);
      std::cout << std::left << std::setw(14) << name << std::setw(7) << exporter << " largest "
                << largest << ", " << std::setprecision(2) << share << "% differ\n";
    }
  }
}

// Windows at the edges of a value, and of blocks.
std::vector<NetUse> uses_of_windows() {
  return {{}, {.border = Border::mirror}, {.border = Border::wrap}};
}

TEST(WindowAttention, HasTheSameBitsWithEachInstructionSetAndBand) {
  const NetGraph graph = read_net(network_file("swin", "dynamo"));
  for (const NetUse& use : uses_of_windows()) {
    const StageChain chain{make_net(graph, {.use = use})};
    for (const ImageSize size : {ImageSize{1, 1}, {23, 19}, {150, 21}}) {
      const Image image = random_image(size, {3, 8}, 3);
      const Image expected = filter_on_host(image, chain, {});
      ASSERT_NO_FATAL_FAILURE(check_on_host(image, chain, expected, {1000, 5}, RowEnds::hold));
    }
  }
}

// Two heads within windows of 4 x 4 that begin before the value, from different convolutions.
NetGraph attention() {
  NetGraph graph;
  graph.name = "attention";
  graph.values = {{3, 1}, {4, 1}, {4, 1}, {6, 1}, {6, 1}, {3, 1}};
  graph.columns.multiple = graph.rows.multiple = 4;
  graph.output = 5;
  std::mt19937 random(7);
  const auto numbers = [&](int count, float size) {
    std::vector<float> all;
    for (int i = 0; i < count; ++i)
      all.push_back(size * (static_cast<float>(random() % 2001) / 1000.0F - 1.0F));
    return all;
  };
  const auto convolution = [&](int from, int to) {
    NetOperation operation{.inputs = {from}, .output = to};
    const auto& values = graph.values;
    const int outputs = values[static_cast<std::size_t>(to)].channels;
    operation.weights = numbers(outputs * values[static_cast<std::size_t>(from)].channels, 2);
    operation.bias = numbers(outputs, 1);
    graph.operations.push_back(std::move(operation));
  };
  for (int to = 1; to <= 3; ++to)
    convolution(0, to);
  NetOperation attend{.kind = NetOperator::attention, .inputs = {1, 2, 3}, .output = 4};
  attend.groups = 2;
  attend.factor = 4;
  attend.left = 2;
  attend.top = 1;
  attend.numbers = numbers(2 * 16 * 16, 2);
  graph.operations.push_back(std::move(attend));
  convolution(4, 5);
  return graph;
}

TEST(WindowAttention, IsTheSameOnDevices) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Image image = random_image({37, 23}, {3, 8}, 4);
  for (Session* session : kernel_sessions()) {
    for (const NetUse& use : uses_of_windows()) {
      // The second has so little memory that blocks are cut in both directions.
      for (const std::uint64_t scratch : {0, 20'000}) {
        const StageChain chain{make_net(attention(), {.use = use, .scratch = scratch})};
        const Image result =
            filter_on_device(*session, image, chain, {.band_rows = scratch == 0 ? 100 : 17});
        ASSERT_TRUE(same_pixels(result, filter_on_host(image, chain, {})))
            << session->device().name << ", scratch " << scratch;
      }
    }
  }
}

// Each number from those of its window, in double precision.
TEST(WindowAttention, IsTheMeanOfValuesWeightedByScores) {
  const NetGraph graph = attention();
  NaivePlanes x(3, 12, 8);
  std::mt19937 random(9);
  for (float& number : x.numbers)
    number = static_cast<float>(random() % 1000) / 1000.0F;
  const auto planes_of_value = [&](int value) {
    NetGraph part = graph;
    part.output = value;
    return run_planes(part, x);
  };
  NaivePlanes queries = planes_of_value(1);
  NaivePlanes keys = planes_of_value(2);
  NaivePlanes values = planes_of_value(3);
  NaivePlanes result = planes_of_value(4);
  const std::vector<float>& bias = graph.operations[3].numbers;
  const auto first = [](int i, int before) { return (i + before) / 4 * 4 - before; };
  for (int c = 0; c < 6; ++c) {
    const int head = c / 3;
    for (const auto [x0, y0] : each_pixel({12, 8})) {
      const int left = first(x0, 2);
      const int top = first(y0, 1);
      const int place = (y0 - top) * 4 + x0 - left;
      double sum = 0;
      double all = 0;
      for (int j = 0; j < 16; ++j) {
        const int kx = left + j % 4;
        const int ky = top + j / 4;
        if (kx < 0 || kx >= 12 || ky < 0 || ky >= 8) continue;
        double score = bias[static_cast<std::size_t>((head * 16 + j) * 16 + place)];
        for (int i = 2 * head; i < 2 * head + 2; ++i)
          score += double{queries.at(i, x0, y0)} * keys.at(i, kx, ky);
        all += std::exp(score);
        sum += std::exp(score) * values.at(c, kx, ky);
      }
      ASSERT_NEAR(result.at(c, x0, y0), sum / all, 1e-4) << c << ", " << x0 << ", " << y0;
    }
  }
}

}  // namespace
}  // namespace gpufilter::test
