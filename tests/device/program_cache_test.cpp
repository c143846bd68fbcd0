// A defective cache costs time, but never causes a failure or a wrong program.
#include "device/program_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using Binary = std::vector<std::uint8_t>;

class ProgramCacheTest : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
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
  const std::string sound = test::read_file(path);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    test::write_file(path, damaged);
    EXPECT_EQ(cache_.load("key"), std::nullopt) << "byte " << i;
  }
}

TEST_F(ProgramCacheTest, EveryTruncatedEntryReadsAsAbsent) {
  ASSERT_TRUE(cache_.store("key", binary_));
  const std::string path = cache_.entry("key");
  const std::string sound = test::read_file(path);
  for (std::size_t size = 0; size < sound.size(); ++size) {
    test::write_file(path, sound.substr(0, size));
    EXPECT_EQ(cache_.load("key"), std::nullopt) << size << " bytes";
  }
}

TEST_F(ProgramCacheTest, AFolderThatCannotBeMadeIsNoFailure) {
  test::write_file(folder_ / "file", "not a folder");
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
}  // namespace gpufilter
