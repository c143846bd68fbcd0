#include <cstring>
#include <utility>
#include <vector>

#include "lab/random_data.hpp"
#include "lab/stage_samples.hpp"
#include "lab/tune/tuner.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/run/memory_picture.hpp"

namespace gpufilter::lab {
namespace {

// Enough work to fill the device, little enough for many trials.
constexpr ImageSize size_for_gpu{4096, 3072};
constexpr ImageSize size_for_cpu{1280, 960};

constexpr int whole_picture = INT32_MAX;

double kernel_milliseconds(const Timeline& timeline) {
  Nanoseconds sum = 0;
  for (const Span& span : timeline.spans())
    sum += span.activity == Activity::kernel ? span.duration : 0;
  return static_cast<double>(sum) / 1e6;
}

// A stage that gets the same statistics for every picture.
class MeasuredStage final : public Stage {
 public:
  MeasuredStage(std::shared_ptr<const Stage> stage, PictureStatistics statistics)
      : stage_(std::move(stage)), statistics_(std::move(statistics)) {}

  [[nodiscard]] std::string name() const override { return stage_->name(); }
  [[nodiscard]] std::string label() const override { return stage_->label(); }
  [[nodiscard]] std::string key() const override { return stage_->key(); }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    PictureContext known = context;
    known.statistics = &statistics_;
    return stage_->lower(known);
  }

 private:
  std::shared_ptr<const Stage> stage_;
  PictureStatistics statistics_;
};

class StageSubject final : public TuneSubject {
 public:
  StageSubject(Session& session, std::shared_ptr<const Stage> stage, const PixelFormat& format)
      : session_(session), chain_{measured_stage(std::move(stage), format)}, format_(format) {}

  void build() const override {
    Timeline unused;
    const Plan plan = make_plan({timing_size(session_.device()), format_}, chain_,
                                {.device = &session_.device()});
    static_cast<void>(make_device_executor(plan, session_, unused));
  }

  [[nodiscard]] std::optional<std::string> check() override {
    make_pictures();
    for (std::size_t i = 0; i < small_.size(); ++i) {
      Timeline unused;
      const Image found = filter_in_memory(
          small_[i], chain_, {.device = &session_.device(), .band_rows = 7},
          [&](const Plan& plan) { return make_device_executor(plan, session_, unused); });
      const auto sample = first_difference(small_expected_[i].rows(), found.rows());
      if (sample) return to_string(*sample, found.format());
    }
    return std::nullopt;
  }

  void begin() override { run_.emplace(session_, picture_, chain_); }

  [[nodiscard]] double run() override { return run_->milliseconds(); }

  [[nodiscard]] std::optional<std::string> check_timed() override {
    const auto sample = first_difference(expected_.rows(), run_->found.rows());
    if (!sample) return std::nullopt;
    return to_string(*sample, expected_.format());
  }

 private:
  // The whole picture as one band, repeatedly.
  struct Run {
    Run(Session& session, const Image& picture, const StageChain& chain)
        : plan(make_plan({picture.size(), picture.format()}, chain,
                         {.device = &session.device(), .band_rows = whole_picture})),
          executor(make_device_executor(plan, session, timeline)) {
      const RowRange all{0, plan.output().size.height};
      source = BandFeed(picture.rows(), plan, executor->pool()).next(all);
      found = executor->pool().take(plan.output().size.width, all, plan.output().format);
      std::memset(found.rows().data, 0, found.bytes());
    }

    double milliseconds() {
      const double before = kernel_milliseconds(timeline);
      executor->run(source->rows(), found.rows());
      return kernel_milliseconds(timeline) - before;
    }

    Plan plan;
    Timeline timeline;
    std::unique_ptr<BandExecutor> executor;
    std::shared_ptr<const Image> source;
    Image found;
  };

  void make_pictures() {
    if (!small_.empty()) return;
    Timeline unused;
    picture_ = random_picture(timing_size(session_.device()), format_);
    expected_ =
        filter_in_memory(picture_, chain_, {.band_rows = whole_picture},
                         [&](const Plan& plan) { return make_host_executor(plan, &unused); });
    for (const ImageSize& size : {ImageSize{67, 37}, ImageSize{261, 19}}) {
      small_.push_back(verify_picture({size, format_}));
      small_expected_.push_back(filter_by_baseline(small_.back(), chain_));
    }
  }

  Session& session_;
  StageChain chain_;
  PixelFormat format_;
  Image picture_;
  Image expected_;
  std::vector<Image> small_;
  std::vector<Image> small_expected_;
  std::optional<Run> run_;
};

}  // namespace

ImageSize timing_size(const DeviceInfo& device) {
  return device.kind == DeviceKind::gpu ? size_for_gpu : size_for_cpu;
}

std::shared_ptr<const Stage> measured_stage(std::shared_ptr<const Stage> stage,
                                            const PixelFormat& format) {
  if (!stage->traits().measures) return stage;
  const Image picture = verify_picture({{67, 37}, format});
  const auto demand = stage->lower({.shape = {picture.size(), format}}).demand;
  PictureStatistics statistics = no_statistics(format, demand->statistics.value());
  add_pixels(statistics, picture.rows());
  return std::make_shared<MeasuredStage>(std::move(stage), std::move(statistics));
}

std::unique_ptr<TuneSubject> make_stage_subject(Session& session,
                                                std::shared_ptr<const Stage> stage,
                                                const PixelFormat& format) {
  return std::make_unique<StageSubject>(session, std::move(stage), format);
}

}  // namespace gpufilter::lab
