#include <algorithm>
#include <utility>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/words.hpp"
#include "lab/lab_kernels.hpp"
#include "lab/products/low_product.hpp"

namespace gpufilter::lab {
namespace {

// Rows beyond the last that the last block of a masked group may read.
constexpr std::size_t further_rows = row_padding;

std::int32_t integer(std::size_t value) {
  return static_cast<std::int32_t>(value);
}

// A product's shape in numbers, in the order of the kernels' parameters.
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

constexpr const char* warpgroup_kernels = "low_product_warpgroups.cl";

}  // namespace

std::string with_hidden_instructions(std::string ptx) {
  constexpr std::string_view hiding = "// sm_90a: ";
  constexpr std::string_view target = "\n.target sm_90";
  const std::size_t begin = ptx.find(target);
  const std::size_t end = begin + target.size();
  if (begin == std::string::npos || (ptx[end] != ',' && ptx[end] != '\n'))
    throw DeviceError(formatted("{}: the driver returns no PTX for sm_90", warpgroup_kernels));
  ptx.insert(end, 1, 'a');
  for (std::size_t at = ptx.find(hiding); at != std::string::npos; at = ptx.find(hiding, at))
    ptx.erase(at, hiding.size());
  return ptx;
}

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
          .text = lab_kernels().at(method.file),
          .rewrite = method.file == warpgroup_kernels ? with_hidden_instructions : nullptr};
}

void check_memory(const DeviceInfo& device, NumberType type, const LowShape& shape) {
  const std::uint64_t needed = bytes_needed(type, shape);
  // The largest buffer is C, or B of many groups; `needed` includes both.
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

namespace {

// A work-item's sums and totals beyond these would spill.
constexpr std::size_t registers_for_sums = 128;

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

KernelConstants in_usual_order(KernelConstants constants) {
  constants.insert({{"STRIPE", 8}, {"GROUPS_A_UNIT", 0}, {"LITERALS", 0}});
  return constants;
}

DeviceMethod plain(NumberType type, const std::string& algorithm, const std::string& about,
                   const std::string& more) {
  return {.algorithm = algorithm,
          .about = about + ", 4x4 a work-item",
          .file = "low_product_plain.cl",
          .options = macros_of(type) + more,
          .sums = 16,
          .constants =
              in_usual_order({{"BLOCK_M", 64}, {"BLOCK_N", 64}, {"BLOCK_K", 16}, {"STAGES", 1}})};
}

DeviceMethod on_tensor_cores(NumberType type, const KernelConstants& constants) {
  return {.algorithm = "tensor cores",
          .about = "mma by PTX",
          .file = "low_product_tensor.cl",
          .options = macros_of(type),
          .sums = constants.at("WARP_M") * constants.at("WARP_N") / 32,
          .constants = in_usual_order(constants),
          .is_exact = is_integer(type)};
}

// Hopper's instructions for 128 work-items and 64 rows.
DeviceMethod by_warpgroups(NumberType type, std::size_t rows, std::size_t stages) {
  return {.algorithm = "warpgroups",
          .about = "wgmma by PTX",
          .file = warpgroup_kernels,
          .options = macros_of(type),
          .sums = 64,
          .constants = in_usual_order(
              {{"BLOCK_M", rows}, {"BLOCK_N", 128}, {"BLOCK_K", 64}, {"STAGES", stages}}),
          .is_exact = is_integer(type)};
}

std::vector<KernelConstants> tensor_blocks(NumberType type) {
  const auto block = [](std::size_t columns, std::size_t warp_columns, std::size_t stages) {
    return KernelConstants{{"BLOCK_M", 128}, {"BLOCK_N", columns},     {"BLOCK_K", 64},
                           {"WARP_M", 64},   {"WARP_N", warp_columns}, {"STAGES", stages}};
  };
  if (is_promoted(type)) return {block(128, 32, 3), block(64, 32, 3)};
  return {block(256, 64, 2), block(128, 64, 3)};
}

// The method with other constants.
DeviceMethod variant_of(DeviceMethod method, const KernelConstants& constants) {
  for (const auto& [name, value] : constants)
    method.constants[name] = value;
  if (method.constants.contains("WARP_M"))
    method.sums = method.constants.at("WARP_M") * method.constants.at("WARP_N") / 32;
  return method;
}

// The requirements of low_product_tensor.cl: whole warps, equally many rows copied by each
// work-item, and sums in registers.
bool is_sound(const DeviceMethod& method, NumberType type) {
  const KernelConstants& constants = method.constants;
  if (!constants.contains("WARP_M")) return true;
  const std::size_t copied = method.items() / (constants.at("BLOCK_K") / 16);
  return constants.at("BLOCK_M") % constants.at("WARP_M") == 0 &&
         constants.at("BLOCK_N") % constants.at("WARP_N") == 0 && copied > 0 &&
         constants.at("BLOCK_M") % copied == 0 && constants.at("BLOCK_N") % copied == 0 &&
         method.sums * (is_promoted(type) ? 2 : 1) <= registers_for_sums;
}

// Products with the same site are tuned together.
KernelSite site_of(const DeviceInfo& device, NumberType type, const LowShape& shape) {
  constexpr std::size_t block = 128;
  const bool has_many = divided_up(shape.rows, block) * divided_up(shape.columns, block) >=
                        std::size_t{device.compute_units};
  const std::string kind = shape.grouping != Grouping::dense
                               ? std::string(to_string(shape.grouping))
                           : has_many ? "many blocks"
                                      : "few blocks";
  std::string code;
  for (const auto& [file, text] : lab_kernels()) {
    if (file.starts_with("low_product")) code += text;
  }
  return {formatted("{} product, {}", to_string(type), kind),
          {0, 0},
          {0, 0},
          to_string(content_hash(code))};
}

}  // namespace

std::string DeviceMethod::name() const {
  return formatted("{} {}x{}", algorithm, constants.at("BLOCK_M"), constants.at("BLOCK_N"));
}

std::string DeviceMethod::description() const {
  std::string text = about;
  if (constants.contains("WARP_M"))
    text += formatted(", {}x{} a warp", constants.at("WARP_M"), constants.at("WARP_N"));
  text += formatted(", {} of {} bytes, stripes of {}", counted(constants.at("STAGES"), "stage"),
                    constants.at("BLOCK_K"), constants.at("STRIPE"));
  if (const std::size_t groups = constants.at("GROUPS_A_UNIT"); groups > 0)
    text += formatted(", {} a unit", counted(groups, "persistent group"));
  if (constants.at("LITERALS") != 0) text += ", the shape as literals";
  return text;
}

std::size_t DeviceMethod::items() const {
  return constants.at("BLOCK_M") * constants.at("BLOCK_N") / sums;
}

std::uint64_t DeviceMethod::local_bytes() const {
  return constants.at("STAGES") * (constants.at("BLOCK_M") + constants.at("BLOCK_N")) *
         constants.at("BLOCK_K");
}

std::vector<DeviceMethod> device_methods(const DeviceInfo& device, NumberType type) {
  std::vector<DeviceMethod> methods{plain(type, "plain", "OpenCL C", "")};
  // dp4a: 6.1; mma of these shapes and asynchronous copies: 8.0; conversions of e4m3: 8.9.
  if (device.compute_capability >= 61 && is_integer(type))
    methods.push_back(plain(type, "dp4a", "dp4a by PTX", " -D DP4A"));
  const bool has_tensor_cores = device.compute_capability >= (is_fp8(type) ? 89U : 80U);
  if (has_tensor_cores && type != NumberType::float32) {
    for (const KernelConstants& block : tensor_blocks(type))
      methods.push_back(on_tensor_cores(type, block));
  }
  if (device.compute_capability == 90 && type != NumberType::float32) {
    methods.push_back(by_warpgroups(type, 64, 4));
    methods.push_back(by_warpgroups(type, 128, 3));
  }
  return methods;
}

std::vector<DeviceMethod> candidate_methods(const DeviceInfo& device, NumberType type) {
  std::vector<DeviceMethod> methods = device_methods(device, type);
  std::reverse(methods.begin(), methods.end());
  const DeviceMethod usual = methods.front();
  const std::string listed = usual.file.substr(0, usual.file.rfind('.'));
  for (const KernelConstants& constants :
       candidate_constants(listed, lab_kernels().at("low_product_candidates.json"))) {
    DeviceMethod method = variant_of(usual, constants);
    const bool is_new = std::none_of(methods.begin(), methods.end(), [&](const auto& other) {
      return other.algorithm == method.algorithm && other.constants == method.constants;
    });
    if (is_new && is_sound(method, type) && device.fits(method.items(), 1, method.local_bytes()))
      methods.push_back(std::move(method));
  }
  return methods;
}

ChosenMethod chosen_method(const Session& session, NumberType type, const LowShape& shape) {
  const DeviceInfo& device = session.device();
  std::vector<DeviceMethod> methods = candidate_methods(device, type);
  std::vector<KernelCandidate> candidates;
  candidates.reserve(methods.size());
  for (const DeviceMethod& method : methods)
    candidates.push_back({method.algorithm, {}, method.constants});
  if (session.tuning() != nullptr) {
    if (const auto choice = session.tuning()->choose(site_of(device, type, shape), candidates))
      return {std::move(methods.at(choice->candidate)), choice->reason};
  }
  return {std::move(methods.front()), ""};
}

}  // namespace gpufilter::lab
