#include "pipeline/machine_rates.hpp"

#include <charconv>
#include <chrono>
#include <numeric>
#include <ratio>
#include <string_view>
#include <vector>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/time_units.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/run.hpp"

namespace gpufilter {
namespace {

// The times of smaller pictures are not reliable.
constexpr std::uint64_t min_pixels = 1'000'000;
// Followed by the day on which none was found, in days since 1970: drivers may be installed or
// repaired later.
constexpr const char* no_gpu = "none since day ";
constexpr int days_without_a_search = 7;

int today() {
  using Days = std::chrono::duration<int, std::ratio<86'400>>;
  return std::chrono::duration_cast<Days>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

constexpr std::size_t chains_known = 64;

std::string programs_note(const std::string& place) {
  return "programs of " + place;
}

// The name of the programs for a picture.
std::string programs_for(const PictureTask& task) {
  std::string text = formatted("{} {}", GPUFILTER_VERSION, to_string(task.shape.format));
  for (const auto& stage : task.chain)
    text += '\n' + stage->key();
  if (task.device_decodes) text += "\ndecode";
  if (task.device_encodes) text += "\nencode";
  return to_string(content_hash(text)).substr(0, 16);
}

bool has_programs(const RateStore& store, const std::string& place, const PictureTask& task) {
  return store.note(programs_note(place)).find(programs_for(task)) != std::string::npos;
}

void keep_programs_known(RateStore& store, const std::string& place, const PictureTask& task) {
  if (task.chain.empty() || has_programs(store, place, task)) return;
  const std::string name = programs_for(task) + " ";
  const std::string known = store.note(programs_note(place));
  store.keep_note(programs_note(place), name + known.substr(0, (chains_known - 1) * name.size()));
}

// The sums over the spans of some activities.
struct Sum {
  double seconds = 0;
  double bytes = 0;
};
template <typename Wanted>
Sum sum_of(const RunReport& report, const Wanted& wanted) {
  Sum sum;
  for (const Span& span : report.spans) {
    if (!wanted(span)) continue;
    sum.seconds += seconds(span.duration);
    sum.bytes += static_cast<double>(span.bytes);
  }
  return sum;
}

// If one kernel did the work of several stages, all of them are assumed to be faster or slower than
// expected by the same factor.
void learn_filters(RateStore& store, const std::string& place, bool on_gpu,
                   const RunReport& report) {
  const Rates rates(store, place, place);
  const auto rate = [&](const PassWork& work) {
    return on_gpu ? rates.on_device(work.rate) : rates.on_host(work.rate);
  };
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    const PassReport& pass = report.passes[i];
    const double expected = std::accumulate(
        pass.work.begin(), pass.work.end(), 0.0,
        [&](double sum, const PassWork& work) { return sum + work.operations * rate(work); });
    if (expected <= 0) continue;
    const Sum sum = sum_of(report, [i](const Span& span) {
      return span.activity == Activity::kernel && span.pass == static_cast<int>(i);
    });
    std::vector<double> learned;  // before any of it changes a rate
    for (const PassWork& work : pass.work)
      learned.push_back(rate(work) * sum.seconds / expected);
    for (std::size_t k = 0; k < learned.size(); ++k)
      store.learn(place, pass.work[k].rate.kind, learned[k]);
  }
}

// How long a pass's programs took to build; over all lanes, of which the first builds them.
double build_seconds(const RunReport& report, std::size_t pass) {
  return sum_of(report,
                [pass](const Span& span) {
                  return span.activity == Activity::build_program &&
                         span.pass == static_cast<int>(pass);
                })
      .seconds;
}

bool was_compiled(const PassReport& pass) {
  return pass.origin == ProgramOrigin::compiled;
}

bool was_compiled(const RunReport& report, const Span& build) {
  const auto pass = static_cast<std::size_t>(build.pass);  // may be of a device that was left out
  return pass < report.passes.size() && was_compiled(report.passes[pass]);
}

// Programs and literals are taken to be as much faster or slower as both together.
void learn_compiling(RateStore& store, const std::string& place, const RunReport& report) {
  constexpr double shortest = 1e-3;  // seconds; if shorter, the session already had the program
  const Rates rates(store, place, place);
  double programs = 0;
  double literals = 0;
  double seconds = 0;
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    const double build = build_seconds(report, i);
    if (!was_compiled(report.passes[i]) || build < shortest) continue;
    programs += 1;
    seconds += build;
    for (const PassWork& work : report.passes[i].work)
      literals += work.literals;
  }
  if (programs == 0) return;
  const double program = rates.on_device(program_rate);
  const double literal = rates.on_device(literal_rate);
  const double factor = seconds / (programs * program + literals * literal);
  store.learn(place, program_rate.kind, program * factor);
  if (literals > 0) store.learn(place, literal_rate.kind, literal * factor);
}

void learn_device(RateStore& store, const std::string& place, const RunReport& report) {
  const Sum moved = sum_of(report, [](const Span& span) {
    return span.activity == Activity::upload || span.activity == Activity::download;
  });
  if (moved.bytes > 0) store.learn(place, transfer_rate.kind, moved.seconds / moved.bytes);
  const auto is_start = [](const Span& span) { return span.activity == Activity::start_device; };
  if (sum_of(report, is_start).seconds == 0) return;
  const Sum start = sum_of(report, [&](const Span& span) {
    if (span.activity == Activity::build_program) return !was_compiled(report, span);
    return is_start(span) || span.activity == Activity::find_devices;
  });
  store.learn(place, start_rate.kind, start.seconds);
}

void learn_codecs(RateStore& store, const PictureTask& task, const RunReport& report) {
  // A device's decoding has no such span of known size, only one of reading the file.
  const Sum decoded =
      sum_of(report, [](const Span& span) { return span.activity == Activity::decode; });
  if (decoded.bytes > 0)
    store.learn(host_place(), task.decoding.kind, decoded.seconds / decoded.bytes);
  if (task.parallel_encoding) return;  // its spans show how long the pipeline waited, not the work
  const Sum encoded =
      sum_of(report, [](const Span& span) { return span.activity == Activity::encode; });
  if (encoded.bytes > 0)
    store.learn(host_place(), task.encoding.kind, encoded.seconds / encoded.bytes);
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
  if (!note.starts_with(no_gpu)) return true;
  int day = 0;
  std::from_chars(note.data() + std::string_view(no_gpu).size(), note.data() + note.size(), day);
  return day > today() || today() >= day + days_without_a_search;
}

void MachineRates::keep_without_gpu() {
  store_->keep_note(gpu_note(), no_gpu + std::to_string(today()));
}

TaskTimes MachineRates::times(const PictureTask& task) const {
  TaskTimes times = rates().times(task);
  if (may_have_gpu() && has_programs(*store_, gpu_place(), task)) times.compile = 0;
  return times;
}

void MachineRates::learn(const PictureTask& task, const RunReport& report, bool in_folder) {
  const bool on_gpu = report.engine.kind == to_string(DeviceKind::gpu);
  const bool on_host = report.engine.kind == processor_kind;
  if (!on_gpu && !on_host) return;
  const std::string place =
      on_gpu ? formatted("{}, {}", report.engine.device, report.engine.driver) : host_place();
  if (on_gpu) {
    store_->keep_note(gpu_note(), place);
    learn_device(*store_, place, report);
    learn_compiling(*store_, place, report);
    keep_programs_known(*store_, place, task);
  }
  if (task.shape.size.pixels() < min_pixels || (in_folder && on_host)) return;
  learn_filters(*store_, place, on_gpu, report);
  if (!in_folder && report.others.empty()) learn_codecs(*store_, task, report);
}

}  // namespace gpufilter
