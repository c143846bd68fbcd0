#include "compute/matrix_product.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

// Rows of work-groups in one launch: devices take at least 65535. Kernels walk down to further rows
// by themselves.
constexpr std::size_t max_group_rows = 32768;

std::size_t elements(int rows, int columns) {
  return checked_multiply(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

void check_size(const Buffer& buffer, std::size_t count, const char* name,
                const MatrixShape& shape) {
  const std::size_t needed = checked_multiply(count, sizeof(float));
  if (buffer.size() >= needed) return;
  throw UsageError(formatted("matrix product {}x{}x{}: {} needs {} bytes, its buffer has {}",
                             shape.rows, shape.depth, shape.columns, name, needed, buffer.size()));
}

void check(const MatrixOperands& operands, const MatrixShape& shape) {
  if (shape.rows < 1 || shape.columns < 1 || shape.depth < 0) {
    throw UsageError(formatted("matrix product {}x{}x{}: there is no such matrix", shape.rows,
                               shape.depth, shape.columns));
  }
  check_size(operands.a, elements(shape.rows, shape.depth), "A", shape);
  check_size(operands.b, elements(shape.depth, shape.columns), "B", shape);
  check_size(operands.c, elements(shape.rows, shape.columns), "C", shape);
  if (operands.bias) check_size(*operands.bias, elements(shape.rows, 1), "the bias", shape);
}

// What a work-group of the blocked kernel makes of C, `depth` terms of the sums at a time, and how
// many times 4 rows and columns a work-item has of it: kernels/matrix_product.cl.
struct Block {
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

bool fits(const DeviceInfo& device, const Block& block) {
  return device.fits(block.items(), 1, block.local_bytes());
}

std::size_t divided_up(std::size_t count, std::size_t by) {
  return (count + by - 1) / by;
}

// The largest block is the fastest where there are enough of them for the device and little of them
// lies beyond C.
Block block_for(const DeviceInfo& device, const std::optional<MatrixShape>& typical) {
  constexpr Block largest{128, 256, 8, 2, 4};
  constexpr Block usual{128, 64, 16, 2, 2};
  if (!typical) return usual;
  if (typical->rows <= 16) return {16, 256, 16, 1, 2};
  if (typical->rows <= 32) return {32, 128, 16, 2, 2};
  if (typical->rows <= 64) return {64, 128, 16, 2, 2};
  const std::size_t blocks =
      divided_up(static_cast<std::size_t>(typical->rows), largest.rows) *
      divided_up(static_cast<std::size_t>(typical->columns), largest.columns);
  return 4 * blocks >= 3 * device.compute_units ? largest : usual;
}

}  // namespace

MatrixProduct::MatrixProduct(Session& session, const MatrixParameters& parameters)
    : MatrixProduct(session, choose(session.device(), parameters)) {}

MatrixProduct::MatrixProduct(Session& session, Launch launch)
    : kernel_(
          session.make_kernel({"matrix_product.cl", launch.function,
                               formatted("-D GROUP_WIDTH={} -D GROUP_HEIGHT={} {}",
                                         launch.group_width, launch.group_height, launch.macros)})),
      launch_(std::move(launch)) {}

MatrixProduct::Launch MatrixProduct::choose(const DeviceInfo& device,
                                            const MatrixParameters& parameters) {
  switch (parameters.variant) {
    case MatrixVariant::naive:
      return naive("asked for");
    case MatrixVariant::tiled:
      return tiled(device, parameters.tile, "asked for");
    case MatrixVariant::blocked:
      return blocked(device, parameters, "asked for");
    case MatrixVariant::automatic:
      break;
  }
  if (device.kind == DeviceKind::gpu && fits(device, block_for(device, parameters.typical))) {
    return blocked(device, parameters, "auto: registers are faster than local memory");
  }
  if (device.fits(16, 16, matrix_tile_bytes(16))) {
    return tiled(device, 16, "auto: local memory is faster than caches");
  }
  return naive("auto: no work-group of 16x16 fits");
}

MatrixProduct::Launch MatrixProduct::blocked(const DeviceInfo& device,
                                             const MatrixParameters& parameters,
                                             const std::string& reason) {
  const Block block = block_for(device, parameters.typical);
  if (!fits(device, block)) {
    throw UsageError(formatted(
        "matrix product: {} takes at most {} work-items a group and {} bytes of local memory, a "
        "block of {}x{} needs {} and {}",
        device.name, device.max_work_group_size, device.local_memory, block.rows, block.columns,
        block.items(), block.local_bytes()));
  }
  return {
      .function = "matrix_product_blocked",
      .group_width = block.items(),
      .group_height = 1,
      .variant = formatted("blocked {}x{}", block.rows, block.columns),
      .reason = reason,
      .macros = formatted("-D BLOCK_ROWS={} -D BLOCK_COLUMNS={} -D BLOCK_DEPTH={} -D A_PARTS={} "
                          "-D B_PARTS={}",
                          block.rows, block.columns, block.depth, block.a_parts, block.b_parts),
      .block_rows = block.rows,
      .block_columns = block.columns};
}

MatrixProduct::Launch MatrixProduct::naive(const std::string& reason) {
  // A row of work-items reads along rows of B and C; every device takes groups of 64.
  return {.function = "matrix_product_naive",
          .group_width = 64,
          .variant = "naive 64x1",
          .reason = reason};
}

MatrixProduct::Launch MatrixProduct::tiled(const DeviceInfo& device, int tile,
                                           const std::string& reason) {
  if (tile != 8 && tile != 16 && tile != 32) {
    throw UsageError(formatted("matrix product: a tile of {} is none of 8, 16 and 32", tile));
  }
  const auto side = static_cast<std::size_t>(tile);
  const std::uint64_t bytes = matrix_tile_bytes(tile);
  if (!device.fits(side, side, bytes)) {
    throw UsageError(formatted(
        "matrix product, tile {}: {} takes at most {} work-items a group and {} bytes of "
        "local memory, the tile needs {} and {}; take a smaller tile",
        tile, device.name, device.max_work_group_size, device.local_memory, side * side, bytes));
  }
  return {.function = "matrix_product_tiled",
          .group_width = side,
          .group_height = side,
          .variant = formatted("tiled {0}x{0}", tile),
          .reason = reason};
}

WorkRange MatrixProduct::range_for(const MatrixShape& shape) const {
  const auto rows = static_cast<std::size_t>(shape.rows);
  const auto columns = static_cast<std::size_t>(shape.columns);
  if (launch_.block_rows == 0) {
    return {columns, std::min(rows, max_group_rows * launch_.group_height), launch_.group_width,
            launch_.group_height};
  }
  const std::size_t blocks =
      divided_up(rows, launch_.block_rows) * divided_up(columns, launch_.block_columns);
  return {blocks * launch_.group_width, 1, launch_.group_width, 1};
}

Event MatrixProduct::enqueue(Queue& queue, const MatrixOperands& operands, const MatrixShape& shape,
                             Activation activation) const {
  check(operands, shape);
  // The kernel's parameter must be a buffer; without a bias the kernel does not read it.
  const Buffer& bias = operands.bias ? *operands.bias : operands.a;
  return queue.launch(kernel_, range_for(shape),
                      {operands.a, operands.b, bias, operands.bias ? 1 : 0, operands.c, shape.rows,
                       shape.columns, shape.depth, static_cast<int>(activation)});
}

std::uint64_t matrix_tile_bytes(int tile) {
  const auto side = static_cast<std::uint64_t>(tile);
  return 2 * side * side * sizeof(float);
}

}  // namespace gpufilter
