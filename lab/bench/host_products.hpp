// Products of float32 matrices on the processor, improved step by step. Unless they say otherwise,
// they give the same bits as matrix_product.hpp: every element is one chain of fused multiply-adds
// from 0 on, in the order k = 0, 1, 2, ...
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace gpufilter::lab {

// C = A x B, row by row: A is rows x depth, B depth x columns. All are 1 or more.
struct Product {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;  // apart from the others
};

struct HostProduct {
  std::string name;   // "loops interchanged"
  std::string about;  // the improvement
  void (*run)(const Product&);
  bool is_slow = false;  // takes minutes for large matrices
  bool is_fused = true;  // otherwise each product is rounded before it is added
};

// From the textbook version to the fastest, in the order of the lessons:
// plain loop:         for each element, the sum over k; B is read down its columns
// loops interchanged: k before the columns: B and C are read along their rows
// in registers:       4 x 4 sums in registers
// ... L1, L2, L3:     blocks of B, of A, and of B again that stay in each cache
// prefetched:         the same, with numbers requested before they are needed
// vectors:            the best instruction set, more sums, packed blocks of B
// all cores:          the same on all allowed threads; the others use one
[[nodiscard]] std::span<const HostProduct> host_products();

// The products without vectors. Their file is compiled without vectorisation.
[[nodiscard]] std::span<const HostProduct> scalar_products();

// The reference for every other product: interchanged loops, with vectors on all cores.
[[nodiscard]] std::vector<float> reference_product(const Product& product);

// The product in double precision.
[[nodiscard]] std::vector<double> product_in_double(const Product& product);

}  // namespace gpufilter::lab
