#include "stage/lowering.hpp"

#include <utility>

#include "base/format.hpp"

namespace gpufilter {
namespace {

LoweredStage lowered(std::shared_ptr<const Stage> stage, const PictureContext& context) {
  if (context.shape.format.is_float() && !stage->traits().takes_floats) {
    throw UnsuitableFormat(formatted(
        "--{} has no rule for floating-point samples: put --depth 16 before it", stage->name()));
  }
  LoweredStage result{stage->lower(context), std::move(stage), context};
  if (result.title.name.empty()) result.title = {result.stage->name(), result.stage->label()};
  result.context.before = nullptr;
  result.context.statistics = nullptr;
  result.context.kept = nullptr;
  return result;
}

// Updates the context to what `stage` leaves for the next one.
void pass(const LoweredStage& stage, PictureContext& context) {
  context.shape = output_of(stage, context.shape);
  if (stage.stage->traits().turns_upright) context.orientation = 1;
  context.depth_outside = stage.depth_outside.value_or(context.depth_outside);
  if (!stage.profile || !context.metadata) return;
  auto metadata = std::make_shared<Metadata>(*context.metadata);
  set_profile(*metadata, *stage.profile);
  context.metadata = std::move(metadata);
}

}  // namespace

void lower_again(LoweredChain& chain, std::size_t index, PictureShape shape) {
  for (; index < chain.size() && chain[index].context.shape != shape; ++index) {
    LoweredStage& stage = chain[index];
    stage.context.shape = shape;
    if (!stage.turn) stage = lowered(stage.stage, PictureContext(stage.context));
    shape = output_of(stage, shape);
  }
}

LoweredChain lower_chain(const StageChain& chain, PictureContext picture,
                         std::vector<std::size_t>& places) {
  LoweredChain result;
  std::size_t begin = 0;  // of the stages after the last output
  auto place = places.begin();
  for (std::size_t i = 0;; ++i) {
    for (; place != places.end() && *place == i; ++place)
      *place = begin = result.size();
    if (i == chain.size()) return result;
    picture.before = result.size() > begin ? &result.back() : nullptr;
    LoweredStage next = lowered(chain[i], picture);
    if (next.replaces_before) {
      next.context.shape = picture.shape = result.back().context.shape;
      result.pop_back();
    }
    pass(next, picture);
    if (next.demand || !next.steps.empty()) result.push_back(std::move(next));
  }
}

LoweredChain lower_chain(const StageChain& chain, const PictureContext& picture) {
  std::vector<std::size_t> places;
  return lower_chain(chain, picture, places);
}

void meet_demand(LoweredChain& chain, std::size_t index, const PictureStatistics& statistics) {
  LoweredStage& stage = chain[index];
  PictureContext context = stage.context;
  context.statistics = &statistics;
  stage = lowered(stage.stage, context);
}

bool meet_demand(LoweredChain& chain, std::size_t index, const WholePicture& kept) {
  LoweredStage& stage = chain[index];
  PictureContext context = stage.context;
  context.shape = kept.shape();
  context.kept = &kept;
  LoweredStage rest = lowered(stage.stage, context);
  const bool is_left = !rest.steps.empty();
  if (is_left) stage = std::move(rest);
  lower_again(chain, index + 1, is_left ? output_of(stage, kept.shape()) : kept.shape());
  return is_left;
}

std::size_t count_turns(const LoweredChain& chain, PictureShape& shape) {
  std::size_t count = 0;
  for (; count < chain.size(); ++count) {
    const auto& placement = chain[count].placement;
    if (!placement || placement->size != shape.size) break;
    shape.size = placement->result_size();
  }
  return count;
}

void lower_for_smaller(LoweredChain& chain, const PictureShape& whole, const PictureShape& shape,
                       int divisor) {
  PictureShape turned = whole;
  const std::size_t turns = count_turns(chain, turned);
  PictureShape source = shape;
  for (std::size_t i = 0; i < turns; ++i) {
    LoweredStage& stage = chain[i];
    stage.context.shape = source;
    // A stage that does not turn the picture yields all of it, but counts as of full size.
    if (!stage.turn) stage.steps.clear();
    source = output_of(stage, source);
  }
  chain[turns].context.smaller = SmallerSource{turned.size, divisor};
  lower_again(chain, turns, source);
}

LoweredChain part_of(const LoweredChain& chain, std::size_t begin, std::size_t end) {
  return {chain.begin() + static_cast<std::ptrdiff_t>(begin),
          chain.begin() + static_cast<std::ptrdiff_t>(end)};
}

Steps steps_of(const LoweredStage& stage, const DeviceInfo* device) {
  return stage.steps_on ? stage.steps_on(device) : stage.steps;
}

PictureShape output_of(const LoweredStage& stage, PictureShape input) {
  if (stage.demand && stage.demand->whole) input.size = stage.demand->whole->size_of(input.size);
  for (const auto& step : stage.steps)
    input = step->output(input);
  return input;
}

PictureShape output_of(const LoweredChain& chain, PictureShape input) {
  for (const LoweredStage& stage : chain)
    input = output_of(stage, input);
  return input;
}

}  // namespace gpufilter
