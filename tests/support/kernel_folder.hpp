// A copy of kernels/ that a test may break, for GPUFILTER_KERNELS.
#pragma once

#include "support/testing.hpp"

namespace gpufilter::test {

// Copies every file of kernels/ into `folder` itself, without the folders of kernels/.
void copy_kernels(const std::filesystem::path& folder);

class KernelFolder {
 public:
  // Copies kernels/ to `folder`.
  explicit KernelFolder(std::filesystem::path folder);

  // Replaces the only occurrence of `before` in `file`; the test fails if there is none.
  void replace(const std::string& file, const std::string& before, const std::string& after) const;
  void write(const std::string& file, const std::string& text) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace gpufilter::test
