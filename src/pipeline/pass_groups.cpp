#include "pipeline/pass_groups.hpp"

#include <utility>

#include "base/format.hpp"
#include "stages/fused_pass.hpp"

namespace gpufilter {

std::vector<PassGroup> group_passes(const Plan& plan, const DeviceInfo& device, bool fuse) {
  std::vector<PassGroup> groups;
  bool grows = false;  // whether the last group may take another pass
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const Pass& pass = plan.passes[i];
    const bool fits = fuse && pass.stage->pixel_function(pass.input.format, device).has_value();
    if (fits && grows) {
      groups.back().end = i + 1;
    } else {
      groups.push_back({i, i + 1});
    }
    grows = fits;
  }
  return groups;
}

std::unique_ptr<DevicePass> prepare_group(const Plan& plan, const PassGroup& group,
                                          Session& session) {
  const Pass& first = plan.passes[group.first];
  if (group.end - group.first == 1)
    return first.stage->prepare(session, first.input.size, first.input.format);
  std::vector<PixelStep> steps;
  std::string labels;
  for (std::size_t i = group.first; i < group.end; ++i) {
    const Pass& pass = plan.passes[i];
    auto function = pass.stage->pixel_function(pass.input.format, session.device());
    steps.push_back({std::move(function.value()), pass.input.format, pass.output.format});
    labels += (labels.empty() ? "" : "; ") + pass.stage->label();
  }
  return make_fused_pass(session, std::move(steps), first.input.size,
                         {std::move(labels), "fused: one kernel"});
}

PassReport describe_group(const Plan& plan, const PassGroup& group) {
  PassReport report = describe_pass(plan.passes[group.first]);
  for (std::size_t i = group.first + 1; i < group.end; ++i) {
    const PassReport next = describe_pass(plan.passes[i]);
    report.stage += " + " + next.stage;
    report.work.insert(report.work.end(), next.work.begin(), next.work.end());
  }
  return report;
}

}  // namespace gpufilter
