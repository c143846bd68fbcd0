// Registers and spills in what NVIDIA's compiler prints, and what follows from them.
#include "device/kernel_figures.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

constexpr const char* build_log =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'blur' for 'sm_90'\n"
    "ptxas info    : Function properties for blur\n"
    "    144 bytes stack frame, 136 bytes spill stores, 208 bytes spill loads\n"
    "ptxas info    : Used 255 registers, 400 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'blur_naive' for 'sm_90'\n"
    "ptxas info    : Function properties for blur_naive\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 40 registers, 400 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'small' for 'sm_90'\n"
    "ptxas info    : Used 8 registers, 344 bytes cmem[0]\n";

TEST(CompilerFigures, AreThoseOfTheFunction) {
  EXPECT_EQ(figures_in(build_log, "blur"), (CompilerFigures{255, 136}));
  EXPECT_EQ(figures_in(build_log, "blur_naive"), (CompilerFigures{40, 0}));
  EXPECT_EQ(figures_in(build_log, "small"), (CompilerFigures{8, 0}));
}

// What ptxas 13.0 prints for Hopper's own instructions, with registers left out and then enough.
TEST(CompilerFigures, AreReadFromTheTextForSm90a) {
  constexpr const char* few =
      "ptxas info    : Overriding maximum register limit 256 for 'low_product' with  128 of "
      "maxrregcount option\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'low_product' for 'sm_90a'\n"
      "ptxas info    : Function properties for low_product\n"
      "    96 bytes stack frame, 176 bytes spill stores, 140 bytes spill loads\n"
      "ptxas info    : Used 128 registers, used 1 barriers, 96 bytes cumulative stack size, 49152 "
      "bytes smem\n"
      "ptxas info    : Compile time = 101.959 ms\n";
  EXPECT_EQ(figures_in(few, "low_product"), (CompilerFigures{128, 176}));
  constexpr const char* enough =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'low_product' for 'sm_90a'\n"
      "ptxas info    : Function properties for low_product\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 154 registers, used 1 barriers, 49152 bytes smem\n"
      "ptxas info    : Compile time = 90.417 ms\n";
  EXPECT_EQ(figures_in(enough, "low_product"), (CompilerFigures{154, 0}));
}

TEST(CompilerFigures, AreAbsentFromOtherTexts) {
  EXPECT_EQ(figures_in(build_log, "blur_"), std::nullopt);
  EXPECT_EQ(figures_in("", "blur"), std::nullopt);
  EXPECT_EQ(figures_in("warning: unused variable 'x'", "blur"), std::nullopt);
  EXPECT_EQ(figures_in("Compiling entry function 'blur' for 'sm_90'\nUsed ", "blur"), std::nullopt);
}

TEST(KernelFigures, AreWrittenAsFarAsTheyAreKnown) {
  KernelFigures figures;
  EXPECT_EQ(to_string(figures), "");
  figures.limits.local_bytes = 1296;
  EXPECT_EQ(to_string(figures), "1296 bytes of local memory");
  figures.limits.private_bytes = 144;
  figures.compiled = CompilerFigures{255, 136};
  EXPECT_EQ(to_string(figures),
            "255 registers, 136 bytes spilled, 144 bytes of private memory, 1296 bytes of local "
            "memory");
}

TEST(KernelFigures, SayHowManyGroupsHaveRegisters) {
  KernelFigures figures;
  EXPECT_EQ(resident_groups(figures, 256, 65536), std::nullopt) << "the driver does not tell";
  figures.compiled = CompilerFigures{128, 0};
  EXPECT_EQ(resident_groups(figures, 256, 65536), 2U);
  EXPECT_EQ(resident_groups(figures, 32, 65536), 16U);
  EXPECT_EQ(resident_groups(figures, 33, 65536), 8U) << "two warps";
  figures.compiled = CompilerFigures{33, 0};  // 33 * 32 = 1056 become 1280
  EXPECT_EQ(resident_groups(figures, 32, 65536), 51U);
  EXPECT_EQ(resident_groups(figures, 32, 0), std::nullopt);
}

TEST(KernelFigures, OfMadeKernelsAreTakenOnce) {
  static_cast<void>(take_made_kernels());
  for (unsigned i = 0; i < 300; ++i) {
    KernelFigures figures;
    figures.compiled = CompilerFigures{i, 0};
    note_made_kernel(figures);
  }
  const auto made = take_made_kernels();
  ASSERT_EQ(made.size(), 256U) << "the last ones";
  EXPECT_EQ(made.front().compiled->registers, 44U);
  EXPECT_EQ(made.back().compiled->registers, 299U);
  EXPECT_TRUE(take_made_kernels().empty());
}

}  // namespace
}  // namespace gpufilter
