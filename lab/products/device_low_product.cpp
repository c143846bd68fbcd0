#include "lab/products/device_low_product.hpp"

#include <algorithm>

#include "base/division.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "lab/lab_kernels.hpp"

namespace gpufilter::lab {
namespace {

// Rows beyond the last that the last block of a masked group may read.
constexpr std::size_t further_rows = row_padding;

std::int32_t integer(std::size_t value) {
  return static_cast<std::int32_t>(value);
}

// The numbers that the kernels know a product's shape by, in the order of their parameters.
struct ShapeNumbers {
  explicit ShapeNumbers(const LowProduct& product)
      : rows(integer(product.shape.rows)),
        columns(integer(product.shape.columns)),
        depth_bytes(integer(product.a.pitch)),
        scale_pitch(integer(product.a.padded_rows)),
        group_columns(integer(product.group_columns)),
        groups(integer(product.shape.groups)) {}
  std::int32_t rows, columns, depth_bytes, scale_pitch, group_columns, groups;

  [[nodiscard]] std::string as_literals() const {
    return formatted(
        " -D ALL_ROWS={} -D ALL_COLUMNS={} -D DEPTH_BYTES={} -D SCALE_PITCH={} -D GROUP_COLUMNS={} "
        "-D GROUPS={}",
        rows, columns, depth_bytes, scale_pitch, group_columns, groups);
  }
};

}  // namespace

KernelRequest kernel_request(const LowProduct& product, const DeviceMethod& method) {
  std::string options =
      formatted("{} -D GROUPING={}", method.options, static_cast<int>(product.shape.grouping));
  for (const auto& [name, value] : method.constants)
    options += formatted(" -D {}={}", name, value);
  const std::size_t stages = method.constants.at("STAGES");
  options += formatted(" -D IN_FLIGHT={}", stages < 2 ? 0 : stages - 2);  // the text of an operand
  if (method.constants.at("LITERALS") != 0) options += ShapeNumbers(product).as_literals();
  return {.file = method.file,
          .function = "low_product",
          .options = options,
          .generated = std::string(lab_kernels().at("low_product_blocks.cl")),
          .text = lab_kernels().at(method.file)};
}

void check_memory(const DeviceInfo& device, NumberType type, const LowShape& shape) {
  const std::uint64_t needed = bytes_needed(type, shape);
  // The largest buffer is C, or B of many groups; both are part of what is needed.
  if (needed <= device.global_memory && needed / 2 <= device.max_allocation) return;
  throw UsageError(formatted(
      "bench matmul: {}x{}x{} of {} takes {:.1f} MB, but {} has {:.1f} MB; use smaller matrices",
      shape.rows, shape.columns, shape.depth, to_string(type), static_cast<double>(needed) * 1e-6,
      device.name, static_cast<double>(device.global_memory) * 1e-6));
}

DeviceLowProduct::DeviceLowProduct(Session& session, Queue& queue, const LowProduct& product)
    : product_(product),
      compute_units_(std::max(session.device().compute_units, 1U)),
      a_(session.allocate(product.a.device_bytes() + further_rows * product.a.pitch)),
      b_(session.allocate(product.b.device_bytes())),
      a_scales_(session.allocate((product.a.scales.size() + further_rows) * sizeof(float))),
      b_scales_(session.allocate(product.b.scales.size() * sizeof(float))),
      groups_(session.allocate(product.groups.size() * sizeof(std::int32_t))),
      c_(session.allocate(product.elements() * sizeof(std::uint32_t))) {
  const auto upload = [&](const Buffer& buffer, const void* data, std::size_t bytes) {
    if (bytes > 0) queue.upload(buffer, data, bytes);
  };
  upload(a_, product.a.bytes.data(), product.a.device_bytes());
  upload(b_, product.b.bytes.data(), product.b.device_bytes());
  upload(a_scales_, product.a.scales.data(), product.a.scales.size() * sizeof(float));
  upload(b_scales_, product.b.scales.data(), product.b.scales.size() * sizeof(float));
  upload(groups_, product.groups.data(), product.groups.size() * sizeof(std::int32_t));
  queue.finish();
}

Kernel DeviceLowProduct::make_kernel(Session& session, const DeviceMethod& method) const {
  Kernel kernel = session.make_kernel(kernel_request(product_, method));
  const std::size_t possible = kernel.limits().max_work_group;
  if (possible != 0 && possible < method.items()) {
    throw DeviceError(formatted("{}: work-groups of this kernel have at most {} work-items, not {}",
                                session.device().name, possible, method.items()));
  }
  return kernel;
}

Event DeviceLowProduct::enqueue(Queue& queue, const Kernel& kernel,
                                const DeviceMethod& method) const {
  const LowShape& shape = product_.shape;
  std::size_t groups = divided_up(shape.rows, method.constants.at("BLOCK_M")) *
                       divided_up(shape.columns, method.constants.at("BLOCK_N"));
  if (shape.grouping == Grouping::masked) groups *= shape.groups;
  if (const std::size_t persistent = method.constants.at("GROUPS_A_UNIT"); persistent > 0)
    groups = std::min(groups, persistent * compute_units_);
  const ShapeNumbers numbers(product_);
  return queue.launch(
      kernel, {groups * method.items(), 1, method.items(), 1},
      {a_, b_, a_scales_, b_scales_, c_, groups_, numbers.rows, numbers.columns,
       numbers.depth_bytes, numbers.scale_pitch, numbers.group_columns, numbers.groups});
}

void DeviceLowProduct::poison(Queue& queue) const {
  const std::vector<std::uint32_t> poison(product_.elements(), poisoned);
  queue.upload(c_, poison.data(), poison.size() * sizeof(std::uint32_t));
  queue.finish();
}

std::vector<std::uint32_t> DeviceLowProduct::result(Queue& queue) const {
  std::vector<std::uint32_t> c(product_.elements());
  queue.download(c_, c.data(), c.size() * sizeof(std::uint32_t));
  queue.finish();
  return c;
}

}  // namespace gpufilter::lab
