// The device resources that kernels use, as compilers report them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/session.hpp"

namespace gpufilter {

// The compiler's figures for one work-item.
struct CompilerFigures {
  unsigned registers = 0;           // of 32 bits
  std::uint64_t spilled_bytes = 0;  // of values that found no register and go through memory
  bool operator==(const CompilerFigures&) const = default;
};

// The option with which NVIDIA's compiler prints them.
inline constexpr std::string_view verbose_option = "-cl-nv-verbose";

// The figures of kernel `function` in what the compiler printed; nothing if they are not there.
[[nodiscard]] std::optional<CompilerFigures> figures_in(std::string_view build_log,
                                                        std::string_view function);

// The resources of a kernel, as far as its driver reports them.
struct KernelFigures {
  KernelLimits limits;
  std::optional<CompilerFigures> compiled = {};
};
// "40 registers, 0 bytes spilled, 1024 bytes local"; empty if nothing is known.
[[nodiscard]] std::string to_string(const KernelFigures& figures);

// The figures of the kernels that this process has made since the last call, in order; only the
// last ones if there are very many. For tools that measure kernels one by one.
[[nodiscard]] std::vector<KernelFigures> take_made_kernels();
// Thread-safe, as take_made_kernels() is.
void note_made_kernel(const KernelFigures& figures);

// Registers of 32 bits in a compute unit; 0 if the driver does not tell.
[[nodiscard]] std::uint64_t registers_of(const DeviceInfo& device);

// Work-groups of `items` work-items for which `registers` in a compute unit suffice; nothing if
// unknown.
[[nodiscard]] std::optional<unsigned> resident_groups(const KernelFigures& figures,
                                                      std::size_t items, std::uint64_t registers);

}  // namespace gpufilter
