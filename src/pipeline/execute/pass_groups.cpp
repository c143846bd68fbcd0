#include "pipeline/execute/pass_groups.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "stage/device/fused_pass.hpp"

namespace gpufilter {
namespace {

// Except for the smallest bands, there are more work-groups than copies of the counters.
constexpr std::size_t many_groups = 1024;

// Whether kernels on `device` can count this quantity of a result in `format`.
bool can_count(const DeviceInfo& device, const PixelFormat& format, Quantity quantity) {
  return is_counted(quantity) && device.fits(64, 1, local_counter_bytes(format, quantity));
}

}  // namespace

CountingPass::CountingPass(Session& session, const StageGroup& group, CodeDescription description)
    : launch_(session, fused_kernel(session, group, std::move(description)), group.source,
              group.target),
      counters_(session, group.target.format, *group.counted, many_groups),
      width_(group.target.size.width) {}

std::vector<Event> CountingPass::enqueue(Queue& queue, const DeviceRows& source,
                                         const RowRange& target) {
  const std::uint64_t pixels = ImageSize{width_, target.count()}.pixels();
  if (pixels == 0) return {};
  std::vector<Event> events = counters_.begin(queue, pixels);
  // Like all kernels over rows, the kernel has a target, but it does not use it.
  const DeviceRows unused{source.buffer, target};
  events.push_back(launch_.launch(queue, source, unused, {counters_.buffer(), counters_.sets()}));
  return events;
}

namespace {

// The properties of a pass that decide whether it may be fused.
struct Role {
  bool pixels = false;  // it works on single pixels
  bool window = false;
  double operations = 0;       // of the work on a single pixel
  double loads = 1;            // how often the window loads each pixel
  double pass_operations = 0;  // what takes as long as storing and loading the window's source
};

Role role_of(const Pass& pass, const DeviceInfo& device) {
  // As chain_bench measured on an H100. Even a small function unpacks and rounds samples, and a
  // large table is far away.
  constexpr double least_operations = 20;
  constexpr double table_operations = 40;
  constexpr std::size_t small_table = 4096;  // bytes
  constexpr double operations_a_byte = 13.5;
  Role role;
  if (const auto function = pass.step->pixel_function(pass.input.format, device)) {
    role.pixels = true;
    role.operations = std::max(function->operations, least_operations) +
                      (function->table.size() > small_table ? table_operations : 0);
  } else if (const auto window = pass.step->window_kernel(pass.input.format, device, {})) {
    role.window = window->is_shared;
    role.loads = window->loads;
    role.pass_operations =
        operations_a_byte * static_cast<double>(pass.input.format.bytes_per_pixel());
  }
  return role;
}

// Decides, pass after pass, whether it may join a group.
class Growth {
 public:
  // Whether the last result may be counted.
  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] bool takes(const Role& role) const {
    if (!open_ || !(role.pixels || role.window)) return false;
    if (!role.window) return !window_ || role.operations <= heavy;
    return !window_ && operations_ <= heavy &&
           operations_ * (role.loads - 1) <= role.pass_operations;
  }
  void begin(const Role& role) {
    *this = {};
    open_ = role.pixels || role.window;
    add(role);
  }
  void add(const Role& role) {
    window_ = window_ || role.window;
    operations_ += role.operations;
  }

 private:
  // A window kernel contains the code of fused stages several times.
  static constexpr double heavy = 256;

  bool open_ = false;
  bool window_ = false;
  double operations_ = 0;
};

constexpr const char* fused = "fused: one kernel";

// `counts`: the quantity that the group counts instead of storing its result.
StageGroup stage_group(const Plan& plan, const PassGroup& group, const DeviceInfo& device,
                       std::optional<Quantity> counts) {
  StageGroup stages{.source = plan.passes[group.first].input,
                    .target = plan.passes[group.end - 1].output,
                    .counted = counts};
  for (std::size_t i = group.first; i < group.end; ++i) {
    const Pass& pass = plan.passes[i];
    const PixelFormat& input = pass.input.format;
    if (auto function = pass.step->pixel_function(input, device)) {
      auto& steps = stages.window ? stages.after : stages.before;
      steps.push_back({std::move(*function), input, pass.output.format});
    } else {
      const WindowUse use{.computes_loads = !stages.before.empty(),
                          .counts_results = counts.has_value()};
      stages.window = {pass.step->window_kernel(input, device, use).value().kernel, input};
    }
  }
  return stages;
}

std::string labels_of(const Plan& plan, const PassGroup& group) {
  std::string labels;
  for (std::size_t i = group.first; i < group.end; ++i) {
    const std::string label = plan.passes[i].step->title().label;
    labels += (labels.empty() || label.empty() ? "" : "; ") + label;
  }
  return labels;
}

// Adds another pass to the same kernel.
void add(PassReport& report, const PassReport& next) {
  report.stage += " + " + next.stage;
  report.work.insert(report.work.end(), next.work.begin(), next.work.end());
}

}  // namespace

std::vector<PassGroup> group_passes(const Plan& plan, const DeviceInfo& device, bool fuse) {
  std::vector<PassGroup> groups;
  Growth growth;
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const Role role = fuse ? role_of(plan.passes[i], device) : Role{};
    if (growth.takes(role)) {
      groups.back().end = i + 1;
      growth.add(role);
    } else {
      groups.push_back({i, i + 1});
      growth.begin(role);
    }
  }
  if (plan.measure && growth.is_open())
    groups.back().counts = can_count(device, plan.output().format, *plan.measure);
  return groups;
}

std::unique_ptr<DevicePass> prepare_group(const Plan& plan, const PassGroup& group,
                                          Session& session) {
  const Pass& first = plan.passes[group.first];
  if (group.end - group.first == 1) return first.step->prepare(session, first.input);
  return make_fused_pass(session, stage_group(plan, group, session.device(), std::nullopt),
                         {labels_of(plan, group), fused});
}

std::unique_ptr<CountingPass> prepare_counting(const Plan& plan, const PassGroup& group,
                                               Session& session) {
  return std::make_unique<CountingPass>(session,
                                        stage_group(plan, group, session.device(), plan.measure),
                                        CodeDescription{labels_of(plan, group), fused});
}

PassReport describe_group(const Plan& plan, const PassGroup& group) {
  PassReport report = describe_pass(plan.passes[group.first]);
  for (std::size_t i = group.first + 1; i < group.end; ++i)
    add(report, describe_pass(plan.passes[i]));
  if (group.counts) add(report, describe_measuring(plan));
  return report;
}

}  // namespace gpufilter
