// Caches in whose place something strange lies: nobody waits for it, and it is ignored. A file that
// is too large is replaced; nothing else is touched.
#include <gtest/gtest.h>

#include "device/program_cache.hpp"
#include "device/stores.hpp"
#include "device/vendor_probes.hpp"
#include "support/strange_files.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// Calls check(folder, strange) for everything strange, with the error messages' limit.
template <typename Check>
void for_strange_files(int limit_mib, const Check& check) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(limit_mib)) {
    SCOPED_TRACE(strange.name);
    const test::TemporaryFolder folder;
    check(folder.path(), strange);
  }
}

bool is_replaced(const test::StrangeFile& strange) {
  return strange.name == "sparse";
}

TEST(StateFiles, ProgramsAreCompiledAgain) {
  for_strange_files(256, [](const fs::path& folder, const test::StrangeFile& strange) {
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
  for_strange_files(64, [](const fs::path& folder, const test::StrangeFile& strange) {
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
  for_strange_files(64, [](const fs::path& folder, const test::StrangeFile& strange) {
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
  for_strange_files(64, [&](const fs::path& folder, const test::StrangeFile& strange) {
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
  for_strange_files(64, [](const fs::path& folder, const test::StrangeFile& strange) {
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

}  // namespace
}  // namespace gpufilter
