#include "compute/matrix_block.hpp"

#include <array>
#include <initializer_list>
#include <iterator>

#include "base/division.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr MatrixBlock largest{128, 256, 8, 2, 4};
constexpr MatrixBlock usual{64, 128, 16, 2, 2};
constexpr MatrixBlock smaller{64, 64, 16, 1, 2};
constexpr MatrixBlock smallest{32, 64, 8, 1, 2};  // 6 KiB of local memory, 64 work-items

// The first that fits the device; the last if none does.
MatrixBlock first_that_fits(const DeviceInfo& device, std::initializer_list<MatrixBlock> blocks) {
  for (const MatrixBlock& block : blocks) {
    if (fits(device, block)) return block;
  }
  return *std::prev(blocks.end());
}

// The height of the block if the rows are too few for the usual one.
std::optional<std::size_t> few_rows(const std::optional<MatrixShape>& typical) {
  for (const int rows : {16, 32, 64}) {
    if (typical && typical->rows <= rows) return static_cast<std::size_t>(rows);
  }
  return std::nullopt;
}

// The number of blocks of C, compared with the number of the device's units.
enum class Blocks { few, some, many };

bool occupy(const DeviceInfo& device, const MatrixShape& shape, const MatrixBlock& block) {
  const std::size_t blocks = divided_up(static_cast<std::size_t>(shape.rows), block.rows) *
                             divided_up(static_cast<std::size_t>(shape.columns), block.columns);
  return 4 * blocks >= std::size_t{3} * device.compute_units;
}

Blocks blocks_of(const DeviceInfo& device, const std::optional<MatrixShape>& typical) {
  if (!typical || !occupy(device, *typical, largest))
    return !typical || occupy(device, *typical, usual) ? Blocks::some : Blocks::few;
  return Blocks::many;
}

// What the kernel requires: each work-item loads the same columns in every step, and its sums fit
// into registers.
bool is_sound(const MatrixBlock& block) {
  if (block.rows % (16 * block.a_parts) != 0 || block.columns % (32 * block.b_parts) != 0)
    return false;
  const std::size_t sums = 16 * block.a_parts * block.b_parts;
  return block.items() >= 64 && block.items() <= 256 && block.items() % (block.columns / 4) == 0 &&
         sums <= 128;
}

}  // namespace

bool fits(const DeviceInfo& device, const MatrixBlock& block) {
  return device.fits(block.items(), 1, block.local_bytes());
}

KernelConstants constants_of(const MatrixBlock& block) {
  return {{"BLOCK_ROWS", block.rows},
          {"BLOCK_COLUMNS", block.columns},
          {"BLOCK_DEPTH", block.depth},
          {"A_PARTS", block.a_parts},
          {"B_PARTS", block.b_parts}};
}

// The largest block is the fastest if there are enough blocks for all of the device's units and few
// of them extend beyond C.
MatrixBlock block_for(const DeviceInfo& device, const std::optional<MatrixShape>& typical) {
  const auto rows = few_rows(typical);
  if (rows == 16U)
    return first_that_fits(device, {{16, 256, 16, 1, 2}, {16, 128, 16, 1, 2}, {16, 128, 8, 1, 2}});
  if (rows == 32U)
    return first_that_fits(device, {{32, 128, 16, 2, 2}, {32, 128, 8, 2, 2}, smallest});
  if (rows == 64U) return first_that_fits(device, {usual, smaller, smallest});
  switch (blocks_of(device, typical)) {
    case Blocks::few:
      return first_that_fits(device, {smaller, smallest});
    case Blocks::some:
      return first_that_fits(device, {usual, smaller, smallest});
    default:
      return first_that_fits(device, {largest, usual, smaller, smallest});
  }
}

std::vector<MatrixBlock> candidate_blocks(const DeviceInfo& device,
                                          const std::optional<MatrixShape>& typical) {
  std::vector<MatrixBlock> blocks;
  if (device.kind != DeviceKind::gpu) return blocks;
  const auto rows = few_rows(typical);
  for (const KernelConstants& constants : candidate_constants("matrix_product_blocked")) {
    const MatrixBlock block{constants.at("BLOCK_ROWS"), constants.at("BLOCK_COLUMNS"),
                            constants.at("BLOCK_DEPTH"), constants.at("A_PARTS"),
                            constants.at("B_PARTS")};
    const bool suits = rows ? block.rows == *rows : block.rows >= 64;
    if (suits && is_sound(block) && fits(device, block)) blocks.push_back(block);
  }
  return blocks;
}

std::string matrix_site(const DeviceInfo& device, const std::optional<MatrixShape>& typical) {
  if (const auto rows = few_rows(typical)) return formatted("matrix_product, {} rows", *rows);
  static constexpr std::array names{"few", "some", "many"};
  return formatted("matrix_product, {} blocks",
                   names.at(static_cast<std::size_t>(blocks_of(device, typical))));
}

}  // namespace gpufilter
