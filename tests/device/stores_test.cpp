#include "device/stores.hpp"

#include "device/program_cache.hpp"
#include "device/vendor_probes.hpp"
#include "support/kernel_folder.hpp"
#include "support/strange_files.hpp"

namespace gpufilter::test {
namespace {

using Binary = std::vector<std::uint8_t>;

TEST(JsonCache, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  const std::string file = folder / "not/there/yet.json";
  const JsonCache cache(file, "things-1");
  EXPECT_FALSE(cache.read());
  EXPECT_EQ(cache.write({{"a", std::vector{1, 2}}}), "");
  ASSERT_TRUE(cache.read());
  EXPECT_EQ(cache.read(), (Json{{"a", std::vector{1, 2}}, {"schema", "things-1"}}));
  EXPECT_EQ(cache.write({{"b", 3}}), "");
  EXPECT_FALSE(cache.read()->find("a"));
}

TEST(JsonCache, OtherSchemasAndDamageReadAsNull) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.json";
  const JsonCache cache(file, "things-1");
  for (const char* text : {"", "{", "[]", "7", "{}", R"({"schema": "things-2"})",
                           R"({"schema": 1})", R"({"schema": "things-1"} x)", "\xff\xfe"}) {
    write_file(file, text);
    ASSERT_TRUE(cache.read()) << text;
    EXPECT_TRUE(cache.read()->is_null()) << text;
  }
}

TEST(JsonCache, TextsThatAreNotUtf8AreReplaced) {
  const TemporaryFolder folder;
  const JsonCache cache(folder / "a.json", "things-1");
  EXPECT_EQ(cache.write({{"name", "GPU \xff"}}), "");
  EXPECT_EQ(cache.read()->at("name").text(), "GPU \xef\xbf\xbd");
}

TEST(JsonCache, SaysWhyItCouldNotBeWritten) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  const JsonCache cache(folder / "file/a.json", "things-1");
  EXPECT_NE(cache.write({{"a", 1}}), "");
  EXPECT_FALSE(cache.read());
}

TEST(JsonCache, WithoutAFileKeepsNothing) {
  const JsonCache cache(std::nullopt, "things-1");
  EXPECT_EQ(cache.write({{"a", 1}}), "");
  EXPECT_FALSE(cache.read());
}

class RateStoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
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
    write_file(file_, text);
    RateStore store(file_);
    EXPECT_FALSE(store.find("processor", "mlp").has_value()) << text;
    EXPECT_EQ(store.note("GPU"), "") << text;
    store.learn("processor", "mlp", 1);
    store.save();
    EXPECT_EQ(RateStore(file_).find("processor", "mlp"), 1) << text;
  }
  write_file(file_, R"({"schema": "gpufilter-rates-1",
                              "seconds": {"a": {"x": 2, "y": "?"}, "b": null}})");
  EXPECT_EQ(RateStore(file_).find("a", "x"), 2);
}

TEST_F(RateStoreTest, WhatCannotBeWrittenIsNoFailure) {
  write_file(folder_ / "cache", "a file where the folder should be");
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
  const std::string file = folder / "tuning.json";
  TuningStore whole(file);
  whole.keep("p", site, {wide, 1, 2});
  whole.save();
  const std::string text = read_file(file);
  for (std::size_t length = 0; length < text.size() - 2; length += 7) {
    write_file(file, text.substr(0, length));
    EXPECT_FALSE(TuningStore(file).find("p", site)) << length;
  }
  write_file(file, R"({"schema": "gpufilter-tuning-1", "devices": {"p": {"s": 1}}})");
  EXPECT_FALSE(TuningStore(file).find("p", site));
  write_file(file, R"({"schema": "of tomorrow", "devices": 7})");
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

  TemporaryFolder folder_;
  KernelFolder kernels_;
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

// Something unexpected in place of a cache is ignored, without waiting for it. A file that is too
// large is replaced; nothing else is touched.

namespace fs = std::filesystem;

// Calls check(folder, strange) for everything strange, with the error messages' limit.
template <typename Check>
void for_strange_files(int limit_mib, const Check& check) {
  const Alarm alarm;
  for (const auto& strange : strange_files(limit_mib)) {
    SCOPED_TRACE(strange.name);
    const TemporaryFolder folder;
    check(folder.path(), strange);
  }
}

bool is_replaced(const StrangeFile& strange) {
  return strange.name == "sparse";
}

TEST(StateFiles, ProgramsAreCompiledAgain) {
  for_strange_files(256, [](const fs::path& folder, const StrangeFile& strange) {
    const ProgramCache cache(folder);
    ASSERT_TRUE(cache.store("key", {1, 2}));
    const fs::path entry = fs::directory_iterator(folder)->path();
    fs::remove(entry);
    strange.make(entry);
    const fs::file_type type = fs::symlink_status(entry).type();
    EXPECT_EQ(cache.load("key"), std::nullopt);
    EXPECT_EQ(cache.store("key", {3, 4}), is_replaced(strange));
    EXPECT_EQ(cache.load("key").has_value(), is_replaced(strange));
    EXPECT_EQ(fs::symlink_status(entry).type(), type);
  });
}

TEST(StateFiles, JsonIsIgnoredWithANote) {
  for_strange_files(64, [](const fs::path& folder, const StrangeFile& strange) {
    const fs::path file = folder / "a.json";
    strange.make(file);
    const JsonCache cache(file, "things-1");
    EXPECT_FALSE(cache.read());
    const std::string failure = cache.write({{"a", 1}});
    if (is_replaced(strange)) {
      EXPECT_EQ(failure, "");
      EXPECT_EQ(cache.read()->at("a").count(), 1U);
    } else {
      EXPECT_EQ(failure, strange.reason);
    }
  });
}

TEST(StateFiles, RatesAreMeasuredAgain) {
  for_strange_files(64, [](const fs::path& folder, const StrangeFile& strange) {
    const fs::path file = folder / "rates.json";
    strange.make(file);
    RateStore store(file);
    EXPECT_FALSE(store.find("processor", "blur"));
    store.learn("processor", "blur", 1);
    EXPECT_NO_THROW(store.save());
    EXPECT_EQ(RateStore(file).find("processor", "blur").has_value(), is_replaced(strange));
  });
}

TEST(StateFiles, TuningIsIgnored) {
  const KernelSite site{"blur_strips", {4, 8}, {4, 8}, "code"};
  for_strange_files(64, [&](const fs::path& folder, const StrangeFile& strange) {
    const fs::path file = folder / "tuning.json";
    strange.make(file);
    TuningStore store(file);
    EXPECT_FALSE(store.find("a device", site));
    store.keep("a device", site, {{"blur_strips", {4, 8, 64, 2}}, 1, 2});
    testing::internal::CaptureStderr();
    store.save();
    const std::string warning = "gpufilter: warning: " + file.native() +
                                ": the tuning results were not stored: " + strange.reason + "\n";
    EXPECT_EQ(testing::internal::GetCapturedStderr(), is_replaced(strange) ? "" : warning);
    EXPECT_EQ(TuningStore(file).find("a device", site).has_value(), is_replaced(strange));
  });
}

TEST(StateFiles, VendorsAreProbedAgain) {
  for_strange_files(64, [](const fs::path& folder, const StrangeFile& strange) {
    const fs::path file = folder / "probes.json";
    strange.make(file);
    int probes = 0;
    const auto probe = [&probes](const std::string&) {
      ++probes;
      return ProbeResult{};
    };
    for (int process = 0; process < 2; ++process)
      EXPECT_EQ(VendorProbes(file, probe).failure_of("library", PastAnswers::used), "");
    EXPECT_EQ(probes, is_replaced(strange) ? 1 : 2);
  });
}

// A defective cache costs time, but never causes a failure or a wrong program.

class ProgramCacheTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  ProgramCache cache_{folder_.path() / "programs"};
  const Binary binary_{1, 2, 3, 250, 0, 7};
};

TEST_F(ProgramCacheTest, ReturnsWhatWasStored) {
  EXPECT_EQ(cache_.load("key"), std::nullopt);
  EXPECT_TRUE(cache_.store("key", binary_));
  EXPECT_EQ(cache_.load("key"), binary_);
  EXPECT_EQ(cache_.load("other key"), std::nullopt);
}

TEST_F(ProgramCacheTest, ReplacesAnEntry) {
  ASSERT_TRUE(cache_.store("key", binary_));
  const Binary other{9};
  ASSERT_TRUE(cache_.store("key", other));
  EXPECT_EQ(cache_.load("key"), other);
}

TEST_F(ProgramCacheTest, TakesAnEmptyBinary) {
  ASSERT_TRUE(cache_.store("key", {}));
  EXPECT_EQ(cache_.load("key"), Binary{});
}

TEST_F(ProgramCacheTest, AnEntryOfAnotherKeyReadsAsAbsent) {
  ASSERT_TRUE(cache_.store("key", binary_));
  std::filesystem::copy_file(cache_.entry("key"), cache_.entry("yek"));
  EXPECT_EQ(cache_.load("yek"), std::nullopt);
}

TEST_F(ProgramCacheTest, EveryDamagedByteReadsAsAbsent) {
  ASSERT_TRUE(cache_.store("key", binary_));
  const std::string path = cache_.entry("key");
  const std::string sound = read_file(path);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write_file(path, damaged);
    EXPECT_EQ(cache_.load("key"), std::nullopt) << "byte " << i;
  }
}

TEST_F(ProgramCacheTest, EveryTruncatedEntryReadsAsAbsent) {
  ASSERT_TRUE(cache_.store("key", binary_));
  const std::string path = cache_.entry("key");
  const std::string sound = read_file(path);
  for (std::size_t size = 0; size < sound.size(); ++size) {
    write_file(path, sound.substr(0, size));
    EXPECT_EQ(cache_.load("key"), std::nullopt) << size << " bytes";
  }
}

TEST_F(ProgramCacheTest, AFolderThatCannotBeMadeIsNoFailure) {
  write_file(folder_ / "file", "not a folder");
  const ProgramCache cache(folder_.path() / "file" / "programs");
  EXPECT_FALSE(cache.store("key", binary_));
  EXPECT_EQ(cache.load("key"), std::nullopt);
}

TEST_F(ProgramCacheTest, AFolderInPlaceOfAnEntryIsNoFailure) {
  std::filesystem::create_directories(cache_.entry("key"));
  EXPECT_EQ(cache_.load("key"), std::nullopt);
  EXPECT_FALSE(cache_.store("key", binary_));
}

}  // namespace
}  // namespace gpufilter::test
