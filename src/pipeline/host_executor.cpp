#include <mutex>

#include "image/image.hpp"
#include "pipeline/band_executor.hpp"

namespace gpufilter {
namespace {

std::uint64_t bytes_of(const ConstRows& rows) {
  return rows.pitch * static_cast<std::uint64_t>(rows.rows.count());
}

class ReferenceExecutor final : public BandExecutor {
 public:
  ReferenceExecutor(const Plan& plan, Timeline& timeline) : plan_(plan), timeline_(timeline) {
    for (const Pass& pass : plan.passes)
      report(pass.stage->name());
    if (!plan.measure) return;
    report("statistics");
    statistics_ = no_statistics(plan.output(), *plan.measure);
  }

  [[nodiscard]] ImagePool& pool() override { return pool_; }

  void run(const ConstRows& source, const MutableRows& target) override {
    const auto windows = plan_.windows(target.rows);
    Image before;  // keeps what `input` looks at
    ConstRows input = source;
    for (std::size_t i = 0; i < plan_.passes.size(); ++i) {
      const Pass& pass = plan_.passes[i];
      const bool last = i + 1 == plan_.passes.size();
      Image after = last ? Image() : pool_.take(target.width, windows[i + 1], pass.output);
      const MutableRows output = last ? target : after.rows();
      {
        const ScopedSpan span(timeline_,
                              kernel_span(i, target.rows, bytes_of(input) + bytes_of(output)));
        pass.stage->run(input, output, plan_.size.height);
      }
      before = std::move(after);
      input = last ? ConstRows(target) : before.rows();
    }
  }

  void measure(const ConstRows& source, const RowRange& band) override {
    Image result;
    ConstRows rows = source;
    if (!plan_.passes.empty()) {
      result = pool_.take(plan_.size.width, band, plan_.output());
      run(source, result.rows());
      rows = result.rows();
    }
    const ScopedSpan span(timeline_, kernel_span(plan_.passes.size(), band, bytes_of(rows)));
    const std::lock_guard lock(mutex_);
    add_pixels(statistics_, rows);
  }

  [[nodiscard]] PictureStatistics statistics() override { return statistics_; }
  [[nodiscard]] const std::vector<PassReport>& passes() const override { return reports_; }

 private:
  void report(const std::string& name) {
    reports_.push_back({name, "reference", "plain C++ on one core", "none"});
  }

  static Span kernel_span(std::size_t pass, const RowRange& band, std::uint64_t bytes) {
    return {.activity = Activity::kernel,
            .pass = static_cast<int>(pass),
            .bytes = bytes,
            .first_row = band.begin,
            .rows = band.count()};
  }

  const Plan& plan_;
  Timeline& timeline_;
  ImagePool pool_;
  std::vector<PassReport> reports_;
  std::mutex mutex_;
  PictureStatistics statistics_;
};

}  // namespace

std::unique_ptr<BandExecutor> make_host_executor(const Plan& plan, Timeline& timeline) {
  return std::make_unique<ReferenceExecutor>(plan, timeline);
}

}  // namespace gpufilter
