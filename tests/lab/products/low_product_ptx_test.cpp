// Kernels that are partly PTX, compiled by clang and NVIDIA's assembler where there is no GPU: the
// text is well formed for its architecture.
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "device/ptx_target.hpp"
#include "lab/products/low_product.hpp"
#include "support/pictures.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::lab {
namespace {

// Those built-in functions of OpenCL C that the kernels use, as clang knows them for PTX.
constexpr const char* builtins = R"(
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;
typedef unsigned long ulong; typedef ulong size_t;
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef char char4 __attribute__((ext_vector_type(4)));
#define CLK_LOCAL_MEM_FENCE 1
#define barrier(fence) __nvvm_bar_sync(0)
#define get_local_id(dimension) __nvvm_read_ptx_sreg_tid_x()
#define get_group_id(dimension) __nvvm_read_ptx_sreg_ctaid_x()
#define get_num_groups(dimension) __nvvm_read_ptx_sreg_nctaid_x()
#define fma(a, b, c) __nvvm_fma_rn_f(a, b, c)
#define as_uint(x) __builtin_astype(x, uint)
#define as_float(x) __builtin_astype(x, float)
#define as_char4(x) __builtin_astype(x, char4)
#define convert_int4(x) __builtin_convertvector(x, int4)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define vload_half(i, from) __builtin_load_halff(from)
)";

DeviceInfo nvidia(unsigned capability) {
  DeviceInfo device;
  device.kind = DeviceKind::gpu;
  device.compute_capability = capability;
  device.compute_units = 132;
  device.max_work_group_size = 1024;
  device.max_work_item_sizes = {1024, 1024, 64};
  device.local_memory = 49152;
  return device;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words{""};
  for (const char letter : text) {
    if (letter != ' ') {
      words.back() += letter;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

class LowProductPtx : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& tool : {clang_, assembler_}) {
      try {
        if (test::run_process({tool, "--version"}).exit_code == 0) continue;
      } catch (const std::system_error&) {  // reported below
      }
      GTEST_SKIP() << tool << " is not installed (CUDA has ptxas)";
    }
  }

  void expect_well_formed(const LowProduct& product, const DeviceMethod& method,
                          unsigned capability) {
    const std::string name = formatted("{} {}: {}", to_string(product.type()),
                                       to_string(product.shape.grouping), method.description());
    const KernelRequest request = kernel_request(product, method);
    const std::string source = folder_ / "kernel.cl";
    const std::string ptx = folder_ / "kernel.ptx";
    test::write_file(source, builtins + request.generated + std::string(request.text));
    std::vector<std::string> command{clang_,    "-x",
                                     "cl",      "-cl-std=CL1.2",
                                     "-O3",     "-w",
                                     "-S",      "-fgnu-keywords",
                                     "-target", "nvptx64-nvidia-nvcl",
                                     "-Xclang", "-target-cpu",
                                     "-Xclang", "sm_80",
                                     "-o",      ptx,
                                     source};
    const auto options = words_of(request.options);
    command.insert(command.end(), options.begin(), options.end());
    const test::ProcessResult compiled = test::run_process(command);
    ASSERT_EQ(compiled.exit_code, 0) << name << '\n' << compiled.err;
    // This clang knows older architectures only, and copies the instructions without reading them.
    std::string text = test::read_file(ptx);
    const auto set = [&](const std::string& before, const std::string& after) {
      const std::size_t at = text.find(before);
      ASSERT_NE(at, std::string::npos) << text.substr(0, 200);
      text.replace(at, before.size(), after);
    };
    set(".version 7.0", ".version 8.4");
    set(".target sm_80", formatted(".target sm_{}", capability));
    std::string architecture = formatted("sm_{}", capability);
    if (has_hidden_instructions(std::string(request.text))) {
      text = with_hidden_instructions(text).value();
      architecture += 'a';
    }
    test::write_file(ptx, text);
    const test::ProcessResult assembled =
        test::run_process({assembler_, "-arch=" + architecture, "-o", folder_ / "out", ptx});
    EXPECT_EQ(assembled.exit_code, 0) << name << '\n' << assembled.err << assembled.out;
  }

  const std::string clang_ = "clang";
  const std::string assembler_ = "ptxas";
  test::TemporaryFolder folder_;
};

// Every type on every architecture, in turn with other candidates and groupings.
TEST_F(LowProductPtx, IsWellFormedForEveryArchitecture) {
  std::size_t turn = 0;
  for (const unsigned capability : {75U, 80U, 89U, 90U}) {
    for (const NumberType type : number_types) {
      const std::vector<DeviceMethod> methods = candidate_methods(nvidia(capability), type);
      if (methods.front().algorithm == "plain") continue;
      const auto grouping = static_cast<Grouping>(turn % 3);
      const LowProduct product(type, {256, 130, 300, grouping, 2});
      expect_well_formed(product, methods[turn * 7 % methods.size()], capability);
      ++turn;
    }
  }
  EXPECT_EQ(turn, 18U);
}

}  // namespace
}  // namespace gpufilter::lab
