#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string_view>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/stage_options.hpp"
#include "app/lab/lab_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "lab/bench/benches.hpp"
#include "net/net.hpp"
#include "net/pixel/mlp.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter {
namespace {

using lab::StageCase;

constexpr int max_side = 32768;

ImageSize parse_size(const std::string& text) {
  ImageSize size;
  const std::string_view all = text;
  const std::size_t cross = std::min(all.find('x'), all.size() - 1);
  const auto fits = [](int side) { return 1 <= side && side <= max_side; };
  if (parse_whole(all.substr(0, cross), size.width) &&
      parse_whole(all.substr(cross + 1), size.height) && fits(size.width) && fits(size.height))
    return size;
  throw UsageError(
      formatted("--size {}: give width and height from 1 to {}, as 640x480", text, max_side));
}

// The command line of a benchmark of stages.
class StageBench : public BenchCommand {
 public:
  StageBench(const std::string& description, const std::string& name, const std::string& footer,
             const std::string& depth = "--depth")
      : BenchCommand(description, name, footer), name_(name), depth_(depth) {}

  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv) {
    app.add_option("--size", size_, "Width and height of the picture.")
        ->option_text("WxH [GPU: 8192x8192, else 2048x1536]");
    add_numbers(app, "--channels", pictures.channels, whole_number(1, 4),
                "1 grey, 2 grey and alpha, 3 RGB, 4 RGBA.");
    add_numbers(app, depth_, pictures.depths, one_of({"8", "16"}), "Bits per sample: 8 or 16.");
    return BenchCommand::parse(argc, argv);
  }

  // With `measure`, or as bench_stages() if that is nullptr.
  [[nodiscard]] int run(const std::vector<StageCase>& cases,
                        lab::Report (*measure)(const lab::TestBed&, const lab::PictureOptions&,
                                               const std::vector<StageCase>&) = nullptr) {
    if (!size_.empty()) pictures.size = parse_size(size_);
    return finish([&](const lab::TestBed& bed) {
      return measure != nullptr ? measure(bed, pictures, cases)
                                : lab::bench_stages(bed, name_, pictures, cases);
    });
  }

  lab::PictureOptions pictures;

 private:
  std::string name_;
  std::string depth_;  // the option of bits per sample
  std::string size_;   // "2048x1536"; empty: one that suits the device
};

// Arbitrary weights that keep colours within their range.
Network random_network(const std::vector<int>& widths) {
  std::mt19937 random(1);
  Network network;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    NetworkLayer layer;
    layer.inputs = widths[i];
    layer.bias.assign(static_cast<std::size_t>(widths[i + 1]), 0.1F);
    layer.activation = i + 2 < widths.size() ? Activation::relu : Activation::clamp;
    const float scale = 0x1p-31F / static_cast<float>(widths[i]);
    const int weights = widths[i] * widths[i + 1];
    for (int w = 0; w < weights; ++w)
      layer.weights.push_back(static_cast<float>(static_cast<std::int32_t>(random())) * scale);
    network.layers.push_back(std::move(layer));
  }
  return network;
}

// "3-16-16-3": the widths between the layers.
std::vector<int> parse_widths(const std::string& text) {
  std::vector<int> widths;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '-');) {
    int width = 0;
    const bool fits = parse_whole(part, width) && width >= 1 && width <= network_width;
    if (!fits) widths.clear();
    if (!fits) break;
    widths.push_back(width);
  }
  if (widths.size() < 2) {
    throw UsageError(
        formatted("--layers {}: give widths from 1 to {} with dashes between them, as 3-16-16-3",
                  text, network_width));
  }
  return widths;
}

StageCase network_case(const std::string& text) {
  const Network network = random_network(parse_widths(text));
  double products = 0;
  for (const NetworkLayer& layer : network.layers)
    products += static_cast<double>(layer.weights.size());
  return {text, "network", make_mlp(network), products};
}

}  // namespace

int run_bench_blur(int argc, const char* const* argv) {
  std::vector<std::string> kernels{"naive", "tiled", "auto"};
  std::vector<int> tiles(blur_tiles.begin(), blur_tiles.end());
  StageBench bench("Measures --blur, the 3x3 box blur.", "blur",
                   "Examples:\n  gpufilter bench blur --size 300x200 --channels 3,4 --trials 2\n");
  bench.app.add_option("--kernels", kernels, "Kernels of the device.")
      ->comma_list()
      ->check(one_of({"naive", "tiled", "auto"}))
      ->option_text("naive,tiled,auto");
  add_numbers(bench.app, "--tile", tiles, one_of({"8", "16", "32"}),
              "Tiles of the tiled kernel: 8, 16 or 32.");
  if (const auto done = bench.parse(argc, argv)) return *done;
  std::vector<StageCase> cases;
  for (const std::string& kernel : kernels) {
    if (kernel == "naive") cases.push_back({"blur", kernel, make_blur({BlurVariant::naive})});
    if (kernel == "auto") cases.push_back({"blur", kernel, make_blur({})});
    if (kernel != "tiled") continue;
    for (const int tile : tiles) {
      cases.push_back(
          {"blur", formatted("tiled {0}x{0}", tile), make_blur({BlurVariant::tiled, tile})});
    }
  }
  return bench.run(cases);
}

int run_bench_color(int argc, const char* const* argv) {
  std::vector<std::string> colors{"sepia"};
  StageBench bench("Measures --color, which multiplies every pixel by a matrix.", "color",
                   "Examples:\n  gpufilter bench color --color hue=90 --size 300x200 --trials 2\n");
  bench.app.add_option("--color", colors, "What --color takes: a preset, a file or a matrix.")
      ->one_value_each()
      ->option_text("COLOR [sepia]");
  if (const auto done = bench.parse(argc, argv)) return *done;
  std::vector<StageCase> cases;
  cases.reserve(colors.size());
  for (const std::string& color : colors)
    cases.push_back({color, "color", color_stage_kind().make(color)});
  return bench.run(cases);
}

int run_bench_lookup(int argc, const char* const* argv) {
  StageBench bench(
      "Measures look-up tables: of samples, which --levels applies, and of factors by luma, which "
      "--tonemap applies.",
      "lookup", "Examples:\n  gpufilter bench lookup --depth 8,16 --size 300x200 --trials 2\n");
  if (const auto done = bench.parse(argc, argv)) return *done;
  const auto inverted = [](const PixelFormat& format) {
    std::vector<std::uint16_t> table(format.max_sample() + std::size_t{1});
    std::iota(table.rbegin(), table.rend(), std::uint16_t{0});
    return table;
  };
  const auto factors = [](const PixelFormat& format) {
    std::vector<float> table(format.max_sample() + std::size_t{1});
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] = 2.0F - static_cast<float>(i) / static_cast<float>(table.size());
    return table;
  };
  return bench.run({{"samples", "table", make_lookup({"bench samples", "table", inverted})},
                    {"luma", "table", make_luma_scaling({"bench luma", "table", factors})}});
}

namespace {

// The stages of the command line, each a case of its own.
std::vector<StageCase> cases_of(const StageChain& chain) {
  std::vector<StageCase> cases;
  std::map<std::string, int> uses;
  for (const auto& stage : chain) {
    const StageTraits traits = stage->traits();
    if (traits.measures || traits.keeps_picture || traits.turns_upright) {
      throw UsageError(
          formatted("--{}: needs the whole picture first; 'gpufilter bench pipeline' measures it",
                    stage->name()));
    }
    std::string name = stage->name() + (stage->label().empty() ? "" : " " + stage->label());
    // Stages of one name may differ in parameters that labels leave out.
    const int count = ++uses[name];
    if (count > 1) name += formatted(" ({})", count);
    cases.push_back({name, "auto", stage});
  }
  return cases;
}

int run_chain(StageBench& bench, const std::string& name, int argc, const char* const* argv,
              lab::Report (*measure)(const lab::TestBed&, const lab::PictureOptions&,
                                     const std::vector<StageCase>&)) {
  bench.pictures.channels = {3};
  const StageOptions stages(bench.app);
  if (const auto done = bench.parse(argc, argv)) return *done;
  if (stages.chain().empty()) {
    throw UsageError(
        formatted("{}: name stages to measure, such as --gaussian 2 --median 1", name));
  }
  return bench.run(cases_of(stages.chain()), measure);
}

}  // namespace

int run_bench_stages(int argc, const char* const* argv) {
  StageBench bench(
      "Measures any stages, each by itself.", "stages",
      "Examples:\n  gpufilter bench stages --gaussian 2 --median 1 --size 300x200 --trials 2\n",
      "--bits");  // --depth is a stage
  return run_chain(bench, "bench stages", argc, argv, nullptr);
}

int run_bench_roofline(int argc, const char* const* argv) {
  StageBench bench(
      "Shows what limits stages: memory or arithmetic. The roof is the copy's rate times the "
      "operations a byte, and at most the rate of the fastest matrix product.",
      "roofline",
      "Examples:\n"
      "  gpufilter bench roofline --blur auto --color sepia --size 300x200 --trials 2\n"
      "  gpufilter bench roofline --gaussian 2 --invert --size 300x200 --plot roof.svg\n",
      "--bits");
  return run_chain(bench, "bench roofline", argc, argv, lab::bench_roofline);
}

int run_bench_mlp(int argc, const char* const* argv) {
  std::vector<std::string> layers{"3-16-16-3"};
  std::vector<std::string> files;
  StageBench bench(
      "Measures --mlp, which applies a small network to every pixel.", "mlp",
      "Examples:\n  gpufilter bench mlp --layers 3-8-3,3-16-16-3 --size 64x48 --trials 2\n");
  bench.pictures.channels = {3};
  bench.app.add_option("--layers", layers, "Networks of these widths, with random weights.")
      ->comma_list()
      ->option_text("WIDTHS,... [3-16-16-3]");
  bench.app.add_option("--network", files, "A network file instead.")
      ->one_value_each()
      ->option_text("FILE");
  if (const auto done = bench.parse(argc, argv)) return *done;
  std::vector<StageCase> cases;
  cases.reserve(files.size());
  for (const std::string& file : files)
    cases.push_back({file, "network", mlp_stage_kind().make(file)});
  if (files.empty()) {
    for (const std::string& widths : layers)
      cases.push_back(network_case(widths));
  }
  return bench.run(cases);
}

int run_bench_net(int argc, const char* const* argv) {
  std::vector<std::string> files;
  StageBench bench(
      "Measures --net, which runs a convolutional network.", "net",
      "Examples:\n  gpufilter bench net samples/networks/denoise.onnx --size 64x48 --trials 2\n");
  bench.pictures.channels = {3};
  bench.app.add_option("FILE", files, "Networks: ONNX.")->required();
  if (const auto done = bench.parse(argc, argv)) return *done;
  std::vector<StageCase> cases;
  for (const std::string& file : files) {
    const NetGraph graph = read_net(file);
    cases.push_back({graph.name, "network", make_net(graph, {}), net_products(graph)});
  }
  return bench.run(cases);
}

}  // namespace gpufilter
