// Rates of the kernels on a device, beside those of its memory in the same run:
// lab/peers/README.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gpufilter/gpufilter.hpp>

#include "base/format.hpp"
#include "compute/matrix_product.hpp"
#include "compute/picture_reduction.hpp"
#include "device/device_choice.hpp"
#include "device/stores.hpp"
#include "image/image.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter::bench {
namespace {

constexpr ImageSize size{16384, 8192};
constexpr int repetitions = 11;

enum class Alpha { opaque, random };

// Slopes with noise, as in a photograph; where `alpha` is random, every pixel has another.
void fill(const MutableRows& rows, Alpha alpha) {
  std::mt19937 noise(1);
  const int channels = rows.format.channels;
  std::vector<std::uint32_t> random(4099);
  for (std::uint32_t& value : random)
    value = static_cast<std::uint32_t>(noise());
  std::size_t next = 0;
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    std::uint8_t* place = rows.row(y);
    for (int x = 0; x < rows.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        next = next + 1 == random.size() ? 0 : next + 1;
        auto sample = static_cast<std::uint32_t>((x * (c + 1) + y * 2) / 16);
        sample = (sample << (rows.format.depth - 8U)) +
                 (random[next] >> (36U - static_cast<unsigned>(rows.format.depth)));
        if (rows.format.has_alpha() && c == channels - 1)
          sample = alpha == Alpha::opaque ? rows.format.max_sample() : random[next] >> 16U;
        if (rows.format.depth == 8) {
          *place = static_cast<std::uint8_t>(sample);
        } else {
          const auto wide = static_cast<std::uint16_t>(sample);
          std::memcpy(place, &wide, sizeof(wide));
        }
        place += rows.format.depth / 8;
      }
    }
  }
}

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

using Launch = std::function<std::vector<Event>()>;

class Bench {
 public:
  explicit Bench(const DeviceInfo& device)
      : session_(device, std::nullopt), queue_(session_.make_queue()) {
    session_.set_tuning(tuning_for(device, make_tuning_store()));
    setenv("GPUFILTER_KERNELS", DEVICE_BENCH_CEILINGS, 1);
    copy_ = std::make_unique<Kernel>(session_.make_kernel({"ceilings.cl", "copy_words", ""}));
    read_ = std::make_unique<Kernel>(session_.make_kernel({"ceilings.cl", "read_words", ""}));
    unsetenv("GPUFILTER_KERNELS");
  }

  // Buffers for pictures of a format, the first of them filled.
  void begin(const PixelFormat& format, Alpha alpha) {
    format_ = format;
    const std::size_t block_bytes = row_pitch(size.width, format) * 64;
    if (source_.size() != block_bytes * size.height / 64) {
      for (Buffer* buffer : {&source_, &target_, &from_, &to_})
        *buffer = {};
      source_ = session_.allocate(block_bytes * size.height / 64);
      target_ = session_.allocate(3 * source_.size());  // grey becomes RGB
      from_ = session_.allocate(2 * source_.size());
      to_ = session_.allocate(2 * source_.size());
    }
    Image image(size, format);
    fill(image.rows(), alpha);
    queue_.upload(source_, image.rows().data, image.bytes());
    queue_.finish();
  }

  void stage(const std::string& name, const std::shared_ptr<const Stage>& stage, Alpha alpha) {
    const PictureShape shape{size, format_};
    const auto step =
        steps_of(lower_chain({stage}, {.shape = shape}).at(0), &session_.device()).at(0);
    if (!is_exact(*step, alpha)) {
      fmt::print("{:<34} WRONG: not what the processor gives\n", name);
      return;
    }
    const auto pass = step->prepare(session_, shape);
    const RowRange rows{0, size.height};
    const std::size_t target_bytes =
        row_pitch(size.width, step->output(shape).format) * static_cast<std::size_t>(size.height);
    time(
        name + ": " + pass->description().variant,
        [&] {
          return pass->enqueue(queue_, {&source_, rows}, {&target_, rows});
        },
        *copy_, source_.size() + target_bytes);
  }

  void statistics(const std::string& name, Quantity quantity) {
    PictureReducer reducer(session_, size.width, format_, quantity);
    const RowRange rows{0, size.height};
    time(
        name + ": " + reducer.description().variant,
        [&] {
          auto events = reducer.add(queue_, {&source_, rows});
          return std::vector<Event>{events.back()};
        },
        *read_, 2 * source_.size());
  }

  void product(const MatrixShape& shape) {
    const auto floats = [this](int rows, int columns) {
      return session_.allocate(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) *
                               sizeof(float));
    };
    const Buffer a = floats(shape.rows, shape.depth);
    const Buffer b = floats(shape.depth, shape.columns);
    const Buffer c = floats(shape.rows, shape.columns);
    upload_numbers(a);
    upload_numbers(b);
    MatrixProduct product(session_, {.typical = shape});
    std::vector<double> seconds;
    seconds.reserve(repetitions);
    for (int i = 0; i < repetitions; ++i)
      seconds.push_back(run({product.enqueue(queue_, {a, b, c}, shape, Activation::none)}));
    const double operations = 2.0 * shape.rows * shape.columns * shape.depth;
    fmt::print("{:<34} {:9.3f} ms {:8.1f} TFLOP/s  {}\n",
               formatted("product {}x{}x{}", shape.rows, shape.depth, shape.columns),
               median(seconds) * 1e3, operations / median(seconds) * 1e-12, product.variant());
  }

 private:
  void upload_numbers(const Buffer& buffer) {
    std::mt19937 noise(2);
    std::vector<float> numbers(buffer.size() / sizeof(float));
    for (float& number : numbers)
      number = static_cast<float>(noise() >> 8U) * 0x1p-24F - 0.5F;
    queue_.upload(buffer, numbers.data(), buffer.size());
    queue_.finish();
  }

  // Against the processor, with a small picture.
  bool is_exact(const Step& step, Alpha alpha) {
    const ImageSize small{1919, 61};
    Image image(small, format_);
    fill(image.rows(), alpha);
    const PixelFormat format = step.output({small, format_}).format;
    Image expected(small, format);
    Image result(small, format);
    step.run(image.rows(), expected.rows(), {small, small});
    const Buffer from = session_.allocate(image.bytes());
    const Buffer to = session_.allocate(result.bytes());
    queue_.upload(from, image.rows().data, image.bytes());
    const RowRange rows{0, small.height};
    const auto pass = step.prepare(session_, {small, format_});  // its tables are still being read
    static_cast<void>(pass->enqueue(queue_, {&from, rows}, {&to, rows}));
    queue_.download(to, result.rows().data, result.bytes());
    queue_.finish();
    const std::size_t bytes = static_cast<std::size_t>(small.width) * format.bytes_per_pixel();
    for (int y = 0; y < small.height; ++y) {
      if (std::memcmp(result.rows().row(y), expected.rows().row(y), bytes) != 0) return false;
    }
    return true;
  }

  double run(const std::vector<Event>& events) {
    queue_.finish();
    Nanoseconds total = 0;
    for (const Event& event : events)
      total += event.times().duration;
    return static_cast<double>(total) * 1e-9;
  }

  // `bytes` are read and written; the ceiling moves as many, half of them each way.
  void time(const std::string& name, const Launch& launch, const Kernel& ceiling,
            std::size_t bytes) {
    const auto words = static_cast<std::int32_t>(bytes / 2 / 16);
    const bool reads = &ceiling == read_.get();
    const std::size_t items = reads ? std::size_t{session_.device().compute_units} * 8 * 256
                                    : static_cast<std::size_t>(words);
    std::vector<double> ours;
    std::vector<double> memory;
    for (int i = 0; i < repetitions; ++i) {
      ours.push_back(run(launch()));
      memory.push_back(run({queue_.launch(ceiling, {items, 1, 256, 1}, {from_, to_, words})}));
    }
    const double seconds = median(ours);
    fmt::print("{:<52} {:9.3f} ms {:8.1f} Gpx/s {:6.3f} of {} ({:.2f} TB/s)\n",
               formatted("{}{}x{} {}", "", format_.channels, format_.depth, name), seconds * 1e3,
               static_cast<double>(size.pixels()) / seconds * 1e-9, median(memory) / seconds,
               reads ? "reading" : "copying",
               static_cast<double>(reads ? bytes / 2 : bytes) / median(memory) * 1e-12);
    std::fflush(stdout);
  }

  Session session_;
  Queue queue_;
  std::unique_ptr<Kernel> copy_;
  std::unique_ptr<Kernel> read_;
  PixelFormat format_;
  Buffer source_;
  Buffer target_;
  Buffer from_;  // what the ceilings copy or read
  Buffer to_;
};

void blurs(Bench& bench, const std::string& name, Alpha alpha) {
  bench.stage(name + " naive", make_blur({.variant = BlurVariant::naive}), alpha);
  bench.stage(name + " tiled", make_blur({.variant = BlurVariant::tiled}), alpha);
  bench.stage(name + " auto", make_blur({}), alpha);
}

void pictures(Bench& bench) {
  const auto three_rows =
      make_color(to_matrix({{.5, .3, .1, .01}, {.2, .6, .1, .02}, {.1, .2, .6, -.01}}), "3x4");
  const auto four_rows = make_color(to_matrix({{.5, .3, .1, .1, .01},
                                               {.2, .6, .1, .1, .02},
                                               {.1, .2, .6, .1, -.01},
                                               {.1, .1, .1, .7, 0}}),
                                    "4x5");
  for (const PixelFormat format :
       {PixelFormat{4, 8}, {3, 8}, {2, 8}, {1, 8}, {4, 16}, {3, 16}, {2, 16}, {1, 16}}) {
    bench.begin(format, Alpha::opaque);
    blurs(bench, "blur", Alpha::opaque);
    bench.stage("colour", format.channels == 4 ? four_rows : three_rows, Alpha::opaque);
    if (format.channels == 4) bench.stage("colour", three_rows, Alpha::opaque);
    bench.stage("look-up", make_levels({16}, {235}), Alpha::opaque);
    bench.statistics("totals", Quantity::totals);
    bench.statistics("histograms", Quantity::channel_histograms);
    bench.statistics("luma histogram", Quantity::luma_histogram);
    if (!format.has_alpha()) continue;
    bench.begin(format, Alpha::random);
    blurs(bench, "blur, alpha", Alpha::random);
  }
}

void products(Bench& bench) {
  for (const int n : {1024, 2048, 4096, 8192})
    bench.product({n, n, n});
  for (const int n : {16, 32, 64, 128})
    bench.product({n, (1 << 25) / n, n});
}

}  // namespace
}  // namespace gpufilter::bench

// The first GPU, or without one the first device.
int main(int argc, char** argv) {
  gpufilter::answer_probes(argc, argv);
  const auto devices = gpufilter::discover_devices();
  if (devices.empty()) {
    fmt::print(stderr, "no OpenCL device\n");
    return 1;
  }
  const auto gpu = std::find_if(devices.begin(), devices.end(), [](const auto& device) {
    return device.kind == gpufilter::DeviceKind::gpu;
  });
  const gpufilter::DeviceInfo& device = gpu == devices.end() ? devices.front() : *gpu;
  fmt::print("{}, driver {}; medians of {}\n", device.name, device.driver_version,
             gpufilter::bench::repetitions);
  gpufilter::bench::Bench bench(device);
  gpufilter::bench::pictures(bench);
  gpufilter::bench::products(bench);
  return 0;
}
