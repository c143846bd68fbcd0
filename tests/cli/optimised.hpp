// Runs whose kernels run for longer than PoCL takes to optimise them.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "support/process.hpp"

namespace gpufilter::test {

// The other tests' kernels are not optimised, and our program cache does not tell them apart.
[[nodiscard]] inline ProcessOptions optimised() {
  const std::filesystem::path cache = std::getenv("XDG_CACHE_HOME");
  return {.environment = {{"POCL_EXTRA_BUILD_FLAGS", ""},
                          {"XDG_CACHE_HOME", (cache / "optimised").string()}}};
}

}  // namespace gpufilter::test
