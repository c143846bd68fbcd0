#include "pipeline/estimate.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpufilter {
namespace {

struct Shipped {
  std::string_view kind;
  double host;    // seconds of one thread for an operation
  double device;  // seconds for an operation
};

constexpr double ns = 1e-9;

// The processor: one core with AVX2. The device: a desktop GPU with 400 GB/s of memory bandwidth on
// PCIe 3. Codecs: per byte of samples.
constexpr std::array shipped{
    Shipped{"blur 8", 0.4 * ns, 0.006 * ns},
    Shipped{"blur 16", 0.8 * ns, 0.012 * ns},
    Shipped{"blur weighted 8", 1.5 * ns, 0.012 * ns},
    Shipped{"blur weighted 16", 4 * ns, 0.03 * ns},
    Shipped{"look_up_samples 8", 0.5 * ns, 0.008 * ns},
    Shipped{"look_up_samples 16", 0.8 * ns, 0.012 * ns},
    Shipped{"scale_by_luma 8", 1.5 * ns, 0.01 * ns},
    Shipped{"scale_by_luma 16", 2 * ns, 0.015 * ns},
    Shipped{"mlp", 0.06 * ns, 0.0015 * ns},
    Shipped{"convolve", 0.1 * ns, 0.005 * ns},
    Shipped{"convolve weighted", 0.5 * ns, 0.01 * ns},
    Shipped{"copy pixels", 0.1 * ns, 0.01 * ns},  // a byte
    Shipped{statistics_kind, 0.6 * ns, 0.01 * ns},
    Shipped{"decode JPEG", 1.7 * ns, 0},
    Shipped{"decode PNG", 3.5 * ns, 0},
    Shipped{"encode JPEG", 2.5 * ns, 0},
    Shipped{"encode PNG", 8 * ns, 0},
    Shipped{transfer_kind, 0, 0.1 * ns},
    Shipped{start_kind, 0, 0.4},
    Shipped{program_kind, 0, 0.1},
    Shipped{literal_kind, 0, 150'000 * ns},
};
// For any other kind of operation, such as a pixel of a colour transform.
constexpr Shipped any_other{"", 3 * ns, 0.03 * ns};

const Shipped& shipped_rates(std::string_view kind) {
  const auto* found = std::find_if(shipped.begin(), shipped.end(),
                                   [kind](const Shipped& each) { return each.kind == kind; });
  return found == shipped.end() ? any_other : *found;
}

double bytes_of(const PictureShape& picture) {
  return static_cast<double>(picture.size.pixels()) *
         static_cast<double>(picture.format.bytes_per_pixel());
}

double samples_of(const PictureShape& picture) {
  return static_cast<double>(picture.size.pixels()) * picture.format.channels;
}

bool reads_neighbours(const Stage& stage) {
  const RowRange rows{4, 5};
  return stage.source_rows(rows, {9, 9}) != rows;
}

}  // namespace

double Rates::on_host(const std::string& kind) const {
  return store_.find(host_, kind).value_or(shipped_rates(kind).host);
}

double Rates::on_device(const std::string& kind) const {
  return store_.find(device_, kind).value_or(shipped_rates(kind).device);
}

TaskTimes Rates::times(const PictureTask& task) const {
  TaskTimes times;
  const double decode_once = bytes_of(task.shape) * on_host(task.decoding);
  times.decode = decode_once;
  PictureShape shape = task.shape;
  for (const auto& stage : task.chain) {
    if (stage->needs()) {
      // The picture is read once more, and filtered up to here.
      times.decode += decode_once;
      times.host_filter += times.host_filter + samples_of(shape) * on_host(statistics_kind);
      times.device_filter += times.device_filter + samples_of(shape) * on_device(statistics_kind) +
                             bytes_of(task.shape) * on_device(transfer_kind);
    }
    const StageCost cost = stage->cost(shape.format);
    shape = stage->output(shape);
    const double operations = static_cast<double>(shape.size.pixels()) * cost.operations_a_pixel;
    times.host_filter += operations * on_host(cost.kind);
    times.device_filter += operations * on_device(cost.kind);
  }
  times.device_filter += (bytes_of(task.shape) + bytes_of(shape)) * on_device(transfer_kind);
  times.encode = bytes_of(shape) * on_host(task.encoding);
  times.compile = compile_time(task.chain, task.shape.format);
  return times;
}

// A walk through the picture takes a kernel, and one more for each further stage that reads
// neighbours.
double Rates::compile_time(const StageChain& chain, const PixelFormat& format) const {
  double walks = 1;
  double windows = 0;
  double literals = 0;
  PixelFormat input = format;
  for (const auto& stage : chain) {
    walks += stage->needs() ? 1 : 0;
    windows += reads_neighbours(*stage) ? 1 : 0;
    literals += stage->cost(input).literals;
    input = stage->output_format(input);
  }
  return (walks + std::max(windows - 1, 0.0)) * on_device(program_kind) +
         literals * on_device(literal_kind);
}

double time_on_host(const TaskTimes& times, bool parallel_encoding, double threads) {
  const double encode = parallel_encoding ? times.encode / threads : times.encode;
  return std::max(
      {times.decode, encode, (times.decode + times.encode + times.host_filter) / threads});
}

double time_on_device(const TaskTimes& times, bool parallel_encoding, double threads,
                      double start) {
  const double encode = parallel_encoding ? times.encode / threads : times.encode;
  const double running = std::max(
      {times.decode, encode, times.device_filter, (times.decode + times.encode) / threads});
  // Nothing is encoded before the device can be used.
  return std::max(running, start + std::max(encode, times.device_filter));
}

double folder_time_on_host(const TaskTimes& times, double pictures, double threads) {
  return pictures * (times.decode + times.encode + times.host_filter) / threads;
}

double folder_time_with_device(const TaskTimes& times, double pictures, double threads,
                               double start) {
  const double codecs = times.decode + times.encode;
  const double each = (codecs + times.host_filter) / threads;
  const double left = std::max(pictures - start / each, 0.0);
  if (left == 0) return pictures * each;
  // The device gets the share of the pictures with which it finishes together with the processor.
  const double share = std::min(
      1.0, (codecs + times.host_filter) / (threads * times.device_filter + times.host_filter));
  return start + left * std::max((codecs + (1 - share) * times.host_filter) / threads,
                                 share * times.device_filter);
}

}  // namespace gpufilter
