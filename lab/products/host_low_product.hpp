// Low-precision products on the processor; low_product.hpp defines their bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/products/integer_engine.hpp"
#include "lab/products/low_product.hpp"

namespace gpufilter::lab {

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

}  // namespace gpufilter::lab
