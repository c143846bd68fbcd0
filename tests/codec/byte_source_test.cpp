#include "codec/byte_source.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <numeric>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

std::string text_pattern(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return text;
}

// The rest of the source, read in pieces of `piece` bytes.
std::string drain(ByteSource& source, std::size_t piece) {
  std::string text;
  std::vector<std::uint8_t> buffer(piece);
  while (true) {
    const std::size_t count = source.read(buffer);
    text.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < piece) return text;
  }
}

std::string peeked(ByteSource& source, std::size_t count) {
  const auto bytes = source.peek(count);
  return {bytes.begin(), bytes.end()};
}

TEST(FileSource, YieldsTheFileInPiecesOfAnySize) {
  const test::TemporaryFolder folder;
  for (const std::size_t size : {0U, 1U, 262143U, 262144U, 262145U, 1000003U}) {
    const std::string text = text_pattern(size);
    test::write_file(folder / "a", text);
    for (const std::size_t piece : {977U, 262144U, 300000U, 2000000U}) {
      const auto source = open_source(folder / "a");
      EXPECT_EQ(source->name(), folder / "a");
      EXPECT_TRUE(drain(*source, piece) == text) << size << " in pieces of " << piece;
      EXPECT_TRUE(source->peek(8).empty());
    }
  }
}

TEST(FileSource, PeekConsumesNothing) {
  const test::TemporaryFolder folder;
  const std::string text = text_pattern(600000);
  test::write_file(folder / "a", text);
  const auto source = open_source(folder / "a");
  EXPECT_EQ(peeked(*source, 8), text.substr(0, 8));
  EXPECT_EQ(peeked(*source, 64), text.substr(0, 64));
  // To ten bytes before the end of the buffer, so that the next peek crosses it.
  std::vector<std::uint8_t> buffer(262134);
  ASSERT_EQ(source->read(buffer), buffer.size());
  EXPECT_EQ(peeked(*source, 64), text.substr(262134, 64));
  EXPECT_TRUE(drain(*source, 1000) == text.substr(262134));
}

TEST(FileSource, SaysWhatIsWrong) {
  const test::TemporaryFolder folder;
  const std::string missing = folder / "missing.png";
  EXPECT_EQ(test::objection_to<PictureError>([&] { (void)open_source(missing); }),
            missing + ": no such file");
  const std::string itself = folder.path();
  EXPECT_EQ(test::objection_to<PictureError>([&] { (void)open_source(itself); }),
            itself + ": is a folder");
}

TEST(FileSource, SaysThatAFileMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may read every file";
  const test::TemporaryFolder folder;
  const std::string path = folder / "a";
  test::write_file(path, "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_EQ(test::objection_to<PictureError>([&] { (void)open_source(path); }),
            path + ": permission denied");
}

TEST(FileSource, ReportsFailuresWhileReading) {
  // Reading a process's memory at address 0 fails with EIO.
  const auto source = open_source("/proc/self/mem");
  EXPECT_EQ(test::objection_to<PictureError>([&] { (void)source->peek(8); }),
            "/proc/self/mem: input/output error");
}

TEST(FileSource, StreamsFromAPipeThroughInterruptions) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  struct sigaction ignore {};
  ignore.sa_handler = [](int) {};  // without SA_RESTART: calls end with EINTR
  ASSERT_EQ(sigaction(SIGUSR1, &ignore, nullptr), 0);

  const std::string text = text_pattern(700001);
  std::string received;
  std::string head;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    const auto source = open_source(path);
    head = peeked(*source, 8);
    received = drain(*source, 5000);
    done = true;
  });
  const auto interrupt = [&] {
    for (int i = 0; i < 20; ++i) {
      pthread_kill(reader.native_handle(), SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  interrupt();  // while it waits for a writer
  {
    const FileDescriptor pipe = open_file(path, O_WRONLY);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    write_fully(pipe.get(), std::span(bytes).first(3));
    interrupt();  // while it waits for more
    EXPECT_FALSE(done);
    write_fully(pipe.get(), std::span(bytes).subspan(3));
  }
  reader.join();
  EXPECT_EQ(head, text.substr(0, 8));
  EXPECT_TRUE(received == text);
}

TEST(FileSource, ReadsStandardInput) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "a", "a picture");
  const FileDescriptor before(::dup(STDIN_FILENO));
  const FileDescriptor file = open_file(folder / "a", O_RDONLY);
  ::dup2(file.get(), STDIN_FILENO);
  {
    const auto source = open_source("-");
    EXPECT_EQ(source->name(), "standard input");
    EXPECT_EQ(drain(*source, 100), "a picture");
  }
  EXPECT_NE(::fcntl(STDIN_FILENO, F_GETFD), -1) << "standard input was closed";
  ::dup2(before.get(), STDIN_FILENO);
}

TEST(MemorySource, BehavesLikeAFile) {
  const std::string text = text_pattern(1000);
  const auto source = memory_source({text.begin(), text.end()}, "some bytes");
  EXPECT_EQ(source->name(), "some bytes");
  EXPECT_EQ(peeked(*source, 64), text.substr(0, 64));
  std::array<std::uint8_t, 990> buffer{};
  EXPECT_EQ(source->read(buffer), 990U);
  EXPECT_EQ(peeked(*source, 64), text.substr(990));
  EXPECT_EQ(drain(*source, 7), text.substr(990));
  EXPECT_TRUE(source->peek(1).empty());
}

}  // namespace
}  // namespace gpufilter
