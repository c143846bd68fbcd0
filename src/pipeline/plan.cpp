#include "pipeline/plan.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

// The most rows that fit; 0 where not even one does. What a band takes grows with its rows, so
// halving finds it.
template <typename Fit>
int most_rows_within(const Plan& plan, const Fit& fit) {
  int fitting = 0;
  int too_many = plan.size.height + 1;
  while (too_many - fitting > 1) {
    const int middle = fitting + (too_many - fitting) / 2;
    (fit(middle) ? fitting : too_many) = middle;
  }
  return fitting;
}

// How many rows a band has that suits both the device and the memory there is.
int suitable_rows(const Plan& plan, const PlanLimits& limits) {
  constexpr int bands_under_way = 3;
  constexpr int low = 16;  // below this, halos and the way itself cost more than what they carry
  const auto rows_where_there_are = [&](int bands) {
    const std::uint64_t memory = limits.max_memory / static_cast<unsigned>(bands);
    return most_rows_within(plan, [&](int rows) {
      return plan.largest_buffer(rows) <= limits.target_buffer && plan.band_memory(rows) <= memory;
    });
  };
  const int rows = rows_where_there_are(bands_under_way);
  return rows >= low ? rows : std::min(low, rows_where_there_are(1));
}

// Adds a pass, or puts one in place of it and the pass before that does the work of both.
void append(std::vector<Pass>& passes, Pass pass) {
  if (!passes.empty()) {
    const Pass& last = passes.back();
    auto both = last.stage->merged_with(*pass.stage);
    if (both && both->output_format(last.input) == pass.output) {
      pass = {std::move(both), last.input, pass.output};
      passes.pop_back();
    }
  }
  passes.push_back(std::move(pass));
}

// Removes the passes that change nothing, but not all: an executor copies by a pass.
void remove_idle(std::vector<Pass>& passes) {
  const auto idle = [](const Pass& pass) { return pass.stage->changes_nothing(pass.input); };
  if (std::all_of(passes.begin(), passes.end(), idle)) {
    passes.resize(std::min<std::size_t>(passes.size(), 1));
  } else {
    passes.erase(std::remove_if(passes.begin(), passes.end(), idle), passes.end());
  }
}

}  // namespace

int Plan::halo() const {
  int rows = 0;
  for (const Pass& pass : passes)
    rows += pass.stage->halo();
  return rows;
}

std::vector<RowRange> Plan::bands() const {
  std::vector<RowRange> bands;
  for (int y = 0; y < size.height; y += band_rows) {
    bands.push_back({y, std::min(size.height - y, band_rows) + y});
  }
  return bands;
}

std::vector<RowRange> Plan::windows(const RowRange& band) const {
  std::vector<RowRange> windows(passes.size() + 1);
  windows.back() = band;
  for (std::size_t i = passes.size(); i-- > 0;) {
    const int halo = passes[i].stage->halo();
    RowRange needed{windows[i + 1].begin - halo, windows[i + 1].end + halo};
    if (!wraps) needed = {std::max(needed.begin, 0), std::min(needed.end, size.height)};
    windows[i] = needed;
  }
  return windows;
}

std::uint64_t Plan::largest_buffer(int rows) const {
  int window = rows;
  std::uint64_t largest = row_pitch(size.width, output()) * static_cast<std::uint64_t>(rows);
  for (std::size_t i = passes.size(); i-- > 0;) {
    window += 2 * passes[i].stage->halo();
    largest = std::max(largest,
                       row_pitch(size.width, passes[i].input) * static_cast<std::uint64_t>(window));
  }
  return largest;
}

Plan make_plan(ImageSize size, const PixelFormat& input, const StageChain& chain,
               const PlanLimits& limits) {
  Plan plan{.size = size, .input = input, .passes = {}};
  PixelFormat format = input;
  for (const auto& stage : chain) {
    const PixelFormat output = stage->output_format(format);
    append(plan.passes, {stage, format, output});
    plan.wraps = plan.wraps || stage->wraps();
    format = output;
  }
  remove_idle(plan.passes);
  const int most = most_rows_within(
      plan, [&](int rows) { return plan.largest_buffer(rows) <= limits.max_buffer; });
  if (most == 0) {
    throw DeviceError(gpufilter::format(
        "a band of one row takes {} bytes, the device allocates at most {}; try --device reference",
        plan.largest_buffer(1), limits.max_buffer));
  }
  plan.band_rows =
      std::clamp(limits.band_rows ? *limits.band_rows : suitable_rows(plan, limits), 1, most);
  return plan;
}

}  // namespace gpufilter
