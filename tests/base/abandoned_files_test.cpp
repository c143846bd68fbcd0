#include "base/abandoned_files.hpp"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/process_token.hpp"
#include "support/child_process.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using Names = std::vector<std::string>;

TEST(AbandonedFiles, AreKnownByTheirNames) {
  EXPECT_TRUE(is_temporary_name(".out.png.gpufilter-123-0123abcd"));
  EXPECT_TRUE(is_temporary_name(".a.gpufilter-1-00000000.gpufilter-7-ffffffff"));
  for (const char* name : {"out.png", ".gpufilter-journal", ".gpufilter-123-0123abcd",
                           "out.png.gpufilter-123-0123abcd", ".out.png.gpufilter-123-0123abc",
                           ".out.png.gpufilter-123-0123abcde", ".out.png.gpufilter--0123abcd",
                           ".out.png.gpufilter-12x-0123abcd", ".out.png.gpufilter-123-0123abcD",
                           ".out.png.gpufilter-123", "."}) {
    EXPECT_FALSE(is_temporary_name(name)) << name;
  }
}

TEST(AbandonedFiles, SayWhoseTheyAre) {
  EXPECT_EQ(process_token().size(), process_token_digits);
  EXPECT_EQ(token_in_name(".a.png.gpufilter-7-" + process_token()), process_token());
  EXPECT_EQ(token_in_name(".a.png.gpufilter-7-0123abcd"), "");  // of an earlier version
  EXPECT_EQ(token_in_name("a.png.gpufilter-7-" + process_token()), "");
}

TEST(AbandonedFiles, OfSomeProcessesAreRemoved) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "sub");
  const std::string one(16, '1');
  const std::string two(16, '2');
  for (const std::string& token : {one, two})
    test::write_file(folder / ("sub/.a.gpufilter-0-" + token), "half a picture");
  test::write_file(folder / (".b.gpufilter-1-0123abcd"), "half a picture");
  test::write_file(folder / ("a.gpufilter-0-" + one), "somebody's");
  EXPECT_EQ(remove_abandoned_files_of({}, folder.path()), 0);
  EXPECT_EQ(remove_abandoned_files_of({one, std::string(16, '3')}, folder.path()), 1);
  EXPECT_EQ(test::names_in(folder / "sub"), Names{".a.gpufilter-0-" + two});
  EXPECT_EQ(test::names_in(folder.path()).size(), 3U);
  // Not while they are at work.
  AtomicFile file(folder / "out.png");
  EXPECT_EQ(remove_abandoned_files_of({process_token()}, folder.path()), 0);
  file.commit();
}

TEST(AbandonedFiles, OfOneTargetAreRemoved) {
  const test::TemporaryFolder folder;
  const std::string token(16, '1');
  const std::string long_name = std::string(240, 'x') + ".png";
  const std::string shortened = "." + long_name.substr(0, 220) + ".gpufilter-0-" + token;
  const Names others{".a.png.gpufilter-0-" + std::string(15, '1'), ".b.png.gpufilter-0-" + token};
  for (const std::string& name : Names{others[0], others[1], ".a.png.gpufilter-0-" + token,
                                       ".a.png.gpufilter-7-0123abcd", shortened})
    test::write_file(folder / name, "half a picture");
  EXPECT_EQ(remove_abandoned_files_for(folder / "a.png"), 2);
  EXPECT_EQ(remove_abandoned_files_for(folder / ("y" + long_name)), 0);
  EXPECT_EQ(remove_abandoned_files_for(folder / long_name), 1);
  EXPECT_EQ(remove_abandoned_files_for(folder / "absent/a.png"), 0);
  EXPECT_EQ(test::names_in(folder.path()), others);
  AtomicFile at_work(folder / "b.png");
  EXPECT_EQ(remove_abandoned_files_for(folder / "b.png"), 1);
  at_work.commit();
}

TEST(AbandonedFiles, OfAKilledProcessAreRemoved) {
  const test::TemporaryFolder folder;
  const pid_t child = test::start_child([&] {
    AtomicFile file(folder / "out.png");
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(test::wait_for_child(child), 1000 + SIGKILL);
  ASSERT_EQ(test::names_in(folder.path()).size(), 1U);
  EXPECT_TRUE(is_temporary_name(test::names_in(folder.path()).front()));
  EXPECT_EQ(remove_abandoned_files(folder.path(), false), 1);
  EXPECT_EQ(test::names_in(folder.path()), Names{});
}

TEST(AbandonedFiles, DoNotIncludeThoseInUse) {
  const test::TemporaryFolder folder;
  AtomicFile file(folder / "out.png");
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 0);
  file.commit();
  EXPECT_EQ(test::names_in(folder.path()), Names{"out.png"});
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 0);
}

TEST(AbandonedFiles, AreLookedForInSubfoldersOnRequest) {
  const test::TemporaryFolder folder;
  const std::string name = ".out.png.gpufilter-1-0123abcd";
  std::filesystem::create_directories(folder / "sub/deep");
  test::write_file(folder / ("sub/deep/" + name), "half a picture");
  EXPECT_EQ(remove_abandoned_files(folder.path(), false), 0);
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 1);
  EXPECT_EQ(remove_abandoned_files(folder / "missing", true), 0);
}

TEST(AbandonedFiles, AreFilesAndNothingElse) {
  const test::TemporaryFolder folder;
  const std::string name = ".out.png.gpufilter-1-0123abcd";
  test::write_file(folder / "target", "");
  std::filesystem::create_symlink("target", folder / name);
  std::filesystem::create_directory(folder / (".2" + name));
  ASSERT_EQ(::mkfifo((folder / (".3" + name)).c_str(), 0600), 0);
  EXPECT_EQ(remove_abandoned_files(folder.path(), true), 0);
  EXPECT_EQ(test::names_in(folder.path()).size(), 4U);
}

}  // namespace
}  // namespace gpufilter
