#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/format.hpp"
#include "base/thread_limit.hpp"
#include "host/instruction_set.hpp"
#include "host/parallel.hpp"
#include "image/image.hpp"
#include "pipeline/band_executor.hpp"
#include "pipeline/host_check.hpp"

namespace gpufilter {
namespace {

// Bytes of the rows between two stages in a strip. With the rows around them they stay in a core's
// second-level cache, which has 256 KiB even on small processors.
constexpr std::size_t strip_bytes = std::size_t{96} << 10U;
constexpr int minimum_strip_rows = 4;
// A part of a band for another thread has at least so many rows, and no fewer than it computes
// twice because its neighbours need them too.
constexpr int minimum_part_rows = 32;

std::uint64_t bytes_of(const RowRange& rows, const PictureShape& picture) {
  return row_pitch(picture) * static_cast<std::uint64_t>(rows.count());
}

// The rows between two stages that are kept from strip to strip: rows that the next strip needs too
// are not computed again.
class RollingRows {
 public:
  RollingRows(ImagePool& pool, const PictureShape& picture) : pool_(pool), picture_(picture) {}

  // Drops the rows above `wanted` and makes room for the others. Returns the rows to fill.
  [[nodiscard]] MutableRows advance(const RowRange& wanted) {
    RowRange kept{std::max(wanted.begin, held_.begin),
                  std::clamp(held_.end, wanted.begin, wanted.end)};
    if (kept.count() <= 0) kept = {wanted.begin, wanted.begin};
    const int fresh = wanted.end - kept.end;
    const int skipped = kept.begin - held_.begin;  // in memory, before the kept rows
    if (first_ + skipped + wanted.count() <= memory_.row_range().count() && kept.count() > fresh) {
      first_ += skipped;  // they stay where they are
    } else {
      make_room(wanted, kept, fresh);
    }
    held_ = wanted;
    return mutable_rows().part({kept.end, wanted.end});
  }

  [[nodiscard]] ConstRows rows() { return mutable_rows(); }

 private:
  [[nodiscard]] MutableRows mutable_rows() {
    return {row_in_memory(first_), row_pitch(picture_), held_, picture_.size.width,
            picture_.format};
  }

  [[nodiscard]] std::uint8_t* row_in_memory(int index) {
    return memory_.rows().data + static_cast<std::size_t>(index) * row_pitch(picture_);
  }

  // Moves the kept rows to the beginning of the memory. Where they are more than the fresh ones,
  // there is memory for as many again, so that they are not moved for each strip.
  void make_room(const RowRange& wanted, const RowRange& kept, int fresh) {
    const std::uint8_t* from =
        kept.count() > 0 ? row_in_memory(first_ + kept.begin - held_.begin) : nullptr;
    const std::size_t bytes = static_cast<std::size_t>(kept.count()) * row_pitch(picture_);
    const int capacity = wanted.count() + (kept.count() > fresh ? kept.count() : 0);
    first_ = 0;
    if (capacity <= memory_.row_range().count()) {
      if (from != nullptr) std::memmove(row_in_memory(0), from, bytes);
      return;
    }
    Image larger = pool_.take(picture_.size.width, {0, capacity}, picture_.format);
    if (from != nullptr) std::memcpy(larger.rows().data, from, bytes);
    memory_ = std::move(larger);
  }

  ImagePool& pool_;
  PictureShape picture_;
  Image memory_;
  int first_ = 0;  // the row of the memory that holds the first of held_
  RowRange held_;
};

class HostExecutor final : public BandExecutor {
 public:
  HostExecutor(const Plan& plan, Timeline& timeline)
      : plan_(plan), timeline_(timeline), strip_rows_(rows_of_strips(plan)) {
    for (const Pass& pass : plan.passes)
      add_report(describe_pass(pass), pass.stage->label());
    if (plan.measure) add_report(describe_measuring(plan), {});
  }

  [[nodiscard]] ImagePool& pool() override { return pool_; }

  void run(const ConstRows& source, const MutableRows& target) override {
    for_parts(target.rows, [&](const RowRange& part) {
      PassTimes times(*this, part);
      walk(source, part, times, [&](const RowRange& strip) { return target.part(strip); });
    });
  }

  void measure(const ConstRows& source, const RowRange& band) override {
    for_parts(band, [&](const RowRange& part) {
      PassTimes times(*this, part);
      std::unique_ptr<PictureStatistics> partial = take_partial();
      if (plan_.passes.empty()) {
        times.of(0, [&] { add_pixels(*partial, source.part(part)); });
      } else {
        const PictureShape& output = plan_.output();
        Image strip_memory;
        const auto target_of = [&](const RowRange& strip) {
          strip_memory = pool_.take(output.size.width, strip, output.format);
          return strip_memory.rows();
        };
        walk(source, part, times, target_of, [&](const ConstRows& strip) {
          times.of(plan_.passes.size(), [&] { add_pixels(*partial, strip); });
        });
      }
      give_back(std::move(partial));
    });
  }

  [[nodiscard]] PictureStatistics statistics() override {
    PictureStatistics all = no_statistics(plan_.output().format, *plan_.measure);
    for (const auto& partial : partials_)
      add_statistics(all, *partial);
    return all;
  }

  [[nodiscard]] const std::vector<PassReport>& passes() const override { return reports_; }

 private:
  // How long each pass takes for a part of a band. Strips alternate between the passes; the spans
  // of a part are recorded one after another as if they did not.
  class PassTimes {
   public:
    PassTimes(HostExecutor& executor, const RowRange& part)
        : executor_(executor), part_(part), durations_(executor.reports_.size()) {}
    PassTimes(const PassTimes&) = delete;
    PassTimes& operator=(const PassTimes&) = delete;
    ~PassTimes() {
      Nanoseconds start = begin_;
      for (std::size_t i = 0; i < durations_.size(); ++i) {
        executor_.timeline_.add({.activity = Activity::kernel,
                                 .pass = static_cast<int>(i),
                                 .start = start,
                                 .duration = durations_[i],
                                 .bytes = executor_.bytes_of_pass(i, part_),
                                 .first_row = part_.begin,
                                 .rows = part_.count()});
        start += durations_[i];
      }
    }

    template <typename Work>
    void of(std::size_t pass, const Work& work) {
      const Nanoseconds start = now();
      work();
      durations_[pass] += now() - start;
    }

   private:
    HostExecutor& executor_;
    RowRange part_;
    Nanoseconds begin_ = now();
    std::vector<Nanoseconds> durations_;
  };

  // Calls work(part) for parts that cover `rows`, on as many threads as there are.
  template <typename Work>
  void for_parts(const RowRange& rows, const Work& work) const {
    const int threads = static_cast<int>(allowed_threads());
    const int minimum = std::max(minimum_part_rows, plan_.halo());
    const int parts = std::clamp(rows.count() / minimum, 1, threads);
    if (parts == 1) return work(rows);
    const auto edge = [&](int i) {
      return rows.begin + static_cast<int>(std::int64_t{rows.count()} * i / parts);
    };
    run_parts(parts, [&](int i) { work({edge(i), edge(i + 1)}); });
  }

  // Takes `part` of the result through all passes, strip by strip. `target_of` says where a strip's
  // result goes; `done` gets it.
  template <typename TargetOf, typename Done>
  void walk(const ConstRows& source, const RowRange& part, PassTimes& times,
            const TargetOf& target_of, const Done& done) {
    std::vector<RollingRows> between;
    for (std::size_t i = 0; i + 1 < plan_.passes.size(); ++i)
      between.emplace_back(pool_, plan_.passes[i].output);
    const int rows = strip_rows(part.count());
    for (int y = part.begin; y < part.end; y += rows) {
      const RowRange strip{y, std::min(y + rows, part.end)};
      const std::vector<RowRange> windows = plan_.windows(strip);
      ConstRows input = source;
      for (std::size_t i = 0; i < between.size(); ++i) {
        if (const auto view = view_of(plan_.passes[i], input, windows[i + 1])) {
          input = *view;
          continue;
        }
        const MutableRows fresh = between[i].advance(windows[i + 1]);
        times.of(i, [&] { run_on_host(plan_.passes[i], input, fresh); });
        input = between[i].rows();
      }
      const MutableRows target = target_of(strip);
      times.of(between.size(), [&] { run_on_host(plan_.passes.back(), input, target); });
      done(ConstRows(target));
    }
  }

  template <typename TargetOf>
  void walk(const ConstRows& source, const RowRange& part, PassTimes& times,
            const TargetOf& target_of) {
    walk(source, part, times, target_of, [](const ConstRows&) {});
  }

  // The rows `wanted` of a pass's result, if they are a part of its source.
  static std::optional<ConstRows> view_of(const Pass& pass, const ConstRows& source,
                                          const RowRange& wanted) {
    const auto corner = pass.stage->view_of_source();
    if (!corner || !RowRange{0, pass.output.size.height}.contains(wanted)) return std::nullopt;
    return columns_of(source, corner->x, pass.output.size.width)
        .part(wanted.moved(corner->y))
        .renumbered(-corner->y);
  }

  // A single stage reads and writes the band itself: strips would gain nothing.
  [[nodiscard]] int strip_rows(int rows) const {
    return plan_.passes.size() == 1 && !plan_.measure ? rows : strip_rows_;
  }

  // The rows of the result for which a strip of each pass's result takes at most strip_bytes,
  // without the rows around it that borders add.
  [[nodiscard]] static int rows_of_strips(const Plan& plan) {
    if (plan.passes.empty()) return minimum_strip_rows;
    const std::vector<RowRange> one = plan.windows({0, 1});
    const auto fits = [&](int rows) {
      const std::vector<RowRange> windows = plan.windows({0, rows});
      for (std::size_t i = 1; i < windows.size(); ++i) {
        const auto added = static_cast<std::size_t>(windows[i].count() - one[i].count() + 1);
        if (added * row_pitch(plan.passes[i - 1].output) > strip_bytes) return false;
      }
      return true;
    };
    // Strips that read many rows around them have about half as many of their own.
    int fitting = std::max(minimum_strip_rows, plan.halo() / 2);
    for (const Pass& pass : plan.passes)
      fitting = std::max(fitting, pass.stage->suitable_rows());
    int too_many = std::max(plan.output().size.height, fitting) + 1;
    while (too_many - fitting > 1) {
      const int middle = fitting + (too_many - fitting) / 2;
      (fits(middle) ? fitting : too_many) = middle;
    }
    return fitting / minimum_strip_rows * minimum_strip_rows;
  }

  [[nodiscard]] std::uint64_t bytes_of_pass(std::size_t index, const RowRange& rows) const {
    if (index == plan_.passes.size()) return bytes_of(rows, plan_.output());
    const std::vector<RowRange> windows = plan_.windows(rows);
    const Pass& pass = plan_.passes[index];
    return bytes_of(windows[index], pass.input) + bytes_of(windows[index + 1], pass.output);
  }

  [[nodiscard]] std::unique_ptr<PictureStatistics> take_partial() {
    {
      const std::lock_guard lock(mutex_);
      if (!partials_.empty()) {
        auto partial = std::move(partials_.back());
        partials_.pop_back();
        return partial;
      }
    }
    return std::make_unique<PictureStatistics>(
        no_statistics(plan_.output().format, *plan_.measure));
  }

  void give_back(std::unique_ptr<PictureStatistics> partial) {
    const std::lock_guard lock(mutex_);
    partials_.push_back(std::move(partial));
  }

  void add_report(PassReport report, const std::string& label) {
    const auto set = to_string(instruction_set());
    report.variant = label.empty() ? std::string(set) : formatted("{}, {}", label, set);
    report.reason = "the processor";
    reports_.push_back(std::move(report));
  }

  const Plan& plan_;
  Timeline& timeline_;
  int strip_rows_;
  ImagePool pool_;
  std::vector<PassReport> reports_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PictureStatistics>> partials_;  // each over other pixels
};

}  // namespace

std::unique_ptr<BandExecutor> make_host_executor(const Plan& plan, Timeline& timeline) {
  return std::make_unique<HostExecutor>(plan, timeline);
}

}  // namespace gpufilter
