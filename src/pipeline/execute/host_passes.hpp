// The passes of a plan on the processor, on one thread: strip by strip through the chain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "image/image.hpp"
#include "image/rows.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// The rows between two stages that are kept from strip to strip: rows that the next strip needs too
// are not computed again.
class RollingRows {
 public:
  RollingRows(ImagePool& pool, const PictureShape& picture);

  // Drops the rows above `wanted` and makes room for those of it that are missing, and for more, so
  // that a multiple of `step` is missing; but for none past `end`. Returns the rows to fill.
  [[nodiscard]] MutableRows advance(const RowRange& wanted, int step, int end);

  [[nodiscard]] ConstRows rows() { return mutable_rows(); }

 private:
  [[nodiscard]] MutableRows mutable_rows() {
    return {row_in_memory(first_), pitch(), held_, picture_.size.width, picture_.format};
  }
  [[nodiscard]] std::uint8_t* row_in_memory(int index) {
    return memory_.rows().data + static_cast<std::size_t>(index) * pitch();
  }
  [[nodiscard]] std::size_t pitch() const { return row_pitch(memory_width_, picture_.format); }
  void make_room(const RowRange& wanted, const RowRange& kept, int fresh);

  ImagePool* pool_;
  PictureShape picture_;
  int memory_width_;
  Image memory_;
  int first_ = 0;  // the row of the memory that holds the first of held_
  RowRange held_;
};

// Nothing measures how long passes take.
struct Untimed {
  template <typename Work>
  void of(std::size_t /*pass*/, const Work& work) const {
    work();
  }
};

class HostPasses {
 public:
  // `plan` has to outlive the passes.
  explicit HostPasses(const Plan& plan);

  [[nodiscard]] const Plan& plan() const { return plan_; }

  // Rows between stages lie here.
  [[nodiscard]] ImagePool& pool() { return pool_; }

  // The minimum number of rows in a part for a thread: no fewer than it computes twice because its
  // neighbours need them too.
  [[nodiscard]] int minimum_part() const { return minimum_part_; }

  // Takes the rows `part` of the result through all passes. `source` covers what they need.
  // `target_of(strip)` says where a strip's result goes; `done(strip rows)` gets it.
  // `times.of(pass, work)` calls `work`. Safe to call from several threads for different rows.
  template <typename Times, typename TargetOf, typename Done>
  void walk(const ConstRows& source, const RowRange& part, Times& times, const TargetOf& target_of,
            const Done& done) {
    Walk<Times> walk(*this, source, part, times);
    const std::size_t last = groups_.size() - 1;
    const int rows = strips_ ? groups_[last].rows : part.count();
    for (int y = part.begin; y < part.end; y += rows) {
      const MutableRows target = target_of(RowRange{y, std::min(y + rows, part.end)});
      walk.fill(last, target);
      done(ConstRows(target));
    }
  }

 private:
  // The passes first <= i < end: each but the first changes the rows of the first in place.
  struct Group {
    std::size_t first;
    std::size_t end;
    int rows = 0;  // of a strip of its result
  };

  // Every group pulls the rows that it reads from the group before, which computes them in strips
  // of its own height. Each row is computed once, and no more of them are kept than the next group
  // reads at the same time.
  template <typename Times>
  class Walk {
   public:
    Walk(HostPasses& host, const ConstRows& source, const RowRange& part, Times& times)
        : host_(host), source_(source), windows_(host.plan_.windows(part)), times_(times) {
      results_.reserve(host.groups_.size() - 1);
      for (std::size_t i = 0; i + 1 < host.groups_.size(); ++i)
        results_.emplace_back(host.pool_, host.plan_.passes[host.groups_[i].end - 1].output);
    }

    // Rows of a group's result.
    void fill(std::size_t group, const MutableRows& target) {
      const Group& passes = host_.groups_[group];
      const RowRange needed = host_.plan_.passes[passes.first].source_rows(target.rows);
      host_.run_group(passes, source_of(group, needed), target, times_);
    }

   private:
    // The rows `wanted` that a group reads; later calls want no rows above them.
    ConstRows source_of(std::size_t group, const RowRange& wanted) {
      if (group == 0) return source_;
      const Group& before = host_.groups_[group - 1];
      if (const auto corner = host_.corner_of_view(before, wanted)) {
        const ConstRows seen = source_of(group - 1, wanted.moved(corner->y));
        return columns_of(seen, corner->x, host_.plan_.passes[before.first].output.size.width)
            .part(wanted.moved(corner->y))
            .renumbered(-corner->y);
      }
      RollingRows& result = results_[group - 1];
      const MutableRows fresh = result.advance(wanted, before.rows, windows_[before.end].end);
      for (int y = fresh.rows.begin; y < fresh.rows.end; y += before.rows)
        fill(group - 1, fresh.part({y, std::min(y + before.rows, fresh.rows.end)}));
      return result.rows();
    }

    HostPasses& host_;
    ConstRows source_;
    std::vector<RowRange> windows_;
    Times& times_;
    std::vector<RollingRows> results_;  // of each group but the last
  };

  // Where the rows `wanted` of a group's result lie in its source, if they are a part of it.
  [[nodiscard]] std::optional<PixelPosition> corner_of_view(const Group& group,
                                                            const RowRange& wanted) const;
  // Changes rows in place while those that the first pass has filled are in the cache.
  template <typename Times>
  void run_group(const Group& group, const ConstRows& source, const MutableRows& target,
                 Times& times) const {
    const int step = rows_at_once(group, target);
    for (int y = target.rows.begin; y < target.rows.end; y += step) {
      const MutableRows part = target.part({y, std::min(y + step, target.rows.end)});
      times.of(group.first, [&] { run_on_host(plan_.passes[group.first], source, part); });
      for (std::size_t i = group.first + 1; i < group.end; ++i)
        times.of(i, [&] { run_on_host(plan_.passes[i], part, part); });
    }
  }
  [[nodiscard]] int rows_at_once(const Group& group, const MutableRows& target) const;

  const Plan& plan_;
  std::vector<Group> groups_;
  bool strips_;  // false: a part is one strip
  int minimum_part_;
  ImagePool pool_;
};

}  // namespace gpufilter
