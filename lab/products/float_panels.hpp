// Products of numbers that are decoded to float32, on the processor: panels of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lab/products/low_product.hpp"

namespace gpufilter::lab {

class FloatPanels {
 public:
  // Calls its argument for 0 ... count - 1, on one core or on several.
  using RunAll = std::function<void(std::size_t count, const std::function<void(std::size_t)>&)>;

  // Decodes A by `run_all`. C as in low_product.hpp.
  FloatPanels(const LowProduct& product, std::uint32_t* c, const RunAll& run_all);

  // The columns of a panel for the instruction set in use.
  [[nodiscard]] static std::size_t columns();
  // Computes a part's panel that begins with this column.
  void run(const ProductPart& part, std::size_t column) const;

 private:
  const LowProduct& product_;
  std::uint32_t* c_;
  std::vector<float> a_;
};

}  // namespace gpufilter::lab
