// Low-precision products on the processor and on devices, against the chains that define them.
#include "lab/products/low_product.hpp"

#include "host/instruction_set.hpp"
#include "support/filtering.hpp"
#include "support/process.hpp"

namespace gpufilter::lab {
namespace {

using test::each_of;
using Bits = std::vector<std::uint32_t>;
using MethodsOf = std::function<std::vector<DeviceMethod>(const DeviceInfo&, NumberType)>;

// The value of an element's bits by the format's definition.
float number_at(const NumberMatrix& matrix, std::size_t row, std::size_t k) {
  const std::uint8_t* const bytes = matrix.row(row);
  if (is_integer(matrix.type)) {
    const int byte = bytes[k];
    return static_cast<float>(byte < 128 ? byte : byte - 256);
  }
  if (matrix.type == NumberType::float32) {
    float number = 0;
    std::memcpy(&number, bytes + 4 * k, sizeof number);
    return number;
  }
  const bool is_short = is_fp8(matrix.type);
  const int word = is_short ? bytes[k] : bytes[2 * k] + 256 * bytes[2 * k + 1];
  const int mantissa_bits = is_short ? 3 : (matrix.type == NumberType::bfloat16 ? 7 : 10);
  const int bias = is_short ? 7 : (matrix.type == NumberType::bfloat16 ? 127 : 15);
  const int sign_bit = is_short ? 128 : 32768;
  const int magnitude = word & (sign_bit - 1);
  const int exponent = magnitude >> mantissa_bits;
  const int mantissa = magnitude & ((1 << mantissa_bits) - 1);
  const double number =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                    : std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  return static_cast<float>((word & sign_bit) != 0 ? -number : number);
}

float scale_at(const NumberMatrix& matrix, std::size_t row, std::size_t block) {
  if (matrix.side == MatrixSide::a) return matrix.scales.at(block * matrix.padded_rows + row);
  return matrix.scales.at(row / 128 * matrix.scale_blocks + block);
}

std::vector<float> numbers_of(const NumberMatrix& matrix, std::size_t row) {
  std::vector<float> numbers(matrix.depth);
  for (std::size_t k = 0; k < matrix.depth; ++k)
    numbers[k] = number_at(matrix, row, k);
  return numbers;
}

// One element by the chain of low_product.hpp, from a row of each matrix; integers are added up in
// 64 bits.
std::uint32_t element(const LowProduct& product, std::size_t a_row, const std::vector<float>& row,
                      std::size_t b_row, const std::vector<float>& column) {
  const NumberType type = product.type();
  const bool promoted = type == NumberType::int8_scaled || type == NumberType::fp8_scaled;
  std::int64_t integers = 0;
  float sum = 0;
  float total = 0;
  for (std::size_t k = 0; k < product.shape.depth; ++k) {
    const float a = row[k];
    const float b = column[k];
    integers += static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b);
    sum = std::fma(a, b, sum);
    const bool is_end = k % 128 == 127 || k + 1 == product.shape.depth;
    if (!promoted || !is_end) continue;
    const float scale = scale_at(product.a, a_row, k / 128) * scale_at(product.b, b_row, k / 128);
    total = std::fma(is_integer(type) ? static_cast<float>(integers) : sum, scale, total);
    integers = 0;
    sum = 0;
  }
  if (type == NumberType::int8)
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(integers));
  if (type == NumberType::fp8_unpromoted)
    sum *= scale_at(product.a, a_row, 0) * scale_at(product.b, b_row, 0);
  const float result = (promoted ? total : sum) + 0.0F;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &result, sizeof bits);
  return bits;
}

constexpr std::uint32_t untouched = 0x7fc00001;

// The rows that a group does not use stay untouched.
Bits chains(const LowProduct& product) {
  const LowShape& shape = product.shape;
  const std::size_t group_rows = (shape.columns + 255) / 256 * 256;
  Bits c(product.elements(), untouched);
  std::vector<std::vector<float>> of_b;
  for (std::size_t row = 0; row < product.b.rows; ++row)
    of_b.push_back(numbers_of(product.b, row));
  for (std::size_t row = 0; row < product.a.rows; ++row) {
    std::size_t b_row = 0;
    if (shape.grouping == Grouping::contiguous) {
      if (product.groups[row / 128] < 0) continue;
      b_row = static_cast<std::size_t>(product.groups[row / 128]) * group_rows;
    } else if (shape.grouping == Grouping::masked) {
      const std::size_t group = row / shape.rows;
      if (row % shape.rows >= static_cast<std::size_t>(product.groups[group])) continue;
      b_row = group * group_rows;
    }
    const std::vector<float> of_a = numbers_of(product.a, row);
    for (std::size_t column = b_row; column < b_row + shape.columns; ++column)
      c[row * shape.columns + column - b_row] = element(product, row, of_a, column, of_b[column]);
  }
  return c;
}

std::string name_of(const LowProduct& product) {
  const LowShape& shape = product.shape;
  return std::string(to_string(product.type())) + ' ' + std::to_string(shape.rows) + 'x' +
         std::to_string(shape.depth) + 'x' + std::to_string(shape.columns) + ' ' +
         std::string(to_string(shape.grouping));
}

void expect_on_host(const LowProduct& product, const Bits& expected) {
  for (const InstructionSet set : available_instruction_sets()) {
    const InstructionSetInUse in_use(set);
    for (const HostMethod& method : host_methods(product.type())) {
      Bits c(product.elements(), untouched);
      multiply_on_host(product, method.engine, method.cores, c.data());
      EXPECT_EQ(c == expected, true)
          << name_of(product) << ' ' << method.name << ' ' << to_string(set);
    }
  }
}

void expect_close(const Bits& c, const Bits& expected, const std::string& name) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    float is = 0;
    float should_be = 0;
    std::memcpy(&is, &c[i], sizeof is);
    std::memcpy(&should_be, &expected[i], sizeof is);
    if (expected[i] == untouched) {
      EXPECT_EQ(c[i], untouched) << name;
      continue;
    }
    largest = std::max(largest, std::abs(double{should_be}));
    difference = std::max(difference, std::abs(double{is} - double{should_be}));
  }
  EXPECT_LE(difference, 2e-3 * largest) << name;
}

void expect_on_devices(const LowProduct& product, const Bits& expected,
                       const MethodsOf& methods = device_methods) {
  for (const auto& session : test::all_sessions()) {
    Queue queue = session->make_queue();
    const DeviceLowProduct on_device(*session, queue, product);
    for (const DeviceMethod& method : methods(session->device(), product.type())) {
      const std::string name = name_of(product) + ' ' + method.name() + ' ' + method.description();
      on_device.poison(queue);
      const Kernel kernel = on_device.make_kernel(*session, method);
      on_device.enqueue(queue, kernel, method);
      const Bits c = on_device.result(queue);
      if (method.is_exact) {
        EXPECT_EQ(c == expected, true) << name << ' ' << session->device().name;
      } else {
        expect_close(c, expected, name);
      }
    }
  }
}

void expect_everywhere(const LowProduct& product) {
  const Bits expected = chains(product);
  expect_on_host(product, expected);
  expect_on_devices(product, expected);
}

TEST(LowProduct, IsItsChainForOddShapes) {
  const std::vector<LowShape> shapes{{1, 1, 1},      {17, 3, 16},    {1, 127, 128},
                                     {127, 17, 129}, {129, 130, 64}, {67, 65, 257}};
  for (const auto& [type, shape] : each_of(number_types, shapes)) {
    LowProduct product(type, shape);
    fill(product);
    expect_everywhere(product);
  }
}

TEST(LowProduct, IsItsChainInGroups) {
  for (const NumberType type : number_types) {
    LowProduct contiguous(type, {384, 33, 129, Grouping::contiguous, 3});
    fill(contiguous);
    contiguous.groups = {2, -1, 0};
    expect_everywhere(contiguous);
    LowProduct masked(type, {131, 129, 127, Grouping::masked, 4});
    fill(masked);
    masked.groups = {131, 0, 1, 129};
    expect_everywhere(masked);
  }
}

// Order, persistence and literals, in more blocks than there are persistent work-groups: every pair
// of their values, and each value in every grouping, as far as the device has them; with its first
// and its last depth.
TEST(LowProduct, IsItsChainByItsCandidates) {
  const auto expect = [](LowProduct product, const std::vector<std::int32_t>& groups,
                         const std::vector<KernelConstants>& wanted) {
    fill(product);
    if (!groups.empty()) product.groups = groups;
    expect_on_devices(product, chains(product), [&](const DeviceInfo& device, NumberType type) {
      const std::vector<DeviceMethod> all = candidate_methods(device, type);
      std::vector<DeviceMethod> methods;
      for (const KernelConstants& constants : wanted) {
        const auto has_them = [&](const DeviceMethod& method) {
          return std::ranges::includes(method.constants, constants);
        };
        const auto first = std::find_if(all.begin(), all.end(), has_them);
        if (first == all.end()) continue;
        methods.push_back(*first);
        const auto last = std::find_if(all.rbegin(), all.rend(), has_them);
        if (&*last != &*first) methods.push_back(*last);
      }
      EXPECT_FALSE(methods.empty()) << device.name;
      return methods;
    });
  };
  const auto of = [](std::size_t stripe, std::size_t groups, std::size_t literals) {
    return KernelConstants{{"STRIPE", stripe}, {"GROUPS_A_UNIT", groups}, {"LITERALS", literals}};
  };
  expect({NumberType::int8_scaled, {131, 259, 257}}, {}, {of(8, 0, 1), of(1, 2, 0)});
  expect({NumberType::fp8_scaled, {384, 65, 129, Grouping::contiguous, 3}}, {2, -1, 0},
         {of(1, 2, 1), of(8, 0, 0)});
  expect({NumberType::bfloat16, {131, 129, 70, Grouping::masked, 4}}, {131, 0, 1, 129},
         {of(8, 2, 0), of(1, 0, 1)});
}

// -128 x -128 twice exceeds int16; 1025 x 128 x 128 exceeds 2^24.
TEST(LowProduct, OfExtremeIntegersIsExact) {
  for (const NumberType type : {NumberType::int8, NumberType::int8_scaled}) {
    for (const auto& [left, right] : {std::pair{-128, -128}, {-128, 127}, {127, 127}}) {
      LowProduct product(type, {70, 66, 1025});
      for (auto* matrix : {&product.a, &product.b}) {
        const int number = matrix == &product.a ? left : right;
        for (std::size_t row = 0; row < matrix->rows; ++row)
          std::memset(matrix->row(row), number, matrix->depth);
      }
      if (type == NumberType::int8) {
        EXPECT_EQ(static_cast<std::int32_t>(
                      element(product, 3, numbers_of(product.a, 3), 5, numbers_of(product.b, 5))),
                  1025 * left * right);
      }
      expect_everywhere(product);
    }
  }
}

// Every pair of numbers that e4m3 has, and sums that overflow bfloat16's and float16's range.
TEST(LowProduct, OfExtremeFloatsIsItsChain) {
  LowProduct all(NumberType::fp8_scaled, {254, 254, 1});
  std::uint8_t byte = 0;
  for (std::size_t row = 0; row < 254; ++row, ++byte) {
    if (byte == 0x7f) ++byte;
    *all.a.row(row) = byte;
    *all.b.row(row) = byte;
  }
  all.a.scales.assign(all.a.scales.size(), 0x1p-100F);
  all.b.scales.assign(all.b.scales.size(), 0x1.555556p-41F);
  expect_everywhere(all);
  for (const NumberType type : {NumberType::bfloat16, NumberType::float16}) {
    LowProduct large(type, {5, 7, 200});
    std::mt19937 random(1);
    for (auto* matrix : {&large.a, &large.b}) {
      for (std::size_t row = 0; row < matrix->rows; ++row) {
        for (std::size_t k = 0; k < matrix->depth; ++k) {
          // Finite; the smallest and largest exponents of float16, and of bfloat16 a part.
          const auto bits = static_cast<std::uint16_t>(random() & 0xbbffU);
          std::memcpy(matrix->row(row) + 2 * k, &bits, sizeof bits);
        }
      }
    }
    expect_on_host(large, chains(large));
    for (const auto bits : chains(large))
      EXPECT_NE(bits, 0x80000000U);
  }
}

TEST(LowProduct, ShapesThatDoNotChainAreRefused) {
  check({130, 1, 1});
  check({256, 1, 1, Grouping::contiguous, 2});
  check({130, 1, 1, Grouping::masked, 2});
  try {
    check({130, 1, 1, Grouping::contiguous, 2});
    FAIL() << "130 rows are no whole number of blocks";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "bench matmul: --grouped contiguous divides A into groups of whole blocks of 128 "
                 "rows, but it has 130 rows; use a multiple of 128");
  }
}

TEST(LowProduct, SizesBeyondADevicesMemoryAreRefused) {
  DeviceInfo device;
  device.name = "Small";
  device.global_memory = 1000000;
  device.max_allocation = 1000000;
  check_memory(device, NumberType::int8, {256, 256, 256});
  try {
    check_memory(device, NumberType::int8, {1024, 1024, 1024});
    FAIL() << "1024 x 1024 numbers of int32 take 4 MiB";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "bench matmul: 1024x1024x1024 of int8 takes 6.3 MB, but Small has 1.0 MB; use "
                 "smaller matrices");
  }
}

TEST(NumberTypes, RoundToTheNearestNumberHalfToEven) {
  for (std::uint32_t bits = 0; bits < 0x7e; ++bits) {
    const auto low = static_cast<std::uint8_t>(bits);
    const auto high = static_cast<std::uint8_t>(bits + 1);
    const float middle = (from_e4m3(low) + from_e4m3(high)) / 2;
    EXPECT_EQ(to_e4m3(from_e4m3(low)), low);
    EXPECT_EQ(to_e4m3(-from_e4m3(low)), low + 0x80);
    EXPECT_EQ(to_e4m3(middle), bits % 2 == 0 ? low : high) << bits;
    EXPECT_EQ(to_e4m3(std::nextafter(middle, 0.0F)), low);
    EXPECT_EQ(to_e4m3(std::nextafter(middle, 500.0F)), high);
  }
  EXPECT_EQ(from_e4m3(0x7e), 448);
  EXPECT_EQ(to_e4m3(1e9F), 0x7e);
  EXPECT_EQ(from_e4m3(0x01), 0x1p-9F);
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const float next = high == 0x7c00 ? 65536.0F : from_float16(high);
    const float middle = (from_float16(low) + next) / 2;
    EXPECT_EQ(to_float16(from_float16(low)), low);
    EXPECT_EQ(to_float16(middle), bits % 2 == 0 ? low : high) << bits;
    EXPECT_EQ(to_float16(-std::nextafter(middle, 0.0F)), low + 0x8000);
  }
  EXPECT_EQ(from_float16(0x3c00), 1);
  EXPECT_EQ(from_float16(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_bfloat16(1 + 0x1p-8F), 0x3f80);
  EXPECT_EQ(to_bfloat16(1 + 0x1.8p-7F), 0x3f82);
  EXPECT_EQ(from_bfloat16(0xc040), -3);
}

// Kernels that are partly PTX, compiled by clang and NVIDIA's assembler where there is no GPU: the
// text is well formed for its architecture.

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
    if (request.rewrite != nullptr) {
      text = request.rewrite(text);
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
  for (const auto& [capability, type] :
       each_of(std::vector<unsigned>{75U, 80U, 89U, 90U}, number_types)) {
    const std::vector<DeviceMethod> methods = candidate_methods(nvidia(capability), type);
    if (methods.front().algorithm == "plain") continue;
    const auto grouping = static_cast<Grouping>(turn % 3);
    const LowProduct product(type, {256, 130, 300, grouping, 2});
    expect_well_formed(product, methods[turn * 7 % methods.size()], capability);
    ++turn;
  }
  EXPECT_EQ(turn, 18U);
}

// PTX that is compiled for one architecture and completed for another.

constexpr const char* ptx_head = "//\n// Generated by NVIDIA NVVM Compiler\n//\n\n.version 9.0\n";

TEST(PtxTarget, NamesTheArchitectureAndUncoversItsInstructions) {
  const std::string body = ".address_size 64\n\t// begin inline asm\n\t";
  EXPECT_EQ(with_hidden_instructions(
                ptx_head + (".target sm_90, texmode_independent\n" + body) +
                "// sm_90a: wgmma.fence;\n\t// sm_90a: wgmma.wait;\n// sm_100a: other;\n"),
            ptx_head + (".target sm_90a, texmode_independent\n" + body) +
                "wgmma.fence;\n\twgmma.wait;\n// sm_100a: other;\n");
  EXPECT_EQ(with_hidden_instructions(".version 9.0\n.target sm_90\nret;\n"),
            ".version 9.0\n.target sm_90a\nret;\n");
}

TEST(PtxTarget, OtherProgramsAreRefused) {
  for (const char* text : {"", "\177ELF", "\n.target sm_89, x\n", "\n.target sm_900\n",
                           "\n.target sm_90a\n", "// .target sm_90\n", "\n.target sm_90"})
    EXPECT_THROW(static_cast<void>(with_hidden_instructions(text)), DeviceError) << text;
}

}  // namespace
}  // namespace gpufilter::lab
