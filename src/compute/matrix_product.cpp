#include "compute/matrix_product.hpp"

#include <algorithm>

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

}  // namespace

MatrixProduct::MatrixProduct(Session& session, const MatrixParameters& parameters)
    : MatrixProduct(session, choose(session.device(), parameters)) {}

MatrixProduct::MatrixProduct(Session& session, const Launch& launch)
    : kernel_(session.make_kernel({"matrix_product.cl", launch.function,
                                   formatted("-D GROUP_WIDTH={} -D GROUP_HEIGHT={}",
                                             launch.group_width, launch.group_height)})),
      group_width_(launch.group_width),
      group_height_(launch.group_height),
      block_width_(launch.block_width),
      block_height_(launch.block_height),
      variant_(launch.variant),
      reason_(launch.reason) {}

MatrixProduct::Launch MatrixProduct::choose(const DeviceInfo& device,
                                            const MatrixParameters& parameters) {
  switch (parameters.variant) {
    case MatrixVariant::naive:
      return naive("asked for");
    case MatrixVariant::tiled:
      return tiled(device, parameters.tile, "asked for");
    case MatrixVariant::automatic:
      break;
  }
  if (device.fits(16, 16, matrix_tile_bytes(16))) {
    return tiled(device, 16, "auto: local memory is faster than caches");
  }
  return naive("auto: no work-group of 16x16 fits");
}

MatrixProduct::Launch MatrixProduct::naive(const std::string& reason) {
  // A row of work-items reads along rows of B and C; every device takes groups of 64.
  return {"matrix_product_naive", 64, 1, 1, 1, "naive 64x1", reason};
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
  return {"matrix_product_tiled", side, side, side, side, formatted("tiled {0}x{0}", tile), reason};
}

Event MatrixProduct::enqueue(Queue& queue, const MatrixOperands& operands, const MatrixShape& shape,
                             Activation activation) const {
  check(operands, shape);
  const std::size_t rows =
      std::min(static_cast<std::size_t>(shape.rows), max_group_rows * group_height_);
  // The kernel's parameter must be a buffer; without a bias the kernel does not read it.
  const Buffer& bias = operands.bias ? *operands.bias : operands.a;
  return queue.launch(kernel_,
                      {static_cast<std::size_t>(shape.columns), rows, group_width_, group_height_},
                      {operands.a, operands.b, bias, operands.bias ? 1 : 0, operands.c, shape.rows,
                       shape.columns, shape.depth, static_cast<int>(activation)});
}

std::uint64_t MatrixProduct::global_reads(const MatrixShape& shape) const {
  const auto blocks = [](int length, std::size_t block) {
    return (static_cast<std::uint64_t>(length) + block - 1) / block;
  };
  return elements(shape.rows, shape.depth) * blocks(shape.columns, block_width_) +
         elements(shape.depth, shape.columns) * blocks(shape.rows, block_height_);
}

std::uint64_t matrix_tile_bytes(int tile) {
  const auto side = static_cast<std::uint64_t>(tile);
  return 2 * side * side * sizeof(float);
}

}  // namespace gpufilter
