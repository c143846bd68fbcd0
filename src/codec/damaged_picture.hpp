// Pictures of which only a part can be read.
#pragma once

#include <memory>

#include "codec/codec.hpp"

namespace gpufilter {

// Yields the rows of `reader` up to the one for which it throws PictureError, or without those for
// which it throws if it can go on; the others are `limits.missing`. finish() warns of it once, with
// the share of the rows that were read. A reader that can yield more than it should without the
// option, such as the coarse rows of a progressive file, yields them, and throws in finish().
// Throws what the reader throws if it yields no row.
[[nodiscard]] std::unique_ptr<RowReader> kept_when_damaged(std::unique_ptr<RowReader> reader,
                                                           const ReadLimits& limits);

}  // namespace gpufilter
