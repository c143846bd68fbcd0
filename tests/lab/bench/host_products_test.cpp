// Every product of the processor against one chain of multiply-adds for each element.
#include "lab/bench/host_products.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "host/instruction_set.hpp"
#include "lab/bench/open_blas.hpp"

namespace gpufilter::lab {
namespace {

struct Shape {
  std::size_t rows, columns, depth;
};

// Of very different magnitudes, so that a different order of the additions changes the result.
std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = std::ldexp(static_cast<float>(static_cast<int>(random() % 2000001) - 1000000),
                        static_cast<int>(random() % 24) - 12);
  return numbers;
}

struct Operands {
  explicit Operands(const Shape& of)
      : shape(of),
        a(random_numbers(of.rows * of.depth, 1)),
        b(random_numbers(of.depth * of.columns, 2)),
        c(of.rows * of.columns, std::numeric_limits<float>::quiet_NaN()) {}

  Product product() {
    return {shape.rows, shape.columns, shape.depth, a.data(), b.data(), c.data()};
  }

  Shape shape;
  std::vector<float> a, b, c;
};

template <typename Number, typename Add>
std::vector<Number> chains(const Operands& of, const Add& add) {
  const auto [rows, columns, depth] = of.shape;
  std::vector<Number> c(rows * columns);
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      Number sum = 0;
      for (std::size_t k = 0; k < depth; ++k)
        sum = add(of.a[y * depth + k], of.b[k * columns + x], sum);
      c[y * columns + x] = sum;
    }
  }
  return c;
}

std::vector<float> fused(const Operands& of) {
  return chains<float>(of, [](float a, float b, float sum) { return std::fma(a, b, sum); });
}

std::vector<float> rounded_twice(const Operands& of) {
  return chains<float>(of, [](float a, float b, float sum) {
    const volatile float product = a * b;
    return sum + product;
  });
}

// Single elements, one more and one less than tiles, panels and blocks, narrow, flat and deep.
constexpr Shape shapes[] = {{1, 1, 1},     {2, 2, 2},   {7, 7, 7},      {31, 33, 64},
                            {65, 64, 257}, {130, 5, 3}, {3, 1030, 259}, {1, 70, 600}};

TEST(HostProducts, AreTheChainsWithEveryInstructionSet) {
  for (const Shape& shape : shapes) {
    Operands operands(shape);
    const std::vector<float> expected = fused(operands);
    const std::vector<float> without_fma = rounded_twice(operands);
    for (const InstructionSet set : available_instruction_sets()) {
      const InstructionSetInUse in_use(set);
      SCOPED_TRACE(::testing::Message() << shape.rows << 'x' << shape.columns << 'x' << shape.depth
                                        << ' ' << to_string(set));
      EXPECT_EQ(reference_product(operands.product()), expected);
      for (const HostProduct& product : host_products()) {
        operands.c.assign(operands.c.size(), std::numeric_limits<float>::quiet_NaN());
        product.run(operands.product());
        EXPECT_EQ(operands.c, product.is_fused ? expected : without_fma) << product.name;
      }
    }
  }
}

TEST(HostProducts, HaveARowForEachStep) {
  std::vector<std::string> names;
  for (const HostProduct& product : host_products())
    names.push_back(product.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "plain loop, no FMA", "plain loop", "loops interchanged, no FMA",
                "loops interchanged", "in registers", "in registers, L1", "in registers, L1, L2",
                "in registers, L1, L2, L3", "prefetched", "vectors", "all cores"}));
}

TEST(ProductInDouble, IsTheChainOfDoubles) {
  for (const Shape& shape : shapes) {
    Operands operands(shape);
    EXPECT_EQ(product_in_double(operands.product()),
              chains<double>(operands, [](double a, double b, double sum) { return sum + a * b; }));
  }
}

TEST(Layout, TransposedMatricesAreStoredByColumns) {
  for (const auto& [rows, columns] : {std::pair{1U, 1U}, {1U, 40U}, {33U, 31U}, {64U, 65U}}) {
    const std::vector<float> matrix = random_numbers(rows * columns, 3);
    std::vector<float> stored(matrix.size());
    transpose(matrix.data(), rows, columns, stored.data());
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < columns; ++x)
        EXPECT_EQ(stored[x * rows + y], matrix[y * columns + x]);
    }
  }
}

TEST(OpenBlas, MultipliesTheSameMatricesInEveryLayout) {
  const auto blas = OpenBlas::load();
  if (!blas) GTEST_SKIP() << "skipped: OpenBLAS is not installed";
  Operands operands({33, 16, 70});
  for (std::size_t i = 0; i < operands.a.size(); ++i)
    operands.a[i] = static_cast<float>(i % 17);
  for (std::size_t i = 0; i < operands.b.size(); ++i)
    operands.b[i] = static_cast<float>(i % 23);
  const std::vector<float> expected = fused(operands);
  std::vector<float> a(operands.a.size());
  std::vector<float> b(operands.b.size());
  transpose(operands.a.data(), 33, 70, a.data());
  transpose(operands.b.data(), 70, 16, b.data());
  for (const char* letters : {"nn", "nt", "tn", "tt"}) {
    const Layout layout = layout_of(letters);
    Product product = operands.product();
    if (layout.a_transposed) product.a = a.data();
    if (layout.b_transposed) product.b = b.data();
    operands.c.assign(operands.c.size(), std::numeric_limits<float>::quiet_NaN());
    blas->multiply(product, layout, 1);
    EXPECT_EQ(operands.c, expected) << letters << ": whole numbers are exact in any order";
  }
}

}  // namespace
}  // namespace gpufilter::lab
