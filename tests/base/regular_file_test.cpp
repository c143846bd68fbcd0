#include "base/regular_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/pictures.hpp"
#include "support/strange_files.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

std::string reason_for(const std::string& path, int flags, std::uint64_t limit = mib) {
  try {
    static_cast<void>(read_regular_file(open_regular_file(path, flags), limit));
    return "";
  } catch (const std::system_error& error) {
    return reason_of(error);
  }
}

TEST(RegularFile, IsReadUpToTheLimit) {
  const test::TemporaryFolder folder;
  for (const std::size_t size : {0U, 1U, 65'535U, 65'536U, 65'537U, 1'048'576U}) {
    std::string text(size, 'a');
    if (size > 0) text.back() = 'z';
    test::write_file(folder / "file", text);
    EXPECT_EQ(read_regular_file(folder / "file", mib), text) << size;
  }
  test::write_file(folder / "file", std::string(1'048'577, 'a'));
  EXPECT_EQ(reason_for(folder / "file", O_RDONLY), "is larger than 1 MiB");
}

// Files of /proc are regular ones of no size.
TEST(RegularFile, IsReadWhereItsSizeIsUnknown) {
  EXPECT_NE(read_regular_file("/proc/self/maps", mib), "");
  EXPECT_EQ(reason_for("/proc/self/maps", O_RDONLY, 10), "is larger than 0 MiB");
}

TEST(RegularFile, OthersAreRefusedAtOnce) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(1)) {
    const test::TemporaryFolder folder;
    strange.make(folder / "file");
    for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY | O_APPEND}) {
      EXPECT_EQ(reason_for(folder / "file", flags), strange.reason) << strange.name;
    }
  }
}

TEST(RegularFile, ALinkIsRefusedWhereLinksAreNotFollowed) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "file", "text");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  EXPECT_EQ(reason_for(folder / "link", O_RDONLY), "");
  EXPECT_EQ(reason_for(folder / "link", O_RDONLY | O_NOFOLLOW), "is a symbolic link");
  EXPECT_EQ(reason_for(folder / "none", O_RDONLY | O_NOFOLLOW), "no such file");
}

}  // namespace
}  // namespace gpufilter
