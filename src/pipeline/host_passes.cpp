#include "pipeline/host_passes.hpp"

#include "image/region.hpp"

namespace gpufilter {
namespace {

// Bytes of the rows between two stages in a strip. With the rows around them they stay in a core's
// second-level cache, which has 256 KiB even on small processors.
constexpr std::size_t strip_bytes = std::size_t{96} << 10U;
constexpr int minimum_strip_rows = 4;
// Bytes of rows that a pass changes in place after another has filled them. Fewer gain nothing:
// every call takes its time.
constexpr std::size_t in_place_bytes = std::size_t{64} << 10U;
constexpr int minimum_part_rows = 32;

// The rows of the result for which a strip of each pass's result takes at most strip_bytes, without
// the rows around it that borders add.
int rows_of_strips(const Plan& plan) {
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

std::vector<std::size_t> group_ends(const Plan& plan) {
  std::vector<std::size_t> ends(plan.passes.size(), plan.passes.size());
  for (std::size_t i = plan.passes.size(); i-- > 1;) {
    ends[i - 1] = plan.passes[i].stage->runs_in_place() ? ends[i] : i;
  }
  return ends;
}

}  // namespace

HostPasses::HostPasses(const Plan& plan)
    : plan_(plan),
      group_ends_(group_ends(plan)),
      strip_rows_(rows_of_strips(plan)),
      minimum_part_(std::max(minimum_part_rows, plan.halo())) {}

std::optional<ConstRows> HostPasses::view_of(const Pass& pass, const ConstRows& source,
                                             const RowRange& wanted) {
  const auto corner = pass.stage->view_of_source();
  if (!corner || !RowRange{0, pass.output.size.height}.contains(wanted)) return std::nullopt;
  return columns_of(source, corner->x, pass.output.size.width)
      .part(wanted.moved(corner->y))
      .renumbered(-corner->y);
}

// Passes that read more rows than they fill would have to read them again for each part.
int HostPasses::rows_at_once(std::size_t first, std::size_t end, const MutableRows& target) const {
  const RowRange one{0, 1};
  if (end == first + 1 || plan_.passes[first].source_rows(one) != one) return target.rows.count();
  return std::max(1, static_cast<int>(in_place_bytes / target.pitch));
}

// A single stage reads and writes the band itself: strips would gain nothing.
int HostPasses::strip_rows(int rows) const {
  return plan_.passes.size() == 1 && !plan_.measure ? rows : strip_rows_;
}

}  // namespace gpufilter
