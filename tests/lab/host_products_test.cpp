// Every product of the processor against one chain of fused multiply-adds for each element.
#include "lab/bench/host_products.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "host/instruction_set.hpp"
#include "lab/bench/open_blas.hpp"

namespace gpufilter::lab {
namespace {

// Of very different magnitudes, so that a different order of the additions changes the result.
std::vector<float> random_matrix(std::size_t side, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(side * side);
  for (float& number : numbers)
    number = std::ldexp(static_cast<float>(static_cast<int>(random() % 2000001) - 1000000),
                        static_cast<int>(random() % 24) - 12);
  return numbers;
}

std::vector<float> chains(std::size_t n, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(n * n);
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k)
        sum = std::fma(a[y * n + k], b[k * n + x], sum);
      c[y * n + x] = sum;
    }
  }
  return c;
}

TEST(HostProducts, AreTheChainsWithEveryInstructionSet) {
  for (const std::size_t n : {1U, 2U, 7U, 31U, 64U, 65U, 129U, 257U}) {
    const std::vector<float> a = random_matrix(n, 1);
    const std::vector<float> b = random_matrix(n, 2);
    const std::vector<float> expected = chains(n, a, b);
    for (const InstructionSet set : available_instruction_sets()) {
      const InstructionSetInUse in_use(set);
      EXPECT_EQ(reference_product(n, a, b), expected) << n << ' ' << to_string(set);
      for (const HostProduct& product : host_products()) {
        std::vector<float> c(n * n, std::numeric_limits<float>::quiet_NaN());
        product.run({n, a.data(), b.data(), c.data()});
        EXPECT_EQ(c, expected) << product.name << ' ' << n << ' ' << to_string(set);
      }
    }
  }
}

TEST(OpenBlas, MultipliesTheSameMatrices) {
  const auto blas = OpenBlas::load();
  if (!blas) GTEST_SKIP() << "skipped: OpenBLAS is not installed";
  constexpr std::size_t n = 33;
  std::vector<float> a(n * n);
  std::vector<float> b(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 17);
    b[i] = static_cast<float>(i % 23);
  }
  std::vector<float> c(n * n);
  blas->multiply({n, a.data(), b.data(), c.data()}, 1);
  EXPECT_EQ(c, chains(n, a, b)) << "whole numbers are exact in any order";
}

}  // namespace
}  // namespace gpufilter::lab
