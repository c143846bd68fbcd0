#include <limits>

#include <gtest/gtest.h>

#include "device/stores.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

class RateStoreTest : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  const std::string file_ = folder_ / "cache/rates.json";
};

TEST_F(RateStoreTest, KeepsWhatItLearned) {
  {
    RateStore store(file_);
    EXPECT_FALSE(store.find("processor", "blur 8").has_value());
    store.learn("processor", "blur 8", 2e-10);
    store.learn("a device, 1.0", "start", 0.25);
    store.keep_note("GPU", "a device, 1.0");
    store.save();
  }
  const RateStore store(file_);
  EXPECT_EQ(store.find("processor", "blur 8"), 2e-10);
  EXPECT_EQ(store.find("a device, 1.0", "start"), 0.25);
  EXPECT_FALSE(store.find("processor", "start").has_value());
  EXPECT_EQ(store.note("GPU"), "a device, 1.0");
  EXPECT_EQ(store.note("another"), "");
}

TEST_F(RateStoreTest, LaterRunsMoveARateByAThird) {
  RateStore store;
  store.learn("processor", "mlp", 3);
  store.learn("processor", "mlp", 6);
  EXPECT_DOUBLE_EQ(store.find("processor", "mlp").value(), 4);
}

TEST_F(RateStoreTest, IgnoresWhatIsNoTime) {
  RateStore store;
  for (const double seconds : {0.0, -1.0, 1e6, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
    store.learn("processor", "mlp", seconds);
  }
  EXPECT_FALSE(store.find("processor", "mlp").has_value());
}

TEST_F(RateStoreTest, ReadsDamagedFilesAsFarAsTheyMakeSense) {
  std::filesystem::create_directories(folder_ / "cache");
  for (const char* text :
       {"", "{", "[]", "null", "\"text\"", "\xff\xfe", R"({"schema": "another", "seconds": {}})",
        R"({"schema": "gpufilter-rates-1", "seconds": 1, "notes": []})",
        R"({"schema": "gpufilter-rates-1", "seconds": {"processor": 7}, "notes": {"GPU": 7}})",
        R"({"schema": "gpufilter-rates-1", "seconds": {"processor": {"mlp": "fast"}}})",
        R"({"schema": "gpufilter-rates-1", "seconds": {"processor": {"mlp": -1}}})"}) {
    test::write_file(file_, text);
    RateStore store(file_);
    EXPECT_FALSE(store.find("processor", "mlp").has_value()) << text;
    EXPECT_EQ(store.note("GPU"), "") << text;
    store.learn("processor", "mlp", 1);
    store.save();
    EXPECT_EQ(RateStore(file_).find("processor", "mlp"), 1) << text;
  }
  test::write_file(file_, R"({"schema": "gpufilter-rates-1",
                              "seconds": {"a": {"x": 2, "y": "?"}, "b": null}})");
  EXPECT_EQ(RateStore(file_).find("a", "x"), 2);
}

TEST_F(RateStoreTest, WhatCannotBeWrittenIsNoFailure) {
  test::write_file(folder_ / "cache", "a file where the folder should be");
  RateStore store(file_);
  store.learn("processor", "mlp", 1);
  store.save();
  EXPECT_EQ(store.find("processor", "mlp"), 1);
}

TEST_F(RateStoreTest, IsNotWrittenForSmallChanges) {
  RateStore store(file_);
  store.learn("processor", "mlp", 1);
  store.save();
  std::filesystem::remove(file_);
  store.learn("processor", "mlp", 1.01);
  store.save();
  EXPECT_FALSE(std::filesystem::exists(file_));
  store.learn("processor", "mlp", 2);
  store.save();
  EXPECT_TRUE(std::filesystem::exists(file_));
}

}  // namespace
}  // namespace gpufilter
