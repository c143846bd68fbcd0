#include "batch/journal.hpp"

#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.hpp"
#include "support/child_process.hpp"
#include "support/names_in.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

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
TEST(Journal, ALineOfAnotherVersionIsAbsent) {
  const std::string digits(32, '0');
  const std::string text = " 1 " + digits + " " + digits + " - " + digits +
                           " 10 - a.png";  // the text after the checksum
  EXPECT_FALSE(parse_journal_line("0011223344556677" + text));
  // Even if its checksum is right.
  const std::string now = journal_line("a.png", {});
  std::string then = now.substr(17);
  ASSERT_EQ(then.substr(0, 2), "2 ");
  then[0] = '1';
  EXPECT_FALSE(parse_journal_line(to_string(content_hash(then)).substr(0, 16) + " " + then));
  then[0] = '2';
  EXPECT_TRUE(parse_journal_line(to_string(content_hash(then)).substr(0, 16) + " " + then));
}

TEST(Journal, ADamagedLineIsAbsent) {
  const std::string line = journal_line("a.png", some_record(4));
  for (std::size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(parse_journal_line(line.substr(0, size))) << size;
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string damaged = line;
    damaged[i] = damaged[i] == '1' ? '2' : '1';
    EXPECT_FALSE(parse_journal_line(damaged)) << damaged;
  }
  EXPECT_FALSE(parse_journal_line(line + " "));
  EXPECT_FALSE(parse_journal_line(""));
}

class JournalFile : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / journal_name;
};

TEST_F(JournalFile, KeepsTheLastRecordOfEachOutput) {
  EXPECT_TRUE(read_journal(folder_.path()).empty());
  {
    Journal journal(folder_.path());
    journal.add("a", some_record(1));
    journal.add("b", some_record(2), true);
  }
  {
    Journal journal(folder_.path());
    journal.add("a", some_record(3));
  }
  const JournalRecords records = read_journal(folder_.path());
  EXPECT_EQ(records.size(), 2U);
  EXPECT_EQ(records.at("a"), some_record(3));
  EXPECT_EQ(records.at("b"), some_record(2));
}

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

class LongJournal : public JournalFile {
 protected:
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

TEST_F(JournalFile, HasOneWriterAtATime) {
  const Journal journal(folder_.path());
  const auto refused = [&] {
    try {
      const Journal second(folder_.path());
      return 0;
    } catch (const UsageError& error) {
      return std::string(error.what()).find("another gpufilter") != std::string::npos ? 2 : 1;
    }
  };
  EXPECT_EQ(refused(), 2);
  EXPECT_EQ(test::wait_for_child(test::start_child(refused)), 2);
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

}  // namespace
}  // namespace gpufilter
