// Runs whose kernels are compiled for longer than they run.
#pragma once

#include <filesystem>
#include <utility>

#include "support/process.hpp"

namespace gpufilter::test {

// `options` with which PoCL does not optimise, and with a program cache of their own, because other
// runs want programs that are fast.
[[nodiscard]] inline ProcessOptions unoptimised(ProcessOptions options = {}) {
  const auto build = std::filesystem::path(GPUFILTER_PROGRAM).parent_path().parent_path();
  options.environment.emplace("XDG_CACHE_HOME", (build / "test_cache/unoptimised").string());
  options.environment.emplace("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable");
  return options;
}

}  // namespace gpufilter::test
