// A defective store costs a trial, but never causes a failure or a wrong answer.
#include "device/trial_store.hpp"

#include <gtest/gtest.h>

#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

constexpr std::time_t now = 1'000'000'000;
constexpr std::time_t day = 86'400;

class TrialStoreTest : public ::testing::Test {
 protected:
  TrialStoreTest() {
    test::write_file(folder_ / "library", "one");
    test::write_file(folder_ / "another", "two");
  }

  [[nodiscard]] bool knows(const std::string& key = "key", std::time_t when = now) const {
    return store_.recall(key, when).has_value();
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "cache/vendor-trials";
  const TrialStore store_{path_};
  const TrialAnswer works_{"", {folder_ / "library", folder_ / "another"}};
  const TrialAnswer fails_{"it \"fails\"\nin two lines", {}};
};

TEST_F(TrialStoreTest, RecallsWhatWasKept) {
  EXPECT_FALSE(knows());
  ASSERT_TRUE(store_.keep("key", works_, now));
  ASSERT_TRUE(store_.keep("other key", fails_, now));
  const auto works = store_.recall("key", now);
  ASSERT_TRUE(works);
  EXPECT_EQ(works->failure, "");
  EXPECT_EQ(works->files, works_.files);
  const auto fails = store_.recall("other key", now);
  ASSERT_TRUE(fails);
  EXPECT_EQ(fails->failure, fails_.failure);
  EXPECT_FALSE(knows("third key"));
}

TEST_F(TrialStoreTest, TheLatestAnswerHolds) {
  ASSERT_TRUE(store_.keep("key", fails_, now));
  ASSERT_TRUE(store_.keep("key", works_, now));
  EXPECT_EQ(store_.recall("key", now)->failure, "");
}

TEST_F(TrialStoreTest, FailuresLastADay) {
  ASSERT_TRUE(store_.keep("fails", fails_, now));
  ASSERT_TRUE(store_.keep("works", works_, now));
  EXPECT_TRUE(knows("fails", now + day - 1));
  EXPECT_FALSE(knows("fails", now + day));
  EXPECT_FALSE(knows("fails", now - 1));  // the clock was wrong
  EXPECT_TRUE(knows("works", now + 1000 * day));
}

TEST_F(TrialStoreTest, AnAnswerHoldsAsLongAsItsFiles) {
  ASSERT_TRUE(store_.keep("key", works_, now));
  test::write_file(folder_ / "another", "three");
  EXPECT_FALSE(knows());
  ASSERT_TRUE(store_.keep("key", works_, now));
  EXPECT_TRUE(knows());
  std::filesystem::rename(folder_ / "library", folder_ / "moved");
  EXPECT_FALSE(knows());
}

TEST_F(TrialStoreTest, EveryDamagedByteReadsAsAbsent) {
  ASSERT_TRUE(store_.keep("key", works_, now));
  const std::string sound = test::read_file(path_);
  for (std::size_t i = 1; i + 1 < sound.size(); ++i) {  // between two line ends
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    test::write_file(path_, damaged);
    // The blanks between the fields are not checked.
    EXPECT_EQ(knows(), i == 33 || i == 66) << "byte " << i;
  }
}

TEST_F(TrialStoreTest, EveryTornLineReadsAsAbsentAndHarmsNoOther) {
  ASSERT_TRUE(store_.keep("key", works_, now));
  const std::string sound = test::read_file(path_);
  for (std::size_t size = 0; size < sound.size(); ++size) {
    test::write_file(path_, sound.substr(0, size));
    EXPECT_FALSE(knows()) << size << " bytes";
    ASSERT_TRUE(store_.keep("other key", fails_, now));
    EXPECT_TRUE(knows("other key")) << size << " bytes";
  }
}

TEST_F(TrialStoreTest, LosesTheOldestOfManyAnswers) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(store_.keep("key " + std::to_string(i), works_, now));
    EXPECT_TRUE(knows("key " + std::to_string(i)));
  }
  EXPECT_FALSE(knows("key 0"));
  EXPECT_TRUE(knows("key 980"));
  EXPECT_LT(std::filesystem::file_size(path_), 64U * 400U);
}

TEST_F(TrialStoreTest, AFolderThatCannotBeMadeIsNoFailure) {
  const TrialStore store(folder_.path() / "library" / "vendor-trials");
  EXPECT_FALSE(store.keep("key", works_, now));
  EXPECT_EQ(store.recall("key", now), std::nullopt);
}

TEST_F(TrialStoreTest, AFolderInItsPlaceIsNoFailure) {
  std::filesystem::create_directories(path_);
  EXPECT_FALSE(store_.keep("key", works_, now));
  EXPECT_FALSE(knows());
}

}  // namespace
}  // namespace gpufilter
