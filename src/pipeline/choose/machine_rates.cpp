#include "pipeline/choose/machine_rates.hpp"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/timeline.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {
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

// The name of the programs for a picture.
std::string programs_for(const PictureTask& task) {
  std::string text = formatted("{} {}", GPUFILTER_VERSION, to_string(task.shape.format));
  for (const auto& stage : task.chain)
    text += '\n' + stage.stage->key();
  if (task.device_decodes) text += "\ndecode";
  if (task.device_encodes) text += "\nencode";
  return to_string(content_hash(text)).substr(0, 16) + " ";
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
