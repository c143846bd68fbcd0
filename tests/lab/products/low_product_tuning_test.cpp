// Which kernels of low-precision products are tried on a device, and what is asked of their
// results.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lab/products/low_product.hpp"
#include "lab/products/sampled_errors.hpp"

namespace gpufilter::lab {
namespace {

DeviceInfo device_of(unsigned capability, std::uint64_t local_memory) {
  DeviceInfo device;
  device.compute_capability = capability;
  device.max_work_group_size = 1024;
  device.max_work_item_sizes = {1024, 1024, 64};
  device.local_memory = local_memory;
  return device;
}

std::set<std::size_t> values_of(const std::vector<DeviceMethod>& methods, const std::string& name) {
  std::set<std::size_t> values;
  for (const DeviceMethod& method : methods) {
    if (method.constants.contains(name)) values.insert(method.constants.at(name));
  }
  return values;
}

using Values = std::set<std::size_t>;

TEST(LowProductCandidates, VaryDepthOrderPersistenceAndLiterals) {
  for (const unsigned capability : {0U, 75U, 80U, 89U, 90U}) {
    for (const NumberType type : number_types) {
      const auto methods = candidate_methods(device_of(capability, 49152), type);
      EXPECT_GT(values_of(methods, "STAGES").size(), 1U);
      EXPECT_GT(values_of(methods, "STRIPE").size(), 1U);
      EXPECT_EQ(values_of(methods, "GROUPS_A_UNIT"), (Values{0, 2}));
      EXPECT_EQ(values_of(methods, "LITERALS"), (Values{0, 1}));
      std::set<std::string> names;
      for (const DeviceMethod& method : methods)
        names.insert(method.name() + method.description());
      EXPECT_EQ(names.size(), methods.size()) << "descriptions tell them apart";
      for (const DeviceMethod& method : device_methods(device_of(capability, 49152), type))
        EXPECT_TRUE(names.contains(method.name() + method.description())) << method.name();
    }
  }
}

TEST(LowProductCandidates, AreOfTheFastestInstructionsAndFitTheDevice) {
  const auto usual = [](unsigned capability, NumberType type) {
    return candidate_methods(device_of(capability, 49152), type).front().algorithm;
  };
  EXPECT_EQ(usual(0, NumberType::int8), "plain");
  EXPECT_EQ(usual(75, NumberType::int8), "dp4a");
  EXPECT_EQ(usual(75, NumberType::float16), "plain");
  EXPECT_EQ(usual(80, NumberType::int8_scaled), "tensor cores");
  EXPECT_EQ(usual(80, NumberType::fp8_scaled), "plain");
  EXPECT_EQ(usual(89, NumberType::fp8_scaled), "tensor cores");
  EXPECT_EQ(usual(90, NumberType::fp8_scaled), "warpgroups");
  EXPECT_EQ(usual(90, NumberType::float32), "plain");
  // Two stages of 64 + 64 rows of 16 bytes are 4096 bytes.
  const auto all = candidate_methods(device_of(0, 4096), NumberType::int8);
  const auto small = candidate_methods(device_of(0, 4095), NumberType::int8);
  EXPECT_EQ(all.size(), 16U);
  EXPECT_EQ(values_of(small, "STAGES"), (Values{1}));
  EXPECT_EQ(small.size(), 8U);
}

// C as it has to be: rows that are not in use are poisoned.
std::vector<std::uint32_t> right(const LowProduct& product) {
  std::vector<std::uint32_t> c = reference_low_product(product);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t row = i / product.shape.columns;
    const bool is_used = std::ranges::any_of(product.parts(), [row](const ProductPart& part) {
      return row >= part.a_row && row < part.a_row + part.rows;
    });
    if (!is_used) c[i] = DeviceLowProduct::poisoned;
  }
  return c;
}

TEST(LowProductOracle, TakesNoBitForAnother) {
  LowProduct product(NumberType::int8_scaled, {9, 7, 130, Grouping::masked, 3});
  fill(product);
  product.groups = {9, 0, 4};
  LowProductOracle oracle(product);
  const DeviceMethod exact = candidate_methods(device_of(90, 49152), product.type()).front();
  const auto c = right(product);
  EXPECT_EQ(oracle.difference(exact, c), std::nullopt);
  for (const std::size_t place : {0, 62, 63, 18 * 7 + 27, 22 * 7, 188}) {
    auto wrong = c;
    wrong[place] ^= 1;
    const auto difference = oracle.difference(exact, wrong);
    ASSERT_TRUE(difference) << place;
    EXPECT_TRUE(difference->starts_with("9x130x7: row " + std::to_string(place / 7) + ", column " +
                                        std::to_string(place % 7) + ": bits "))
        << *difference;
  }
}

// Tensor cores add up floats in another order: close is right, but only one way of it.
TEST(LowProductOracle, TakesFloatsThatAreCloseAndTheSameForEveryDivisionOfTheWork) {
  LowProduct product(NumberType::fp8_scaled, {70, 66, 300});
  fill(product);
  LowProductOracle oracle(product);
  const auto methods = candidate_methods(device_of(90, 49152), product.type());
  const auto other = std::ranges::find(methods, "tensor cores", &DeviceMethod::algorithm);
  ASSERT_NE(other, methods.end());
  const DeviceMethod& usual = methods.front();
  const auto c = right(product);
  EXPECT_TRUE(oracle.difference(usual, std::vector<std::uint32_t>(c.size(), 0)));
  EXPECT_TRUE(
      oracle.difference(usual, std::vector<std::uint32_t>(c.size(), DeviceLowProduct::poisoned)));
  auto close = c;
  close[5] ^= 1;
  EXPECT_EQ(oracle.difference(usual, close), std::nullopt);
  EXPECT_TRUE(oracle.difference(methods.back(), c)) << methods.back().name();
  EXPECT_EQ(oracle.difference(methods.back(), close), std::nullopt);
  EXPECT_EQ(oracle.difference(*other, c), std::nullopt) << "other instructions";
}

}  // namespace
}  // namespace gpufilter::lab
