#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "base/threads.hpp"
#include "host/instruction_set.hpp"
#include "host/parallel.hpp"
#include "image/image.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/partial_statistics.hpp"

namespace gpufilter {
namespace {

class HostExecutor final : public BandExecutor {
 public:
  HostExecutor(const Plan& plan, Timeline& timeline)
      : plan_(plan), timeline_(timeline), host_(plan), statistics_(plan) {
    for (const Pass& pass : plan.passes)
      add_report(describe_pass(pass), pass.step->title().label);
    if (plan.measure) add_report(describe_measuring(plan), {});
  }

  [[nodiscard]] ImagePool& pool() override { return host_.pool(); }

  void run(const ConstRows& source, const MutableRows& target) override {
    for_parts(target.rows, [&](const RowRange& part) {
      PassTimes times(*this, part);
      host_.walk(
          source, part, times, [&](const RowRange& strip) { return target.part(strip); },
          [](const ConstRows&) {});
    });
  }

  void measure(const ConstRows& source, const RowRange& band) override {
    for_parts(band, [&](const RowRange& part) {
      PassTimes times(*this, part);
      statistics_.add([&](PictureStatistics& into) {
        if (plan_.passes.empty()) {
          times.of(0, [&] { add_pixels(into, source.part(part)); });
        } else {
          measure_result(host_, plan_, {source, part}, times, into);
        }
      });
    });
  }

  [[nodiscard]] PictureStatistics statistics() override { return statistics_.sum(); }

  [[nodiscard]] const std::vector<PassReport>& passes() const override { return reports_; }

 private:
  // How long each pass takes for a part of a band. Strips alternate between the passes; the spans
  // of a part are recorded one after another as if they did not. The destructor only records them:
  // everything that can throw happens before.
  class PassTimes {
   public:
    PassTimes(const HostExecutor& executor, const RowRange& part) : timeline_(executor.timeline_) {
      for (std::size_t i = 0; i < executor.reports_.size(); ++i)
        spans_.push_back({.activity = Activity::kernel,
                          .pass = static_cast<int>(i),
                          .bytes = executor.bytes_of_pass(i, part),
                          .first_row = part.begin,
                          .rows = part.count()});
    }
    PassTimes(const PassTimes&) = delete;
    PassTimes& operator=(const PassTimes&) = delete;
    ~PassTimes() {
      Nanoseconds start = begin_;
      for (Span& span : spans_) {
        span.start = start;
        start += span.duration;
        timeline_.add(span);
      }
    }

    template <typename Work>
    void of(std::size_t pass, const Work& work) {
      const Nanoseconds start = now();
      work();
      spans_[pass].duration += now() - start;
    }

   private:
    Timeline& timeline_;
    Nanoseconds begin_ = now();
    std::vector<Span> spans_;  // one for each pass
  };

  // Calls work(part) for parts that cover `rows`, on as many threads as there are.
  template <typename Work>
  void for_parts(const RowRange& rows, const Work& work) const {
    const int threads = static_cast<int>(allowed_threads());
    const int parts = std::clamp(rows.count() / host_.minimum_part(), 1, threads);
    if (parts == 1) return work(rows);
    const auto edge = [&](int i) {
      return rows.begin + static_cast<int>(std::int64_t{rows.count()} * i / parts);
    };
    run_parts(parts, [&](int i) { work({edge(i), edge(i + 1)}); });
  }

  [[nodiscard]] std::uint64_t bytes_of_pass(std::size_t index, const RowRange& rows) const {
    if (index == plan_.passes.size()) return bytes_of(rows, plan_.output());
    const std::vector<RowRange> windows = plan_.windows(rows);
    const Pass& pass = plan_.passes[index];
    return bytes_of(windows[index], pass.input) + bytes_of(windows[index + 1], pass.output);
  }

  void add_report(PassReport report, const std::string& label) {
    const auto set = to_string(instruction_set());
    report.variant = label.empty() ? std::string(set) : formatted("{}, {}", label, set);
    report.reason = "the processor";
    reports_.push_back(std::move(report));
  }

  const Plan& plan_;
  Timeline& timeline_;
  HostPasses host_;
  std::vector<PassReport> reports_;
  PartialStatistics statistics_;
};

}  // namespace

std::unique_ptr<BandExecutor> make_host_executor(const Plan& plan, Timeline& timeline) {
  return std::make_unique<HostExecutor>(plan, timeline);
}

}  // namespace gpufilter
