// The matrix product in plain C++: the bits that every kernel gives.
#pragma once

#include "compute/matrix_product.hpp"

namespace gpufilter {

// C = act(A x B + bias), as matrix_product.hpp has it; `bias` may be null: sums start from 0. `c`
// overlaps none of the others. Safe to call from several threads.
void matrix_product_host(const float* a, const float* b, const float* bias, float* c,
                         const MatrixShape& shape, Activation activation);

}  // namespace gpufilter
