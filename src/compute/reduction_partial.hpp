// A work-group's partial result, as kernels/compute/reduce.cl lays it out. Only for this folder.
#pragma once

namespace gpufilter {

// Its elements, 64 bits each. The sum of squares is `squares` + 2^32 * `squares_high`.
struct ReductionPartial {
  enum Element {
    sum,
    squares,
    squares_high,
    product,
    minimum,
    maximum,
    bit_and,
    bit_or,
    bit_xor,
    elements
  };
};

}  // namespace gpufilter
