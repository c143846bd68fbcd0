#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
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
  EXPECT_EQ(reason_for("/proc/self/maps", O_RDONLY, 10), "is larger than 0 KiB");
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

TEST(RegularFile, NamedByTheUserItMayBeAPipe) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { test::write_file(folder / "pipe", "text"); });
  EXPECT_EQ(read_file_or_pipe(folder / "pipe", mib), "text");
  writer.join();
  EXPECT_EQ(read_file_or_pipe("/dev/null", mib), "");
}

TEST(RegularFile, NamedByTheUserItHasToEnd) {
  const auto reason = [](const std::string& path) -> std::string {
    try {
      return read_file_or_pipe(path, mib);
    } catch (const std::system_error& error) {
      return reason_of(error);
    }
  };
  EXPECT_EQ(reason("/dev/zero"), "is not a regular file");
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    const FileDescriptor pipe = open_file(folder / "pipe", O_WRONLY);
    const std::vector<std::uint8_t> bytes(mib + 1);
    write_fully(pipe.get(), bytes);
  });
  EXPECT_EQ(reason(folder / "pipe"), "is larger than 1 MiB");
  writer.join();
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
