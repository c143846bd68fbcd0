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

 private:
  // The rows `wanted` of a pass's result, if they are a part of its source.
  static std::optional<ConstRows> view_of(const Pass& pass, const ConstRows& source,
                                          const RowRange& wanted);
  [[nodiscard]] int strip_rows(int rows) const;

  const Plan& plan_;
  int strip_rows_;
  int minimum_part_;
  ImagePool pool_;
};

}  // namespace gpufilter
