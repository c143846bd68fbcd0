// Decoding a file smaller because a stage shrinks the picture anyway.
#pragma once

#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// By how much the chain allows that for a picture of `shape`: the first stage that does more than
// turn it has to allow it, and no output may lie before that stage, except `ignored` ones.
[[nodiscard]] int decoding_divisor(const LoweredChain& chain, PictureShape shape,
                                   const std::vector<ChainOutput>& outputs,
                                   const std::vector<bool>& ignored);

// Has `input` decoded as small as the chain allows, and changes the chain accordingly. Returns the
// divisor.
int decode_smaller(PictureInput& input, LoweredChain& chain,
                   const std::vector<ChainOutput>& outputs, const std::vector<bool>& ignored);

}  // namespace gpufilter
