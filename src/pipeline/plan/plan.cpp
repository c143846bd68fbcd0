#include "pipeline/plan/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/error.hpp"
#include "base/format.hpp"
#include "compute/jpeg_encoder.hpp"

namespace gpufilter {
namespace {

int rounded_down(int dividend, int divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

// The largest number of rows that fit; 0 if not even one does. A band's memory grows with its rows,
// so a binary search finds it.
template <typename Fit>
int maximum_rows(const Plan& plan, const Fit& fit) {
  int fitting = 0;
  int too_many = plan.output().size.height + 1;
  while (too_many - fitting > 1) {
    const int middle = fitting + (too_many - fitting) / 2;
    (fit(middle) ? fitting : too_many) = middle;
  }
  return fitting;
}

// The memory besides the rows that steps need on the processor. Throws UnsuitableSize.
std::uint64_t host_scratch(const std::vector<Pass>& passes, const PlanLimits& limits) {
  std::uint64_t sum = 0;
  for (const Pass& pass : passes) {
    sum += pass.properties.scratch_bytes;
    if (sum <= limits.step_memory.value_or(limits.max_memory)) continue;
    const StepTitle title = pass.step->title();
    throw UnsuitableSize(
        formatted("--{} {}: takes {} bytes of memory for pictures of {} x {}; set "
                  "--max-memory higher, or filter smaller pictures",
                  title.name, title.label, sum, pass.input.size.width, pass.input.size.height));
  }
  return sum;
}

// Divides half of a band's memory among the steps that need memory besides the rows; returns the
// sum.
std::uint64_t grant_scratch(std::vector<Pass>& passes, const PlanLimits& limits) {
  if (limits.device == nullptr) return host_scratch(passes, limits);
  std::vector<Pass*> takers;
  for (Pass& pass : passes) {
    if (pass.properties.scratch_bytes > 0) takers.push_back(&pass);
  }
  std::uint64_t sum = 0;
  for (Pass* pass : takers) {
    const std::uint64_t all = limits.step_memory.value_or(limits.max_memory / limits.bands / 2);
    const std::uint64_t bytes = all / takers.size();
    *pass = {pass->properties.with_scratch(bytes), pass->input, limits.device};
    sum += pass->properties.scratch_bytes;
  }
  return sum;
}

// The number of rows of a band that suits both the device and the available memory.
int suitable_rows(const Plan& plan, const PlanLimits& limits) {
  constexpr int low = 16;  // below this, a band's overhead costs more than its pixels
  // Bands this much higher than their halo compute little of it twice.
  constexpr int halos = 8;
  const auto rows_with = [&](unsigned bands) {
    return maximum_rows(
        plan, [&](int rows) { return plan.band_memory(rows) <= limits.max_memory / bands; });
  };
  const int suiting = maximum_rows(
      plan, [&](int rows) { return plan.largest_buffer(rows) <= limits.target_buffer; });
  const int wanted = std::max({suiting, halos * plan.halo(), 1});
  // If memory is short, the number of bands in progress is reduced before bands become so low that
  // a quarter of their rows is halo.
  const int fair = std::min(wanted, std::max(low, 3 * plan.halo()));
  int rows = 0;
  for (unsigned bands = limits.bands; bands > 0 && rows < fair; --bands)
    rows = std::min(wanted, rows_with(bands));
  // Where a row needs most of the picture, low bands would save no memory, and each copy it.
  const bool needs_most = 2 * plan.halo() >= plan.input.size.height;
  return needs_most ? std::max(rows, std::min(wanted, plan.halo() / 4)) : rows;
}

// Adds a pass, or replaces it and the pass before it by one that does the work of both.
void append(std::vector<Pass>& passes, Pass pass, const DeviceInfo* device) {
  if (!passes.empty()) {
    const Pass& last = passes.back();
    auto both = last.step->merged_with(*pass.step);
    if (both && both->output(last.input) == pass.output) {
      pass = {std::move(both), last.input, device};
      passes.pop_back();
    }
  }
  passes.push_back(std::move(pass));
}

// Removes the passes that change nothing, but keeps at least one: an executor needs a pass to copy.
void remove_idle(std::vector<Pass>& passes) {
  const auto idle = [](const Pass& pass) { return pass.properties.changes_nothing; };
  if (std::all_of(passes.begin(), passes.end(), idle)) {
    if (!passes.empty()) passes.erase(passes.begin() + 1, passes.end());
  } else {
    passes.erase(std::remove_if(passes.begin(), passes.end(), idle), passes.end());
  }
}

std::vector<RowRange> bands_of(int height, int band_rows) {
  std::vector<RowRange> bands;
  for (int y = 0; y < height; y += band_rows)
    bands.push_back({y, std::min(height - y, band_rows) + y});
  return bands;
}

}  // namespace

std::uint64_t bytes_of(const RowRange& rows, const PictureShape& picture) {
  return row_pitch(picture) * static_cast<std::uint64_t>(rows.count());
}

std::vector<RepeatedRows> cut_at_edges(const RowRange& rows, int height) {
  std::vector<RepeatedRows> parts;
  for (int y = rows.begin; y < rows.end;) {
    const int repeats = rounded_down(y, height);
    const int end = std::min(rows.end, (repeats + 1) * height);
    parts.push_back({{y, end}, repeats});
    y = end;
  }
  return parts;
}

Pass::Pass(std::shared_ptr<const Step> work, const PictureShape& source, const DeviceInfo* device)
    : step(std::move(work)),
      input(source),
      output(step->output(source)),
      properties(step->properties({source, device})) {}

RowRange Pass::source_rows(const RowRange& target) const {
  std::optional<RowRange> all;
  for (const RepeatedRows& part : cut_at_edges(target, output.size.height)) {
    const RowRange within = part.rows.moved(-part.repeats * output.size.height);
    const RowRange read =
        step->source_rows(within, input.size).moved(part.repeats * input.size.height);
    all = all ? RowRange{std::min(all->begin, read.begin), std::max(all->end, read.end)} : read;
  }
  return all.value_or(RowRange{});
}

int Pass::window_rows() const {
  const int middle = output.size.height / 2;
  return source_rows({middle, middle + 1}).count();
}

std::vector<RowRange> Plan::bands() const {
  return bands_of(output().size.height, band_rows);
}

std::vector<RowRange> Plan::windows(const RowRange& band) const {
  std::vector<RowRange> windows(passes.size() + 1);
  windows.back() = band;
  for (std::size_t i = passes.size(); i-- > 0;)
    windows[i] = passes[i].source_rows(windows[i + 1]);
  return windows;
}

bool Plan::reads_past_edges() const {
  const RowRange all = windows({0, output().size.height}).front();
  return all.begin < 0 || all.end > input.size.height;
}

int Plan::halo() const {
  const int middle = output().size.height / 2;
  return std::max(windows({middle, middle + 1}).front().count() - 1, 0);
}

int Plan::minimum_part() const {
  constexpr int minimum = 32;
  if (passes.empty()) return minimum;
  // What a step computes around its rows, and rows between steps, are computed twice; rows of the
  // picture are only read.
  const int middle = output().size.height / 2;
  int twice = windows({middle, middle + 1}).at(1).count() - 1;
  for (const Pass& pass : passes)
    twice = std::max(twice, std::min(pass.properties.suitable_rows, halo()));
  return std::max(minimum, twice);
}

std::uint64_t Plan::band_memory(int rows) const {
  if (on_device) {
    const std::uint64_t coded = coding ? 2 * JpegEncoder::suitable_bytes(*coding, rows) : 0;
    return 4 * largest_buffer(rows) + coded + scratch;
  }
  std::uint64_t largest = 0;
  for (const RowRange& band : bands_of(output().size.height, rows)) {
    largest = std::max({largest, bytes_of(band, output()), bytes_of(windows(band).front(), input)});
  }
  std::uint64_t between = 0;
  for (std::size_t i = 1; i < passes.size(); ++i)
    between += bytes_of({0, passes[i].window_rows()}, passes[i].input);
  return 2 * largest + between + scratch;
}

std::uint64_t Plan::largest_buffer(int rows) const {
  std::uint64_t largest = 0;
  const auto consider = [&](const RowRange& window, const PictureShape& picture) {
    largest = std::max(largest, bytes_of(window, picture));
  };
  for (const RowRange& band : bands_of(output().size.height, rows)) {
    const std::vector<RowRange> needed = windows(band);
    consider(band, output());
    for (std::size_t i = 0; i < passes.size(); ++i)
      consider(needed[i], passes[i].input);
  }
  return largest;
}

Plan make_plan(const PictureShape& input, const LoweredChain& chain, const PlanLimits& limits) {
  Plan plan{.input = input, .passes = {}, .on_device = limits.device != nullptr};
  PictureShape shape = input;
  for (const LoweredStage& stage : chain) {
    if (stage.demand) throw std::logic_error("--" + stage.title.name + ": its demand is not met");
    for (const auto& step : steps_of(stage, limits.device)) {
      Pass pass(step, shape, limits.device);
      shape = pass.output;
      append(plan.passes, std::move(pass), limits.device);
    }
  }
  remove_idle(plan.passes);
  plan.scratch = grant_scratch(plan.passes, limits);
  const int maximum =
      maximum_rows(plan, [&](int rows) { return plan.largest_buffer(rows) <= limits.max_buffer; });
  if (maximum == 0) {
    throw DeviceError(formatted(
        "a band of one row takes {} bytes, the device allocates at most {}; try --device cpu",
        plan.largest_buffer(1), limits.max_buffer));
  }
  const auto choose_rows = [&] {
    plan.band_rows =
        std::clamp(limits.band_rows ? *limits.band_rows : suitable_rows(plan, limits), 1, maximum);
  };
  plan.coding = limits.coding;
  choose_rows();
  if (!plan.coding) return plan;
  if (const int rows = JpegEncoder::suitable_rows(*plan.coding, plan.band_rows)) {
    plan.band_rows = rows;
  } else {
    plan.coding.reset();
    choose_rows();
  }
  return plan;
}

Plan make_plan(const PictureShape& input, const StageChain& chain, const PlanLimits& limits) {
  return make_plan(input, lower_chain(chain, {.shape = input}), limits);
}

}  // namespace gpufilter
