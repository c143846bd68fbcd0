#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

TEST(FileDescriptor, ClosesWhatItOwnsOnce) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    FileDescriptor first(ends[0]);
    const FileDescriptor second(std::move(first));
    EXPECT_EQ(second.get(), ends[0]);
    EXPECT_EQ(::fcntl(ends[0], F_GETFD), 0);
  }
  EXPECT_EQ(::fcntl(ends[0], F_GETFD), -1);
  FileDescriptor other(ends[1]);
  other.close();
  EXPECT_EQ(::fcntl(ends[1], F_GETFD), -1);
  EXPECT_NO_THROW(other.close());
}

TEST(FileDescriptor, IsNotInheritedByOtherPrograms) {
  const test::TemporaryFolder folder;
  const FileDescriptor file = open_file(folder / "a", O_WRONLY | O_CREAT, 0600);
  EXPECT_EQ(::fcntl(file.get(), F_GETFD), FD_CLOEXEC);
}

TEST(ReadFully, GathersShortReads) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const FileDescriptor out(ends[0]);
  FileDescriptor in(ends[1]);
  const std::array<std::uint8_t, 3> bytes{1, 2, 3};
  write_fully(in.get(), bytes);
  in.close();
  std::array<std::uint8_t, 8> read{};
  EXPECT_EQ(read_fully(out.get(), read), 3U);
  EXPECT_EQ(read[2], 3);
}

TEST(DescribeSystemError, IsPlainAndInLowerCase) {
  EXPECT_EQ(describe_system_error(ENOENT), "no such file");
  EXPECT_EQ(describe_system_error(ENOSPC), "no space left on the device");
  EXPECT_EQ(describe_system_error(EACCES), "permission denied");
}

TEST(OpenFile, ThrowsWhatTheSystemSays) {
  const test::TemporaryFolder folder;
  try {
    const FileDescriptor file = open_file(folder / "missing", O_RDONLY);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

}  // namespace
}  // namespace gpufilter
