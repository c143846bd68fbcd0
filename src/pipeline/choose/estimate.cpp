#include "pipeline/choose/estimate.hpp"

#include <algorithm>
#include <utility>

namespace gpufilter {
namespace {

double bytes_of(const PictureShape& picture) {
  return static_cast<double>(picture.size.pixels()) *
         static_cast<double>(picture.format.bytes_per_pixel());
}

double samples_of(const PictureShape& picture) {
  return static_cast<double>(picture.size.pixels()) * picture.format.channels;
}

// Programs of JpegData and JpegRows.
constexpr double decoding_programs = 11;

bool reads_neighbours(const Step& step) {
  const RowRange rows{4, 5};
  return step.source_rows(rows, {9, 9}) != rows;
}

double encoding_time(const HostTimes& work, const TaskTimes& times, double threads) {
  return times.parallel_encoding ? work.encode / threads : work.encode;
}

}  // namespace

TaskTimes estimated_times(const PictureTask& task, const Rates& rates) {
  TaskTimes times;
  HostTimes& host = times.alone;
  const double transfer = rates.on_gpu(transfer_rate);
  const double program = rates.on_gpu(program_rate);
  const double decode_once = bytes_of(task.shape) * rates.on_host(task.decoding);
  double walks = 1;
  double windows = 0;  // stages that read neighbours
  double literals = 0;
  PictureShape shape = task.shape;
  host.decode = decode_once;
  const auto add = [&](const StageCost& cost, bool is_on_processor) {
    const double operations = static_cast<double>(shape.size.pixels()) * cost.operations_a_pixel;
    const double host_time = operations * rates.on_host(cost.rate);
    literals += cost.literals;
    host.filter += host_time;
    times.gpu += is_on_processor ? host_time + 2 * bytes_of(shape) * transfer
                                 : operations * rates.on_gpu(cost.rate);
  };
  for (const LoweredStage& stage : task.chain) {
    if (stage.demand && stage.demand->statistics) {
      // The picture is read once more, and filtered up to here.
      ++walks;
      host.decode += decode_once;
      host.filter += host.filter + samples_of(shape) * rates.on_host(statistics_rate);
      times.gpu += times.gpu + samples_of(shape) * rates.on_gpu(statistics_rate);
      add(stage.demand->cost, false);
    } else if (stage.demand) {
      // The processor does it, between two walks.
      const StageCost& cost = stage.demand->cost;
      shape = output_of(stage, shape);
      host.decode += static_cast<double>(shape.size.pixels()) * cost.operations_a_pixel *
                     rates.on_host(cost.rate);
      times.gpu += 2 * bytes_of(shape) * transfer;
    }
    for (const auto& step : stage.steps) {
      const PictureShape source = std::exchange(shape, step->output(shape));
      windows += reads_neighbours(*step) ? 1 : 0;
      add(step->cost(source.format), !step->properties({source}).processor_only.empty());
    }
  }
  host.encode = bytes_of(shape) * rates.on_host(task.encoding);
  times.parallel_encoding = task.parallel_encoding;
  // A walk through the picture takes a kernel, and one more for each further window.
  times.compile =
      (walks + std::max(windows - 1, 0.0)) * program + literals * rates.on_gpu(literal_rate);
  times.beside_gpu = {host.decode, host.encode, 0};
  // Coded data are so few that they do not count.
  if (task.device_decodes) {
    times.beside_gpu.decode = 0;
    times.gpu += walks * bytes_of(task.shape) * rates.on_gpu(task.decoding);
    times.compile += decoding_programs * program;
  } else {
    times.gpu += walks * bytes_of(task.shape) * transfer;
  }
  if (task.device_encodes) {
    times.beside_gpu.encode = 0;
    for (const Rate& step : coding_rates)
      times.gpu += static_cast<double>(shape.size.pixels()) * rates.on_gpu(step);
    times.compile += static_cast<double>(coding_rates.size()) * program;
  } else {
    times.gpu += bytes_of(shape) * transfer;
  }
  return times;
}

double time_on_host(const TaskTimes& times, double pictures, double threads) {
  const HostTimes& work = times.alone;
  const double shared = pictures * work.all() / threads;
  if (pictures > 1) return shared;
  return std::max({work.decode, encoding_time(work, times, threads), shared});
}

double time_with_gpu(const TaskTimes& times, double pictures, double threads, double start) {
  const double beside = times.beside_gpu.all();
  if (pictures <= 1) {
    const double encoding = encoding_time(times.beside_gpu, times, threads);
    // Nothing is encoded before the GPU can be used.
    return std::max(
        {times.beside_gpu.decode, beside / threads, start + std::max(encoding, times.gpu)});
  }
  const double on_host = times.alone.all();
  const double left = pictures - start * threads / on_host;
  if (left <= 0) return pictures * on_host / threads;
  // The GPU gets the share of the pictures with which it finishes together with the processor.
  const double share = std::min(1.0, on_host / (threads * times.gpu + on_host - beside));
  return start +
         left * std::max((share * beside + (1 - share) * on_host) / threads, share * times.gpu);
}

}  // namespace gpufilter
