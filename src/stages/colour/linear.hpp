// --linear and --encoded: the stages between them work in linear light.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "image/icc.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

inline constexpr int light_bits = 16;

// The result for every sample.
using LightTable = std::vector<std::uint16_t>;
// The tables of red, green and blue; equal curves share a table.
using LightTables = std::array<std::shared_ptr<const LightTable>, 3>;

// From samples of `bits` bits to light of 16 bits, rounded to the nearest level, half to even.
// Neighbouring 8-bit samples that would have the same light get different levels if these are
// within 1 of the exact ones.
[[nodiscard]] LightTables linear_tables(const LightCurves& curves, int bits);

// From light of `light_depth` bits, usually 16, to the nearest sample of `bits` bits. The light of
// a sample of 8 bits, as in the table above, becomes this sample again if that is within 1.
[[nodiscard]] LightTables encoded_tables(const LightCurves& curves, int light_depth, int bits);

// Samples become light, of 16 bits.
[[nodiscard]] std::shared_ptr<const Stage> make_linear(const LightCurves& curves);
// Light becomes samples of `bits` bits again, 8 or 16.
[[nodiscard]] std::shared_ptr<const Stage> make_encoded(const LightCurves& curves, int bits);

// The chain as the user wrote it, with an --encoded at its end if the last --linear has none.
// Throws UsageError for an unpaired --encoded, and for a stage between them that converts colours.
[[nodiscard]] StageChain with_light_ends(StageChain chain);

}  // namespace gpufilter
