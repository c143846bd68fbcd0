#include "pipeline/execute/host_passes.hpp"

#include "base/division.hpp"

namespace gpufilter {
namespace {

// Bytes of the rows between two stages in a strip. With the rows around them they stay in a core's
// second-level cache, which has 256 KiB even on small processors.
constexpr std::size_t strip_bytes = std::size_t{96} << 10U;
constexpr int strip_rows_multiple = 4;
// Bytes of rows that a pass changes in place after another has filled them. Fewer gain nothing:
// every call takes its time.
constexpr std::size_t in_place_bytes = std::size_t{64} << 10U;
constexpr int minimum_part_rows = 32;

// As many rows of a pass's result as take strip_bytes, unless the pass needs more to work well.
int rows_of_strip(const Pass& pass) {
  const int fitting = static_cast<int>(strip_bytes / row_pitch(pass.output));
  // Strips that read many rows around them have about as many of their own.
  const int needed = std::max(pass.window_rows(), pass.properties.suitable_rows);
  return divided_up(std::max(fitting, needed), strip_rows_multiple) * strip_rows_multiple;
}

}  // namespace

HostPasses::HostPasses(const Plan& plan)
    : plan_(plan),
      // A single stage reads and writes the band itself: strips would gain nothing.
      strips_(plan.passes.size() > 1 || plan.measure.has_value()),
      minimum_part_(std::max(minimum_part_rows, plan.halo())) {
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const Pass& pass = plan.passes[i];
    const bool joins =
        i > 0 && pass.properties.runs_in_place && !plan.passes[i - 1].properties.view_of_source;
    if (!joins) groups_.push_back({i, i + 1});
    Group& group = groups_.back();
    group.end = i + 1;
    group.rows = std::max(group.rows, rows_of_strip(pass));
  }
}

std::optional<PixelPosition> HostPasses::corner_of_view(const Group& group,
                                                        const RowRange& wanted) const {
  const Pass& pass = plan_.passes[group.first];
  const bool is_inside = RowRange{0, pass.output.size.height}.contains(wanted);
  return is_inside ? pass.properties.view_of_source : std::nullopt;
}

// Passes that read more rows than they fill would have to read them again for each part.
int HostPasses::rows_at_once(const Group& group, const MutableRows& target) const {
  const RowRange one{0, 1};
  const bool is_alone = group.end == group.first + 1;
  if (is_alone || plan_.passes[group.first].source_rows(one) != one) return target.rows.count();
  return std::max(1, static_cast<int>(in_place_bytes / target.pitch));
}

}  // namespace gpufilter
