// The matrix product gives the same bits everywhere: every device and kernel against the
// definition.
#include "compute/matrix_product.hpp"

#include <array>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "support/filtering.hpp"
#include "support/matrix_problems.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using test::blocked_for;
using test::Floats;
using test::gives_the_defined_bits;
using test::make_problem;
using test::Values;
using Problem = test::MatrixProblem;

constexpr std::array activations{Activation::none, Activation::relu, Activation::clamp};
constexpr std::array sides{1, 15, 16, 17, 31, 33};

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

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

std::size_t count(int rows, int columns) {
  return index(rows) * index(columns);
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

TEST_P(MatrixProductKernel, GivesTheBitsOfTheDefinition) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const std::vector<Problem> problems = all_problems();
  for (Session* session : test::kernel_sessions()) {
    if (!fits(*session, GetParam().parameters)) continue;  // refused: see below
    const MatrixProduct product(*session, GetParam().parameters);
    for (const Problem& problem : problems) {
      ASSERT_TRUE(gives_the_defined_bits(*session, product, problem));
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
    ASSERT_TRUE(gives_the_defined_bits(*session, MatrixProduct(*session, parameters), problem));
  }
}

std::string kernel_name(const ::testing::TestParamInfo<KernelCase>& info) {
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
                         kernel_name);

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
    EXPECT_TRUE(test::contains(std::string(error.what()), text));
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
  expect_refusal(make(12), "the tile is 12, but must be 8, 16 or 32");
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
