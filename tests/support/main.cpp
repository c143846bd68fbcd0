// main() of all test programs.
#include <cstdlib>
#include <filesystem>

#include <gpufilter/gpufilter.hpp>
#include <gtest/gtest.h>
#include <malloc.h>

namespace {

// What one test compiles, the others need not, nor do the programs that they start.
void share_compiled_kernels() {
  const auto build = std::filesystem::path(GPUFILTER_PROGRAM).parent_path().parent_path();
  const auto cache = build / "test_cache";
  // Most tests run a kernel for less time than PoCL takes to optimise it. The tests that do not,
  // and those that prove that optimising changes no bit, run with this variable empty.
  ::setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
  const bool optimised = *std::getenv("POCL_EXTRA_BUILD_FLAGS") == '\0';
  ::setenv("POCL_CACHE_DIR", (cache / "kernels").c_str(), 1);
  // The program's own cache does not know PoCL's flags.
  ::setenv("XDG_CACHE_HOME", (optimised ? cache / "optimised" : cache).c_str(), 1);
}

// Tests make thousands of pictures. Their memory is kept, because each new page costs more time
// than the test of its pixels.
void keep_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 25);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 29);
}

}  // namespace

int main(int argc, char** argv) {
  share_compiled_kernels();
  keep_memory();
  gpufilter::answer_probes(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
