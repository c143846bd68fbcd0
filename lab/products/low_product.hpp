// Products of matrices of low-precision numbers, dense or in DeepGEMM's groups, and the chain that
// defines their bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/session.hpp"
#include "lab/products/integer_engine.hpp"

namespace gpufilter::lab {

// int8: sums are int32. The scaled types have a scale for 1 x 128 numbers of A and for 128 x 128 of
// B. fp8 is e4m3: a sign, 4 bits of exponent, 3 of mantissa, no infinity; fp8_unpromoted has one
// scale for a row of A and for 128 columns of B, so that sums need not leave the tensor cores.
enum class NumberType { float32, int8, int8_scaled, fp8_scaled, fp8_unpromoted, bfloat16, float16 };

// "int8-scaled"; fp8_unpromoted: "fp8-unpromoted".
[[nodiscard]] std::string_view to_string(NumberType type);

inline constexpr std::array number_types{NumberType::float32,        NumberType::int8,
                                         NumberType::int8_scaled,    NumberType::fp8_scaled,
                                         NumberType::fp8_unpromoted, NumberType::bfloat16,
                                         NumberType::float16};

[[nodiscard]] constexpr int bytes_of(NumberType type) {
  if (type == NumberType::float32) return 4;
  return type == NumberType::bfloat16 || type == NumberType::float16 ? 2 : 1;
}
[[nodiscard]] constexpr bool is_integer(NumberType type) {
  return type == NumberType::int8 || type == NumberType::int8_scaled;
}
[[nodiscard]] constexpr bool is_fp8(NumberType type) {
  return type == NumberType::fp8_scaled || type == NumberType::fp8_unpromoted;
}
// Whether sums of 128 products are multiplied by scales and added up as float32.
[[nodiscard]] constexpr bool is_promoted(NumberType type) {
  return type == NumberType::int8_scaled || type == NumberType::fp8_scaled;
}

// The value of the bits.
[[nodiscard]] float from_e4m3(std::uint8_t bits);
[[nodiscard]] float from_bfloat16(std::uint16_t bits);
[[nodiscard]] float from_float16(std::uint16_t bits);

// The bits of the nearest number, half to even. Beyond the largest number, e4m3 takes that, and
// the others infinity. `number` is not a NaN.
[[nodiscard]] std::uint8_t to_e4m3(float number);
[[nodiscard]] std::uint16_t to_bfloat16(float number);
[[nodiscard]] std::uint16_t to_float16(float number);

inline constexpr float largest_e4m3 = 448;

// B is stored transposed: its columns are the rows here, as networks store their weights.
enum class MatrixSide { a, b };

// Values that share a scale; in B it also covers this many rows.
inline constexpr std::size_t scale_block = 128;
// Rows and bytes of k are allocated in multiples of these, filled with zeros.
inline constexpr std::size_t row_padding = 256;
inline constexpr std::size_t byte_padding = 128;

// Rows of values along k.
struct NumberMatrix {
  NumberMatrix(NumberType type, MatrixSide side, std::size_t rows, std::size_t depth);

  NumberType type;
  MatrixSide side;
  std::size_t rows;
  std::size_t depth;         // numbers in a row
  std::size_t padded_rows;   // without the few more that vectors on the processor may read
  std::size_t pitch;         // bytes from row to row
  std::size_t scale_blocks;  // scales along k; 0: the type has none
  std::vector<std::uint8_t> bytes;
  // The scales. A has, for each block along k, one for each padded row; B has, for each 128 rows,
  // one for each block along k.
  std::vector<float> scales;

  [[nodiscard]] const std::uint8_t* row(std::size_t index) const {
    return bytes.data() + index * pitch;
  }
  [[nodiscard]] std::uint8_t* row(std::size_t index) { return bytes.data() + index * pitch; }
  [[nodiscard]] std::size_t device_bytes() const { return padded_rows * pitch; }
  [[nodiscard]] std::size_t scale_index(std::size_t row, std::size_t block) const;
  // The stored number, without its scale.
  [[nodiscard]] float number(std::size_t row, std::size_t k) const;
  // The value of an element.
  [[nodiscard]] double value(std::size_t row, std::size_t k) const;
};

// Random numbers that do not depend on the type, around 0 and of very different magnitudes:
// matrices are rounded from them.
class NumberSource {
 public:
  explicit NumberSource(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] float number(std::size_t row, std::size_t k) const;
  // An integer from -128 to 127, for int8, which needs no rounding.
  [[nodiscard]] std::int8_t integer(std::size_t row, std::size_t k) const;

 private:
  [[nodiscard]] std::uint64_t bits(std::size_t row, std::size_t k) const;
  std::uint64_t seed_;
};

// Rounds `source` to the matrix's type, on all cores. A scale is the largest magnitude of its block
// over the largest number of the type.
void fill(NumberMatrix& matrix, const NumberSource& source);

// dense: one product. contiguous: every 128 rows of A belong to one of several B. masked: several
// products of their own A and B, in each of which only the first rows of A are in use.
enum class Grouping { dense, contiguous, masked };
[[nodiscard]] std::string_view to_string(Grouping grouping);

struct LowShape {
  std::size_t rows = 1;  // of A; masked: for each group
  std::size_t columns = 1;
  std::size_t depth = 1;
  Grouping grouping = Grouping::dense;
  std::size_t groups = 1;
};

// Throws UsageError if there is no such product.
void check(const LowShape& shape);

// One of the products that a grouped one consists of: first rows in A, in B (B's columns) and in C.
struct ProductPart {
  std::size_t a_row = 0;
  std::size_t rows = 0;
  std::size_t b_row = 0;
};

// The operands. C has a row for each row of A, and unused rows are not computed. Its elements are
// int32 for int8, otherwise float32; they are stored as bits.
//
// int8: the sum of the products. int8_scaled and fp8_scaled: for each 128 numbers along k,
//   acc = fma(float(sum), scale of A * scale of B, acc), from 0 on in the order of k,
// where sums of int8 are integers, and those of fp8 chains of fma from 0 on in the order of k.
// float32, bfloat16, float16, fp8_unpromoted: one chain of fma from 0 on in the order of k; for
// fp8_unpromoted multiplied by (scale of A * scale of B). Then 0 is added, which turns -0 into 0.
struct LowProduct {
  LowProduct(NumberType type, const LowShape& shape);  // of zeros

  LowShape shape;
  std::size_t group_columns;  // rows of `b` from one group's to the next's
  NumberMatrix a;
  NumberMatrix b;
  // contiguous: the group of each 128 rows, -1 for none; masked: the rows in use of each group.
  std::vector<std::int32_t> groups;

  [[nodiscard]] NumberType type() const { return a.type; }
  [[nodiscard]] std::vector<ProductPart> parts() const;
  [[nodiscard]] std::size_t elements() const { return a.rows * shape.columns; }
  // The operations for the rows in use; a multiply-add is two operations.
  [[nodiscard]] double operations() const;
};

// Fills the matrices with rounded random numbers, and the groups with random ones.
void fill(LowProduct& product);
inline constexpr std::uint64_t seed_of_a = 1;
inline constexpr std::uint64_t seed_of_b = 2;

// Bytes that such a product takes on the host or on a device; throws std::overflow_error.
[[nodiscard]] std::uint64_t bytes_needed(NumberType type, const LowShape& shape);

enum class Cores { one, all };

// Writes the rows of C that are in use. `engine`: for the types of int8, otherwise not used.
void multiply_on_host(const LowProduct& product, const IntegerEngine* engine, Cores cores,
                      std::uint32_t* c);

// The product by the fastest engine on all cores; rows that are not in use are 0.
[[nodiscard]] std::vector<std::uint32_t> reference_low_product(const LowProduct& product);

// A way to multiply on the processor.
struct HostMethod {
  std::string name;   // "vnni, one core"
  std::string about;  // "int8 by vnni"
  const IntegerEngine* engine;
  Cores cores;
};
[[nodiscard]] std::vector<HostMethod> host_methods(NumberType type);

// A kernel and how its work-groups divide C.
struct DeviceMethod {
  std::string algorithm;        // "tensor cores": the instructions in use
  std::string about;            // "mma by PTX"
  std::string file;             // of lab/products/kernels
  std::string options;          // of the type and the instructions
  std::size_t sums = 16;        // of a work-item
  KernelConstants constants{};  // those of low_product_blocks.cl, BLOCK_K, STAGES, WARP_M, ...
  // Whether the bits follow low_product.hpp for every type: tensor cores add products of floats in
  // their own order and precision.
  bool is_exact = true;

  // "tensor cores 128x128": with the size of its blocks.
  [[nodiscard]] std::string name() const;
  // "mma by PTX, 64x64 a warp, 3 stages of 64 bytes": the properties that distinguish the method.
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::size_t items() const;  // in a work-group
  [[nodiscard]] std::uint64_t local_bytes() const;
};

// The methods of a device for the type, the slowest first: plain OpenCL C; NVIDIA's dp4a, tensor
// cores and warpgroups.
[[nodiscard]] std::vector<DeviceMethod> device_methods(const DeviceInfo& device, NumberType type);

// The methods among which to find the fastest, the usual one first: device_methods(), and the best
// of them with the constants of low_product_candidates.json that fit the device.
[[nodiscard]] std::vector<DeviceMethod> candidate_methods(const DeviceInfo& device,
                                                          NumberType type);

// The tuned method for such products, with the reason; otherwise the usual method without a reason.
struct ChosenMethod {
  DeviceMethod method;
  std::string reason;
};
[[nodiscard]] ChosenMethod chosen_method(const Session& session, NumberType type,
                                         const LowShape& shape);

// NVIDIA's OpenCL compiler compiles for a device's architecture without the instructions that are
// that architecture's alone: for sm_90, not sm_90a. The driver runs PTX for either. So kernels hide
// such instructions in inline assembly that begins with "// sm_90a: ", a comment in PTX, where the
// compiler nevertheless puts in the operands. Turns PTX for sm_90 into PTX for sm_90a, whose hidden
// instructions take effect. Throws DeviceError if it is not PTX for sm_90.
[[nodiscard]] std::string with_hidden_instructions(std::string ptx);

// The kernel of a method for this product.
[[nodiscard]] KernelRequest kernel_request(const LowProduct& product, const DeviceMethod& method);

// Throws UsageError if the product does not fit into the device's memory.
void check_memory(const DeviceInfo& device, NumberType type, const LowShape& shape);

// The operands in the memory of a device.
class DeviceLowProduct {
 public:
  // Copies them there and waits for it. Throws DeviceError.
  DeviceLowProduct(Session& session, Queue& queue, const LowProduct& product);

  // The kernel of a method for this product. Throws DeviceError, also if the device does not
  // support such work-groups.
  [[nodiscard]] Kernel make_kernel(Session& session, const DeviceMethod& method) const;
  // Queues the product; one launch, whatever the number of groups.
  Event enqueue(Queue& queue, const Kernel& kernel, const DeviceMethod& method) const;
  // Sets C to these NaNs, or downloads it and waits for it.
  static constexpr std::uint32_t poisoned = 0x7fc00001;
  void poison(Queue& queue) const;
  [[nodiscard]] std::vector<std::uint32_t> result(Queue& queue) const;

 private:
  const LowProduct& product_;
  std::size_t compute_units_;
  Buffer a_, b_, a_scales_, b_scales_, groups_, c_;
};

}  // namespace gpufilter::lab
