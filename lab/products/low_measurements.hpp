// What "gpufilter bench matmul --type" and "gpufilter tune low-precision" do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/matrix_product.hpp"
#include "lab/bench/report.hpp"
#include "lab/products/low_product.hpp"
#include "lab/tune/tuner.hpp"

namespace gpufilter::lab {

// The types that users name.
[[nodiscard]] std::vector<std::string> names_of_types();
// All if there are no names. With fp8-scaled comes what its sums would be without promotion.
[[nodiscard]] std::vector<NumberType> number_types_of(const std::vector<std::string>& names);

// Products of matrices of low-precision numbers, dense or grouped.
struct LowMatmulOptions {
  std::vector<NumberType> types;
  std::vector<MatrixShape> shapes;  // of nothing: 4096 and 8192 cubed for a GPU, else 512 and 1024
  Grouping grouping = Grouping::dense;
  int groups = 1;
};
// Throws UsageError, before it measures anything, if a product does not exist or does not fit into
// memory.
[[nodiscard]] Report bench_low_matmul(const TestBed& bed, const LowMatmulOptions& options);

// One shape of each kind of product that is tuned separately.
[[nodiscard]] std::vector<LowShape> shapes_to_tune(const DeviceInfo& device);
// Products of such numbers and this shape. `session` has to outlive the subject.
[[nodiscard]] std::unique_ptr<TuneSubject> make_low_product_subject(Session& session,
                                                                    NumberType type,
                                                                    const LowShape& shape);

}  // namespace gpufilter::lab
