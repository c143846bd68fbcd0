#include "pipeline/tuner.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "pipeline/band_feed.hpp"
#include "pipeline/forced_tuning.hpp"
#include "pipeline/host_check.hpp"
#include "pipeline/memory_picture.hpp"
#include "pipeline/verify_cases.hpp"

namespace gpufilter {
namespace {

using Outcome = TriedCandidate::Outcome;

// Enough work to fill the device, but little enough for many trials.
constexpr ImageSize size_for_gpu{4096, 3072};
constexpr ImageSize size_for_cpu{1280, 960};
constexpr int timed_runs = 5;
// A candidate that takes this many times the best one's time is run only once.
constexpr double hopeless = 3;

constexpr int whole_picture = INT32_MAX;

}  // namespace

Image timing_picture(ImageSize size, const PixelFormat& format) {
  Image image(size, format);
  std::mt19937_64 random(1);
  std::uint8_t* bytes = image.rows().data;
  for (std::size_t i = 0; i + 8 <= image.bytes(); i += 8) {
    const std::uint64_t eight = random();
    std::memcpy(bytes + i, &eight, 8);
  }
  if (!format.has_alpha()) return image;
  const std::size_t sample = format.bytes_per_sample();
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      std::uint8_t* pixel =
          image.rows().row(y) + static_cast<std::size_t>(x) * format.bytes_per_pixel();
      std::memset(pixel + format.bytes_per_pixel() - sample, 0xFF, sample);
    }
  }
  return image;
}

ImageSize timing_size(const DeviceInfo& device) {
  return device.kind == DeviceKind::gpu ? size_for_gpu : size_for_cpu;
}

std::shared_ptr<const Stage> resolved_stage(std::shared_ptr<const Stage> stage,
                                            const PixelFormat& format) {
  const auto quantity = stage->needs();
  if (!quantity) return stage;
  const Image picture = verify_picture({{67, 37}, format});
  PictureStatistics statistics = no_statistics(format, *quantity);
  add_pixels(statistics, picture.rows());
  return stage->resolved(statistics, format);
}

namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double kernel_milliseconds(const Timeline& timeline) {
  Nanoseconds sum = 0;
  for (const Span& span : timeline.spans())
    sum += span.activity == Activity::kernel ? span.duration : 0;
  return static_cast<double>(sum) / 1e6;
}

}  // namespace

// The input and the expected result for all candidates of one stage in one format.
class Tuner::Trial {
 public:
  Trial(Session& session, ForcedTuning& tuning, std::shared_ptr<const Stage> stage,
        const PixelFormat& format)
      : session_(session), tuning_(tuning), chain_{std::move(stage)}, format_(format) {}

  // The sites of the stage's kernels.
  [[nodiscard]] std::map<std::string, ForcedTuning::Site> sites() {
    static_cast<void>(tuning_.take_sites());
    Timeline unused;
    const Plan plan = make_plan({timing_size(session_.device()), format_}, chain_);
    static_cast<void>(make_device_executor(plan, session_, unused));
    return tuning_.take_sites();
  }

  [[nodiscard]] TriedCandidate run(const std::string& site, const KernelCandidate& candidate,
                                   std::size_t index, double best) {
    if (small_.empty()) make_pictures();
    tuning_.force(site, index);
    TriedCandidate tried{candidate};
    try {
      if (auto difference = check()) {
        tried.outcome = Outcome::wrong;
        tried.difference = std::move(*difference);
      } else {
        time(tried, best);
      }
    } catch (const DeviceError& error) {
      tried.outcome = Outcome::not_built;
      tried.difference = error.what();
    } catch (const UsageError& error) {
      tried.outcome = Outcome::not_built;
      tried.difference = error.what();
    }
    tuning_.force_none();
    return tried;
  }

 private:
  void make_pictures() {
    Timeline unused;
    picture_ = timing_picture(timing_size(session_.device()), format_);
    expected_ = filter_in_memory(picture_, chain_, whole_picture, [&](const Plan& plan) {
      return make_host_executor(plan, unused);
    });
    for (const ImageSize& size : {ImageSize{67, 37}, ImageSize{261, 19}}) {
      small_.push_back(verify_picture({size, format_}));
      small_expected_.push_back(filter_by_baseline(small_.back(), chain_));
    }
  }

  [[nodiscard]] std::optional<std::string> check() {
    for (std::size_t i = 0; i < small_.size(); ++i) {
      Timeline unused;
      const Image found = filter_in_memory(small_[i], chain_, 7, [&](const Plan& plan) {
        return make_device_executor(plan, session_, unused);
      });
      const auto sample = first_difference(small_expected_[i].rows(), found.rows());
      if (sample) return to_string(*sample, found.format());
    }
    return std::nullopt;
  }

  void time(TriedCandidate& tried, double best) {
    const Plan plan = make_plan({picture_.size(), format_}, chain_, {.band_rows = whole_picture});
    Timeline timeline;
    const auto executor = make_device_executor(plan, session_, timeline);
    MemoryReader reader(picture_);
    BandFeed feed(reader, plan, executor->pool());
    const RowRange all{0, plan.output().size.height};
    const Image source = feed.next(all);
    Image found = executor->pool().take(plan.output().size.width, all, plan.output().format);
    std::memset(found.rows().data, 0, found.bytes());
    std::vector<double> times;
    for (int run = 0; run <= timed_runs; ++run) {
      const double before = kernel_milliseconds(timeline);
      executor->run(source.rows(), found.rows());
      const double milliseconds = kernel_milliseconds(timeline) - before;
      const bool is_hopeless = best > 0 && milliseconds > hopeless * best;
      if (run > 0 || is_hopeless) times.push_back(milliseconds);  // the first is a warm-up
      if (is_hopeless) break;
    }
    tried.milliseconds = median(times);
    if (const auto sample = first_difference(expected_.rows(), found.rows())) {
      tried.outcome = Outcome::wrong;
      tried.difference = to_string(*sample, found.format());
    }
  }

  Session& session_;
  ForcedTuning& tuning_;
  StageChain chain_;
  PixelFormat format_;
  // Made for the first candidate:
  Image picture_;
  Image expected_;
  std::vector<Image> small_;
  std::vector<Image> small_expected_;
};

Tuner::Tuner(std::shared_ptr<Session> session, std::shared_ptr<TuningStore> store)
    : session_(std::move(session)), store_(std::move(store)) {}

std::vector<TunedSite> Tuner::tune(const std::shared_ptr<const Stage>& stage,
                                   const PixelFormat& format, bool again,
                                   const OnCandidate& on_candidate) {
  const auto tuning = std::make_shared<ForcedTuning>();
  session_->set_tuning(tuning);
  Trial trial(*session_, *tuning, resolved_stage(stage, format), format);
  const std::string place = tuning_place(session_->device());
  std::vector<TunedSite> results;
  for (const auto& [key, asked] : trial.sites()) {
    if (asked.candidates.size() < 2) continue;  // nothing to choose
    TunedSite result{.site = asked.site};
    const auto known = store_->find(place, asked.site);
    if (known && !again) {
      result.known = true;
      result.chosen = known;
      results.push_back(std::move(result));
      continue;
    }
    double best = 0;
    for (std::size_t i = 0; i < asked.candidates.size(); ++i) {
      on_candidate(key, i, asked.candidates.size());
      TriedCandidate tried = trial.run(key, asked.candidates[i], i, best);
      if (tried.outcome == Outcome::timed && (best == 0 || tried.milliseconds < best))
        best = tried.milliseconds;
      if (tried.outcome == Outcome::wrong) {
        log::warn(formatted("{}, {}, {}: differs from the processor and is left out: {}", key,
                            tried.candidate.algorithm, to_string(tried.candidate.shape),
                            tried.difference));
      }
      result.tried.push_back(std::move(tried));
    }
    result.chosen = fastest(result.tried);
    if (result.chosen) {
      store_->keep(place, asked.site, *result.chosen);
      store_->save();
    }
    results.push_back(std::move(result));
  }
  return results;
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

}  // namespace gpufilter
