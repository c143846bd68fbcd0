// Whole stages, with their steps and the rows between them, as the pipeline runs them on one core.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "base/timeline.hpp"
#include "cases.hpp"
#include "host/amx.hpp"
#include "host/instruction_set.hpp"
#include "net/net.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/point/lut.hpp"

namespace gpufilter::bench {
namespace {

std::shared_ptr<const Stage> stage(const std::string& option, const std::string& value,
                                   const GivenParameters& parameters = {}) {
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option == option) return kind.make(value, parameters);
  }
  throw UsageError(option + " is not a stage");
}

// A film's curve and a little exchange of colours.
Cube film(int nodes) {
  Cube cube{.size = nodes};
  for (int i = 0; i < nodes * nodes * nodes; ++i) {
    const auto share = [nodes](int n) {
      const auto x = static_cast<float>(n % nodes) / static_cast<float>(nodes - 1);
      return x * x * (3 - 2 * x);
    };
    const CubeColor in{share(i), share(i / nodes), share(i / nodes / nodes)};
    cube.colors.push_back(
        {0.9F * in[0] + 0.1F * in[1], 0.8F * in[1] + 0.2F * in[2], 0.1F * in[0] + 0.9F * in[2]});
  }
  return cube;
}

// Band by band over the whole picture.
class Run {
 public:
  Run(const PixelFormat& format, const StageChain& chain)
      : source_(source(format)),
        plan_(make_plan({size, format}, chain)),
        executor_(make_host_executor(plan_, &timeline_)),
        result_(plan_.output().size, plan_.output().format) {}

  void operator()() {
    for (const RowRange& band : plan_.bands())
      executor_->run(source_.rows().part(plan_.windows(band).front()), result_.rows().part(band));
  }

 private:
  const Image& source_;
  Plan plan_;
  Timeline timeline_;
  std::unique_ptr<BandExecutor> executor_;
  Image result_;
};

// Four 3x3 layers of bytes with `channels` channels, and one with those of the picture.
NetGraph network_of_bytes(int channels) {
  constexpr int layers = 5;
  constexpr float scale = 1.0F / 255;
  NetGraph graph;
  graph.name = "bytes";
  graph.values = {{.channels = rgb.channels}, {.channels = rgb.channels, .quantized = true}};
  graph.operations = {{.kind = NetOperator::quantize,
                       .inputs = {0},
                       .output = 1,
                       .numbers = {scale},
                       .low = 0,
                       .high = 255}};
  for (int layer = 0; layer < layers; ++layer) {
    const int inputs = graph.values.back().channels;
    const int outputs = layer + 1 < layers ? channels : rgb.channels;
    NetOperation convolution{.inputs = {layer + 1},
                             .output = layer + 2,
                             .kernel_width = 3,
                             .kernel_height = 3,
                             .left = 1,
                             .top = 1,
                             .integer = true};
    for (int i = 0; i < outputs * 9 * inputs; ++i)
      convolution.integers.weights.push_back(static_cast<std::int16_t>(i * 37 % 255 - 120));
    const auto count = static_cast<std::size_t>(outputs);
    convolution.integers.bias.assign(count, 0);
    convolution.integers.scales.assign(count, 0.02F / static_cast<float>(inputs));
    convolution.integers.high = 255;
    graph.operations.push_back(std::move(convolution));
    graph.values.push_back({.channels = outputs, .quantized = true});
  }
  graph.operations.push_back({.kind = NetOperator::dequantize,
                              .inputs = {layers + 1},
                              .output = layers + 2,
                              .numbers = {scale}});
  graph.values.push_back({.channels = rgb.channels});
  graph.output = layers + 2;
  return graph;
}

void add_stage(const std::string& what, const PixelFormat& format, const StageChain& chain) {
  for (const InstructionSet set : available_instruction_sets()) {
    const auto pass = [=, run = std::shared_ptr<Run>()]() mutable {
      const ThreadLimit one_core(1);
      const InstructionSetInUse in_use(set);
      if (!run) run = std::make_shared<Run>(format, chain);  // memory only for those that run
      (*run)();
    };
    add(what + "/" + name(format) + "/" + std::string(to_string(set)), pass);
  }
}

// Only with the set in use: others take minutes.
void add_network(int channels) {
  const NetGraph graph = network_of_bytes(channels);
  const StageChain chain{make_net(graph, {})};
  const auto add_as = [&](const std::string& who, bool without_amx) {
    const auto pass = [=, run = std::shared_ptr<Run>()]() mutable {
      const ThreadLimit one_core(1);
      std::optional<AmxLeftOut> left_out;
      if (without_amx) left_out.emplace();
      if (!run) run = std::make_shared<Run>(rgb, chain);
      (*run)();
    };
    add("net of bytes " + std::to_string(channels) + "/" + name(rgb) + "/" + who, pass,
        2 * net_products(graph));
  };
  add_as(std::string(to_string(instruction_set())), false);
  if (amx_in_use()) add_as("without AMX", true);
}

}  // namespace

void add_host_stages() {
  for (const int channels : {16, 32, 64})
    add_network(channels);
  for (const PixelFormat& format : {rgb, rgba}) {
    const auto add_values = [&](const std::string& option, const std::vector<std::string>& values) {
      for (const std::string& value : values)
        add_stage(option.substr(2) + " " + value, format, {stage(option, value)});
    };
    add_values("--gaussian", {"1", "5", "20"});
    add_values("--sharpen", {"0.8"});
    add_stage("gaussian 2, sharpen 0.8", format,
              {stage("--gaussian", "2"), stage("--sharpen", "0.8")});
    add_values("--median", {"1", "2", "7"});
    add_values("--denoise", {"10"});
    add_values("--edges", {"sobel"});
    add_values("--dilate", {"1", "30"});
    for (const char* kernel : {"lanczos", "cubic", "linear"}) {
      add_stage("resize 531x354 " + std::string(kernel), format,
                {stage("--resize", "531x354", {{"--kernel", kernel}})});
    }
    for (const int nodes : {9, 33})
      add_stage("lut " + std::to_string(nodes), format, {make_lut(film(nodes), 1, "film")});
    const auto color = stage("--color", "sepia");
    const auto levels = stage("--levels", "16,235");
    add_stage("color", format, {color});
    add_stage("levels", format, {levels});
    add_stage("color, levels", format, {color, levels});
    add_stage("linear, encoded", format, {stage("--linear", ""), stage("--encoded", "")});
  }
}

}  // namespace gpufilter::bench
