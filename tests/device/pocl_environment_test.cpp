#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "device/pocl.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolder, IsNewAndInside) {
  const test::TemporaryFolder base;
  const auto first = make_scratch_folder(base.path() / "cache" / "gpufilter");
  const auto second = make_scratch_folder(base.path() / "cache" / "gpufilter");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(first->parent_path(), base.path() / "cache" / "gpufilter");
  EXPECT_TRUE(fs::is_empty(*first));
}

TEST(ScratchFolder, IsNotMadeWhereNothingCanBeWritten) {
  const test::TemporaryFolder base;
  test::write_file(base / "file", "");
  EXPECT_EQ(make_scratch_folder(base.path() / "file"), std::nullopt);
  EXPECT_EQ(make_scratch_folder("/proc"), std::nullopt);
  EXPECT_EQ(make_scratch_folder(""), std::nullopt);
}

TEST(ScratchFolder, RemovesWhatAKilledProcessLeftAndNothingElse) {
  const test::TemporaryFolder base;
  fs::create_directories(base.path() / "gpufilter-pocl-abandoned" / "deep");
  test::write_file(base / "gpufilter-pocl-abandoned/lock", "");
  fs::create_directories(base.path() / "gpufilter-pocl-in-use");
  test::write_file(base / "gpufilter-pocl-in-use/lock", "");
  fs::create_directories(base.path() / "gpufilter-pocl-just-made");
  fs::create_directories(base.path() / "programs");
  const int held = open((base / "gpufilter-pocl-in-use/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);

  ASSERT_TRUE(make_scratch_folder(base.path()));
  EXPECT_FALSE(fs::exists(base.path() / "gpufilter-pocl-abandoned"));
  EXPECT_TRUE(fs::exists(base.path() / "gpufilter-pocl-in-use"));
  EXPECT_TRUE(fs::exists(base.path() / "gpufilter-pocl-just-made"));
  EXPECT_TRUE(fs::exists(base.path() / "programs"));
  close(held);
}

}  // namespace
}  // namespace gpufilter
