#include "stage/step.hpp"

#include <stdexcept>
#include <utility>

#include "stage/device/fused_pass.hpp"
#include "stage/device/row_pass.hpp"

namespace gpufilter {
namespace {

// Plans contain a step only where it has code: only a programming error gets here.
[[noreturn]] void throw_not_runnable(const Step& step) {
  throw std::logic_error("the step " + step.title().name + " has no code for this place");
}

}  // namespace

void Step::run(const ConstRows& /*source*/, const MutableRows& /*target*/,
               const StageSizes& /*sizes*/) const {
  throw_not_runnable(*this);
}

std::unique_ptr<DevicePass> Step::prepare(Session& session, const PictureShape& input) const {
  if (auto window = window_kernel(input.format, session.device(), {.computes_loads = false}))
    return make_row_pass(session, std::move(window->kernel), input, input);
  auto function = pixel_function(input.format, session.device());
  if (!function) throw_not_runnable(*this);
  StageGroup group{.source = input, .target = output(input)};
  group.before.push_back({std::move(*function), input.format, group.target.format});
  return make_fused_pass(session, group, {title().label, "the only kernel"});
}

}  // namespace gpufilter
