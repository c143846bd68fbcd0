// The numbers that kernels of the matrix product read, as counted while they run, are those that
// follow from what their work-groups share.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "compute/matrix_product.hpp"
#include "support/filtering.hpp"
#include "support/matrix_problems.hpp"

namespace gpufilter {
namespace {

using Number = std::uint64_t;

Number whole(int number) {
  return static_cast<Number>(number);
}

Number divided_up(Number count, Number by) {
  return (count + by - 1) / by;
}

Number product_of(const MatrixShape& shape) {
  return whole(shape.rows) * whole(shape.columns) * whole(shape.depth);
}

// A work-item for each element, which reads a row of A and a column of B.
Number by_elements(const MatrixShape& shape) {
  return 2 * product_of(shape);
}

// Every number is read once for each tile of C that it goes into.
Number by_tiles(const MatrixShape& shape, Number tile) {
  return whole(shape.rows) * whole(shape.depth) * divided_up(whole(shape.columns), tile) +
         whole(shape.depth) * whole(shape.columns) * divided_up(whole(shape.rows), tile);
}

// Every work-group reads whole blocks of A and B, in fours, also where it extends beyond C, and all
// of its work-items read the same number of times.
Number by_blocks(const MatrixShape& shape, const MatrixBlock& block) {
  const Number groups =
      divided_up(whole(shape.rows), block.rows) * divided_up(whole(shape.columns), block.columns);
  const Number steps = divided_up(whole(shape.depth), block.depth);
  const Number loads = divided_up(block.rows * block.depth / 4, block.items()) +
                       divided_up(block.columns * block.depth / 4, block.items());
  return groups * steps * loads * block.items() * 4;
}

// With the plain build beside it; both give the right bits.
void expect_reads(Session& session, const MatrixProduct& product, const MatrixShape& shape,
                  Number expected) {
  SCOPED_TRACE(testing::Message() << session.device().name << ", " << product.variant() << ", "
                                  << shape.rows << "x" << shape.depth << " by " << shape.depth
                                  << "x" << shape.columns);
  const auto problem =
      test::make_problem(shape, test::Values::finite_extremes, Activation::none, true, 5);
  ASSERT_TRUE(test::gives_the_defined_bits(session, product, problem));
  Queue queue = session.make_queue();
  const test::MatricesOnDevice matrices(session, queue, problem);
  EXPECT_EQ(product.count_reads(session, queue, matrices.operands(), shape), expected);
  ASSERT_TRUE(matrices.are_right(queue));
}

class MatrixReads : public ::testing::TestWithParam<MatrixShape> {};

TEST_P(MatrixReads, OfTheNaiveKernelAreTwoForEachTerm) {
  for (Session* session : test::kernel_sessions()) {
    const MatrixProduct product(*session, {MatrixVariant::naive});
    expect_reads(*session, product, GetParam(), by_elements(GetParam()));
  }
}

TEST_P(MatrixReads, OfTilesAreOneForEachTile) {
  for (Session* session : test::kernel_sessions()) {
    for (const int tile : {8, 16, 32}) {
      const auto side = static_cast<std::size_t>(tile);
      if (!session->device().fits(side, side, matrix_tile_bytes(tile))) continue;
      const MatrixProduct product(*session, {MatrixVariant::tiled, tile});
      expect_reads(*session, product, GetParam(), by_tiles(GetParam(), whole(tile)));
    }
  }
}

TEST_P(MatrixReads, OfBlocksAreWholeBlocks) {
  for (Session* session : test::kernel_sessions()) {
    for (const MatrixShape& typical :
         {MatrixShape{16, 1, 1}, {32, 1, 1}, {64, 1, 1}, {65, 65, 1}, {9999, 9999, 1}}) {
      const MatrixBlock block = block_for(session->device(), typical);
      const MatrixProduct product(*session,
                                  {.variant = MatrixVariant::blocked, .typical = typical});
      expect_reads(*session, product, GetParam(), by_blocks(GetParam(), block));
    }
  }
}

std::string shape_name(const ::testing::TestParamInfo<MatrixShape>& info) {
  return formatted("{}by{}by{}", info.param.rows, info.param.depth, info.param.columns);
}

// Small enough for a simulator of devices: scripts/check-kernels.sh.
INSTANTIATE_TEST_SUITE_P(Small, MatrixReads,
                         ::testing::Values(MatrixShape{1, 1, 1}, MatrixShape{5, 6, 0},
                                           MatrixShape{18, 35, 9}),
                         shape_name);
// All blocks divide the first one.
INSTANTIATE_TEST_SUITE_P(Large, MatrixReads,
                         ::testing::Values(MatrixShape{128, 256, 32}, MatrixShape{64, 128, 16},
                                           MatrixShape{33, 70, 19}, MatrixShape{130, 64, 8},
                                           MatrixShape{17, 260, 4}, MatrixShape{33, 33, 33}),
                         shape_name);

}  // namespace
}  // namespace gpufilter
