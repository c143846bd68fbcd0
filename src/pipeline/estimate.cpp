#include "pipeline/estimate.hpp"

#include <algorithm>

namespace gpufilter {
namespace {

double bytes_of(const PictureShape& picture) {
  return static_cast<double>(picture.size.pixels()) *
         static_cast<double>(picture.format.bytes_per_pixel());
}

double samples_of(const PictureShape& picture) {
  return static_cast<double>(picture.size.pixels()) * picture.format.channels;
}

// Those of JpegData and JpegRows.
constexpr double decoding_programs = 11;

bool reads_neighbours(const Stage& stage) {
  const RowRange rows{4, 5};
  return stage.source_rows(rows, {9, 9}) != rows;
}

}  // namespace

double Rates::on_host(const Rate& rate) const {
  return store_.find(host_, rate.kind).value_or(rate.host);
}

double Rates::on_device(const Rate& rate) const {
  return store_.find(device_, rate.kind).value_or(rate.device);
}

TaskTimes Rates::times(const PictureTask& task) const {
  TaskTimes times;
  const double decode_once = bytes_of(task.shape) * on_host(task.decoding);
  times.decode = decode_once;
  double walks = 1;
  PictureShape shape = task.shape;
  const StageChain chain = expanded(task.chain, task.shape, nullptr);
  for (const auto& stage : chain) {
    if (stage->needs()) {
      // The picture is read once more, and filtered up to here.
      ++walks;
      times.decode += decode_once;
      times.host_filter += times.host_filter + samples_of(shape) * on_host(statistics_rate);
      times.device_filter += times.device_filter + samples_of(shape) * on_device(statistics_rate);
    }
    const StageCost cost = stage->cost(shape.format);
    shape = stage->output(shape);
    const double operations = static_cast<double>(shape.size.pixels()) * cost.operations_a_pixel;
    if (stage->keeps_source()) {
      // The processor does it, between two walks.
      times.decode += operations * on_host(cost.rate);
      times.device_filter += 2 * bytes_of(shape) * on_device(transfer_rate);
      continue;
    }
    const double host_time = operations * on_host(cost.rate);
    times.host_filter += host_time;
    times.device_filter += stage->processor_only().empty()
                               ? operations * on_device(cost.rate)
                               : host_time + 2 * bytes_of(shape) * on_device(transfer_rate);
  }
  // Coded data are so few that they do not count.
  const double uploaded = task.device_decodes ? 0 : walks * bytes_of(task.shape);
  const double downloaded = task.device_encodes ? 0 : bytes_of(shape);
  times.device_filter += (uploaded + downloaded) * on_device(transfer_rate);
  times.encode = bytes_of(shape) * on_host(task.encoding);
  times.compile = compile_time(chain, task.shape.format);
  if (task.device_decodes) {
    times.device_decode = walks * bytes_of(task.shape) * on_device(task.decoding);
    times.compile += decoding_programs * on_device(program_rate);
  }
  if (task.device_encodes) {
    for (const Rate& step : coding_rates) {
      times.device_encode += static_cast<double>(shape.size.pixels()) * on_device(step);
      times.compile += on_device(program_rate);
    }
  }
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
  return (walks + std::max(windows - 1, 0.0)) * on_device(program_rate) +
         literals * on_device(literal_rate);
}

double time_on_host(const TaskTimes& times, bool parallel_encoding, double threads) {
  const double encode = parallel_encoding ? times.encode / threads : times.encode;
  return std::max({times.decode, encode, work_on_host(times) / threads});
}

double time_on_device(const TaskTimes& times, bool parallel_encoding, double threads,
                      double start) {
  const double encoding = times.device_encode > 0 ? 0 : times.encode;
  const double encode = parallel_encoding ? encoding / threads : encoding;
  const double decode = times.device_decode > 0 ? 0 : times.decode;
  const double device = work_on_device(times);
  const double running = std::max({decode, encode, device, work_beside_device(times) / threads});
  // Nothing is encoded before the device can be used.
  return std::max(running, start + std::max(encode, device));
}

double work_on_device(const TaskTimes& times) {
  return times.device_decode + times.device_filter + times.device_encode;
}

double work_on_host(const TaskTimes& times) {
  return times.decode + times.encode + times.host_filter;
}

double work_beside_device(const TaskTimes& times) {
  return (times.device_decode > 0 ? 0 : times.decode) +
         (times.device_encode > 0 ? 0 : times.encode);
}

double folder_time_on_host(const TaskTimes& times, double pictures, double threads) {
  return pictures * work_on_host(times) / threads;
}

double folder_time_with_device(const TaskTimes& times, double pictures, double threads,
                               double start) {
  const double on_host = work_on_host(times);
  const double beside_device = work_beside_device(times);
  const double device = work_on_device(times);
  const double each = on_host / threads;
  const double left = std::max(pictures - start / each, 0.0);
  if (left == 0) return pictures * each;
  // The device gets the share of the pictures with which it finishes together with the processor.
  const double share = std::min(1.0, on_host / (threads * device + on_host - beside_device));
  return start +
         left * std::max((share * beside_device + (1 - share) * on_host) / threads, share * device);
}

}  // namespace gpufilter
