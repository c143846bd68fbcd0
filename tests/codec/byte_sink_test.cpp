#include "codec/byte_sink.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/posix_file.hpp"
#include "support/child_process.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using Names = std::vector<std::string>;

std::vector<std::uint8_t> pattern(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::uint32_t state = 1;
  for (auto& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(state >> 24U);
  }
  return bytes;
}

std::string as_text(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

void write_in_pieces(ByteSink& sink, std::span<const std::uint8_t> bytes, std::size_t piece) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(piece, bytes.size());
    sink.write(bytes.first(count));
    bytes = bytes.subspan(count);
  }
}

TEST(FileSink, WritesPiecesOfAnySizeInOrder) {
  const test::TemporaryFolder folder;
  const auto bytes = pattern(1000003);
  for (const std::size_t piece : {977U, 262143U, 262144U, 262145U, 2000000U}) {
    const auto sink = open_sink(folder / "a");
    EXPECT_EQ(sink->name(), folder / "a");
    write_in_pieces(*sink, bytes, piece);
    EXPECT_EQ(sink->bytes_written(), bytes.size());
    sink->commit();
    EXPECT_TRUE(test::read_file(folder / "a") == as_text(bytes)) << piece;
  }
  EXPECT_EQ(test::names_in(folder.path()), Names{"a"});
}

TEST(FileSink, KeepsTheOrderOfSmallAndLargePieces) {
  const test::TemporaryFolder folder;
  const auto bytes = pattern(900000);
  const auto sink = open_sink(folder / "a");
  std::size_t begin = 0;
  for (const std::size_t end : {10U, 600000U, 600001U, 862146U, 900000U}) {
    sink->write(std::span(bytes).subspan(begin, end - begin));
    begin = end;
  }
  sink->commit();
  EXPECT_TRUE(test::read_file(folder / "a") == as_text(bytes));
}

TEST(FileSink, LeavesTheOldFileWithoutCommit) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "a", "old");
  open_sink(folder / "a")->write(pattern(500000));
  EXPECT_EQ(test::read_file(folder / "a"), "old");
  EXPECT_EQ(test::names_in(folder.path()), Names{"a"});
}

TEST(FileSink, SaysWhatIsWrong) {
  const test::TemporaryFolder folder;
  const std::string itself = folder.path();
  const std::string path = folder / "missing/a.png";
  EXPECT_EQ(test::objection_to<PictureError>([&] { (void)open_sink(path); }),
            path + ": the folder " + (folder / "missing") + " does not exist: create it first");
  EXPECT_EQ(test::objection_to<PictureError>([&] { (void)open_sink(itself); }),
            itself + ": is a folder: name the file to write");
  std::filesystem::create_symlink("missing/b.png", folder / "link.png");
  EXPECT_EQ(test::objection_to<PictureError>([&] { (void)open_sink(folder / "link.png"); }),
            (folder / "link.png") + ": leads to a folder that does not exist");
}

TEST(FileSink, ReportsAFullDisk) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "a", "old");
  const pid_t child = test::start_child([&] {
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    const auto message = test::objection_to<PictureError>([&] {
      const auto sink = open_sink(folder / "a");
      sink->write(pattern(5000));
      sink->commit();
    });
    return message == (folder / "a") +
                          ": the file would exceed the file size limit (ulimit -f) or that "
                          "of the file system"
               ? 0
               : 2;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
  EXPECT_EQ(test::read_file(folder / "a"), "old");
  EXPECT_EQ(test::names_in(folder.path()), Names{"a"});
}

TEST(StreamSink, WritesDevicesDirectly) {
  const auto sink = open_sink("/dev/null");
  sink->write(pattern(300000));
  EXPECT_NO_THROW(sink->commit());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));

  EXPECT_EQ(test::objection_to<PictureError>([&] {
              const auto full = open_sink("/dev/full");
              full->write(pattern(10));
              full->commit();
            }),
            "/dev/full: no space left on the device");
}

TEST(StreamSink, WritesPipes) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto bytes = pattern(700000);
  std::string received;
  std::thread reader([&] { received = test::read_file(path); });
  {
    const auto sink = open_sink(path);
    write_in_pieces(*sink, bytes, 1000);
    sink->commit();
  }
  reader.join();
  EXPECT_TRUE(received == as_text(bytes));
}

TEST(StreamSink, WritesStandardOutput) {
  const test::TemporaryFolder folder;
  const pid_t child = test::start_child([&] {
    const FileDescriptor file = open_file(folder / "a", O_WRONLY | O_CREAT, 0600);
    ::dup2(file.get(), STDOUT_FILENO);
    const auto sink = open_sink("-");
    sink->write(pattern(300001));
    sink->commit();
    return sink->name() == "standard output" ? 0 : 1;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
  EXPECT_TRUE(test::read_file(folder / "a") == as_text(pattern(300001)));
}

TEST(StreamSink, ReportsAClosedPipe) {
  const pid_t child = test::start_child([&] {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return 1;
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    const auto message = test::objection_to<PictureError>([&] {
      const auto sink = open_sink("-");
      sink->write(pattern(10));
      sink->commit();
    });
    return message == "standard output: the reader closed the pipe" ? 0 : 2;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
}

TEST(MemorySink, CollectsWhatIsWritten) {
  std::vector<std::uint8_t> collected{1};
  const auto sink = memory_sink(collected, "memory");
  sink->write(std::array<std::uint8_t, 2>{2, 3});
  sink->commit();
  EXPECT_EQ(collected, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(sink->bytes_written(), 2U);
  EXPECT_EQ(sink->name(), "memory");
}

}  // namespace
}  // namespace gpufilter
