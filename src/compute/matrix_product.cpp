#include "compute/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "device/kernel_source.hpp"

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

// The kernel's requirements: each work-item loads the same columns in every step, and its sums fit
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

namespace {

// Rows of work-groups in one launch: devices support at least 65535. Kernels loop over the
// remaining rows.
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

std::string macros(const KernelConstants& constants) {
  std::string text;
  for (const auto& [name, value] : constants)
    text += formatted(" -D {}={}", name, value);
  return text;
}

}  // namespace

MatrixProduct::MatrixProduct(Session& session, const MatrixParameters& parameters)
    : MatrixProduct(session, parameters.variant == MatrixVariant::automatic
                                 ? tuned(session, parameters)
                                 : choose(session.device(), parameters)) {}

MatrixProduct::MatrixProduct(Session& session, Launch launch)
    : kernel_(session.make_kernel(launch.request())), launch_(std::move(launch)) {}

KernelRequest MatrixProduct::Launch::request(const std::string& more) const {
  return {"matrix_product.cl", function,
          formatted("-D GROUP_WIDTH={} -D GROUP_HEIGHT={}{}{}", group_width, group_height,
                    macros(constants), more)};
}

MatrixProduct::Launch MatrixProduct::choose(const DeviceInfo& device,
                                            const MatrixParameters& parameters) {
  switch (parameters.variant) {
    case MatrixVariant::naive:
      return naive("requested");
    case MatrixVariant::tiled:
      return tiled(device, parameters.tile, "requested");
    case MatrixVariant::blocked:
      return blocked(device, block_for(device, parameters.typical), "requested");
    case MatrixVariant::automatic:
      break;
  }
  if (device.kind == DeviceKind::gpu && fits(device, block_for(device, parameters.typical))) {
    return blocked(device, block_for(device, parameters.typical),
                   "auto: registers are faster than local memory");
  }
  if (device.fits(16, 16, matrix_tile_bytes(16))) {
    return tiled(device, 16, "auto: local memory is faster than caches");
  }
  return naive("auto: no work-group of 16x16 fits");
}

MatrixProduct::Launch MatrixProduct::blocked(const DeviceInfo& device, const MatrixBlock& block,
                                             const std::string& reason) {
  if (!fits(device, block)) {
    throw UsageError(formatted(
        "matrix product: {} takes at most {} work-items a group and {} bytes of local memory, a "
        "block of {}x{} needs {} and {}",
        device.name, device.max_work_group_size, device.local_memory, block.rows, block.columns,
        block.items(), block.local_bytes()));
  }
  return {.function = "matrix_product_blocked",
          .group_width = block.items(),
          .group_height = 1,
          .variant = formatted("blocked {}x{}", block.rows, block.columns),
          .reason = reason,
          .constants = gpufilter::constants_of(block),
          .block_rows = block.rows,
          .block_columns = block.columns};
}

// The constants that distinguish the launch from other candidates.
KernelConstants MatrixProduct::constants_of(const Launch& launch) {
  if (!launch.constants.empty()) return launch.constants;
  return {{"GROUP_WIDTH", launch.group_width}, {"GROUP_HEIGHT", launch.group_height}};
}

// The tuned launch for such shapes, otherwise choose()'s.
MatrixProduct::Launch MatrixProduct::tuned(const Session& session,
                                           const MatrixParameters& parameters) {
  const DeviceInfo& device = session.device();
  Launch usual = choose(device, parameters);
  if (session.tuning() == nullptr) return usual;
  std::vector<Launch> launches{usual};
  const auto add = [&](Launch launch) {
    if (launch.variant != usual.variant || launch.constants != usual.constants)
      launches.push_back(std::move(launch));
  };
  add(naive(""));
  for (const int tile : {8, 16, 32}) {
    const auto side = static_cast<std::size_t>(tile);
    if (device.fits(side, side, matrix_tile_bytes(tile))) add(tiled(device, tile, ""));
  }
  for (const MatrixBlock& block : candidate_blocks(device, parameters.typical))
    add(blocked(device, block, ""));
  std::vector<KernelCandidate> candidates;
  candidates.reserve(launches.size());
  for (const Launch& launch : launches)
    candidates.push_back({launch.variant, {}, constants_of(launch)});
  const KernelSite site{matrix_site(device, parameters.typical),
                        {0, 0},
                        {0, 0},
                        to_string(content_hash(kernel_source("matrix_product.cl")))};
  const auto choice = session.tuning()->choose(site, candidates);
  if (!choice) return usual;
  Launch chosen = std::move(launches.at(choice->candidate));
  chosen.reason = choice->reason;
  return chosen;
}

MatrixProduct::Launch MatrixProduct::naive(const std::string& reason) {
  // A row of work-items reads along rows of B and C; every device supports groups of 64.
  return {.function = "matrix_product_naive",
          .group_width = 64,
          .variant = "naive 64x1",
          .reason = reason};
}

MatrixProduct::Launch MatrixProduct::tiled(const DeviceInfo& device, int tile,
                                           const std::string& reason) {
  if (tile != 8 && tile != 16 && tile != 32) {
    throw UsageError(formatted("matrix product: the tile is {}, but must be 8, 16 or 32", tile));
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

Event MatrixProduct::launch(Queue& queue, const Kernel& kernel, const MatrixOperands& operands,
                            const MatrixShape& shape, Activation activation,
                            const Buffer* counter) const {
  check(operands, shape);
  // The kernel's parameter must be a buffer; without a bias the kernel does not read it.
  const Buffer& bias = operands.bias ? *operands.bias : operands.a;
  const std::int32_t has_bias = operands.bias ? 1 : 0;
  const auto activation_number = static_cast<std::int32_t>(activation);
  std::vector<KernelArgument> arguments{operands.a,    operands.b,  bias,
                                        has_bias,      operands.c,  shape.rows,
                                        shape.columns, shape.depth, activation_number};
  if (counter != nullptr) arguments.emplace_back(*counter);
  return queue.launch(kernel, range_for(shape), arguments);
}

Event MatrixProduct::enqueue(Queue& queue, const MatrixOperands& operands, const MatrixShape& shape,
                             Activation activation) const {
  return launch(queue, kernel_, operands, shape, activation, nullptr);
}

std::uint64_t MatrixProduct::count_reads(Session& session, Queue& queue,
                                         const MatrixOperands& operands,
                                         const MatrixShape& shape) const {
  const Kernel counting = session.make_kernel(launch_.request(" -D COUNT_READS"));
  std::array<std::uint32_t, 2> counted{};
  const Buffer counter = session.allocate(sizeof(counted));
  queue.upload(counter, counted.data(), sizeof(counted));
  launch(queue, counting, operands, shape, Activation::none, &counter);
  queue.download(counter, counted.data(), sizeof(counted));
  queue.finish();
  return counted[0] + (std::uint64_t{counted[1]} << 32U);
}

std::uint64_t matrix_tile_bytes(int tile) {
  const auto side = static_cast<std::uint64_t>(tile);
  return 2 * side * side * sizeof(float);
}

}  // namespace gpufilter
