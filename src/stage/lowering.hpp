// The lowered chain of one picture. It is made once, before anything runs; a demand is met later,
// and may change the size that later stages get.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "stage/stage.hpp"

namespace gpufilter {

// A stage in the chain of one picture.
struct LoweredStage : Lowered {
  std::shared_ptr<const Stage> stage;
  PictureContext context;  // without what it demands
};
using LoweredChain = std::vector<LoweredStage>;

// Lowers the chain for a picture that begins as `picture` describes. Stages without effect are
// dropped, and adjacent turns are merged. `places` are ascending numbers of stages after which the
// result is needed; they are translated to the lowered chain. Throws what Stage::lower() and
// Step::output() do.
[[nodiscard]] LoweredChain lower_chain(const StageChain& chain, PictureContext picture,
                                       std::vector<std::size_t>& places);
[[nodiscard]] LoweredChain lower_chain(const StageChain& chain, const PictureContext& picture);

// Meets the demand of the stage at `index` with these statistics of its source.
void meet_demand(LoweredChain& chain, std::size_t index, const PictureStatistics& statistics);
// Lowers the stage again with its source, turned as demanded: the stage works on that from now on.
// Returns whether it has steps then; otherwise the chain goes on after it.
[[nodiscard]] bool meet_demand(LoweredChain& chain, std::size_t index, const WholePicture& kept);

// For stages from `index` on, whose first gets `shape` instead of what it was lowered for.
void lower_again(LoweredChain& chain, std::size_t index, PictureShape shape);

// The number of leading stages that only move all pixels of a picture of `shape`; `shape` becomes
// their result's.
[[nodiscard]] std::size_t count_turns(const LoweredChain& chain, PictureShape& shape);
// The chain for the same picture decoded smaller, to `shape`. The stage behind those that only turn
// it allows that; its result keeps its size.
void lower_for_smaller(LoweredChain& chain, const PictureShape& whole, const PictureShape& shape,
                       int divisor);

// The stages from `begin` to the one before `end`.
[[nodiscard]] LoweredChain part_of(const LoweredChain& chain, std::size_t begin, std::size_t end);

// The steps of a stage on a device, or on the processor (nullptr) with the instruction set in use.
[[nodiscard]] Steps steps_of(const LoweredStage& stage, const DeviceInfo* device);

// The shape of the result, as far as that is known. Throws what Step::output() does.
[[nodiscard]] PictureShape output_of(const LoweredStage& stage, PictureShape input);
[[nodiscard]] PictureShape output_of(const LoweredChain& chain, PictureShape input);

}  // namespace gpufilter
