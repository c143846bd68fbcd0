// The block of C that a work-group of the blocked matrix product computes:
// kernels/compute/matrix_product.cl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/matrix_product.hpp"
#include "device/kernel_tuning.hpp"

namespace gpufilter {

// rows x columns of C, `depth` terms of the sums at a time. A work-item computes 4 * a_parts rows
// and 4 * b_parts columns of it.
struct MatrixBlock {
  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
  std::size_t a_parts;
  std::size_t b_parts;

  [[nodiscard]] std::size_t items() const { return rows / a_parts * columns / b_parts / 16; }
  // Two blocks of A and of B.
  [[nodiscard]] std::uint64_t local_bytes() const {
    return 2 * depth * (rows + columns) * sizeof(float);
  }
};

[[nodiscard]] bool fits(const DeviceInfo& device, const MatrixBlock& block);

// The macros that the kernel is compiled with.
[[nodiscard]] KernelConstants constants_of(const MatrixBlock& block);

// For products of such a shape where nothing was tuned: the block that suits it best among those
// that fit the device. If none fits, one that does not.
[[nodiscard]] MatrixBlock block_for(const DeviceInfo& device,
                                    const std::optional<MatrixShape>& typical);

// Those of kernels/candidates.json that fit the device and roughly suit the shape.
[[nodiscard]] std::vector<MatrixBlock> candidate_blocks(const DeviceInfo& device,
                                                        const std::optional<MatrixShape>& typical);

// Products with the same site are tuned together: "matrix_product, 16 rows".
[[nodiscard]] std::string matrix_site(const DeviceInfo& device,
                                      const std::optional<MatrixShape>& typical);

}  // namespace gpufilter
