#include "pipeline/choose/machine_rates.hpp"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/timeline.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/run/run.hpp"

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
    for (const auto& step : steps_of(stage, nullptr)) {
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

namespace {

// The times of smaller pictures are not reliable.
constexpr std::uint64_t min_pixels = 1'000'000;
// Nor are those of less work, as of a large picture's tiny result: bytes that are decoded, encoded
// or moved, operations of a pass.
constexpr double min_work = 1e6;
// If building a program takes less, the session already had it.
constexpr double shortest_build = 1e-3;  // seconds
// Followed by the day on which none was found: drivers may be installed or repaired later.
constexpr const char* no_gpu = "none since day ";
constexpr int days_without_a_search = 7;
constexpr std::size_t chains_known = 64;

// In days since 1970.
auto today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())
      .time_since_epoch()
      .count();
}

std::string programs_note(const std::string& place) {
  return "programs of " + place;
}

// What a run has spent on activities, of one of its passes or of all.
struct Spent {
  double seconds = 0;
  double bytes = 0;
};
Spent spent_on(const RunReport& report, std::initializer_list<Activity> activities,
               std::optional<std::size_t> pass = std::nullopt) {
  Spent sum;
  for (const Span& span : report.spans) {
    const bool is_wanted =
        std::find(activities.begin(), activities.end(), span.activity) != activities.end();
    if (!is_wanted || (pass && span.pass != static_cast<int>(*pass))) continue;
    sum.seconds += seconds(span.duration);
    sum.bytes += static_cast<double>(span.bytes);
  }
  return sum;
}

// Learns at one place.
struct Learner {
  RateStore& store;
  std::string place;
  bool is_gpu = false;

  // Work of some kinds that took `seconds` together: all of them are assumed to be faster or slower
  // than expected by the same factor. Fewer than `least` operations teach nothing.
  void learn(const std::vector<PassWork>& work, double seconds, double least = 0) const {
    const Rates rates{store, place, place};
    std::map<std::string, double> known;
    double expected = 0;
    double operations = 0;
    for (const PassWork& part : work) {
      if (part.operations <= 0) continue;
      const double rate = is_gpu ? rates.on_gpu(part.rate) : rates.on_host(part.rate);
      known[part.rate.kind] = rate;
      expected += part.operations * rate;
      operations += part.operations;
    }
    if (operations < least) return;
    for (const auto& [kind, rate] : known)
      store.learn(place, kind, rate * seconds / expected);
  }
};

void learn_start(const Learner& gpu, const RunReport& report) {
  double programs = 0;
  double literals = 0;
  double compiling = 0;
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    const double build = spent_on(report, {Activity::build_program}, i).seconds;
    if (report.passes[i].origin != ProgramOrigin::compiled || build < shortest_build) continue;
    compiling += build;
    ++programs;
    for (const PassWork& work : report.passes[i].work)
      literals += work.literals;
  }
  gpu.learn({{program_rate, programs}, {literal_rate, literals}}, compiling);
  if (spent_on(report, {Activity::start_device}).seconds == 0) return;
  const Spent start =
      spent_on(report, {Activity::find_devices, Activity::start_device, Activity::build_program});
  gpu.learn({{start_rate, 1}}, start.seconds - compiling);
}

}  // namespace

std::string host_place() {
  return formatted("processor {}", to_string(instruction_set()));
}

std::string MachineRates::programs_for(const PictureTask& task) {
  std::string text = formatted("{} {}", GPUFILTER_VERSION, to_string(task.shape.format));
  for (const auto& stage : task.chain)
    text += '\n' + stage.stage->key();
  if (task.device_decodes) text += "\ndecode";
  if (task.device_encodes) text += "\nencode";
  return to_string(content_hash(text)).substr(0, 16) + " ";
}

std::string MachineRates::gpu_place() const {
  const std::string place = store_->note(gpu_note());
  return place.starts_with(no_gpu) ? std::string() : place;
}

std::string MachineRates::gpu_name() const {
  const std::string place = gpu_place();
  return place.empty() ? "a GPU" : place.substr(0, place.rfind(", "));
}

bool MachineRates::may_have_gpu() const {
  if (vendors_.empty()) return false;
  const std::string note = store_->note(gpu_note());
  for (int days = 0; days < days_without_a_search; ++days) {
    if (note == no_gpu + std::to_string(today() - days)) return false;
  }
  return true;
}

void MachineRates::keep_without_gpu() {
  store_->keep_note(gpu_note(), no_gpu + std::to_string(today()));
}

TaskTimes MachineRates::times(const PictureTask& task) const {
  TaskTimes times = estimated_times(task, rates());
  const std::string known = store_->note(programs_note(gpu_place()));
  if (may_have_gpu() && known.find(programs_for(task)) != std::string::npos) times.compile = 0;
  return times;
}

void MachineRates::learn(const PictureTask& task, const RunReport& report, bool in_folder) {
  const bool on_gpu = report.engine.kind == to_string(DeviceKind::gpu);
  if (!on_gpu && report.engine.kind != processor_kind) return;
  const Learner host{*store_, host_place()};
  const Learner gpu{*store_, formatted("{}, {}", report.engine.device, report.engine.driver), true};
  if (on_gpu) {
    store_->keep_note(gpu_note(), gpu.place);
    learn_start(gpu, report);
    const Spent moved = spent_on(report, {Activity::upload, Activity::download});
    gpu.learn({{transfer_rate, moved.bytes}}, moved.seconds, min_work);
    const std::string programs = programs_for(task);
    const std::string known = store_->note(programs_note(gpu.place));
    if (!task.chain.empty() && known.find(programs) == std::string::npos) {
      store_->keep_note(programs_note(gpu.place),
                        programs + known.substr(0, (chains_known - 1) * programs.size()));
    }
  }
  if (task.shape.size.pixels() < min_pixels || (in_folder && !on_gpu)) return;
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    const double filtering = spent_on(report, {Activity::kernel}, i).seconds;
    (on_gpu ? gpu : host).learn(report.passes[i].work, filtering, min_work);
  }
  if (in_folder || !report.others.empty()) return;
  // A device's decoding has no such span of known size, only one of reading the file. Rows that a
  // stage leaves out are decoded, but not among the bytes.
  const Spent decoded = spent_on(report, {Activity::decode});
  const double whole = static_cast<double>(task.shape.size.pixels()) *
                       static_cast<double>(task.shape.format.bytes_per_pixel());
  host.learn({{task.decoding, decoded.bytes}}, decoded.seconds, whole);
  if (task.parallel_encoding) return;  // its spans show how long the pipeline waited, not the work
  const Spent encoded = spent_on(report, {Activity::encode});
  host.learn({{task.encoding, encoded.bytes}}, encoded.seconds, min_work);
}

}  // namespace gpufilter
