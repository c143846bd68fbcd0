#include <array>
#include <cstdlib>

#include <gtest/gtest.h>

#include "device/stores.hpp"
#include "support/kernel_folder.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

const KernelSite site{"blur_strips", {4, 8}, {4, 8}, "code"};
const KernelCandidate usual{"blur_strips", {4, 8, 64, 2}};
const KernelCandidate wide{"blur_strips", {8, 4, 64, 1}};
const KernelCandidate tile{"tiled 16x16", {4, 1, 4, 16}};
const std::array candidates{usual, tile, wide};

DeviceInfo device_named(const std::string& name, const std::string& vendor) {
  DeviceInfo device;
  device.name = name;
  device.vendor = vendor;
  device.platform = "a platform";
  device.driver_version = "1.2";
  return device;
}

TEST(TuningStore, KeepsWhatWasTunedForOneDeviceKernelAndFormat) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "cache/tuning.json";
  {
    TuningStore store(file);
    store.keep("a device, 1.2", site, {wide, 0.041, 0.052});
    store.save();
  }
  const TuningStore store(file);
  const auto found = store.find("a device, 1.2", site);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->candidate, wide);
  EXPECT_EQ(found->milliseconds, 0.041);
  EXPECT_EQ(found->next_milliseconds, 0.052);
  EXPECT_FALSE(store.find("a device, 1.3", site));
  for (const KernelSite& other : {KernelSite{"blur_naive", {4, 8}, {4, 8}, "code"},
                                  KernelSite{"blur_strips", {3, 8}, {4, 8}, "code"},
                                  KernelSite{"blur_strips", {4, 16}, {4, 8}, "code"},
                                  KernelSite{"blur_strips", {4, 8}, {3, 8}, "code"},
                                  KernelSite{"blur_strips", {4, 8}, {4, 8}, "changed code"}}) {
    EXPECT_FALSE(store.find("a device, 1.2", other)) << other.key();
  }
}

TEST(TuningStore, KeepsConstants) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "tuning.json";
  const KernelSite product{"matrix_product, 16 rows", {0, 0}, {0, 0}, "code"};
  EXPECT_EQ(product.key(), "matrix_product, 16 rows");
  const KernelCandidate block{"blocked", {}, {{"BLOCK_ROWS", 16}, {"A_PARTS", 1}}};
  EXPECT_EQ(to_string(block), "blocked, A_PARTS 1, BLOCK_ROWS 16");
  TuningStore store(file);
  store.keep("p", product, {block, 1, 2});
  store.save();
  EXPECT_EQ(TuningStore(file).find("p", product)->candidate, block);
}

TEST(TuningStore, IgnoresDamagedFiles) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "tuning.json";
  TuningStore whole(file);
  whole.keep("p", site, {wide, 1, 2});
  whole.save();
  const std::string text = test::read_file(file);
  for (std::size_t length = 0; length < text.size() - 2; length += 7) {
    test::write_file(file, text.substr(0, length));
    EXPECT_FALSE(TuningStore(file).find("p", site)) << length;
  }
  test::write_file(file, R"({"schema": "gpufilter-tuning-1", "devices": {"p": {"s": 1}}})");
  EXPECT_FALSE(TuningStore(file).find("p", site));
  test::write_file(file, R"({"schema": "of tomorrow", "devices": 7})");
  EXPECT_FALSE(TuningStore(file).find("p", site));
}

class StoredTuning : public ::testing::Test {
 protected:
  StoredTuning() : kernels_(folder_ / "kernels") {
    kernels_.write("tuned.json", R"({"tuned": [
      {"device": "", "vendor": "ACME", "site": "blur_strips 4x8 to 4x8",
       "algorithm": "tiled 16x16", "shape": [4, 1, 4, 16]},
      {"device": "Fast", "vendor": "ACME", "site": "blur_strips 4x8 to 4x8",
       "algorithm": "blur_strips", "shape": [8, 4, 64, 1]},
      {"device": "Odd", "vendor": "ACME", "site": "blur_strips 4x8 to 4x8",
       "algorithm": "no longer there", "shape": [8, 4, 64, 1]},
      {"device": "Fast", "vendor": "ACME", "site": "totals 4x8 to 4x8",
       "algorithm": "reduce_picture", "constants": {"BATCH": 2}}]})");
    setenv("GPUFILTER_KERNELS", (folder_ / "kernels").c_str(), 1);
  }
  ~StoredTuning() override { unsetenv("GPUFILTER_KERNELS"); }

  test::TemporaryFolder folder_;
  test::KernelFolder kernels_;
  std::shared_ptr<TuningStore> store_ = std::make_shared<TuningStore>();
};

TEST_F(StoredTuning, FallsBackFromHereToTheDeviceToItsVendorToNothing) {
  const DeviceInfo fast = device_named("ACME Fast 3", "ACME Inc.");
  const DeviceInfo slow = device_named("ACME Slow", "ACME Inc.");
  const auto choice = [&](const DeviceInfo& device) {
    return tuning_for(device, store_)->choose(site, candidates);
  };
  EXPECT_EQ(choice(fast)->candidate, 2U);
  EXPECT_EQ(choice(fast)->reason, "tuned for Fast");
  EXPECT_EQ(choice(slow)->candidate, 1U);
  EXPECT_EQ(choice(slow)->reason, "tuned for ACME");
  EXPECT_FALSE(choice(device_named("Fast", "Others")));
  // Candidates that no longer exist are skipped.
  EXPECT_EQ(choice(device_named("Odd", "ACME"))->candidate, 1U);
  store_->keep("ACME Fast 3, 1.2", site, {tile, 0.041, 0.052});
  EXPECT_EQ(choice(fast)->candidate, 1U);
  EXPECT_EQ(choice(fast)->reason, "tuned here: 0.041 ms, next best 0.052");
  store_->keep("ACME Slow, 1.2", site, {{"no longer there", {}}, 0.041, 0.052});
  EXPECT_EQ(choice(slow)->reason, "tuned for ACME");
  store_->keep("ACME Slow, 1.2", site, {usual, 2, 0});
  EXPECT_EQ(choice(slow)->candidate, 0U);
  EXPECT_EQ(choice(slow)->reason, "tuned here: 2.000 ms");
}

TEST_F(StoredTuning, ShipsConstants) {
  const std::array of_totals{KernelCandidate{"reduce_picture", {}, {{"BATCH", 1}}},
                             KernelCandidate{"reduce_picture", {}, {{"BATCH", 2}}}};
  const auto choice = tuning_for(device_named("ACME Fast 3", "ACME Inc."), store_)
                          ->choose({"totals", {4, 8}, {4, 8}, "code"}, of_totals);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->candidate, 1U);
}

TEST(KernelTuning, ShippedDataIsWhole) {
  // Every listed function has candidates, and the shipped choices are read without a warning.
  for (const char* function :
       {"blur_strips", "blur_naive", "fused, light", "fused, tables", "fused, medium"})
    EXPECT_FALSE(candidate_shapes(function).empty()) << function;
  for (const char* function : {"reduce_picture", "count_values", "matrix_product_blocked"}) {
    const auto all = candidate_constants(function);
    EXPECT_GT(all.size(), 1U) << function;
    for (const KernelConstants& constants : all)
      EXPECT_EQ(constants.size(), all.front().size()) << function;
  }
  EXPECT_TRUE(candidate_constants("none of that name").empty());
  EXPECT_TRUE(candidate_shapes("none of that name").empty());
}

}  // namespace
}  // namespace gpufilter
