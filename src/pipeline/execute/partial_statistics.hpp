// Statistics that the processor gathers on several threads.
#pragma once

#include <utility>

#include "base/background.hpp"
#include "image/image.hpp"
#include "pipeline/execute/host_passes.hpp"

namespace gpufilter {

// The statistics that a plan measures. Each thread adds to a part of its own.
class PartialStatistics {
 public:
  // `plan` has to outlive this object.
  explicit PartialStatistics(const Plan& plan) : plan_(plan) {}

  // Calls count(statistics), which adds pixels to them, while no other thread uses these. Safe to
  // call from several threads.
  template <typename Count>
  void add(const Count& count) {
    PictureStatistics partial = idle_.take([this] { return none(); });
    count(partial);
    idle_.put(std::move(partial));
  }

  // The statistics of all pixels; no thread may be adding any.
  [[nodiscard]] PictureStatistics sum() const {
    PictureStatistics all = none();
    for (const PictureStatistics& partial : idle_.all())
      add_statistics(all, partial);
    return all;
  }

 private:
  [[nodiscard]] PictureStatistics none() const {
    return no_statistics(plan_.output().format, *plan_.measure);
  }

  const Plan& plan_;
  Idle<PictureStatistics> idle_;  // each over other pixels
};

// Rows of a result, and the source that they are computed from.
struct RowsToMeasure {
  ConstRows source;
  RowRange rows;
};

// Adds the rows of the passes' result to `into`, strip by strip while they are in the cache.
template <typename Times>
void measure_result(HostPasses& host, const Plan& plan, const RowsToMeasure& rows, Times& times,
                    PictureStatistics& into) {
  const PictureShape& output = plan.output();
  Image strip_memory;
  const auto target_of = [&](const RowRange& strip) {
    strip_memory = host.pool().take(output.size.width, strip, output.format);
    return strip_memory.rows();
  };
  host.walk(rows.source, rows.rows, times, target_of, [&](const ConstRows& strip) {
    times.of(plan.passes.size(), [&] { add_pixels(into, strip); });
  });
}

}  // namespace gpufilter
