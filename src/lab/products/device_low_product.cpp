#include "lab/products/device_low_product.hpp"

#include <algorithm>
#include <array>

#include "base/division.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "lab/lab_kernels.hpp"

namespace gpufilter::lab {
namespace {

// Rows beyond the last that the last block of a masked group may read.
constexpr std::size_t further_rows = row_padding;

std::string type_macro(NumberType type) {
  if (is_integer(type)) return "TYPE_INT8";
  if (is_fp8(type)) return "TYPE_FP8";
  if (type == NumberType::float32) return "TYPE_FLOAT32";
  return type == NumberType::bfloat16 ? "TYPE_BFLOAT16" : "TYPE_FLOAT16";
}

// The type, and what becomes of its sums.
std::string macros_of(NumberType type) {
  std::string macros = "-D " + type_macro(type);
  if (is_promoted(type)) macros += " -D PROMOTED";
  if (type == NumberType::fp8_unpromoted) macros += " -D SCALED";
  return macros;
}

// Blocks of C for work-groups and warps on tensor cores.
struct TensorBlock {
  int rows, columns;
  int warp_rows, warp_columns;
  int depth;  // bytes of k in a stage
  int stages;
};

// The fastest first.
std::vector<TensorBlock> tensor_blocks(NumberType type) {
  if (is_promoted(type)) return {{128, 64, 64, 32, 64, 3}, {128, 128, 64, 32, 64, 3}};
  return {{128, 128, 64, 64, 64, 3}, {128, 256, 64, 64, 64, 2}};
}

DeviceMethod on_tensor_cores(NumberType type, const TensorBlock& block) {
  const int warps = block.rows / block.warp_rows * (block.columns / block.warp_columns);
  return {.name = formatted("tensor cores {}x{}", block.rows, block.columns),
          .about = formatted("mma by PTX, {}x{} a warp, {} stages of {} bytes", block.warp_rows,
                             block.warp_columns, block.stages, block.depth),
          .file = "low_product_tensor.cl",
          .options = formatted("{} -D BLOCK_M={} -D BLOCK_N={} -D WARP_M={} -D WARP_N={} "
                               "-D BLOCK_K={} -D STAGES={} -D IN_FLIGHT={} -D STRIPE=8",
                               macros_of(type), block.rows, block.columns, block.warp_rows,
                               block.warp_columns, block.depth, block.stages, block.stages - 2),
          .block_rows = static_cast<std::size_t>(block.rows),
          .block_columns = static_cast<std::size_t>(block.columns),
          .items = static_cast<std::size_t>(32 * warps),
          .is_exact = is_integer(type)};
}

// Hopper's instructions for 128 work-items and 64 rows.
DeviceMethod by_warpgroups(NumberType type, int rows, int stages) {
  return {.name = formatted("warpgroups {}x128", rows),
          .about = formatted("wgmma by PTX, {} stages of 64 bytes", stages),
          .file = "low_product_warpgroups.cl",
          .options = formatted("{} -D BLOCK_M={} -D BLOCK_N=128 -D BLOCK_K=64 -D STAGES={} "
                               "-D IN_FLIGHT={} -D STRIPE=8",
                               macros_of(type), rows, stages, stages - 2),
          .block_rows = static_cast<std::size_t>(rows),
          .block_columns = 128,
          .items = static_cast<std::size_t>(2 * rows),
          .is_exact = is_integer(type)};
}

DeviceMethod plain(NumberType type, const std::string& name, const std::string& about,
                   const std::string& more) {
  return {
      .name = name + " 64x64",
      .about = about + ", 4x4 a work-item",
      .file = "low_product_plain.cl",
      .options = formatted("{} -D BLOCK_M=64 -D BLOCK_N=64 -D STRIPE=8{}", macros_of(type), more)};
}

}  // namespace

std::vector<DeviceMethod> device_methods(const DeviceInfo& device, NumberType type) {
  std::vector<DeviceMethod> methods{plain(type, "plain", "OpenCL C", "")};
  // dp4a: 6.1; mma of these shapes and asynchronous copies: 8.0; conversions of e4m3: 8.9.
  if (device.compute_capability >= 61 && is_integer(type))
    methods.push_back(plain(type, "dp4a", "dp4a by PTX", " -D DP4A"));
  const bool has_tensor_cores = device.compute_capability >= (is_fp8(type) ? 89U : 80U);
  if (has_tensor_cores && type != NumberType::float32) {
    for (const TensorBlock& block : tensor_blocks(type))
      methods.push_back(on_tensor_cores(type, block));
  }
  if (device.compute_capability == 90 && type != NumberType::float32) {
    methods.push_back(by_warpgroups(type, 64, 4));
    methods.push_back(by_warpgroups(type, 128, 3));
  }
  return methods;
}

void check_memory(const DeviceInfo& device, NumberType type, const LowShape& shape) {
  const std::uint64_t needed = bytes_needed(type, shape);
  // Of the buffers C is the largest, or B of many groups; both are among what is needed in all.
  if (needed <= device.global_memory && needed / 2 <= device.max_allocation) return;
  throw UsageError(formatted(
      "bench matmul: {}x{}x{} of {} takes {:.1f} MB, but {} has {:.1f} MB; use smaller matrices",
      shape.rows, shape.columns, shape.depth, to_string(type), static_cast<double>(needed) * 1e-6,
      device.name, static_cast<double>(device.global_memory) * 1e-6));
}

DeviceLowProduct::DeviceLowProduct(Session& session, Queue& queue, const LowProduct& product)
    : product_(product),
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
  Kernel kernel =
      session.make_kernel({.file = method.file,
                           .function = "low_product",
                           .options = formatted("{} -D GROUPING={}", method.options,
                                                static_cast<int>(product_.shape.grouping)),
                           .generated = std::string(lab_kernels().at("low_product_blocks.cl")),
                           .text = lab_kernels().at(method.file)});
  const std::size_t possible = kernel.limits().max_work_group;
  if (possible != 0 && possible < method.items) {
    throw DeviceError(formatted("{}: work-groups of this kernel have at most {} work-items, not {}",
                                session.device().name, possible, method.items));
  }
  return kernel;
}

Event DeviceLowProduct::enqueue(Queue& queue, const Kernel& kernel,
                                const DeviceMethod& method) const {
  const LowShape& shape = product_.shape;
  const std::size_t blocks =
      divided_up(shape.rows, method.block_rows) * divided_up(shape.columns, method.block_columns);
  const std::size_t groups = shape.grouping == Grouping::masked ? shape.groups : 1;
  const auto rows = static_cast<std::int32_t>(shape.rows);
  const auto columns = static_cast<std::int32_t>(shape.columns);
  const auto pitch = static_cast<std::int32_t>(product_.a.pitch);
  const auto scale_pitch = static_cast<std::int32_t>(product_.a.padded_rows);
  const auto group_columns = static_cast<std::int32_t>(product_.group_columns);
  return queue.launch(kernel, {blocks * method.items, groups, method.items, 1},
                      {a_, b_, a_scales_, b_scales_, c_, groups_, rows, columns, pitch, scale_pitch,
                       group_columns});
}

void DeviceLowProduct::poison(Queue& queue) const {
  const std::vector<std::uint32_t> poison(product_.elements(), 0x7fc00001);
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
