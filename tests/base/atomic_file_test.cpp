#include "base/atomic_file.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process_token.hpp"
#include "support/child_process.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using Names = std::vector<std::string>;
using test::names_in;
using test::read_file;
using test::write_file;

void write(AtomicFile& file, const std::string& text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  file.write(bytes);
}

void replace(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  write(file, text);
  file.commit();
}

int error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

TEST(AtomicFile, AppearsWithCommitAlone) {
  const test::TemporaryFolder folder;
  AtomicFile file(folder / "a.png");
  write(file, "first ");
  write(file, "second");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.png"));
  file.commit();
  EXPECT_EQ(read_file(folder / "a.png"), "first second");
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, TemporaryIsHiddenBesideTheTarget) {
  const test::TemporaryFolder folder;
  const AtomicFile file(folder / "a.png");
  const auto names = names_in(folder.path());
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(names[0].starts_with(".a.png.gpufilter-")) << names[0];
  EXPECT_TRUE(names[0].ends_with("-" + process_token())) << names[0];
}

TEST(AtomicFile, LeavesTheOldContentsWithoutCommit) {
  const test::TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  {
    AtomicFile file(folder / "a.png");
    write(file, "new");
  }
  EXPECT_EQ(read_file(folder / "a.png"), "old");
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, LeavesNothingIfCommitFails) {
  const test::TemporaryFolder folder;
  {
    AtomicFile file(folder / "a.png");
    write(file, "new");
    // A folder that is created under the target's name meanwhile cannot be replaced by a file.
    std::filesystem::create_directory(folder / "a.png");
    EXPECT_EQ(error_of([&] { file.commit(); }), EISDIR);
  }
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a.png"));
}

TEST(AtomicFile, FollowsLinks) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "other");
  write_file(folder / "other/real.png", "old");
  std::filesystem::create_symlink("other/hop.png", folder / "link.png");
  std::filesystem::create_symlink("real.png", folder / "other/hop.png");
  replace(folder / "link.png", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.png"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "other/hop.png"));
  EXPECT_EQ(read_file(folder / "other/real.png"), "new");
}

TEST(AtomicFile, FollowsLinksToNothing) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "real.png", folder / "link.png");
  replace(folder / "link.png", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.png"));
  EXPECT_EQ(read_file(folder / "real.png"), "new");
}

TEST(AtomicFile, RefusesLinksThatFormALoop) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "a"); }), ELOOP);
}

TEST(AtomicFile, KeepsTheModeOfTheFileReplaced) {
  const test::TemporaryFolder folder;
  for (const unsigned mode : {0600U, 0640U, 0755U, 0666U}) {
    write_file(folder / "a.png", "old");
    ASSERT_EQ(::chmod((folder / "a.png").c_str(), mode), 0);
    replace(folder / "a.png", "new");
    EXPECT_EQ(mode_of(folder / "a.png"), mode);
  }
}

TEST(AtomicFile, NewFilesHaveTheModeOfTheUmask) {
  const test::TemporaryFolder folder;
  const mode_t before = ::umask(027);
  replace(folder / "a.png", "new");
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "a.png"), 0640U);
}

TEST(AtomicFile, DoesNotReplaceAReadOnlyFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may write to every file";
  const test::TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  ASSERT_EQ(::chmod((folder / "a.png").c_str(), 0444), 0);
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "a.png"); }), EACCES);
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, TakesTheLongestNamesThereAre) {
  const test::TemporaryFolder folder;
  // With one of the two lengths, shortening would split the last of these two-byte characters.
  for (const std::string& first : {std::string(), std::string("x")}) {
    std::string name = first;
    while (name.size() + 2 <= 255)
      name += "\u00e4";
    {
      const AtomicFile file(folder / name);
      const auto names = names_in(folder.path());
      ASSERT_EQ(names.size(), 1U);
      EXPECT_LE(names[0].size(), 255U);
      EXPECT_TRUE(test::contains(names[0], "\u00e4.gpufilter-"));
    }
    replace(folder / name, "new");
    EXPECT_EQ(read_file(folder / name), "new");
    std::filesystem::remove(folder / name);
  }
  const std::string too_long(256, 'x');
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / too_long); }), ENAMETOOLONG);
}

TEST(AtomicFile, RefusesFoldersAndMissingFolders) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder.path()); }), EISDIR);
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "missing/a.png"); }), ENOENT);
  EXPECT_EQ(error_of([&] { const AtomicFile file("/dev/null"); }), EINVAL);
}

TEST(AtomicFile, ReportsAFileSystemThatTakesNoMore) {
  const test::TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  const pid_t child = test::start_child([&] {
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    return error_of([&] { replace(folder / "a.png", std::string(5000, 'x')); }) == EFBIG ? 0 : 2;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
  EXPECT_EQ(read_file(folder / "a.png"), "old");
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, LeavesRoomForTheNextOnceDone) {
  const test::TemporaryFolder folder;
  {
    std::vector<std::unique_ptr<AtomicFile>> files;
    files.reserve(256);
    for (int i = 0; i < 256; ++i) {
      files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
    }
    EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "one too many"); }), EMFILE);
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
  for (int i = 0; i < 300; ++i)
    replace(folder / "a.png", std::to_string(i));
  EXPECT_EQ(read_file(folder / "a.png"), "299");
}

// A child that has `count` files in progress and waits for the signal.
int exit_code_of_interrupted(const test::TemporaryFolder& folder, int count, int signal_number,
                             bool ignored_before) {
  std::array<int, 2> ready{};
  EXPECT_EQ(::pipe(ready.data()), 0);
  const pid_t child = test::start_child([&] {
    std::signal(signal_number, ignored_before ? SIG_IGN : SIG_DFL);
    install_cleanup_on_signals();
    std::vector<std::unique_ptr<AtomicFile>> files;
    files.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
      write(*files.back(), "unfinished");
    }
    const bool told = ::write(ready[1], "x", 1) == 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(ignored_before ? 300 : 60'000));
    for (auto& file : files)
      file->commit();
    return told ? 0 : 1;
  });
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, signal_number);
  const int code = test::wait_for_child(child);
  ::close(ready[0]);
  ::close(ready[1]);
  return code;
}

TEST(CleanupOnSignals, RemovesEveryFileInProgress) {
  const test::TemporaryFolder folder;
  write_file(folder / "0", "old");
  EXPECT_EQ(exit_code_of_interrupted(folder, 1, SIGTERM, false), 143);
  EXPECT_EQ(exit_code_of_interrupted(folder, 200, SIGINT, false), 130);
  EXPECT_EQ(names_in(folder.path()), Names{"0"});
  EXPECT_EQ(read_file(folder / "0"), "old");
}

TEST(CleanupOnSignals, RespectsIgnoredSignals) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(exit_code_of_interrupted(folder, 1, SIGINT, true), 0);
  EXPECT_EQ(names_in(folder.path()), Names{"0"});
}

// Several threads create, commit and abandon files all the time; whenever the signal comes, only
// complete files are there.
TEST(CleanupOnSignals, LeavesNothingAtAnyMoment) {
  const test::TemporaryFolder folder;
  const auto churn = [&](int thread) {
    while (true) {
      AtomicFile file(folder / std::to_string(thread));
      write(file, "complete");
      if (thread % 2 == 0) file.commit();
    }
  };
  // wait_for_child() adds 1000 where the signal itself ends the process.
  const std::array<std::pair<int, int>, 3> signals{
      {{SIGTERM, 143}, {SIGINT, 130}, {SIGABRT, 1000 + SIGABRT}}};
  for (int round = 0; round < 60; ++round) {
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const pid_t child = test::start_child([&]() -> int {
      // A shell's background job, which this may be, ignores SIGINT.
      std::signal(SIGINT, SIG_DFL);
      install_cleanup_on_signals();
      if (::write(ready[1], "x", 1) != 1) return 1;
      std::vector<std::jthread> threads;
      threads.reserve(3);
      for (int i = 0; i < 3; ++i)
        threads.emplace_back(churn, i);
      churn(3);  // the main thread gets any signal that it does not block
      return 0;
    });
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(round * 317));
    const auto& [signal_number, exit_code] = signals.at(static_cast<std::size_t>(round) % 3);
    ::kill(child, signal_number);
    EXPECT_EQ(test::wait_for_child(child), exit_code);
    for (const auto& name : names_in(folder.path())) {
      EXPECT_FALSE(test::contains(name, "gpufilter"));
      EXPECT_EQ(read_file(folder / name), "complete");
    }
  }
}

}  // namespace
}  // namespace gpufilter
