// The passes of a plan on the processor, on one thread: strip by strip through the chain.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "image/image_pool.hpp"
#include "pipeline/host_check.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/rolling_rows.hpp"

namespace gpufilter {

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
    std::vector<RollingRows> between;
    between.reserve(plan_.passes.size() - 1);
    for (std::size_t i = 0; i + 1 < plan_.passes.size(); ++i)
      between.emplace_back(pool_, plan_.passes[i].output);
    const int rows = strip_rows(part.count());
    for (int y = part.begin; y < part.end; y += rows) {
      const RowRange strip{y, std::min(y + rows, part.end)};
      const std::vector<RowRange> windows = plan_.windows(strip);
      ConstRows input = source;
      for (std::size_t first = 0; first < plan_.passes.size();) {
        const bool is_last = first + 1 == plan_.passes.size();
        const auto view =
            is_last ? std::nullopt : view_of(plan_.passes[first], input, windows[first + 1]);
        if (view) {
          input = *view;
          ++first;
          continue;
        }
        const std::size_t end = group_ends_[first];
        const bool is_result = end == plan_.passes.size();
        const MutableRows fresh =
            is_result ? target_of(strip) : between[end - 1].advance(windows[end]);
        run_group(first, end, input, fresh, times);
        if (is_result) {
          done(ConstRows(fresh));
        } else {
          input = between[end - 1].rows();
        }
        first = end;
      }
    }
  }

 private:
  // The rows `wanted` of a pass's result, if they are a part of its source.
  static std::optional<ConstRows> view_of(const Pass& pass, const ConstRows& source,
                                          const RowRange& wanted);
  [[nodiscard]] int strip_rows(int rows) const;

  // The passes first <= i < end, all but the first of which change `target` in place while the rows
  // that the first one has filled are in the cache.
  template <typename Times>
  void run_group(std::size_t first, std::size_t end, const ConstRows& source,
                 const MutableRows& target, Times& times) const {
    const int step = rows_at_once(first, end, target);
    for (int y = target.rows.begin; y < target.rows.end; y += step) {
      const MutableRows part = target.part({y, std::min(y + step, target.rows.end)});
      times.of(first, [&] { run_on_host(plan_.passes[first], source, part); });
      for (std::size_t i = first + 1; i < end; ++i)
        times.of(i, [&] { run_on_host(plan_.passes[i], part, part); });
    }
  }
  [[nodiscard]] int rows_at_once(std::size_t first, std::size_t end,
                                 const MutableRows& target) const;

  const Plan& plan_;
  std::vector<std::size_t> group_ends_;  // the next pass that needs rows of its own
  int strip_rows_;
  int minimum_part_;
  ImagePool pool_;
};

}  // namespace gpufilter
