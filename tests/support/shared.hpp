// Real pictures for tests, which are outside the repository and may be missing.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>

namespace gpufilter::test {

// `relative` under the folder of shared pictures: "photos/...", "corpora/pngsuite/...".
inline std::filesystem::path shared_path(const std::filesystem::path& relative) {
  return std::filesystem::path(GPUFILTER_SHARED) / relative;
}

}  // namespace gpufilter::test

// Skips the running test with a reason if that file or folder is missing.
#define GPUFILTER_REQUIRE_SHARED(relative)                              \
  if (!std::filesystem::exists(gpufilter::test::shared_path(relative))) \
  GTEST_SKIP() << "skipped: no " << gpufilter::test::shared_path(relative).string() << " here"
