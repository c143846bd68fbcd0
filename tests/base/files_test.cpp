#include "base/files.hpp"

#include <sys/resource.h>

#include "base/atomic_file.hpp"
#include "base/process.hpp"
#include "support/child_process.hpp"
#include "support/strange_files.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

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
  const TemporaryFolder folder;
  AtomicFile file(folder / "a.png");
  write(file, "first ");
  write(file, "second");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.png"));
  file.commit();
  EXPECT_EQ(read_file(folder / "a.png"), "first second");
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, TemporaryIsHiddenBesideTheTarget) {
  const TemporaryFolder folder;
  const AtomicFile file(folder / "a.png");
  const auto names = names_in(folder.path());
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(names[0].starts_with(".a.png.gpufilter-")) << names[0];
  EXPECT_TRUE(names[0].ends_with("-" + process_token())) << names[0];
}

TEST(AtomicFile, LeavesTheOldContentsWithoutCommit) {
  const TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  {
    AtomicFile file(folder / "a.png");
    write(file, "new");
  }
  EXPECT_EQ(read_file(folder / "a.png"), "old");
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, LeavesNothingIfCommitFails) {
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "real.png", folder / "link.png");
  replace(folder / "link.png", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.png"));
  EXPECT_EQ(read_file(folder / "real.png"), "new");
}

TEST(AtomicFile, RefusesLinksThatFormALoop) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "a"); }), ELOOP);
}

TEST(AtomicFile, KeepsTheModeOfTheFileReplaced) {
  const TemporaryFolder folder;
  for (const unsigned mode : {0600U, 0640U, 0755U, 0666U}) {
    write_file(folder / "a.png", "old");
    ASSERT_EQ(::chmod((folder / "a.png").c_str(), mode), 0);
    replace(folder / "a.png", "new");
    EXPECT_EQ(mode_of(folder / "a.png"), mode);
  }
}

TEST(AtomicFile, NewFilesHaveTheModeOfTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  replace(folder / "a.png", "new");
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "a.png"), 0640U);
}

TEST(AtomicFile, DoesNotReplaceAReadOnlyFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may write to every file";
  const TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  ASSERT_EQ(::chmod((folder / "a.png").c_str(), 0444), 0);
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "a.png"); }), EACCES);
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, TakesTheLongestNamesThereAre) {
  const TemporaryFolder folder;
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
      EXPECT_TRUE(contains(names[0], "\u00e4.gpufilter-"));
    }
    replace(folder / name, "new");
    EXPECT_EQ(read_file(folder / name), "new");
    std::filesystem::remove(folder / name);
  }
  const std::string too_long(256, 'x');
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / too_long); }), ENAMETOOLONG);
}

TEST(AtomicFile, RefusesFoldersAndMissingFolders) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder.path()); }), EISDIR);
  EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "missing/a.png"); }), ENOENT);
  EXPECT_EQ(error_of([&] { const AtomicFile file("/dev/null"); }), EINVAL);
}

TEST(AtomicFile, ReportsAFileSystemThatTakesNoMore) {
  const TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  const pid_t child = start_child([&] {
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    return error_of([&] { replace(folder / "a.png", std::string(5000, 'x')); }) == EFBIG ? 0 : 2;
  });
  EXPECT_EQ(wait_for_child(child), 0);
  EXPECT_EQ(read_file(folder / "a.png"), "old");
  EXPECT_EQ(names_in(folder.path()), Names{"a.png"});
}

TEST(AtomicFile, LeavesRoomForTheNextOnceDone) {
  const TemporaryFolder folder;
  {
    std::vector<std::unique_ptr<AtomicFile>> files;
    files.reserve(256);
    for (int i = 0; i < 256; ++i)
      files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
    EXPECT_EQ(error_of([&] { const AtomicFile file(folder / "one too many"); }), EMFILE);
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
  for (int i = 0; i < 300; ++i)
    replace(folder / "a.png", std::to_string(i));
  EXPECT_EQ(read_file(folder / "a.png"), "299");
}

// A child that has `count` files in progress and waits for the signal.
int exit_code_of_interrupted(const TemporaryFolder& folder, int count, int signal_number,
                             bool ignored_before) {
  std::array<int, 2> ready{};
  EXPECT_EQ(::pipe(ready.data()), 0);
  const pid_t child = start_child([&] {
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
  const int code = wait_for_child(child);
  ::close(ready[0]);
  ::close(ready[1]);
  return code;
}

TEST(CleanupOnSignals, RemovesEveryFileInProgress) {
  const TemporaryFolder folder;
  write_file(folder / "0", "old");
  EXPECT_EQ(exit_code_of_interrupted(folder, 1, SIGTERM, false), 143);
  EXPECT_EQ(exit_code_of_interrupted(folder, 200, SIGINT, false), 130);
  EXPECT_EQ(names_in(folder.path()), Names{"0"});
  EXPECT_EQ(read_file(folder / "0"), "old");
}

TEST(CleanupOnSignals, RespectsIgnoredSignals) {
  const TemporaryFolder folder;
  EXPECT_EQ(exit_code_of_interrupted(folder, 1, SIGINT, true), 0);
  EXPECT_EQ(names_in(folder.path()), Names{"0"});
}

// Several threads create, commit and abandon files all the time; whenever the signal comes, only
// complete files are there.
TEST(CleanupOnSignals, LeavesNothingAtAnyMoment) {
  const TemporaryFolder folder;
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
    const pid_t child = start_child([&]() -> int {
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
    EXPECT_EQ(wait_for_child(child), exit_code);
    for (const auto& name : names_in(folder.path())) {
      EXPECT_FALSE(contains(name, "gpufilter"));
      EXPECT_EQ(read_file(folder / name), "complete");
    }
  }
}

TEST(AbandonedFiles, AreKnownByTheirNamesAndSayWhoseTheyAre) {
  EXPECT_TRUE(is_temporary_name(".out.png.gpufilter-123-0123abcd"));
  EXPECT_TRUE(is_temporary_name(".a.gpufilter-1-00000000.gpufilter-7-ffffffff"));
  for (const char* name : {"out.png", ".gpufilter-journal", ".gpufilter-123-0123abcd",
                           "out.png.gpufilter-123-0123abcd", ".out.png.gpufilter-123-0123abc",
                           ".out.png.gpufilter-123-0123abcde", ".out.png.gpufilter--0123abcd",
                           ".out.png.gpufilter-12x-0123abcd", ".out.png.gpufilter-123-0123abcD",
                           ".out.png.gpufilter-123", "."}) {
    EXPECT_FALSE(is_temporary_name(name)) << name;
  }
  EXPECT_EQ(process_token().size(), process_token_digits);
  EXPECT_EQ(token_in_name(".a.png.gpufilter-7-" + process_token()), process_token());
  EXPECT_EQ(token_in_name(".a.png.gpufilter-7-0123abcd"), "");  // of an earlier version
  EXPECT_EQ(token_in_name("a.png.gpufilter-7-" + process_token()), "");
}

TEST(AbandonedFiles, OfSomeProcessesAreRemoved) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "sub");
  const std::string one(16, '1');
  const std::string two(16, '2');
  for (const std::string& token : {one, two})
    write_file(folder / ("sub/.a.gpufilter-0-" + token), "half a picture");
  write_file(folder / (".b.gpufilter-1-0123abcd"), "half a picture");
  write_file(folder / ("a.gpufilter-0-" + one), "somebody's");
  EXPECT_EQ(remove_abandoned_files_of({}, folder.path()), 0);
  EXPECT_EQ(remove_abandoned_files_of({one, std::string(16, '3')}, folder.path()), 1);
  EXPECT_EQ(names_in(folder / "sub"), Names{".a.gpufilter-0-" + two});
  EXPECT_EQ(names_in(folder.path()).size(), 3U);
  // Files whose writers are at work are not removed.
  AtomicFile file(folder / "out.png");
  EXPECT_EQ(remove_abandoned_files_of({process_token()}, folder.path()), 0);
  file.commit();
}

TEST(AbandonedFiles, OfOneTargetAreRemoved) {
  const TemporaryFolder folder;
  const std::string token(16, '1');
  const std::string long_name = std::string(240, 'x') + ".png";
  const std::string shortened = "." + long_name.substr(0, 220) + ".gpufilter-0-" + token;
  const Names others{".a.png.gpufilter-0-" + std::string(15, '1'), ".b.png.gpufilter-0-" + token};
  for (const std::string& name : Names{others[0], others[1], ".a.png.gpufilter-0-" + token,
                                       ".a.png.gpufilter-7-0123abcd", shortened})
    write_file(folder / name, "half a picture");
  EXPECT_EQ(remove_abandoned_files_for(folder / "a.png"), 2);
  EXPECT_EQ(remove_abandoned_files_for(folder / ("y" + long_name)), 0);
  EXPECT_EQ(remove_abandoned_files_for(folder / long_name), 1);
  EXPECT_EQ(remove_abandoned_files_for(folder / "absent/a.png"), 0);
  EXPECT_EQ(names_in(folder.path()), others);
  AtomicFile at_work(folder / "b.png");
  EXPECT_EQ(remove_abandoned_files_for(folder / "b.png"), 1);
  at_work.commit();
}

TEST(AbandonedFiles, OfAKilledProcessAreRemoved) {
  const TemporaryFolder folder;
  const pid_t child = start_child([&] {
    AtomicFile file(folder / "out.png");
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(wait_for_child(child), 1000 + SIGKILL);
  ASSERT_EQ(names_in(folder.path()).size(), 1U);
  EXPECT_TRUE(is_temporary_name(names_in(folder.path()).front()));
  EXPECT_EQ(remove_abandoned_files(folder.path(), false), 1);
  EXPECT_EQ(names_in(folder.path()), Names{});
}

TEST(AbandonedFiles, DoNotIncludeThoseInUse) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "out.png");
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 0);
  file.commit();
  EXPECT_EQ(names_in(folder.path()), Names{"out.png"});
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 0);
}

TEST(AbandonedFiles, AreLookedForInSubfoldersOnRequest) {
  const TemporaryFolder folder;
  const std::string name = ".out.png.gpufilter-1-0123abcd";
  std::filesystem::create_directories(folder / "sub/deep");
  write_file(folder / ("sub/deep/" + name), "half a picture");
  EXPECT_EQ(remove_abandoned_files(folder.path(), false), 0);
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 1);
  EXPECT_EQ(remove_abandoned_files(folder / "missing", true), 0);
}

TEST(AbandonedFiles, AreFilesAndNothingElse) {
  const TemporaryFolder folder;
  const std::string name = ".out.png.gpufilter-1-0123abcd";
  write_file(folder / "target", "");
  std::filesystem::create_symlink("target", folder / name);
  std::filesystem::create_directory(folder / (".2" + name));
  ASSERT_EQ(::mkfifo((folder / (".3" + name)).c_str(), 0600), 0);
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 0);
  EXPECT_EQ(names_in(folder.path()).size(), 4U);
}

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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { const FileDescriptor file = open_file(folder / "missing", O_RDONLY); }),
            ENOENT);
}

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

std::string reason_for(const std::string& path, int flags, std::uint64_t limit = mib) {
  try {
    static_cast<void>(read_regular_file(open_regular_file(path, flags), limit));
    return "";
  } catch (const std::system_error& error) {
    return reason_of(error);
  }
}

TEST(RegularFile, IsReadUpToTheLimitAndIsReadWhereItsSizeIsUnknownAndOthersAreRefusedAtOnce) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0U, 1U, 65'535U, 65'536U, 65'537U, 1'048'576U}) {
    std::string text(size, 'a');
    if (size > 0) text.back() = 'z';
    write_file(folder / "file", text);
    EXPECT_EQ(read_regular_file(folder / "file", mib), text) << size;
  }
  write_file(folder / "file", std::string(1'048'577, 'a'));
  EXPECT_EQ(reason_for(folder / "file", O_RDONLY), "is larger than 1 MiB");
  // Files of /proc are regular ones of no size.
  EXPECT_NE(read_regular_file("/proc/self/maps", mib), "");
  EXPECT_EQ(reason_for("/proc/self/maps", O_RDONLY, 10), "is larger than 0 KiB");
  const Alarm alarm;
  for (const auto& strange : strange_files(1)) {
    const TemporaryFolder folder;
    strange.make(folder / "file");
    for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY | O_APPEND})
      EXPECT_EQ(reason_for(folder / "file", flags), strange.reason) << strange.name;
  }
}

TEST(RegularFile, NamedByTheUserItMayBeAPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_file(folder / "pipe", "text"); });
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
  write_file(folder / "file", "text");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  EXPECT_EQ(reason_for(folder / "link", O_RDONLY), "");
  EXPECT_EQ(reason_for(folder / "link", O_RDONLY | O_NOFOLLOW), "is a symbolic link");
  EXPECT_EQ(reason_for(folder / "none", O_RDONLY | O_NOFOLLOW), "no such file");
}

}  // namespace
}  // namespace gpufilter::test
