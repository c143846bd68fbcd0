#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/progress.hpp"
#include "app/lab/lab_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "lab/stage_samples.hpp"
#include "lab/tune/tuner.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "stage/lowering.hpp"

namespace gpufilter {
namespace {

constexpr const char* tune_description =
    "Times the candidates of every kernel on the devices of this machine and stores the fastest "
    "for later runs. Also measures how fast device and processor are, from which --device auto "
    "chooses.";

constexpr const char* tune_explanation =
    R"(A candidate is a tile, a number of pixels per work-item, a block of a matrix or
the shape of a work-group. It is chosen only if its results equal the
processor's. Results are stored after each kernel, so an interrupted run
continues where it stopped. They apply to this device, driver and version of the
kernels.

Exit codes: 0 done, 1 a candidate gave wrong results (and was left out), 2 wrong
usage, 3 no such device.

Examples:
  gpufilter tune
  gpufilter tune blur --device gpu --channels 3 --depth 8
  gpufilter tune low-precision --type int8,fp8-scaled --seconds 120
)";

struct TuneCommand {
  std::vector<std::string> names;  // of stages, and other_subjects
  std::string device = "all";
  std::optional<int> channels;
  std::optional<int> depth;
  std::vector<std::string> types;  // of low-precision; empty: all
  bool again = false;
  std::optional<int> seconds;
  bool json = false;
};

// A stage in one format, whose speed is measured too.
struct Job {
  lab::StageSample sample;
  PixelFormat format;
};

using MakeSubject = std::function<std::unique_ptr<lab::TuneSubject>(Session&)>;

// Only `bench matmul --type` uses its kernels: it is tuned only if it is named.
constexpr const char* low_precision = "low-precision";
constexpr std::array other_subjects{"statistics", "products", low_precision};

constexpr int maximum_seconds = 1'000'000;

void declare_options(Arguments& app, TuneCommand& command) {
  std::vector<std::string> names = lab::stage_names();
  names.insert(names.end(), other_subjects.begin(), other_subjects.end());
  app.add_option("WHAT", command.names,
                 formatted("Tune only these: {}. {}, the products of 'gpufilter bench matmul "
                           "--type', are tuned only if they are named.",
                           enumerated(names, "and"), low_precision))
      ->check(one_of(names))
      ->option_text("...");
  add_devices_choice(app, command.device, false);
  add_formats_choice(app, command.channels, command.depth);
  add_number_types(app, command.types);
  app.add_flag("--again", command.again, "Tune again what was already tuned.");
  app.add_option(
         "--seconds", command.seconds,
         "Stop after about N seconds. The kernels share the time evenly; each tries at least "
         "its usual candidate.")
      ->check(whole_number(1, maximum_seconds))
      ->option_text("N");
  app.add_flag("--json", command.json, "Print one JSON object.");
  add_color_output(app);
  app.footer(tune_explanation);
}

bool takes(const std::shared_ptr<const Stage>& stage, const PixelFormat& format) {
  try {
    const PictureShape shape{{1280, 960}, format};
    static_cast<void>(output_of(lower_chain({stage}, {.shape = shape}), shape));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

bool is_other(const std::string& name) {
  return std::find(other_subjects.begin(), other_subjects.end(), name) != other_subjects.end();
}

bool names(const TuneCommand& command, const std::string& name) {
  return std::find(command.names.begin(), command.names.end(), name) != command.names.end();
}

bool wants(const TuneCommand& command, const std::string& name) {
  return command.names.empty() || names(command, name);
}

bool wants(const TuneCommand& command, const PixelFormat& format) {
  return command.channels.value_or(format.channels) == format.channels &&
         command.depth.value_or(format.depth) == format.depth;
}

std::vector<Job> jobs_of(const TuneCommand& command) {
  std::vector<Job> jobs;
  std::vector<std::string> names;
  for (const std::string& name : command.names) {
    if (!is_other(name)) names.push_back(name);
  }
  if (names.empty() && !command.names.empty()) return jobs;
  for (const StageKind& kind : lab::stage_kinds(names)) {
    for (lab::StageSample& sample : lab::samples_of(kind, false)) {
      if (!sample.has_defaults || sample.stage->traits().keeps_picture) continue;
      for (const PixelFormat& format : lab::verify_formats(false)) {
        if (wants(command, format) && takes(sample.stage, format)) jobs.push_back({sample, format});
      }
    }
  }
  return jobs;
}

// One shape of each kind that matrix_site() distinguishes.
std::vector<MatrixShape> product_shapes(const DeviceInfo& device) {
  const bool is_gpu = device.kind == DeviceKind::gpu;
  const int pixels = is_gpu ? 1 << 19 : 1 << 12;
  const int few = is_gpu ? 512 : 96;
  const int some = is_gpu ? 1024 : 128;
  const int many = is_gpu ? 4096 : 512;
  return {{16, pixels, 16}, {32, pixels, 32},   {64, pixels, 64},
          {few, few, few},  {some, some, some}, {many, many, many}};
}

void add_low_precision(const TuneCommand& command, const DeviceInfo& device,
                       std::vector<MakeSubject>& subjects) {
  // An interrupted run has tuned each type for the shapes that it came to.
  for (const lab::LowShape& shape : lab::shapes_to_tune(device)) {
    for (const lab::NumberType type : lab::number_types_of(command.types)) {
      subjects.emplace_back([type, shape](Session& session) {
        return lab::make_low_product_subject(session, type, shape);
      });
    }
  }
}

// Everything requested, in the order of the report.
std::vector<MakeSubject> subjects_of(const TuneCommand& command, const DeviceInfo& device) {
  std::vector<MakeSubject> subjects;
  for (const Job& job : jobs_of(command)) {
    subjects.emplace_back([job](Session& session) {
      return lab::make_stage_subject(session, job.sample.stage, job.format);
    });
  }
  for (const PixelFormat& format : lab::verify_formats(false)) {
    if (!wants(command, "statistics") || !wants(command, format)) continue;
    for (const Quantity quantity :
         {Quantity::totals, Quantity::channel_histograms, Quantity::luma_histogram}) {
      subjects.emplace_back([quantity, format](Session& session) {
        return lab::make_statistics_subject(session, quantity, format);
      });
    }
  }
  if (wants(command, "products")) {
    for (const MatrixShape& shape : product_shapes(device)) {
      subjects.emplace_back(
          [shape](Session& session) { return lab::make_product_subject(session, shape); });
    }
  }
  if (names(command, low_precision)) add_low_precision(command, device, subjects);
  return subjects;
}

// Shows the kernel, the candidate and the remaining time, and divides it among the jobs.
class TuneProgress {
 public:
  TuneProgress(std::size_t jobs, std::optional<int> seconds) : jobs_(jobs) {
    constexpr Nanoseconds second = 1'000'000'000;
    if (seconds) end_ = begin_ + *seconds * second;
  }

  void job_done() { ++done_; }
  // When the job that begins now has had its share.
  [[nodiscard]] std::optional<Nanoseconds> end_of_job() const {
    if (!end_) return std::nullopt;
    const Nanoseconds begin = now();
    return begin + (*end_ - begin) / static_cast<Nanoseconds>(jobs_ - done_);
  }
  void show(const std::string& site, std::size_t candidate, std::size_t candidates) {
    constexpr std::size_t steps = 1000;  // of a job
    const auto done = static_cast<std::uint64_t>(done_ * steps + candidate * steps / candidates);
    display_.show({.name = formatted("tune {}, {} of {}", site, candidate + 1, candidates),
                   .done = done,
                   .all = static_cast<std::uint64_t>(jobs_ * steps),
                   .worked = done,
                   .elapsed = now() - begin_});
  }

 private:
  ProgressDisplay display_{ProgressMode::automatic};
  Nanoseconds begin_ = now();
  std::optional<Nanoseconds> end_;
  std::size_t jobs_;
  std::size_t done_ = 0;
};

bool is_new(const lab::TuneReport& report, const lab::TunedSite& site) {
  return std::none_of(report.sites.begin(), report.sites.end(), [&](const lab::TunedSite& known) {
    return known.site.key() == site.site.key();
  });
}

lab::TuneReport tune_device(const std::shared_ptr<Session>& session,
                            const std::vector<MakeSubject>& subjects,
                            const std::shared_ptr<TuningStore>& store, bool again,
                            TuneProgress& progress) {
  lab::TuneReport report{session->device(), {}};
  lab::Tuner tuner(session, store);
  for (const MakeSubject& make : subjects) {
    const auto end = progress.end_of_job();
    try {
      const std::unique_ptr<lab::TuneSubject> subject = make(*session);
      const auto tuned = tuner.tune(
          *subject, again, end, [&](const std::string& site, std::size_t done, std::size_t all) {
            progress.show(site, done, all);
          });
      for (const lab::TunedSite& site : tuned) {
        if (is_new(report, site)) report.sites.push_back(site);
      }
    } catch (const UsageError& error) {
      log::info(error.what());  // a tile that does not fit the device
    }
    progress.job_done();
  }
  return report;
}

void measure_rates(const std::vector<std::shared_ptr<Session>>& sessions,
                   const std::shared_ptr<TuningStore>& tuned, const std::vector<Job>& jobs) {
  const auto store = make_rate_store();
  MachineRates rates(store, gpu_vendors());
  for (const auto& session : sessions) {
    lab::measure_copy(*store, *session);
    if (session->device().kind != DeviceKind::gpu) continue;  // auto never chooses it
    session->set_tuning(tuning_for(session->device(), tuned));
    for (const Job& job : jobs) {
      lab::measure_stage(rates, session.get(), job.sample.stage, job.format);
    }
  }
  for (const Job& job : jobs)
    lab::measure_stage(rates, nullptr, job.sample.stage, job.format);
  rates.save();
}

}  // namespace

int run_tune_command(int argc, const char* const* argv) {
  Arguments app(tune_description, "gpufilter tune");
  TuneCommand command;
  declare_options(app, command);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  if (command.device == "cpu") {
    throw UsageError(
        "--device cpu: the processor has no kernels to tune; choose all, gpu, opencl or a device "
        "of 'gpufilter devices'");
  }
  if (!command.types.empty() && !names(command, low_precision)) {
    throw UsageError(formatted("tune: --type is for {0}: 'gpufilter tune {0} --type {1}'",
                               low_precision, fmt::join(command.types, ",")));
  }
  const auto sessions = start_devices(command.device);
  if (sessions.empty()) throw DeviceError("no OpenCL device to tune (see 'gpufilter devices')");
  const std::vector<Job> jobs = jobs_of(command);
  const auto store = make_tuning_store();
  std::vector<lab::TuneReport> reports;
  {
    std::size_t all = 0;
    for (const auto& session : sessions)
      all += subjects_of(command, session->device()).size();
    TuneProgress progress(all, command.seconds);
    for (const auto& session : sessions) {
      const std::vector<MakeSubject> subjects = subjects_of(command, session->device());
      reports.push_back(tune_device(session, subjects, store, command.again, progress));
    }
    measure_rates(sessions, store, jobs);
  }
  command.json ? print_document(lab::tune_json(reports)) : print_result(lab::tune_table(reports));
  for (const auto& session : sessions)
    session->keep_programs();
  return std::any_of(reports.begin(), reports.end(),
                     [](const lab::TuneReport& report) { return report.any_wrong(); })
             ? 1
             : 0;
}

}  // namespace gpufilter
