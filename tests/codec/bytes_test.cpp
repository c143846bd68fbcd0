#include <sys/resource.h>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "codec/byte_sink.hpp"
#include "codec/byte_source.hpp"
#include "support/child_process.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

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
  const TemporaryFolder folder;
  for (const std::size_t size : {0U, 1U, 262143U, 262144U, 262145U, 1000003U}) {
    const std::string text = text_pattern(size);
    write_file(folder / "a", text);
    for (const std::size_t piece : {977U, 262144U, 300000U, 2000000U}) {
      const auto source = open_source(folder / "a");
      EXPECT_EQ(source->name(), folder / "a");
      EXPECT_TRUE(drain(*source, piece) == text) << size << " in pieces of " << piece;
      EXPECT_TRUE(source->peek(8).empty());
    }
  }
}

TEST(FileSource, PeekConsumesNothing) {
  const TemporaryFolder folder;
  const std::string text = text_pattern(600000);
  write_file(folder / "a", text);
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
  const TemporaryFolder folder;
  const std::string missing = folder / "missing.png";
  EXPECT_EQ(objection_to<PictureError>([&] { (void)open_source(missing); }),
            missing + ": no such file");
  const std::string itself = folder.path();
  EXPECT_EQ(objection_to<PictureError>([&] { (void)open_source(itself); }),
            itself + ": is a folder");
}

TEST(FileSource, SaysThatAFileMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may read every file";
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file(path, "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_EQ(objection_to<PictureError>([&] { (void)open_source(path); }),
            path + ": permission denied");
}

TEST(FileSource, ReportsFailuresWhileReading) {
  // Reading a process's memory at address 0 fails with EIO.
  const auto source = open_source("/proc/self/mem");
  EXPECT_EQ(objection_to<PictureError>([&] { (void)source->peek(8); }),
            "/proc/self/mem: input/output error");
}

TEST(FileSource, StreamsFromAPipeThroughInterruptions) {
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
  write_file(folder / "a", "a picture");
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
  const TemporaryFolder folder;
  const auto bytes = pattern(1000003);
  for (const std::size_t piece : {977U, 262143U, 262144U, 262145U, 2000000U}) {
    const auto sink = open_sink(folder / "a");
    EXPECT_EQ(sink->name(), folder / "a");
    write_in_pieces(*sink, bytes, piece);
    EXPECT_EQ(sink->bytes_written(), bytes.size());
    sink->commit();
    EXPECT_TRUE(read_file(folder / "a") == as_text(bytes)) << piece;
  }
  EXPECT_EQ(names_in(folder.path()), Names{"a"});
}

TEST(FileSink, KeepsTheOrderOfSmallAndLargePieces) {
  const TemporaryFolder folder;
  const auto bytes = pattern(900000);
  const auto sink = open_sink(folder / "a");
  std::size_t begin = 0;
  for (const std::size_t end : {10U, 600000U, 600001U, 862146U, 900000U}) {
    sink->write(std::span(bytes).subspan(begin, end - begin));
    begin = end;
  }
  sink->commit();
  EXPECT_TRUE(read_file(folder / "a") == as_text(bytes));
}

TEST(FileSink, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string itself = folder.path();
  const std::string path = folder / "missing/a.png";
  EXPECT_EQ(objection_to<PictureError>([&] { (void)open_sink(path); }),
            path + ": the folder " + (folder / "missing") + " does not exist: create it first");
  EXPECT_EQ(objection_to<PictureError>([&] { (void)open_sink(itself); }),
            itself + ": is a folder: name the file to write");
  std::filesystem::create_symlink("missing/b.png", folder / "link.png");
  EXPECT_EQ(objection_to<PictureError>([&] { (void)open_sink(folder / "link.png"); }),
            (folder / "link.png") + ": leads to a folder that does not exist");
}

TEST(FileSink, ReportsAFullDisk) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  const pid_t child = start_child([&] {
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    const auto message = objection_to<PictureError>([&] {
      const auto sink = open_sink(folder / "a");
      sink->write(pattern(5000));
      sink->commit();
    });
    return message == (folder / "a") +
                          ": the file would exceed the file size limit (ulimit -f) or the file "
                          "system's"
               ? 0
               : 2;
  });
  EXPECT_EQ(wait_for_child(child), 0);
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(names_in(folder.path()), Names{"a"});
}

TEST(StreamSink, WritesDevicesDirectly) {
  const auto sink = open_sink("/dev/null");
  sink->write(pattern(300000));
  EXPECT_NO_THROW(sink->commit());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));

  EXPECT_EQ(objection_to<PictureError>([&] {
              const auto full = open_sink("/dev/full");
              full->write(pattern(10));
              full->commit();
            }),
            "/dev/full: no space left on the device");
}

TEST(StreamSink, WritesPipes) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto bytes = pattern(700000);
  std::string received;
  std::thread reader([&] { received = read_file(path); });
  {
    const auto sink = open_sink(path);
    write_in_pieces(*sink, bytes, 1000);
    sink->commit();
  }
  reader.join();
  EXPECT_TRUE(received == as_text(bytes));
}

TEST(StreamSink, WritesStandardOutput) {
  const TemporaryFolder folder;
  const pid_t child = start_child([&] {
    const FileDescriptor file = open_file(folder / "a", O_WRONLY | O_CREAT, 0600);
    ::dup2(file.get(), STDOUT_FILENO);
    const auto sink = open_sink("-");
    sink->write(pattern(300001));
    sink->commit();
    return sink->name() == "standard output" ? 0 : 1;
  });
  EXPECT_EQ(wait_for_child(child), 0);
  EXPECT_TRUE(read_file(folder / "a") == as_text(pattern(300001)));
}

TEST(StreamSink, ReportsAClosedPipe) {
  const pid_t child = start_child([&] {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return 1;
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    const auto message = objection_to<PictureError>([&] {
      const auto sink = open_sink("-");
      sink->write(pattern(10));
      sink->commit();
    });
    return message == "standard output: the reader closed the pipe" ? 0 : 2;
  });
  EXPECT_EQ(wait_for_child(child), 0);
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

std::string all_of(ByteSource& source) {
  std::string text(3'000'000, '?');
  const std::size_t size = source.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return text.substr(0, size);
}

std::string long_text() {
  std::string text = "P5 1 1 255\n";  // a picture, as far as its beginning says
  for (int i = 0; text.size() < 2'500'000; ++i)
    text += std::to_string(i) + ";";
  return text;
}

TEST(RepeatableSource, ReadsAFileAgainAndAgain) {
  const TemporaryFolder folder;
  const std::string text = long_text();
  write_file(folder / "file", text);
  const RepeatableSource input(folder / "file", true);
  EXPECT_EQ(all_of(*input.open()), text);
  EXPECT_EQ(all_of(*input.open()), text);
}

TEST(RepeatableSource, ReadsAPipeAgainAndAgain) {
  const TemporaryFolder folder;
  const std::string text = long_text();
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_file(folder / "pipe", text); });
  const RepeatableSource input(folder / "pipe", true);
  writer.join();
  for (int i = 0; i < 2; ++i) {
    const auto source = input.open();
    EXPECT_EQ(all_of(*source), text);
    EXPECT_EQ(source->name(), folder / "pipe");
  }
}

TEST(RepeatableSource, CopiesNothingButPicturesAndSaysWhatIsMissing) {
  for (const auto& [path, reason] :
       {std::pair("/dev/zero", ": not a "), std::pair("/dev/null", ": the file is empty")}) {
    const std::string refusal =
        objection_to<PictureError>([&] { return RepeatableSource(path, true).open(); });
    EXPECT_TRUE(refusal.starts_with(std::string(path) + reason)) << refusal;
  }
  const TemporaryFolder folder;
  const RepeatableSource input(folder / "missing", true);
  EXPECT_THROW(static_cast<void>(input.open()), PictureError);
}

TEST(IsUtf8, KnowsWellFormedTextAndRefusesEverythingElse) {
  for (const char* text : {"", "plain", "\xC3\xA4", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x9F\x93\xB7", "\xF4\x8F\xBF\xBF", "\xC2\x80"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text :
       {"\xE4", "caf\xE9 au lait", "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82",
        "\xF0\x9F\x93", "\xE2\x28\xA1"}) {
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(std::string(text));
  }
}

TEST(Utf8FromLatin1, KeepsEveryCharacter) {
  std::string latin1;
  for (int c = 1; c < 256; ++c)
    latin1 += static_cast<char>(c);
  const std::string utf8 = utf8_from_latin1(latin1);
  EXPECT_TRUE(is_utf8(utf8));
  EXPECT_EQ(utf8.size(), 127U + 2U * 128U);
  EXPECT_EQ(utf8_from_latin1("caf\xE9 \xFF\x80"), "caf\xC3\xA9 \xC3\xBF\xC2\x80");
}

}  // namespace
}  // namespace gpufilter::test
