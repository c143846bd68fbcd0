#include <algorithm>
#include <cstring>
#include <utility>

#include "base/background.hpp"
#include "base/numbers.hpp"
#include "base/threads.hpp"
#include "host/parallel.hpp"
#include "image/image.hpp"
#include "image/rows.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/host_check.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t cached_bytes = std::size_t{512} << 10U;

// Rows at multiples of this distance map to the same sets of the first-level cache, so that the
// rows of a window evict each other.
constexpr std::size_t sharing_distance = 2048;

int width_in_memory(const PictureShape& picture) {
  if (row_pitch(picture) % sharing_distance != 0) return picture.size.width;
  return picture.size.width +
         static_cast<int>(divided_up(row_alignment, picture.format.bytes_per_pixel()));
}

// The rows between two stages that are kept from strip to strip: rows that the next strip needs too
// are not computed again.
class RollingRows {
 public:
  RollingRows(ImagePool& pool, const PictureShape& picture)
      : pool_(&pool), picture_(picture), memory_width_(width_in_memory(picture)) {}

  // Drops the rows above `wanted` and makes room for its missing rows, rounded up to a multiple of
  // `step`, but for none past `end`. Returns the rows to fill.
  [[nodiscard]] MutableRows advance(const RowRange& wanted, int step, int end) {
    RowRange kept{std::max(wanted.begin, held_.begin), std::max(wanted.begin, held_.end)};
    if (kept.count() <= 0) kept = {wanted.begin, wanted.begin};
    const int missing = divided_up(std::max(wanted.end - kept.end, 0), step) * step;
    const RowRange held{wanted.begin, std::min(kept.end + missing, std::max(kept.end, end))};
    const int fresh = held.end - kept.end;
    const int skipped = kept.begin - held_.begin;  // in memory, before the kept rows
    if (first_ + skipped + held.count() <= memory_.row_range().count() && kept.count() > fresh) {
      first_ += skipped;  // they stay where they are
    } else {
      make_room(held, kept, fresh);
    }
    held_ = held;
    return mutable_rows().part({kept.end, held.end});
  }

  [[nodiscard]] ConstRows rows() { return mutable_rows(); }

 private:
  [[nodiscard]] MutableRows mutable_rows() {
    return {row_in_memory(first_), pitch(), held_, picture_.size.width, picture_.format};
  }
  [[nodiscard]] std::uint8_t* row_in_memory(int index) {
    return memory_.rows().data + static_cast<std::size_t>(index) * pitch();
  }
  [[nodiscard]] std::size_t pitch() const { return row_pitch(memory_width_, picture_.format); }

  // Moves the kept rows to the beginning of the memory. If they outnumber the fresh rows, there is
  // memory for as many again, or for three times as many if all of it stays in the second-level
  // cache, so that they are not moved for each strip.
  void make_room(const RowRange& wanted, const RowRange& kept, int fresh) {
    const std::uint8_t* from =
        kept.count() > 0 ? row_in_memory(first_ + kept.begin - held_.begin) : nullptr;
    const std::size_t bytes = static_cast<std::size_t>(kept.count()) * pitch();
    const int cached = static_cast<int>(cached_bytes / pitch()) - wanted.count();
    const int spare = std::clamp(cached, kept.count(), 3 * kept.count());
    const int capacity = wanted.count() + (kept.count() > fresh ? spare : 0);
    first_ = 0;
    if (capacity <= memory_.row_range().count()) {
      if (from != nullptr) std::memmove(row_in_memory(0), from, bytes);
      return;
    }
    Image larger = pool_->take(memory_width_, {0, capacity}, picture_.format);
    if (from != nullptr) std::memcpy(larger.rows().data, from, bytes);
    memory_ = std::move(larger);
  }

  ImagePool* pool_;
  PictureShape picture_;
  int memory_width_;
  Image memory_;
  int first_ = 0;  // the row of the memory that holds the first of held_
  RowRange held_;
};

// Bytes of the rows between two stages in a strip. With the rows around them they stay in a core's
// second-level cache, which has 256 KiB even on small processors.
constexpr std::size_t strip_bytes = std::size_t{96} << 10U;
constexpr int strip_rows_multiple = 4;
// Bytes of rows that a pass changes in place after another has filled them. Fewer gain nothing,
// because of the cost of a call.
constexpr std::size_t in_place_bytes = std::size_t{64} << 10U;

// As many rows of a pass's result as take strip_bytes, unless the pass needs more to work well.
int rows_of_strip(const Pass& pass) {
  const int fitting = static_cast<int>(strip_bytes / row_pitch(pass.output));
  // A strip with a large halo has about as many rows of its own.
  const int needed = std::max(pass.window_rows(), pass.properties.suitable_rows);
  return divided_up(std::max(fitting, needed), strip_rows_multiple) * strip_rows_multiple;
}

// How long each pass takes for a part of a band, if there is a timeline. Strips alternate between
// the passes; the spans of a part are recorded one after another as if they did not. The destructor
// only records them: everything that can throw happens before.
class PassTimes {
 public:
  PassTimes(Timeline* timeline, const Plan& plan, const RowRange& part)
      : timeline_(timeline), windows_(plan.windows(part)) {
    if (timeline == nullptr) return;
    const auto add = [&](std::uint64_t bytes) {
      spans_.push_back({.activity = Activity::kernel,
                        .pass = static_cast<int>(spans_.size()),
                        .bytes = bytes,
                        .first_row = part.begin,
                        .rows = part.count()});
    };
    for (std::size_t i = 0; i < plan.passes.size(); ++i) {
      add(bytes_of(windows_[i], plan.passes[i].input) +
          bytes_of(windows_[i + 1], plan.passes[i].output));
    }
    if (plan.measure) add(bytes_of(part, plan.output()));
  }
  PassTimes(const PassTimes&) = delete;
  PassTimes& operator=(const PassTimes&) = delete;
  ~PassTimes() {
    Nanoseconds start = begin_;
    for (Span& span : spans_) {
      span.start = start;
      start += span.duration;
      timeline_->add(span);
    }
  }

  // The rows that each pass of this part computes; see Plan::windows().
  [[nodiscard]] const std::vector<RowRange>& windows() const { return windows_; }

  template <typename Work>
  void of(std::size_t pass, const Work& work) {
    if (timeline_ == nullptr) return work();
    const Nanoseconds start = now();
    work();
    spans_[pass].duration += now() - start;
  }

 private:
  Timeline* timeline_;
  std::vector<RowRange> windows_;
  Nanoseconds begin_ = now();
  std::vector<Span> spans_;  // one for each pass, and for the measuring
};

// The passes first <= i < end: each but the first changes the rows of the first in place.
struct HostGroup {
  std::size_t first;
  std::size_t end;
  int rows = 0;  // of a strip of its result
};

std::vector<HostGroup> groups_of(const std::vector<Pass>& passes) {
  std::vector<HostGroup> groups;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const bool joins =
        i > 0 && passes[i].properties.runs_in_place && !passes[i - 1].properties.view_of_source;
    if (!joins) groups.push_back({i, i + 1});
    groups.back().end = i + 1;
    groups.back().rows = std::max(groups.back().rows, rows_of_strip(passes[i]));
  }
  return groups;
}

// One thread's walk through a part of a band. Every group pulls its source rows from the previous
// group, which computes them in strips of its own height. Each row is computed once, and only the
// rows that the next group still reads are kept.
class StripWalk {
 public:
  // `source` covers what the rows `part` of the result need.
  StripWalk(const Plan& plan, const std::vector<HostGroup>& groups, ImagePool& pool,
            const ConstRows& source, PassTimes& times)
      : plan_(plan), groups_(groups), source_(source), times_(times) {
    results_.reserve(groups.size() - 1);
    for (std::size_t i = 0; i + 1 < groups.size(); ++i)
      results_.emplace_back(pool, plan.passes[groups[i].end - 1].output);
  }

  // Calls of_strip(rows) for strips that cover the rows `part` of the result; it calls fill().
  template <typename OfStrip>
  void for_strips(const RowRange& part, const OfStrip& of_strip) {
    // A single stage reads and writes the band itself: strips would gain nothing.
    const bool is_whole = plan_.passes.size() == 1 && !plan_.measure;
    const int rows = is_whole ? part.count() : groups_.back().rows;
    for (int y = part.begin; y < part.end; y += rows)
      of_strip(RowRange{y, std::min(y + rows, part.end)});
  }
  // The next strip of the result.
  void fill(const MutableRows& target) { fill(groups_.size() - 1, target); }

 private:
  // Rows of a group's result.
  void fill(std::size_t group, const MutableRows& target) {
    const RowRange needed = plan_.passes[groups_[group].first].source_rows(target.rows);
    run_group(groups_[group], source_of(group, needed), target);
  }

  // The rows `wanted` that a group reads; later calls want no rows above them.
  ConstRows source_of(std::size_t group, const RowRange& wanted) {
    if (group == 0) return source_;
    const HostGroup& before = groups_[group - 1];
    if (const auto corner = corner_of_view(before, wanted)) {
      const ConstRows seen = source_of(group - 1, wanted.moved(corner->y));
      return columns_of(seen, corner->x, plan_.passes[before.first].output.size.width)
          .part(wanted.moved(corner->y))
          .renumbered(-corner->y);
    }
    RollingRows& result = results_[group - 1];
    const MutableRows fresh = result.advance(wanted, before.rows, times_.windows()[before.end].end);
    for (int y = fresh.rows.begin; y < fresh.rows.end; y += before.rows)
      fill(group - 1, fresh.part({y, std::min(y + before.rows, fresh.rows.end)}));
    return result.rows();
  }

  // The position of the rows `wanted` of a group's result in its source, if they are a view of it.
  [[nodiscard]] std::optional<PixelPosition> corner_of_view(const HostGroup& group,
                                                            const RowRange& wanted) const {
    const Pass& pass = plan_.passes[group.first];
    const bool is_inside = RowRange{0, pass.output.size.height}.contains(wanted);
    return is_inside ? pass.properties.view_of_source : std::nullopt;
  }

  // Changes rows in place while they are still in the cache from the first pass.
  void run_group(const HostGroup& group, const ConstRows& source, const MutableRows& target) {
    const int step = rows_at_once(group, target);
    for (int y = target.rows.begin; y < target.rows.end; y += step) {
      const MutableRows part = target.part({y, std::min(y + step, target.rows.end)});
      times_.of(group.first, [&] { run_on_host(plan_.passes[group.first], source, part); });
      for (std::size_t i = group.first + 1; i < group.end; ++i)
        times_.of(i, [&] { run_on_host(plan_.passes[i], part, part); });
    }
  }

  // Passes that read more rows than they fill would have to read them again for each part.
  [[nodiscard]] int rows_at_once(const HostGroup& group, const MutableRows& target) const {
    const RowRange one{0, 1};
    const bool is_alone = group.end == group.first + 1;
    if (is_alone || plan_.passes[group.first].source_rows(one) != one) return target.rows.count();
    return std::max(1, static_cast<int>(in_place_bytes / target.pitch));
  }

  const Plan& plan_;
  const std::vector<HostGroup>& groups_;
  ConstRows source_;
  PassTimes& times_;
  std::vector<RollingRows> results_;  // of each group but the last
};

class HostExecutor final : public BandExecutor {
 public:
  HostExecutor(const Plan& plan, Timeline* timeline)
      : plan_(plan),
        timeline_(timeline),
        groups_(groups_of(plan.passes)),
        minimum_part_(plan.minimum_part()) {
    for (const Pass& pass : plan.passes)
      add_report(describe_pass(pass), pass.step->title().label);
    if (plan.measure) add_report(describe_measuring(plan), {});
  }

  [[nodiscard]] ImagePool& pool() override { return pool_; }

  void run(const ConstRows& source, const MutableRows& target) override {
    for_parts(target.rows, [&](const RowRange& part) {
      PassTimes times(timeline_, plan_, part);
      StripWalk walk(plan_, groups_, pool_, source, times);
      walk.for_strips(part, [&](const RowRange& strip) { walk.fill(target.part(strip)); });
    });
  }

  // Each thread adds to its own statistics.
  void measure(const ConstRows& source, const RowRange& band) override {
    for_parts(band, [&](const RowRange& part) {
      PassTimes times(timeline_, plan_, part);
      PictureStatistics partial = partial_.take([this] { return no_pixels(); });
      const auto count = [&](const ConstRows& rows) {
        times.of(plan_.passes.size(), [&] { add_pixels(partial, rows); });
      };
      if (plan_.passes.empty()) {
        count(source.part(part));
      } else {
        StripWalk walk(plan_, groups_, pool_, source, times);
        walk.for_strips(part, [&](const RowRange& strip) {
          Image result = pool_.take(plan_.output().size.width, strip, plan_.output().format);
          walk.fill(result.rows());
          count(result.rows());
        });
      }
      partial_.put(std::move(partial));
    });
  }

  [[nodiscard]] PictureStatistics statistics() override {
    PictureStatistics all = no_pixels();
    for (const PictureStatistics& partial : partial_.all())
      add_statistics(all, partial);
    return all;
  }

  [[nodiscard]] const std::vector<PassReport>& passes() const override { return reports_; }

 private:
  // Calls work(part) for parts that cover `rows`, on all threads.
  template <typename Work>
  void for_parts(const RowRange& rows, const Work& work) const {
    const int threads = timeline_ == nullptr ? 1 : static_cast<int>(allowed_threads());
    const int parts = std::clamp(rows.count() / minimum_part_, 1, threads);
    if (parts == 1) return work(rows);
    const auto edge = [&](int i) {
      return rows.begin + static_cast<int>(std::int64_t{rows.count()} * i / parts);
    };
    run_parts(parts, [&](int i) { work({edge(i), edge(i + 1)}); });
  }

  [[nodiscard]] PictureStatistics no_pixels() const {
    return no_statistics(plan_.output().format, *plan_.measure);
  }

  void add_report(PassReport report, const std::string& label) {
    report.variant = host_variant(label);
    report.reason = "the processor";
    reports_.push_back(std::move(report));
  }

  const Plan& plan_;
  Timeline* timeline_;
  std::vector<HostGroup> groups_;
  int minimum_part_;
  ImagePool pool_;  // of rows between stages, too
  std::vector<PassReport> reports_;
  Idle<PictureStatistics> partial_;  // each over other pixels
};

}  // namespace

std::unique_ptr<BandExecutor> make_host_executor(const Plan& plan, Timeline* timeline) {
  return std::make_unique<HostExecutor>(plan, timeline);
}

}  // namespace gpufilter
