// Kernel times of chains on a device, fused and not: lab/peers/README.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gpufilter/gpufilter.hpp>

#include "base/format.hpp"
#include "device/device_choice.hpp"
#include "net/pixel/mlp.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "stage/device/fused_pass.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/point/lut.hpp"

namespace gpufilter::bench {
namespace {

constexpr ImageSize size{5472, 3648};  // 20 Mpx

// A stage with the same structure but no arithmetic.
class Copy final : public OneStepStage {
 public:
  [[nodiscard]] std::string name() const override { return "copy"; }
  [[nodiscard]] std::string key() const override { return "copy"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"copy", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& /*input*/, const DeviceInfo& /*device*/) const override {
    return PixelFunction{.body =
                             "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) "
                             "out[i] = in[i];\n"};
  }
};

std::shared_ptr<const Stage> stage(const std::string& option, const std::string& value) {
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option == "--" + option) return kind.make(value, {});
  }
  throw std::logic_error("no stage " + option);
}

// "network 3-16-16-3".
std::shared_ptr<const Stage> network(const std::vector<int>& widths) {
  std::mt19937 engine(1);
  const auto number = [&] { return static_cast<float>(engine() >> 8U) * 0x1p-23F - 1.0F; };
  Network made;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    NetworkLayer layer{widths[i], {}, {}, Activation::relu};
    for (int n = 0; n < widths[i] * widths[i + 1]; ++n)
      layer.weights.push_back(number() * 2 / std::sqrt(static_cast<float>(widths[i])));
    for (int n = 0; n < widths[i + 1]; ++n)
      layer.bias.push_back(number() * 0.2F + 0.1F);
    made.layers.push_back(std::move(layer));
  }
  return make_mlp(std::move(made));
}

struct Times {
  double kernels = 1e9;  // ms, the fastest of several runs
  double build = 0;      // ms, of the first
  std::size_t launches = 0;
};

Image noise(const PixelFormat& format) {
  Image image(size, format);
  std::mt19937 engine(2);
  for (std::size_t i = 0; i + 4 <= image.bytes(); i += 4) {
    const auto word = static_cast<std::uint32_t>(engine());
    std::memcpy(image.rows().data + i, &word, sizeof(word));
  }
  return image;
}

// Neighbouring pixels have similar colours, as in photographs.
Image smooth(const PixelFormat& format) {
  Image image(size, format);
  std::mt19937 engine(2);
  for (int y = 0; y < size.height; ++y) {
    const double down = std::sin(y * 0.003);
    std::uint8_t* row = image.rows().row(y);
    for (int x = 0; x < size.width; ++x) {
      for (int c = 0; c < format.channels; ++c) {
        const double wave = 0.5 + 0.45 * std::sin(x * 0.004 * (c + 1)) * down;
        const double grain = static_cast<double>(engine() >> 16U) / 65536 * 0.02;
        const auto sample = static_cast<std::uint16_t>((wave + grain) * 65535 * 0.98);
        if (format.depth == 8) {
          *row++ = static_cast<std::uint8_t>(sample >> 8U);
        } else {
          std::memcpy(row, &sample, sizeof(sample));
          row += sizeof(sample);
        }
      }
    }
  }
  return image;
}

Times times_of(Session& session, const Image& source, const StageChain& chain, bool fuse) {
  const Plan plan = make_plan({size, source.format()}, chain,
                              {.max_memory = std::uint64_t{8} << 30U,
                               .device = &session.device(),
                               .band_rows = size.height});
  Times times;
  Timeline built;
  const auto executor = make_device_executor(plan, session, built, fuse);
  for (const Span& span : built.spans())
    times.build += static_cast<double>(span.duration) * 1e-6;
  Image target(plan.output().size, plan.output().format);
  for (int run = 0; run < 7; ++run) {
    const std::size_t before = built.spans().size();
    executor->run(source.rows(), target.rows());
    double kernels = 0;
    times.launches = 0;
    const std::vector<Span> spans = built.spans();
    for (std::size_t i = before; i < spans.size(); ++i) {
      if (spans[i].activity != Activity::kernel) continue;
      kernels += static_cast<double>(spans[i].duration) * 1e-6;
      ++times.launches;
    }
    times.kernels = std::min(times.kernels, kernels);
  }
  return times;
}

struct Chain {
  std::string name;
  StageChain stages;
  bool is_smooth = false;  // the picture; otherwise noise
};

// Colours with a smooth curve, 33 along each side as colour grading has them.
std::shared_ptr<const Stage> cube() {
  Cube made{.size = 33};
  const auto bent = [](int step) {
    const float x = static_cast<float>(step) / 32;
    return x * x * (3 - 2 * x);
  };
  for (int i = 0; i < 33 * 33 * 33; ++i)
    made.colors.push_back({bent(i % 33), bent(i / 33 % 33), bent(i / (33 * 33))});
  return make_lut(std::move(made), 1, "smooth");
}

std::vector<Chain> chains() {
  const auto sepia = stage("color", "sepia");
  const auto ink = stage("color", "0.5 0.3 0.2 0.01; 0.2 0.7 0.1 0; 0.1 0.2 0.6 0.02");
  const auto levels = stage("levels", "16,235");
  const auto blur = stage("blur", "auto");
  return {
      {"copy", {std::make_shared<Copy>()}},
      {"color", {sepia}},
      {"levels", {levels}},
      {"blur", {blur}},
      {"color levels", {sepia, levels}},
      {"color levels color", {sepia, levels, ink}},
      {"color blur", {sepia, blur}},
      {"blur color", {blur, ink}},
      {"color blur color", {sepia, blur, ink}},
      {"color blur levels color", {sepia, blur, levels, ink}},
      {"gaussian 1", {stage("gaussian", "1")}},
      {"gaussian 5", {stage("gaussian", "5")}},
      {"gaussian 20", {stage("gaussian", "20")}},
      {"sharpen 1", {stage("sharpen", "1")}},
      {"median 1", {stage("median", "1")}},
      {"median 2", {stage("median", "2")}},
      {"median 7", {stage("median", "7")}},
      {"dilate 1", {stage("dilate", "1")}},
      {"dilate 30", {stage("dilate", "30")}},
      {"edges sobel", {stage("edges", "sobel")}},
      {"denoise 20", {stage("denoise", "20")}},
      {"resize 1824x1216", {stage("resize", "1824x1216")}},
      {"lut 33", {cube()}},
      {"lut 33, smooth picture", {cube()}, true},
      {"network 3-16-16-3", {network({3, 16, 16, 3})}},
      {"network 3-32-32-3", {network({3, 32, 32, 3})}},
      {"network 3-64-64-3", {network({3, 64, 64, 3})}},
      {"network 3-64-64-64-3", {network({3, 64, 64, 64, 3})}},
      {"network 3-128-3", {network({3, 128, 3})}},
      {"network 3-96-96-3", {network({3, 96, 96, 3})}},
      {"network 3-256-256-3", {network({3, 256, 256, 3})}},
  };
}

// The stages of options and their values on a command line: {"--median", "3"}.
Chain given_chain(const std::vector<std::string>& words) {
  Chain chain;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    chain.name += (i == 0 ? "" : " ") + words[i].substr(2) + " " + words[i + 1];
    chain.stages.push_back(stage(words[i].substr(2), words[i + 1]));
  }
  return chain;
}

// `words`: the channels and bits of all pictures ("3x8"), if they are to be the same; then a part
// of the chains' names, or stages.
void report(const std::string& device, std::vector<std::string> words) {
  std::string given_format;
  if (!words.empty() && words[0].size() > 1 && words[0][1] == 'x') {
    given_format = words[0];
    words.erase(words.begin());
  }
  const std::vector<DeviceInfo> devices = discover_devices();
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& each) {
    return each.name.find(device) != std::string::npos;
  });
  if (found == devices.end()) throw std::runtime_error("no device " + device);
  Session session(*found, std::nullopt);
  const bool is_given = !words.empty() && words[0].starts_with("--");
  const std::vector<Chain> all = is_given ? std::vector{given_chain(words)} : chains();
  const std::string only = is_given || words.empty() ? "" : words[0];
  std::printf("%s, %dx%d; Gpx/s, ms; launches; ms to build\n", found->name.c_str(), size.width,
              size.height);
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 8}, {3, 16}}) {
    const std::string name = formatted("{}x{}", format.channels, format.depth);
    if (!given_format.empty() && name != given_format) continue;
    for (const Chain& chain : all) {
      if (chain.name.find(only) == std::string::npos) continue;
      if (chain.name.starts_with("network") && format != PixelFormat{3, 8}) continue;
      const Image source = chain.is_smooth ? smooth(format) : noise(format);
      const Times fused = times_of(session, source, chain.stages, true);
      const auto gigapixels = static_cast<double>(size.pixels()) * 1e-6;
      std::printf("%dx%-3d%-26s%8.1f%9.4f%3zu%8.0f", format.channels, format.depth,
                  chain.name.c_str(), gigapixels / fused.kernels, fused.kernels, fused.launches,
                  fused.build);
      if (chain.stages.size() > 1) {
        const Times apart = times_of(session, source, chain.stages, false);
        std::printf("   apart%8.1f%9.4f%3zu; fused is %.2f of it", gigapixels / apart.kernels,
                    apart.kernels, apart.launches, fused.kernels / apart.kernels);
      }
      std::printf("\n");
    }
  }
}

}  // namespace
}  // namespace gpufilter::bench

int main(int argc, char** argv) {
  gpufilter::answer_probes(argc, argv);
  try {
    gpufilter::bench::report(argc > 1 ? argv[1] : "", {argv + std::min(argc, 2), argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
