#include "stage/stage.hpp"

#include <stdexcept>
#include <utility>

#include "stage/device/fused_pass.hpp"

namespace gpufilter {
namespace {

// The pipeline resolves a stage before it runs it: only a programming error gets here.
[[noreturn]] void throw_not_runnable(const Stage& stage) {
  throw std::logic_error("the stage " + stage.name() + " is used before or after it was resolved");
}

}  // namespace

std::shared_ptr<const Stage> Stage::resolved(const PictureStatistics& /*statistics*/,
                                             const PixelFormat& /*input*/) const {
  throw_not_runnable(*this);
}

void Stage::run(const ConstRows& /*source*/, const MutableRows& /*target*/,
                const StageSizes& /*sizes*/) const {
  throw_not_runnable(*this);
}

std::shared_ptr<const Stage> Stage::with_scratch(std::uint64_t /*bytes*/) const {
  throw std::logic_error("the stage " + name() + " takes no memory beside its rows");
}

std::unique_ptr<DevicePass> Stage::prepare(Session& session, const PictureShape& input) const {
  auto function = pixel_function(input.format, session.device());
  if (!function) throw_not_runnable(*this);
  StageGroup group{.source = input, .target = output(input)};
  group.before.push_back({std::move(*function), input.format, group.target.format});
  return make_fused_pass(session, group, {label(), "the only kernel"});
}

StageChain expanded(const StageChain& chain, const PictureShape& input, const DeviceInfo* device) {
  StageChain all;
  PictureShape shape = input;
  for (const auto& stage : chain) {
    const StageChain steps = expanded(stage->expand(shape, device), shape, device);
    if (steps.empty()) all.push_back(stage);
    all.insert(all.end(), steps.begin(), steps.end());
    shape = stage->output(shape);
  }
  return all;
}

StageChain with_colors_of(const StageChain& chain, const PixelFormat& input,
                          const Metadata& metadata) {
  PictureColors colors{input, metadata};
  StageChain own;
  for (const auto& stage : chain) {
    auto known = stage->for_colors(colors);
    own.push_back(known ? std::move(known) : stage);
    colors.format = own.back()->output_format(colors.format);
  }
  return own;
}

}  // namespace gpufilter
