// Rates of the processor's loops and of peers, on one core: lab/peers/README.md.
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "cases.hpp"

namespace gpufilter::bench {
namespace {

Image picture(const PixelFormat& format) {
  Image image(size, format);
  std::mt19937 noise(1);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* samples = image.rows().row(y);
    for (int x = 0; x < size.width; ++x) {
      for (int c = 0; c < format.channels; ++c) {
        const int slope = (x * (c + 1) + y * 2) / 16;
        const bool alpha = format.has_alpha() && c == format.channels - 1;
        *samples++ =
            static_cast<std::uint8_t>(alpha ? 255 : slope + static_cast<int>(noise() >> 28U));
      }
    }
  }
  return image;
}

Image& kept(std::map<int, Image>& images, const PixelFormat& format) {
  const auto found = images.find(format.channels);
  if (found != images.end()) return found->second;
  return images.emplace(format.channels, picture(format)).first->second;
}

}  // namespace

const Image& source(const PixelFormat& format) {
  static std::map<int, Image> images;
  return kept(images, format);
}

Image& target(const PixelFormat& format) {
  static std::map<int, Image> images;
  return kept(images, format);
}

std::string name(const PixelFormat& format) {
  return format.channels == 4 ? "RGBA8" : "RGB8";
}

void add(const std::string& name, const std::function<void()>& pass, double flops) {
  const auto run = [pass, flops](benchmark::State& state) {
    for ([[maybe_unused]] auto each : state) {
      pass();
      benchmark::ClobberMemory();
    }
    const double pixels =
        static_cast<double>(size.pixels()) * static_cast<double>(state.iterations());
    state.counters["Mpx/s"] = benchmark::Counter(pixels / 1e6, benchmark::Counter::kIsRate);
    if (flops == 0) return;
    state.counters["GFLOP/s"] =
        benchmark::Counter(pixels * flops / 1e9, benchmark::Counter::kIsRate);
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
}

}  // namespace gpufilter::bench

int main(int argc, char** argv) {
  namespace bench = gpufilter::bench;
  std::vector<char*> arguments(argv, argv + argc);
  std::string tabular = "--benchmark_counters_tabular=true";
  arguments.insert(arguments.begin() + 1, tabular.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  bench::add_host_loops();
  bench::add_host_stages();
#ifdef HOST_BENCH_SIMD
  bench::add_simd();
#endif
#ifdef HOST_BENCH_OPENCV
  bench::add_opencv();
#endif
#ifdef HOST_BENCH_OPENBLAS
  bench::add_openblas();
#endif
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
