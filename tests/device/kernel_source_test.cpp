// The text that programs are compiled from.
#include "device/kernel_source.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(KernelSource, IncludedFilesStandInTheirPlaceOnce) {
  const std::string source = kernel_source("blur_packed.cl", "// generated\n");
  EXPECT_EQ(count(source, "#include"), 0U);
  const std::size_t common = source.find("#pragma OPENCL FP_CONTRACT OFF");
  const std::size_t generated = source.find("// generated\n");
  const std::size_t window = source.find("#define FILL_WINDOWS(");
  const std::size_t included = source.find("void blur_three(");
  const std::size_t kernels = source.find("__kernel");
  EXPECT_LT(common, generated);
  EXPECT_LT(generated, window);
  EXPECT_LT(window, included);
  EXPECT_LT(included, kernels);
  EXPECT_EQ(count(source, "void blur_three("), 1U);
}

// Messages of the compiler name lines of the file.
TEST(KernelSource, LinesAreNumberedAsInTheFile) {
  const std::string file = kernel_file("blur_packed.cl");
  const std::size_t include = file.rfind("#include");
  ASSERT_NE(include, std::string::npos);
  const std::size_t line = count(file.substr(0, include), "\n") + 1;
  const std::size_t after = file.find('\n', include) + 1;
  const std::string next = file.substr(after, 200);
  EXPECT_TRUE(test::contains(kernel_source("blur_packed.cl"),
                             "#line " + std::to_string(line + 1) + "\n" + next));
}

// A folder needs only the files that differ.
TEST(KernelSource, AFolderReplacesTheFilesThatItHas) {
  const std::string built_in = kernel_file("blur_packed.cl");
  const test::TemporaryFolder folder;
  test::write_file(folder / "blur_lines.cl", "// lines of another folder\n");
  setenv("GPUFILTER_KERNELS", folder.path().c_str(), 1);
  EXPECT_EQ(kernel_file("blur_lines.cl"), "// lines of another folder\n");
  EXPECT_EQ(kernel_file("blur_packed.cl"), built_in);
  const std::string source = kernel_source("blur_packed.cl");
  EXPECT_EQ(count(source, "// lines of another folder\n"), 1U);
  EXPECT_EQ(count(source, "void blur_three("), 0U);
  EXPECT_THROW(static_cast<void>(kernel_file("no_such.cl")), DeviceError);
  setenv("GPUFILTER_KERNELS", (folder / "missing").c_str(), 1);
  EXPECT_THROW(static_cast<void>(kernel_file("blur_packed.cl")), DeviceError);
  unsetenv("GPUFILTER_KERNELS");
}

}  // namespace
}  // namespace gpufilter
