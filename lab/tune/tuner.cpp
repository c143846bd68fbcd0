#include "lab/tune/tuner.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "lab/forced_tuning.hpp"
#include "lab/random_data.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter::lab {
namespace {

using Outcome = TriedCandidate::Outcome;

constexpr int timed_runs = 5;
// A candidate that is slower than the best one by this factor is run only once.
constexpr double hopeless = 3;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void time(TuneSubject& subject, TriedCandidate& tried, double best) {
  subject.begin();
  std::vector<double> times;
  for (int run = 0; run <= timed_runs; ++run) {
    const double milliseconds = subject.run();
    const bool is_hopeless = best > 0 && milliseconds > hopeless * best;
    if (run > 0 || is_hopeless) times.push_back(milliseconds);  // the first is a warm-up
    if (is_hopeless) break;
  }
  tried.milliseconds = median(times);
  if (auto difference = subject.check_timed()) {
    tried.outcome = Outcome::wrong;
    tried.difference = std::move(*difference);
  }
}

// Checks and times one candidate, which the tuning has to choose already.
void try_candidate(TuneSubject& subject, TriedCandidate& tried, double best) {
  try {
    if (auto difference = subject.check()) {
      tried.outcome = Outcome::wrong;
      tried.difference = std::move(*difference);
    } else {
      time(subject, tried, best);
    }
  } catch (const DeviceError& error) {
    tried.outcome = Outcome::not_built;
    tried.difference = error.what();
  } catch (const UsageError& error) {
    tried.outcome = Outcome::not_built;
    tried.difference = error.what();
  }
}

}  // namespace

Tuner::Tuner(std::shared_ptr<Session> session, std::shared_ptr<TuningStore> store)
    : session_(std::move(session)),
      store_(std::move(store)),
      tuning_(std::make_shared<ForcedTuning>()) {
  session_->set_tuning(tuning_);
}

std::vector<TunedSite> Tuner::tune(TuneSubject& subject, bool again, std::optional<Nanoseconds> end,
                                   const OnCandidate& on_candidate) {
  static_cast<void>(tuning_->take_sites());
  subject.build();
  const std::string place = tuning_place(session_->device());
  std::vector<TunedSite> results;
  for (const auto& [key, asked] : tuning_->take_sites()) {
    if (asked.candidates.size() < 2) continue;  // nothing to choose
    TunedSite result{.site = asked.site};
    const auto known = store_->find(place, asked.site);
    if (known && !again) {
      result.known = true;
      result.chosen = known;
    } else {
      result.candidates = asked.candidates.size();
      result.tried = try_all(subject, key, asked.candidates, end, on_candidate);
      result.chosen = fastest(result.tried);
    }
    // With too little time only the usual candidate was tried.
    const bool compared = result.tried.size() > 1;
    if (result.chosen && compared) {
      store_->keep(place, asked.site, *result.chosen);
      store_->save();
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<TriedCandidate> Tuner::try_all(TuneSubject& subject, const std::string& site,
                                           const std::vector<KernelCandidate>& candidates,
                                           std::optional<Nanoseconds> end,
                                           const OnCandidate& on_candidate) {
  double best = 0;
  std::map<std::size_t, TriedCandidate> all;
  for (const std::size_t i : trying_order(candidates.size())) {
    if (!all.empty() && end && now() >= *end) break;
    on_candidate(site, all.size(), candidates.size());
    TriedCandidate tried{candidates[i]};
    tuning_->force(site, i);
    static_cast<void>(take_made_kernels());
    try_candidate(subject, tried, best);
    tried.spilled_bytes = spilled_bytes(take_made_kernels());
    tuning_->force_none();
    if (tried.spilled_bytes > 0) {
      log::warn(formatted("{}, {}: has too few registers: each work-item spills {} bytes to memory",
                          site, to_string(tried.candidate), tried.spilled_bytes));
    }
    if (tried.outcome == Outcome::timed && (best == 0 || tried.milliseconds < best))
      best = tried.milliseconds;
    if (tried.outcome == Outcome::wrong) {
      log::warn(formatted("{}, {}: differs from the processor and is left out: {}", site,
                          to_string(tried.candidate), tried.difference));
    }
    all.emplace(i, std::move(tried));
  }
  std::vector<TriedCandidate> in_order;
  in_order.reserve(all.size());
  for (auto& [i, tried] : all)
    in_order.push_back(std::move(tried));
  return in_order;
}

std::vector<std::size_t> trying_order(std::size_t count) {
  // The golden section spreads any number of them evenly.
  constexpr double section = 0.618;
  auto step = static_cast<std::size_t>(section * static_cast<double>(count));
  while (std::gcd(step, count) != 1)
    ++step;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i)
    order.push_back(i * step % count);
  return order;
}

std::uint64_t spilled_bytes(const std::vector<KernelFigures>& kernels) {
  std::uint64_t highest = 0;
  for (const KernelFigures& kernel : kernels)
    if (kernel.compiled) highest = std::max(highest, kernel.compiled->spilled_bytes);
  return highest;
}

std::optional<TunedKernel> fastest(const std::vector<TriedCandidate>& tried) {
  std::optional<TunedKernel> best;
  for (const TriedCandidate& each : tried) {
    if (each.outcome != Outcome::timed) continue;
    if (!best) {
      best = TunedKernel{each.candidate, each.milliseconds, 0};
    } else if (each.milliseconds < best->milliseconds) {
      best = TunedKernel{each.candidate, each.milliseconds, best->milliseconds};
    } else if (best->next_milliseconds == 0 || each.milliseconds < best->next_milliseconds) {
      best->next_milliseconds = each.milliseconds;
    }
  }
  return best;
}

namespace {

using Outcome = TriedCandidate::Outcome;

std::size_t count_of(const TunedSite& site, Outcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(site.tried.begin(), site.tried.end(),
                    [outcome](const auto& tried) { return tried.outcome == outcome; }));
}

// "27 tried, 1 wrong"; also the best one's time relative to the usual one's.
std::string note_of(const TunedSite& site) {
  if (site.known) return "known";
  std::string note = formatted("{} tried", site.tried.size());
  if (site.tried.size() < site.candidates)
    note = formatted("{} of {} tried", site.tried.size(), site.candidates);
  if (const auto wrong = count_of(site, Outcome::wrong); wrong > 0)
    note += formatted(", {} wrong", wrong);
  if (const auto not_built = count_of(site, Outcome::not_built); not_built > 0)
    note += formatted(", {} not built", not_built);
  const TriedCandidate& usual = site.tried.front();
  if (site.chosen && usual.outcome == Outcome::timed && site.chosen->milliseconds > 0)
    note += formatted(", {:.2f} of the usual time", site.chosen->milliseconds / usual.milliseconds);
  return note;
}

Json candidate_json(const KernelCandidate& candidate) {
  if (!candidate.constants.empty())
    return {{"algorithm", candidate.algorithm}, {"constants", candidate.constants}};
  return {{"algorithm", candidate.algorithm},
          {"pixels", candidate.shape.pixels},
          {"lines", candidate.shape.lines},
          {"group_width", candidate.shape.group_width},
          {"group_height", candidate.shape.group_height}};
}

const char* outcome_name(Outcome outcome) {
  static constexpr std::array names{"timed", "wrong", "not built"};
  return names.at(static_cast<std::size_t>(outcome));
}

Json site_json(const TunedSite& site) {
  Json tried = Json::array();
  for (const TriedCandidate& each : site.tried) {
    Json entry = candidate_json(each.candidate);
    entry["outcome"] = outcome_name(each.outcome);
    if (each.outcome == Outcome::timed) entry["milliseconds"] = each.milliseconds;
    if (each.spilled_bytes > 0) entry["spilled_bytes"] = each.spilled_bytes;
    if (!each.difference.empty()) entry["difference"] = each.difference;
    tried.push_back(std::move(entry));
  }
  Json chosen;
  if (site.chosen) {
    chosen = candidate_json(site.chosen->candidate);
    chosen["milliseconds"] = site.chosen->milliseconds;
    chosen["next_milliseconds"] = site.chosen->next_milliseconds;
  }
  return {{"site", site.site.key()},
          {"known", site.known},
          {"candidates", site.known ? Json() : Json(site.candidates)},
          {"chosen", chosen},
          {"tried", tried}};
}

}  // namespace

bool TuneReport::any_wrong() const {
  return std::any_of(sites.begin(), sites.end(),
                     [](const auto& site) { return count_of(site, Outcome::wrong) > 0; });
}

std::string tune_table(const std::vector<TuneReport>& reports) {
  std::string table;
  for (const TuneReport& report : reports) {
    table += formatted("{} ({}), driver {}\n", printable(report.device.name),
                       to_string(report.device.kind), printable(report.device.driver_version));
    std::size_t width = 30;
    for (const TunedSite& site : report.sites)
      width = std::max(width, site.site.key().size());
    width += 2;
    table += formatted("  {:<{}}{:>9}{:>9}  {}\n", "kernel, channels x depth", width, "ms", "next",
                       "fastest");
    for (const TunedSite& site : report.sites) {
      if (!site.chosen) {
        table += formatted("  {:<{}}{:>9}{:>9}  none is correct ({})\n", site.site.key(), width,
                           "-", "-", note_of(site));
        continue;
      }
      const double next = site.chosen->next_milliseconds;  // 0: no other candidate was timed
      table += formatted("  {:<{}}{:>9.3f}{:>9}  {} ({})\n", site.site.key(), width,
                         site.chosen->milliseconds, next > 0 ? formatted("{:.3f}", next) : "-",
                         to_string(site.chosen->candidate), note_of(site));
    }
  }
  return table;
}

std::string tune_json(const std::vector<TuneReport>& reports) {
  Json devices = Json::array();
  for (const TuneReport& report : reports) {
    Json sites = Json::array();
    for (const TunedSite& site : report.sites)
      sites.push_back(site_json(site));
    devices.push_back({{"name", report.device.name},
                       {"kind", to_string(report.device.kind)},
                       {"driver", report.device.driver_version},
                       {"kernels", sites}});
  }
  const Json json{
      {"schema", "gpufilter-tune-1"}, {"version", GPUFILTER_VERSION}, {"devices", devices}};
  return json.indented(2) + "\n";
}

namespace {

constexpr std::size_t bytes_for_gpu = std::size_t{256} << 20U;
constexpr std::size_t bytes_for_cpu = std::size_t{32} << 20U;  // larger than its caches
constexpr int copies = 5;
// Large enough for MachineRates to trust its times.
constexpr ImageSize size_for_processor{1280, 960};

EngineReport report_of(const Session* session) {
  EngineReport report;
  report.device = session != nullptr ? session->device().name : "processor";
  report.kind = session != nullptr ? to_string(session->device().kind) : processor_kind;
  if (session != nullptr) report.driver = session->device().driver_version;
  return report;
}

}  // namespace

void measure_stage(MachineRates& rates, Session* session, const std::shared_ptr<const Stage>& stage,
                   const PixelFormat& format) {
  const ImageSize size = session != nullptr ? timing_size(session->device()) : size_for_processor;
  const Image picture = random_picture(size, format);
  const StageChain chain{measured_stage(stage, format)};
  RunReport report;
  for (int run = 0; run < 2; ++run) {  // the first is a warm-up
    Timeline timeline;
    PlanLimits limits{.band_rows = INT32_MAX};
    if (session != nullptr) limits.device = &session->device();
    static_cast<void>(filter_in_memory(picture, chain, limits, [&](const Plan& plan) {
      auto executor = session != nullptr ? make_device_executor(plan, *session, timeline)
                                         : make_host_executor(plan, &timeline);
      report.passes = executor->passes();
      return executor;
    }));
    report.spans = timeline.spans();
  }
  report.engine = report_of(session);
  PictureTask task;
  task.shape = {size, format};
  rates.learn(task, report, false);
}

void measure_copy(RateStore& store, Session& session) {
  const DeviceInfo& device = session.device();
  const std::size_t wanted = device.kind == DeviceKind::gpu ? bytes_for_gpu : bytes_for_cpu;
  const auto bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(device.global_memory / 8, 1)));
  const Buffer from = session.allocate(bytes);
  const Buffer to = session.allocate(bytes);
  Queue queue = session.make_queue();
  Nanoseconds fastest = 0;
  for (int i = 0; i < copies; ++i) {
    const Event event = queue.copy(from, to, bytes);
    queue.finish();
    const Nanoseconds duration = event.times().duration;
    if (fastest == 0 || duration < fastest) fastest = duration;
  }
  store.learn(tuning_place(device), copy_rate.kind,
              static_cast<double>(fastest) / 1e9 / (2 * static_cast<double>(bytes)));
}

}  // namespace gpufilter::lab
