// Journals and the contents of files that they record.
#include "batch/journal.hpp"

#include <sys/resource.h>

#include "batch/file_content.hpp"
#include "batch/shard_run.hpp"
#include "support/child_process.hpp"
#include "support/strange_files.hpp"

namespace gpufilter {
namespace {

JournalRecord some_record(std::uint64_t number) {
  return {.work = {1, 2},
          .input = {3, number},
          .input_stamp = FileStamp{5, 6, -7, 8},
          .output = {9, UINT64_MAX},
          .output_bytes = 10,
          .output_stamp = std::nullopt};
}

TEST(Journal, ALineHoldsARecord) {
  JournalRecord record = some_record(4);
  for (const std::string& name : {std::string("sub/a.png"), std::string("a b\n%41\x7f\xff"),
                                  std::string("%"), std::string(300, '\n')}) {
    const std::string line = journal_line(name, record);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto read = parse_journal_line(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(read->first, name);
    EXPECT_EQ(read->second, record);
  }
  record.input_stamp.reset();
  record.output_stamp = FileStamp{1, 2, 3, 4};
  EXPECT_EQ(parse_journal_line(journal_line("a", record))->second, record);
}

// Written with other hashes, by an earlier version of the program.
TEST(Journal, ALineOfAnotherVersionOrADamagedOneIsAbsent) {
  const std::string digits(32, '0');
  const std::string text = " 1 " + digits + " " + digits + " - " + digits +
                           " 10 - a.png";  // the text after the checksum
  EXPECT_FALSE(parse_journal_line("0011223344556677" + text));
  // Even if its checksum is right.
  std::string then = journal_line("a.png", {}).substr(17);
  ASSERT_EQ(then.substr(0, 2), "2 ");
  then[0] = '1';
  EXPECT_FALSE(parse_journal_line(to_string(content_hash(then)).substr(0, 16) + " " + then));
  then[0] = '2';
  EXPECT_TRUE(parse_journal_line(to_string(content_hash(then)).substr(0, 16) + " " + then));
  const std::string line = journal_line("a.png", some_record(4));
  for (std::size_t size = 0; size < line.size(); ++size)
    EXPECT_FALSE(parse_journal_line(line.substr(0, size))) << size;
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string damaged = line;
    damaged[i] = damaged[i] == '1' ? '2' : '1';
    EXPECT_FALSE(parse_journal_line(damaged)) << damaged;
  }
  EXPECT_FALSE(parse_journal_line(line + " "));
  EXPECT_FALSE(parse_journal_line(""));
}

struct JournalFile : ::testing::Test {
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / journal_name;
};

TEST_F(JournalFile, ATornLineDoesNotAffectOthers) {
  Journal(folder_.path()).add("a", some_record(1));
  const std::string whole = test::read_file(path_);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    test::write_file(path_, whole + whole.substr(0, size));
    Journal(folder_.path()).add("b", some_record(2));
    const JournalRecords records = read_journal(folder_.path());
    EXPECT_EQ(records.size(), 2U) << size;
    const std::string now = test::read_file(path_);
    EXPECT_EQ(std::count(now.begin(), now.end(), '\n'), 2);
  }
}

TEST_F(JournalFile, DamagedLinesAreCounted) {
  const auto damage = [&](const std::string& text) {
    test::write_file(path_, text);
    Damage found;
    static_cast<void>(read_journal(folder_.path(), &found));
    return found.text();
  };
  const std::string line = journal_line("a", some_record(1)) + "\n";
  std::string changed = line;
  changed[40] = changed[40] == '1' ? '2' : '1';
  const std::string unfinished = line.substr(0, 50);
  EXPECT_EQ(damage(""), "is damaged: 0 of 0 lines cannot be read");
  EXPECT_EQ(damage(line + line), "is damaged: 0 of 2 lines cannot be read");
  EXPECT_EQ(damage(line + changed + "\n" + line), "is damaged: 1 of 3 lines cannot be read");
  EXPECT_EQ(damage(line + unfinished), "is damaged: 0 of 1 line cannot be read");
  EXPECT_EQ(damage(line + unfinished.substr(0, 5)), "is damaged: 0 of 1 line cannot be read");
  EXPECT_EQ(damage(unfinished + "\n" + line), "is damaged: 1 of 2 lines cannot be read");
  EXPECT_EQ(damage(line + std::string(512, '\0')), "is damaged: 1 of 2 lines cannot be read");
  EXPECT_EQ(damage("\x89PNG\r\n\x1a\n"), "is damaged: 2 of 2 lines cannot be read");
  // Another version's line is intact.
  EXPECT_EQ(damage(sealed("9 of another version") + "\n"),
            "is damaged: 0 of 1 line cannot be read");
}

struct LongJournal : JournalFile {
  // Each of `outputs` is recorded `times` times.
  void write(int outputs, int times) const {
    std::string text;
    for (int i = 0; i < outputs * times; ++i)
      text +=
          journal_line(std::to_string(i % outputs), some_record(static_cast<unsigned>(i))) + "\n";
    test::write_file(path_, text);
  }

  [[nodiscard]] std::ptrdiff_t lines() const {
    const std::string text = test::read_file(path_);
    return std::count(text.begin(), text.end(), '\n');
  }
};

TEST_F(LongJournal, IsRewrittenIfMostOfItIsStale) {
  write(400, 3);
  const JournalRecords before = read_journal(folder_.path());
  {
    Journal journal(folder_.path());
    EXPECT_EQ(lines(), 400);
    EXPECT_EQ(read_journal(folder_.path()), before);
    EXPECT_EQ(before.at("7"), some_record(807));
    EXPECT_THROW(const Journal second(folder_.path()), UsageError) << "it is locked, too";
    journal.add("7", some_record(5));
  }
  EXPECT_EQ(lines(), 401);
  EXPECT_EQ(read_journal(folder_.path()).at("7"), some_record(5));
  EXPECT_EQ(test::names_in(folder_.path()), std::vector<std::string>{journal_name});
}

TEST_F(LongJournal, IsNotRewrittenOtherwise) {
  write(600, 2);
  const Journal journal(folder_.path());
  EXPECT_EQ(lines(), 1200);
}

TEST_F(LongJournal, StaysInUseIfItCannotBeRewritten) {
  write(400, 3);
  std::filesystem::create_directory(path_ + ".new");
  const JournalRecords before = read_journal(folder_.path());
  Journal(folder_.path()).add("x", some_record(1));
  EXPECT_EQ(lines(), 1201);
  EXPECT_EQ(read_journal(folder_.path()).size(), before.size() + 1);
}

TEST_F(JournalFile, AJournalThatCannotBeWrittenIsNamed) {
  std::filesystem::create_directory(path_);
  EXPECT_THROW(const Journal journal(folder_.path()), PictureError);
  EXPECT_THROW(static_cast<void>(read_journal(folder_.path())), PictureError);
  EXPECT_THROW(const Journal journal("/proc"), PictureError);
}

TEST_F(JournalFile, AFullDiskIsAFailureOfThePicture) {
  // A limit on the size of files simulates a full disk.
  EXPECT_EQ(test::wait_for_child(test::start_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              Journal journal(folder_.path());
              journal.add("a", some_record(1));
              const rlim_t room = std::filesystem::file_size(path_) + 50;
              const rlimit limit{room, room};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              try {
                journal.add("b", some_record(2));
              } catch (const PictureError&) {
                return 7;
              }
              return 0;
            })),
            7);
  EXPECT_EQ(read_journal(folder_.path()).size(), 1U);
  Journal(folder_.path()).add("b", some_record(3));
  EXPECT_EQ(read_journal(folder_.path()).size(), 2U);
}

// Something unexpected in place of a journal: the run ends at once, with a remedy.

namespace fs = std::filesystem;

template <typename Action>
std::string failure_of(const Action& action) {
  return test::objection_to<PictureError>([&] { action(); }, "");
}

TEST(StateFiles, AStrangeJournalIsNamedWithARemedy) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    const test::TemporaryFolder folder;
    const std::string path = folder / journal_name;
    strange.make(path);
    const std::string remedy = "; remove it to begin a new journal";
    EXPECT_EQ(failure_of([&] { static_cast<void>(read_journal(folder.path())); }),
              path + ": " + strange.reason + remedy);
    const std::string opened =
        strange.name == "zeros" ? "is a symbolic link" : strange.reason;  // which is not followed
    EXPECT_EQ(failure_of([&] { Journal journal(folder.path()); }), path + ": " + opened + remedy);
  }
}

// The file that a rewritten journal is written to has a fixed name.
TEST(StateFiles, APipeInPlaceOfTheNewJournalIsRemoved) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    if (strange.name == "folder" || strange.name == "sparse") continue;
    const test::TemporaryFolder folder;
    { Journal(folder.path()).add("a.png", {}); }
    const std::string path = folder / journal_name;
    test::write_file(path, test::read_file(path) + "damaged\n");
    strange.make(path + ".new");
    EXPECT_EQ(failure_of([&] { Journal journal(folder.path()); }), "");
    EXPECT_FALSE(fs::exists(fs::symlink_status(path + ".new"))) << strange.name;
    EXPECT_EQ(read_journal(folder.path()).size(), 1U);
  }
}

TEST(StateFiles, AStrangeJournalOfAShardIsNamedWithARemedy) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    const test::TemporaryFolder folder;
    const fs::path shards = folder.path() / shards_name;
    fs::create_directory(shards);
    { const auto journal = begin_shard_journal(folder.path(), {0, 2}); }
    const std::string path = fs::directory_iterator(shards)->path();
    fs::remove(path);
    strange.make(path);
    const auto read = [&] {
      static_cast<void>(read_shard_journals(folder.path(), [](const Shard&) { return true; }));
    };
    std::string reason = strange.reason + "; remove it to go on without it";
    if (strange.name == "folder") reason = strange.reason;
    if (strange.name == "zeros") reason = "is a symbolic link; remove it to go on without it";
    EXPECT_EQ(failure_of(read), path + ": " + reason);
  }
}

TEST(StateFiles, AStrangeRunFileIsNamedWithARemedy) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    if (strange.name == "folder") continue;
    const test::TemporaryFolder folder;
    const fs::path shards = folder.path() / shards_name;
    fs::create_directory(shards);
    strange.make(shards / "run");
    EXPECT_EQ(
        failure_of([&] { static_cast<void>(read_shard_run(folder.path())); }),
        (shards / "run").native() + ": " + strange.reason + "; remove it to begin the run again");
  }
}

namespace fs = std::filesystem;

struct HashedInputs : ::testing::Test {
  // Longer than the sources' buffers, and not a multiple of them.
  void SetUp() override {
    for (unsigned i = 0; i < 700'001; ++i)
      bytes_.push_back(static_cast<char>(i * i >> 7));
    test::write_file(path_, bytes_);
  }

  [[nodiscard]] ContentHash expected() const { return content_hash(bytes_); }

  template <typename Action>
  [[nodiscard]] static std::string message_of(const Action& action) {
    return test::objection_to<PictureError>([&] { action(); }, "no error");
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "picture";
  std::string bytes_;
};

TEST_F(HashedInputs, HaveTheHashOfTheWholeFileHoweverMuchWasRead) {
  for (const std::size_t part : {0, 1, 100'000, 262'144, 700'000, 700'001, 900'000}) {
    HashedInput input(path_);
    const auto source = input.open();
    EXPECT_EQ(source->name(), path_);
    static_cast<void>(source->peek(64));
    std::vector<std::uint8_t> buffer(part);
    const std::size_t count = source->read(buffer);
    EXPECT_EQ(count, std::min<std::size_t>(part, bytes_.size()));
    EXPECT_EQ(std::string(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count)),
              bytes_.substr(0, count));
    static_cast<void>(source->peek(64));
    EXPECT_EQ(input.content().hash, expected()) << part;
  }
}

TEST_F(HashedInputs, MayBeReadInManyPieces) {
  HashedInput input(path_);
  auto source = input.open();
  std::array<std::uint8_t, 997> buffer{};
  while (source->read(buffer) == buffer.size())
    static_cast<void>(source->peek(1));
  source.reset();  // as a decoder does that has everything
  EXPECT_EQ(input.content().hash, expected());
}

TEST_F(HashedInputs, CountOnceIfTheyAreOpenedTwice) {
  HashedInput input(path_);
  std::array<std::uint8_t, 1000> buffer{};
  static_cast<void>(input.open()->read(buffer));
  static_cast<void>(input.open()->read(buffer));
  EXPECT_EQ(input.content().hash, expected());
}

TEST_F(HashedInputs, HaveTheStampFromBefore) {
  HashedInput input(path_);
  static_cast<void>(input.open());
  const FileContent content = input.content();
  EXPECT_EQ(content.stamp, stamp_of(path_));
  EXPECT_FALSE(content.settled) << "the file was written just now";
}

TEST_F(HashedInputs, AreRefusedIfTheyChangeMeanwhile) {
  const std::string changed = path_ + ": it changed while it was being read";
  {
    HashedInput input(path_);
    static_cast<void>(input.open());
    test::write_file(path_, bytes_ + "x");
    EXPECT_EQ(message_of([&] { static_cast<void>(input.content()); }), changed);
  }
  {
    HashedInput input(path_);
    static_cast<void>(input.open());
    fs::last_write_time(path_, fs::last_write_time(path_) - std::chrono::hours(1));
    EXPECT_EQ(message_of([&] { static_cast<void>(input.content()); }), changed);
  }
  {
    HashedInput input(path_);
    static_cast<void>(input.open());
    test::write_file(path_ + "2", bytes_);
    fs::rename(path_ + "2", path_);  // another file, if with the same bytes
    EXPECT_EQ(message_of([&] { static_cast<void>(input.content()); }), changed);
  }
}

TEST_F(HashedInputs, MayBeDeletedMeanwhile) {
  HashedInput input(path_);
  static_cast<void>(input.open());
  fs::remove(path_);
  EXPECT_EQ(input.content().hash, expected());
}

TEST_F(HashedInputs, AreRegularFiles) {
  const auto open = [](const std::string& path) { static_cast<void>(HashedInput(path)); };
  EXPECT_EQ(message_of([&] { open(folder_ / "missing"); }),
            (folder_ / "missing") + ": no such file");
  EXPECT_EQ(message_of([&] { open(folder_.path()); }),
            folder_.path().string() + ": is no longer a regular file");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);  // would block if it were opened
  EXPECT_EQ(message_of([&] { open(folder_ / "pipe"); }),
            (folder_ / "pipe") + ": is no longer a regular file");
}

}  // namespace
}  // namespace gpufilter
