// Matrix products to compute, and their results by the definition.
#pragma once

#include "compute/matrix_product.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

using Floats = std::vector<float>;

// ordinary: -1..1. finite_extremes: those, zeros of both signs, denormals, huge numbers, and exact
// opposites of earlier numbers. all_bits: any pattern of 32 bits, including infinities and NaN.
enum class Values { ordinary, finite_extremes, all_bits };

struct MatrixProblem {
  MatrixShape shape;
  Activation activation = Activation::none;
  Floats a;
  Floats b;
  std::optional<Floats> bias;
};

// Fast for such a shape; other shapes have other blocks.
[[nodiscard]] inline MatrixParameters blocked_for(const MatrixShape& shape) {
  return {.variant = MatrixVariant::blocked, .typical = shape};
}

// A problem made from a seed, with the same numbers on every machine.
[[nodiscard]] MatrixProblem make_problem(const MatrixShape& shape, Values values,
                                         Activation activation, bool with_bias, std::uint64_t seed);

// C: each element is one chain of fused multiply-adds.
[[nodiscard]] Floats by_definition(const MatrixProblem& problem);

// A problem in a device's memory. Behind each matrix are numbers that no kernel may use; behind C,
// numbers that none may change. C itself is poisoned.
class MatricesOnDevice {
 public:
  MatricesOnDevice(Session& session, Queue& queue, const MatrixProblem& problem);

  [[nodiscard]] MatrixOperands operands() const {
    return {a_, b_, c_, problem_.bias ? &bias_ : nullptr};
  }
  // Whether C has the bits of the definition, and the numbers behind it are unchanged.
  [[nodiscard]] ::testing::AssertionResult are_right(Queue& queue) const;

 private:
  const MatrixProblem& problem_;
  Buffer a_, b_, bias_, c_;
};

// Computes the problem.
[[nodiscard]] ::testing::AssertionResult gives_the_defined_bits(Session& session,
                                                                const MatrixProduct& product,
                                                                const MatrixProblem& problem);

}  // namespace gpufilter::test
