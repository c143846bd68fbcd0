// The matrix product gives the same bits everywhere: every device and kernel against the
// definition.
#include "compute/matrix_product.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "support/filtering.hpp"

namespace gpufilter {
namespace {

using Floats = std::vector<float>;

constexpr std::array activations{Activation::none, Activation::relu, Activation::clamp};
constexpr std::array sides{1, 15, 16, 17, 31, 33};
constexpr std::uint32_t poison = 0x7fa5a5a5;  // a NaN: it spreads to every result computed from it
constexpr std::size_t guard = 128;            // numbers after each matrix that must not change

// Shapes with whole tiles, partial tiles and none in each direction.
std::vector<MatrixShape> shapes() {
  std::vector<MatrixShape> all{{5, 7, 0}};
  for (const int rows : sides) {
    for (const int columns : sides) {
      for (const int depth : sides)
        all.push_back({rows, columns, depth});
    }
  }
  for (const int other : {1, 17, 33}) {
    all.insert(all.end(), {{4097, other, 17}, {17, 4097, other}, {other, 16, 4097}});
  }
  return all;
}

std::string describe(const MatrixShape& shape) {
  return formatted("{}x{} by {}x{}", shape.rows, shape.depth, shape.depth, shape.columns);
}

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

std::size_t count(int rows, int columns) {
  return index(rows) * index(columns);
}

enum class Values { ordinary, finite_extremes, all_bits };

// ordinary: -1..1. finite_extremes: those, zeros of both signs, denormals, huge numbers, and exact
// opposites of earlier numbers. all_bits: any pattern of 32 bits, including infinities and NaN.
class Generator {
 public:
  Generator(Values values, std::uint64_t seed) : values_(values), engine_(seed) {}

  Floats take(std::size_t n) {
    Floats numbers(n);
    for (float& number : numbers)
      number = last_ = next();
    return numbers;
  }

 private:
  float next() {
    const auto word = static_cast<std::uint32_t>(engine_() >> 32U);
    if (values_ == Values::all_bits) return std::bit_cast<float>(word);
    const float plain = static_cast<float>(static_cast<std::int32_t>(word)) * 0x1p-31F;
    if (values_ == Values::ordinary) return plain;
    switch (engine_() % 8) {
      case 0:
        return std::bit_cast<float>(word & 0x807fffffU);  // denormal or zero
      case 1:
        return plain * 0x1p120F;
      case 2:
        return plain * 0x1p-100F;
      case 3:
        return -0.0F;
      case 4:
        return -last_;
      default:
        return plain;
    }
  }

  Values values_;
  std::mt19937_64 engine_;
  float last_ = 1.0F;
};

struct Problem {
  MatrixShape shape;
  Activation activation = Activation::none;
  Floats a;
  Floats b;
  std::optional<Floats> bias;
};

Problem make_problem(const MatrixShape& shape, Values values, Activation activation, bool with_bias,
                     std::uint64_t seed) {
  Generator generator(values, seed);
  Problem problem{shape, activation, generator.take(count(shape.rows, shape.depth)),
                  generator.take(count(shape.depth, shape.columns)), std::nullopt};
  if (with_bias) problem.bias = generator.take(index(shape.rows));
  return problem;
}

// Every sum is -0, which a single extra fma(0, 0, sum) would turn into 0.
Problem negative_zeros(const MatrixShape& shape) {
  return {shape, Activation::none, Floats(count(shape.rows, shape.depth), 1.0F),
          Floats(count(shape.depth, shape.columns), -0.0F), Floats(index(shape.rows), -0.0F)};
}

// Sums that consist only of these numbers.
Problem special_sums(Activation activation) {
  const Floats sums{
      std::numeric_limits<float>::quiet_NaN(), -0.0F, -1.0F, 0x1p-149F, 0.5F, 1.0F, 2.0F,
      std::numeric_limits<float>::infinity()};
  return {{static_cast<int>(sums.size()), 1, 0}, activation, {}, {}, sums};
}

// All shapes, each with different numbers, activation and bias than its neighbours.
std::vector<Problem> all_problems() {
  std::vector<Problem> problems;
  std::size_t i = 0;
  for (const MatrixShape& shape : shapes()) {
    const Values values = i % 4 == 0   ? Values::ordinary
                          : i % 4 == 3 ? Values::all_bits
                                       : Values::finite_extremes;
    problems.push_back(
        make_problem(shape, values, activations[i % activations.size()], i % 5 != 0, i));
    ++i;
  }
  problems.push_back(negative_zeros({5, 3, 1}));
  problems.push_back(negative_zeros({17, 33, 35}));
  for (const Activation activation : activations)
    problems.push_back(special_sums(activation));
  return problems;
}

// From the definition: each element is one chain.
Floats by_definition(const Problem& problem) {
  const MatrixShape& shape = problem.shape;
  Floats c;
  for (int row = 0; row < shape.rows; ++row) {
    for (int column = 0; column < shape.columns; ++column) {
      float sum = problem.bias ? (*problem.bias)[index(row)] : 0.0F;
      for (int k = 0; k < shape.depth; ++k) {
        sum = std::fma(problem.a[count(row, shape.depth) + index(k)],
                       problem.b[count(k, shape.columns) + index(column)], sum);
      }
      if (problem.activation != Activation::none && !(sum > 0.0F)) sum = 0.0F;
      if (problem.activation == Activation::clamp && sum > 1.0F) sum = 1.0F;
      c.push_back(std::isnan(sum) ? std::numeric_limits<float>::quiet_NaN() : sum);
    }
  }
  return c;
}

// The numbers, then a guard of poison.
Floats guarded(Floats numbers) {
  numbers.insert(numbers.end(), guard, std::bit_cast<float>(poison));
  return numbers;
}

Buffer uploaded(Session& session, Queue& queue, const Floats& numbers) {
  Buffer buffer = session.allocate(numbers.size() * sizeof(float));
  queue.upload(buffer, numbers.data(), numbers.size() * sizeof(float));
  queue.finish();
  return buffer;
}

// C and the guard after it.
Floats on_device(Session& session, const MatrixProduct& product, const Problem& problem) {
  Queue queue = session.make_queue();
  const Buffer a = uploaded(session, queue, guarded(problem.a));
  const Buffer b = uploaded(session, queue, guarded(problem.b));
  const Buffer bias = uploaded(session, queue, guarded(problem.bias.value_or(Floats{})));
  Floats c(count(problem.shape.rows, problem.shape.columns) + guard, std::bit_cast<float>(poison));
  const Buffer result = uploaded(session, queue, c);
  product.enqueue(queue, {a, b, result, problem.bias ? &bias : nullptr}, problem.shape,
                  problem.activation);
  queue.download(result, c.data(), c.size() * sizeof(float));
  queue.finish();
  return c;
}

::testing::AssertionResult same_bits(const Floats& x, const Floats& y) {
  if (x.size() != y.size()) {
    return ::testing::AssertionFailure() << x.size() << " and " << y.size() << " numbers";
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto left = std::bit_cast<std::uint32_t>(x[i]);
    const auto right = std::bit_cast<std::uint32_t>(y[i]);
    if (left != right) {
      return ::testing::AssertionFailure()
             << formatted("number {}: {} ({:#010x}) and {} ({:#010x})", i, x[i], left, y[i], right);
    }
  }
  return ::testing::AssertionSuccess();
}

struct KernelCase {
  const char* name;
  MatrixParameters parameters;

  // For GoogleTest, which would print bytes.
  friend void PrintTo(const KernelCase& kernel, std::ostream* out) {  // NOLINT(*-identifier-naming)
    *out << kernel.name;
  }
};

class MatrixProductKernel : public ::testing::TestWithParam<KernelCase> {};

bool fits(const Session& session, const MatrixParameters& parameters) {
  const auto side = static_cast<std::size_t>(parameters.tile);
  return parameters.variant != MatrixVariant::tiled ||
         session.device().fits(side, side, matrix_tile_bytes(parameters.tile));
}

void expect_defined_bits(Session& session, const MatrixProduct& product, const Problem& problem) {
  ASSERT_TRUE(same_bits(on_device(session, product, problem), guarded(by_definition(problem))))
      << session.device().name << ", " << product.variant() << ", " << describe(problem.shape);
}

TEST_P(MatrixProductKernel, GivesTheBitsOfTheDefinition) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const std::vector<Problem> problems = all_problems();
  for (Session* session : test::kernel_sessions()) {
    if (!fits(*session, GetParam().parameters)) continue;  // refused: see below
    const MatrixProduct product(*session, GetParam().parameters);
    for (const Problem& problem : problems) {
      expect_defined_bits(*session, product, problem);
      if (HasFatalFailure()) return;
    }
  }
}

// More rows of work-groups than a device takes in one launch.
TEST_P(MatrixProductKernel, WalksDownTallMatrices) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const MatrixParameters& parameters = GetParam().parameters;
  const int group = parameters.variant == MatrixVariant::tiled ? parameters.tile : 1;
  const Problem problem =
      make_problem({32768 * group + 3, 1, 2}, Values::ordinary, Activation::none, true, 8);
  for (Session* session : test::kernel_sessions()) {
    if (!fits(*session, parameters)) continue;
    expect_defined_bits(*session, MatrixProduct(*session, parameters), problem);
  }
}

// The smallest shapes and all around the sides of blocks, and several rows of blocks side by side.
TEST(MatrixBlocks, OfEveryShapeGiveTheBitsOfTheDefinition) {
  for (Session* session : test::kernel_sessions()) {
    for (const MatrixShape& typical :
         {MatrixShape{16, 1, 1}, {32, 1, 1}, {64, 1, 1}, {9999, 9999, 1}}) {
      const MatrixProduct product(*session,
                                  {.variant = MatrixVariant::blocked, .typical = typical});
      std::uint64_t seed = 20;
      for (const MatrixShape& shape : {MatrixShape{127, 255, 7},
                                       {128, 256, 8},
                                       {129, 257, 9},
                                       {260, 516, 20},
                                       {1300, 66, 12},
                                       {63, 129, 16},
                                       {65, 132, 24},
                                       {16, 1028, 4},
                                       {2, 2, 3},
                                       {3, 4, 4}}) {
        expect_defined_bits(*session, product,
                            make_problem(shape, Values::all_bits, Activation::none, true, seed++));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Fast for such a shape: other shapes have other blocks.
MatrixParameters blocked_for(const MatrixShape& shape) {
  return {.variant = MatrixVariant::blocked, .typical = shape};
}

std::string case_name(const ::testing::TestParamInfo<KernelCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, MatrixProductKernel,
                         ::testing::Values(KernelCase{"naive", {MatrixVariant::naive, 16}},
                                           KernelCase{"tiled8", {MatrixVariant::tiled, 8}},
                                           KernelCase{"tiled16", {MatrixVariant::tiled, 16}},
                                           KernelCase{"tiled32", {MatrixVariant::tiled, 32}},
                                           KernelCase{"blocked", {MatrixVariant::blocked, 16}},
                                           KernelCase{"blocked16", blocked_for({16, 999, 9})},
                                           KernelCase{"blocked32", blocked_for({32, 999, 9})},
                                           KernelCase{"blocked64", blocked_for({64, 999, 9})},
                                           KernelCase{"blocked128", blocked_for({9999, 9999, 9})},
                                           KernelCase{"automatic", {}}),
                         case_name);

class MatrixProductLimits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }
  static Session& session() { return *test::all_sessions().front(); }
};

void expect_refusal(const std::function<void()>& action, const std::string& text) {
  try {
    action();
    FAIL() << "accepted; expected: " << text;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST_F(MatrixProductLimits, TilesThatDoNotFitAreRefused) {
  DeviceInfo device = session().device();
  device.max_work_group_size = 256;
  device.local_memory = 1024;
  Session small(device, std::nullopt);
  const auto make = [&small](int tile) {
    return [&small, tile] {
      static_cast<void>(MatrixProduct(small, {MatrixVariant::tiled, tile}));
    };
  };
  expect_refusal(make(32), "at most 256 work-items");
  expect_refusal(make(16), "1024 bytes of local memory, the tile needs 256 and 2048");
  expect_refusal(make(12), "none of 8, 16 and 32");
  EXPECT_NO_THROW(make(8)());
}

TEST_F(MatrixProductLimits, ShapesAndBuffersThatMakeNoSenseAreRefused) {
  const MatrixProduct product(session(), {MatrixVariant::naive, 16});
  Queue queue = session().make_queue();
  const Buffer six = session().allocate(6 * sizeof(float));
  const Buffer five = session().allocate(5 * sizeof(float));
  const auto multiply = [&](const MatrixOperands& operands, const MatrixShape& shape) {
    return [&, shape] {
      static_cast<void>(product.enqueue(queue, operands, shape, Activation::none));
    };
  };
  for (const MatrixShape shape : {MatrixShape{0, 1, 1}, {1, 0, 1}, {1, 1, -1}}) {
    expect_refusal(multiply({six, six, six}, shape), "no such matrix");
  }
  const Buffer c = session().allocate(4 * sizeof(float));
  expect_refusal(multiply({five, six, c}, {2, 2, 3}), "A needs 24 bytes, its buffer has 20");
  expect_refusal(multiply({six, five, c}, {2, 2, 3}), "B needs 24 bytes");
  expect_refusal(multiply({six, six, five}, {2, 3, 2}), "C needs 24 bytes");
  expect_refusal(multiply({six, six, six, &five}, {6, 1, 1}), "the bias needs 24 bytes");
  EXPECT_NO_THROW(multiply({six, six, c}, {2, 2, 3})());
  queue.finish();
}

}  // namespace
}  // namespace gpufilter
