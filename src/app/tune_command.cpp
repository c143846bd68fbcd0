#include "app/tune_command.hpp"

#include <algorithm>

#include "app/chosen_sessions.hpp"
#include "app/color_output.hpp"
#include "app/parse.hpp"
#include "app/progress.hpp"
#include "app/tune_report.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "pipeline/make_dispatcher.hpp"
#include "pipeline/rate_measurement.hpp"
#include "pipeline/verify_cases.hpp"

namespace gpufilter {
namespace {

constexpr const char* description =
    "Times the candidates of every kernel on the devices of this machine and stores the fastest "
    "for later runs. Also measures how fast device and processor are, which decides the choice of "
    "--device auto.";

constexpr const char* explanation =
    R"(A candidate is a tile, a number of pixels per work-item or the shape of a
work-group. It is chosen only if its pixels equal the processor's. Results are
stored after each kernel, so an interrupted run continues where it stopped. They
apply to this device, driver and version of the kernels.

Exit codes: 0 done, 1 a candidate gave wrong pixels (and was left out), 2 wrong
usage, 3 no such device.

Examples:
  gpufilter tune
  gpufilter tune blur --device gpu --channels 3 --depth 8
)";

struct TuneCommand {
  std::vector<std::string> stages;
  std::string device = "all";
  std::optional<int> channels;
  std::optional<int> depth;
  bool again = false;
  bool json = false;
};

// The unit of work: one stage in one format.
struct Job {
  StageSample sample;
  PixelFormat format;
};

void declare_options(CLI::App& app, TuneCommand& command) {
  add_stage_names(app, command.stages, "Tune");
  add_devices_choice(app, command.device);
  add_formats_choice(app, command.channels, command.depth);
  app.add_flag("--again", command.again, "Tune again what was already tuned.");
  app.add_flag("--json", command.json, "Print one JSON object.");
  add_color_output(app);
  app.footer(explanation);
}

bool takes(const Stage& stage, const PixelFormat& format) {
  try {
    static_cast<void>(stage.output_format(format));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

std::vector<Job> jobs_of(const TuneCommand& command) {
  std::vector<Job> jobs;
  for (const StageKind& kind : stage_kinds(command.stages)) {
    for (StageSample& sample : samples_of(kind, false)) {
      if (!sample.has_defaults) continue;
      for (const PixelFormat& format : verify_formats(false)) {
        if (command.channels.value_or(format.channels) != format.channels) continue;
        if (command.depth.value_or(format.depth) != format.depth) continue;
        if (takes(*sample.stage, format)) jobs.push_back({sample, format});
      }
    }
  }
  return jobs;
}

// Shows the kernel, the candidate and the remaining time.
class TuneProgress {
 public:
  explicit TuneProgress(std::size_t jobs) : jobs_(jobs) {}

  void job_done() { ++done_; }
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
  std::size_t jobs_;
  std::size_t done_ = 0;
};

bool is_new(const TuneReport& report, const TunedSite& site) {
  return std::none_of(report.sites.begin(), report.sites.end(),
                      [&](const TunedSite& known) { return known.site.key() == site.site.key(); });
}

TuneReport tune_device(const std::shared_ptr<Session>& session, const std::vector<Job>& jobs,
                       const std::shared_ptr<TuningStore>& store, bool again,
                       TuneProgress& progress) {
  TuneReport report{session->device(), {}};
  Tuner tuner(session, store);
  for (const Job& job : jobs) {
    try {
      const auto tuned = tuner.tune(job.sample.stage, job.format, again,
                                    [&](const std::string& site, std::size_t done,
                                        std::size_t all) { progress.show(site, done, all); });
      for (const TunedSite& site : tuned) {
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
  const auto rates = make_rate_store();
  const std::string vendors = gpu_vendors();
  for (const auto& session : sessions) {
    measure_copy(*rates, *session);
    if (session->device().kind != DeviceKind::gpu) continue;  // auto never chooses it
    session->set_tuning(tuning_for(session->device(), tuned));
    for (const Job& job : jobs) {
      measure_stage(*rates, vendors, session.get(), job.sample.stage, job.format);
    }
  }
  for (const Job& job : jobs)
    measure_stage(*rates, vendors, nullptr, job.sample.stage, job.format);
  rates->save();
}

}  // namespace

int run_tune_command(int argc, const char* const* argv) {
  CLI::App app(description, "gpufilter tune");
  TuneCommand command;
  declare_options(app, command);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  const auto sessions = start_devices(command.device);
  if (sessions.empty()) throw DeviceError("no OpenCL device to tune (see 'gpufilter devices')");
  const std::vector<Job> jobs = jobs_of(command);
  const auto store = make_tuning_store();
  std::vector<TuneReport> reports;
  {
    TuneProgress progress(jobs.size() * sessions.size());
    for (const auto& session : sessions)
      reports.push_back(tune_device(session, jobs, store, command.again, progress));
    measure_rates(sessions, store, jobs);
  }
  print_result(command.json ? tune_json(reports) : tune_table(reports));
  for (const auto& session : sessions)
    session->keep_programs();
  return std::any_of(reports.begin(), reports.end(),
                     [](const TuneReport& report) { return report.any_wrong(); })
             ? 1
             : 0;
}

}  // namespace gpufilter
