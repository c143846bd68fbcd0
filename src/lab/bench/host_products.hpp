// Products of square matrices of float32 on the processor, one improvement after the other. Each
// gives the same bits as matrix_product.hpp: every element is one chain of fused multiply-adds from
// 0 on, in the order k = 0, 1, 2, ...
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace gpufilter::lab {

// Matrices of side x side numbers, row by row.
struct Product {
  std::size_t side = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;  // apart from the others
};

struct HostProduct {
  std::string name;   // "loops interchanged"
  std::string about;  // what is better than before
  void (*run)(const Product&);
  bool is_slow = false;  // takes minutes for large matrices
};

// From the textbook version to the fastest; all but the last use one thread:
// plain:        for each element, the sum over k; B is read down its columns
// interchanged: k before the columns: B and C are read along their rows
// blocked:      blocks of B that stay in the caches, 4 x 4 sums in registers
// vectors:      the best instruction set, more sums, packed blocks of B
// all cores:    the same on all allowed threads
[[nodiscard]] std::span<const HostProduct> host_products();

// The first three. Their file is compiled without vectorisation.
void multiply_plainly(const Product& product);
void multiply_interchanged(const Product& product);
void multiply_blocked(const Product& product);

// What every other product is compared with: interchanged loops, with vectors on all cores.
[[nodiscard]] std::vector<float> reference_product(std::size_t side, const std::vector<float>& a,
                                                   const std::vector<float>& b);

}  // namespace gpufilter::lab
