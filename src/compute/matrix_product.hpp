// C = act(A x B + bias) for matrices of float32 in the memory of a device, in row-major order
// without gaps. Every device gives the same bits: each element is one chain
// of fused multiply-adds, acc = bias; acc = fma(a[k], b[k], acc) for k = 0, 1, 2, ..., and a NaN is
// always 0x7fc00000.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/kernel_tuning.hpp"
#include "device/session.hpp"

namespace gpufilter {

// The activation of a finished sum v; numbered as in kernels/compute/matrix_product.cl. relu: v > 0
// ? v : 0. clamp: v > 0 ? (v < 1 ? v : 1) : 0. Both turn NaN and -0 into 0.
enum class Activation { none, relu, clamp };

// A is rows x depth, B depth x columns, C rows x columns.
struct MatrixShape {
  int rows = 1;     // 1 or more
  int columns = 1;  // 1 or more
  int depth = 1;    // 0 or more; at 0, C is the activated bias
};

struct MatrixOperands {
  const Buffer& a;
  const Buffer& b;
  const Buffer& c;               // not one of the others
  const Buffer* bias = nullptr;  // one number for each row of C; without it, sums start from 0
};

// naive: a work-item for each element of C reads global memory. tiled: a square work-group shares
// tiles of A and B through local memory. blocked: the same, but each work-item computes up to 128
// elements in registers; for GPUs. automatic: blocked on a GPU, elsewhere tiled 16x16, where they
// fit, or what `gpufilter tune` found.
enum class MatrixVariant { naive, tiled, blocked, automatic };

struct MatrixParameters {
  MatrixVariant variant = MatrixVariant::automatic;
  int tile = 16;  // side of a tiled work-group: 8, 16 or 32
  // The shape that a blocked kernel is optimised for; any other works too.
  std::optional<MatrixShape> typical = std::nullopt;
};

// rows x columns of C, `depth` terms of the sums at a time. A work-item computes 4 * a_parts rows
// and 4 * b_parts columns of it.
struct MatrixBlock {
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

[[nodiscard]] bool fits(const DeviceInfo& device, const MatrixBlock& block);

// The macros that the kernel is compiled with.
[[nodiscard]] KernelConstants constants_of(const MatrixBlock& block);

// For products of such a shape where nothing was tuned: the block that suits it best among those
// that fit the device. If none fits, one that does not.
[[nodiscard]] MatrixBlock block_for(const DeviceInfo& device,
                                    const std::optional<MatrixShape>& typical);

// The blocks of kernels/candidates.json that fit the device and roughly suit the shape.
[[nodiscard]] std::vector<MatrixBlock> candidate_blocks(const DeviceInfo& device,
                                                        const std::optional<MatrixShape>& typical);

// Products with the same site are tuned together: "matrix_product, 16 rows".
[[nodiscard]] std::string matrix_site(const DeviceInfo& device,
                                      const std::optional<MatrixShape>& typical);

// The kernel of one variant on one device. Not for use by two threads at a time.
class MatrixProduct {
 public:
  // Throws DeviceError; UsageError if the tile is not 8, 16 or 32, or if the tile or block
  // does not fit the device.
  MatrixProduct(Session& session, const MatrixParameters& parameters);

  // The kernel in use and why it was chosen: "tiled 16x16", "requested".
  [[nodiscard]] const std::string& variant() const { return launch_.variant; }
  [[nodiscard]] const std::string& reason() const { return launch_.reason; }
  [[nodiscard]] ProgramOrigin origin() const { return kernel_.origin(); }

  // Queues the product. Throws UsageError if the shape is out of range or a buffer too small.
  Event enqueue(Queue& queue, const MatrixOperands& operands, const MatrixShape& shape,
                Activation activation) const;

  // Computes the product again, by a build of the kernel that counts its reads, and waits for it.
  // Returns how many elements of A and B all work-items together read from global memory, including
  // those that blocked kernels read past the edges of C and do not use. `session` has to be the
  // product's. Throws as enqueue(), and DeviceError.
  [[nodiscard]] std::uint64_t count_reads(Session& session, Queue& queue,
                                          const MatrixOperands& operands,
                                          const MatrixShape& shape) const;

 private:
  // How work-groups and work-items share C.
  struct Launch {
    std::string function;
    std::size_t group_width = 1;
    std::size_t group_height = 1;
    std::string variant;
    std::string reason;
    KernelConstants constants = {};
    // Elements of C that a work-group computes, if its work-items compute several each; else 0,
    // and there is a work-item for each element.
    std::size_t block_rows = 0;
    std::size_t block_columns = 0;

    // The parts of the kernel; `more` are additional compiler options.
    [[nodiscard]] KernelRequest request(const std::string& more = {}) const;
  };
  MatrixProduct(Session& session, Launch launch);
  [[nodiscard]] static Launch choose(const DeviceInfo& device, const MatrixParameters& parameters);
  [[nodiscard]] static Launch naive(const std::string& reason);
  [[nodiscard]] static Launch tiled(const DeviceInfo& device, int tile, const std::string& reason);
  [[nodiscard]] static KernelConstants constants_of(const Launch& launch);
  [[nodiscard]] static Launch tuned(const Session& session, const MatrixParameters& parameters);
  [[nodiscard]] static Launch blocked(const DeviceInfo& device, const MatrixBlock& block,
                                      const std::string& reason);
  [[nodiscard]] WorkRange range_for(const MatrixShape& shape) const;
  // `counter`: for a kernel that counts its reads.
  Event launch(Queue& queue, const Kernel& kernel, const MatrixOperands& operands,
               const MatrixShape& shape, Activation activation, const Buffer* counter) const;

  Kernel kernel_;
  Launch launch_;
};

// Bytes of local memory that a tiled work-group takes: a tile of A and one of B.
[[nodiscard]] std::uint64_t matrix_tile_bytes(int tile);

}  // namespace gpufilter
