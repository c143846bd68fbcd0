// A part of a chunk that decides how all of it is compressed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/png/write/compression.hpp"

namespace gpufilter {

using PngSample = std::span<const PngRowBlock>;

// About `size` bytes of `block`, from several places: whole rows, or a part of one row at each
// place if rows are longer. All of the block if it is not much larger than `size`.
[[nodiscard]] std::vector<PngRowBlock> png_sample_of(const PngRowBlock& block, std::size_t size);

// The share of the sample's pixels whose next 16 bytes occurred in it before, in units of 1 / 64.
// An estimate: only hashes of the bytes are compared, and only with the latest one that has the
// same upper bits.
[[nodiscard]] std::size_t png_repeated_share(PngSample sample);

}  // namespace gpufilter
