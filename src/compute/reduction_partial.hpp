// A work-group's partial result, as kernels/reduce.cl lays it out. For this folder alone.
#pragma once

namespace gpufilter {

// Its elements, 64 bits each. The sum of squares is `squares` + 2^32 * `squares_high`.
struct ReductionPartial {
  enum Element { sum, squares, squares_high, product, least, most, all, any, odd, elements };
};

}  // namespace gpufilter
