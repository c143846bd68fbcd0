// Failures of some pictures of a folder, or of the folder itself.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/child_process.hpp"

namespace gpufilter::test {
namespace {

class BatchFailures : public BatchTest {
 protected:
  void damage(const std::string& name) const {
    put(name);
    const std::string bytes = read_file(in_ + "/" + name);
    write_file(in_ + "/" + name, bytes.substr(0, bytes.size() / 2));
  }
};

TEST_F(BatchFailures, OneIsReportedAndTheOthersAreDone) {
  put_many(3);
  damage("p100x.png");
  const ProcessResult result = ended(1, batch({"--timing", "off"}));
  EXPECT_TRUE(begins(result.err, "gpufilter: " + in_ + "/p100x.png: "));
  EXPECT_TRUE(contains(result.err, ": 3 of 4 pictures done, 1 failed\n"));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"p100.png", "p101.png", "p102.png"}));
  expect_one_line(batch({"-q", "--resume"}).err, {"p100x.png: "});
}

TEST_F(BatchFailures, StopOnErrorBeginsNoMore) {
  put_many(5);
  damage("p100x.png");
  const Json document = json_batch({"--stop-on-error", "--jobs", "1"}, 1);
  EXPECT_EQ(statuses(document),
            (Words{"done", "failed", "not begun", "not begun", "not begun", "not begun"}));
  EXPECT_EQ(document["summary"]["not_begun"], 4);
}

TEST_F(BatchFailures, AFileNamedLikeAPictureHasToBeOne) {
  put("a.png");
  write_file(in_ + "/empty.JPEG", "");
  write_file(in_ + "/text.png", "text");
  write_file(in_ + "/text.txt", "text");
  const std::string why = "gpufilter: " + in_ +
                          "/empty.JPEG: the file is empty\ngpufilter: " + in_ +
                          "/text.png: not a " + gpufilter::names_of(codecs()) + " picture\n";
  const ProcessResult quiet = ended(1, batch({"-q", "--jobs", "1"}));
  EXPECT_EQ(quiet.err.size(), why.size());
  expect_parts(quiet.err, {"empty.JPEG", "text.png"});
  EXPECT_EQ(names_of(results_in(out_)), Words{"a.png"});
  // The damaged pictures fail again, and the others are still complete.
  const Json document = json_batch({"--resume"}, 1);
  EXPECT_EQ(statuses(document), (Words{"unchanged", "failed", "failed"}));
  EXPECT_EQ(document["pictures"][1]["error"], in_ + "/empty.JPEG: the file is empty");
  EXPECT_EQ(document["pictures"][2]["error"],
            in_ + "/text.png: not a " + gpufilter::names_of(codecs()) + " picture");
  ended(1, batch({"--dry-run", "--resume"}));
  // The message is that for one picture.
  expect_failure(1, {in_ + "/text.png", folder_ / "out.png"},
                 {in_ + "/text.png: not a " + gpufilter::names_of(codecs()) + " picture\n"});
}

TEST_F(BatchFailures, SpecialFilesDoNotStopIt) {
  put("a.png");
  put("sub/b.png");
  ASSERT_EQ(::mkfifo((in_ + "/fifo.png").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", in_ + "/zero.png");
  fs::create_directory_symlink("..", in_ + "/sub/up");
  fs::create_directory_symlink(".", in_ + "/here");
  const Json document = json_batch({"--recursive", "--follow-links"}, 1);
  EXPECT_EQ(statuses(document), (Words{"done", "failed", "done", "failed"}));
  EXPECT_EQ(document["pictures"][1]["error"], in_ + "/fifo.png: is not a regular file");
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.png", "sub/b.png"}));
}

TEST_F(BatchFailures, ABrokenLinkIsAFailure) {
  put("a.png");
  fs::create_symlink("nowhere", in_ + "/dangling.png");
  const Json document = json_batch({}, 1);
  EXPECT_EQ(statuses(document), (Words{"done", "failed"}));
  EXPECT_EQ(document["pictures"][1]["error"],
            in_ + "/dangling.png: is a link to a file that does not exist");
}

TEST_F(BatchFailures, UnreadableFilesAndFoldersAreFailures) {
  if (geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may read everything";
  put("a.png");
  put("closed.png");
  put("sub/b.png");
  fs::permissions(in_ + "/closed.png", fs::perms::none);
  fs::permissions(in_ + "/sub", fs::perms::none);
  EXPECT_EQ(statuses(json_batch({"--recursive"}, 1)), (Words{"done", "failed", "failed"}));
  fs::permissions(in_ + "/sub", fs::perms::owner_all);
}

TEST_F(BatchFailures, AResultThatCannotBeWrittenIsAFailure) {
  put_many(3);
  fs::create_directories(out_ + "/p100.png");
  ASSERT_EQ(::mkfifo((folder_ / "out/p101.png").c_str(), 0600), 0);
  const Json document = json_batch({"--on-exists", "overwrite"}, 1);
  EXPECT_EQ(statuses(document), (Words{"failed", "failed", "done"}));
}

TEST_F(BatchFailures, AFolderThatCannotBeWrittenEndsIt) {
  put("a.png");
  out_ = "/proc/gpufilter-out";
  expect_one_line(ended(1, batch()).err, {"/proc/gpufilter-out: "});
}

TEST_F(BatchFailures, AReadOnlyFolderEndsIt) {
  if (geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may write everywhere";
  put("a.png");
  fs::create_directory(out_);
  fs::permissions(out_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_one_line(ended(1, batch()).err, {"out/", "permission denied"});
  fs::permissions(out_, fs::perms::owner_all);
}

TEST_F(BatchFailures, NamesMayHoldAnyBytes) {
  const Words names{"\xff\xfe.png", "%s{}.png", "-v.png", "new\nline.png",
                    std::string(251, 'x') + ".png"};
  for (const std::string& name : names)
    put(name);
  write_file(in_ + "/bad\n\xff.png", "\x89PNG\r\n\x1a\nand no more");
  const Json document = json_batch({}, 1);
  ASSERT_EQ(document["pictures"].size(), 6U);
  EXPECT_EQ(names_of(results_in(out_)).size(), 5U);
  for (const std::string& name : names) {
    EXPECT_TRUE(
        same_pixels(read_picture(out_ + "/" + name), blurred(read_picture(in_ + "/" + name))));
  }
  const Json& last = document["pictures"][5];
  EXPECT_TRUE(last["output_hex"].get<std::string>().ends_with("fffe2e706e67")) << last;
  EXPECT_FALSE(document["pictures"][0].contains("output_hex"));
  expect_one_line(batch({"-q", "--resume"}).err, {"bad\\n\\xff.png: "});
}

TEST_F(BatchFailures, AFolderThatCannotBeReachedIsNamed) {
  put("a.png");
  out_ = folder_ / std::string(300, 'x');
  for (const Words& more : {Words{}, Words{"--resume"}, Words{"--shard", "0/2"}}) {
    EXPECT_EQ(ended(1, batch(more)).err, "gpufilter: " + out_ + ": file name too long\n");
  }
  fs::create_symlink("loop", folder_ / "loop");
  out_ = folder_ / "loop/out";
  EXPECT_EQ(batch().err, "gpufilter: " + out_ + ": too many levels of symbolic links\n");
}

TEST_F(BatchFailures, ADeviceThatIsMissingEndsIt) {
  put("a.png");
  ended(3, filter({in_, out_, "--blur", "auto", "--device", "no such device"}));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(BatchFailures, ABadOptionEndsItBeforeAnyWork) {
  put("a.png");
  expect_refusal({"--mlp", folder_ / "missing.json"}, {"missing.json"});
  expect_refusal({"--timing", "json", "--json"}, {"--json"});
  expect_refusal({"--trace", in_ + "/a.png"}, {"a.png: is a picture of this run"});
  expect_refusal({"--trace", "-", "--json"}, {"--trace -"});
}

TEST_F(BatchFailures, AReaderThatGoesAwayEndsIt) {
  put_many(3);
  const int null = ::open("/dev/full", O_WRONLY);
  if (null < 0) GTEST_SKIP() << "skipped: no /dev/full here";
  const pid_t child = start_child([&] {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    ::execl(GPUFILTER_PROGRAM, "gpufilter", in_.c_str(), out_.c_str(), "--json", nullptr);
    return 99;
  });
  ::close(null);
  EXPECT_EQ(wait_for_child(child), 1);
}

constexpr int cannot_mount = 77;

// Mounts a file system of `bytes` at `folder` for this process only. Returns whether that worked.
bool mount_small(const std::string& folder, int bytes) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
  if (user != 0) {
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
    write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", 0, ("size=" + std::to_string(bytes)).c_str()) ==
             0;
}

TEST_F(BatchFailures, AFullDiskStopsTheRunAndLeavesNoneUnfinished) {
  put_many(8, {200, 150});  // 90 kB each
  const Files expected = undisturbed();
  fs::create_directory(out_);
  const int result = wait_for_child(start_child([&] {
    if (!mount_small(out_, 512 * 1024)) return cannot_mount;
    const Json document = json_batch({"--jobs", "2"}, 1);
    const int done = document["summary"]["done"];
    const int failed = document["summary"]["failed"];
    EXPECT_GT(done, 0);
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(done + failed + document["summary"]["not_begun"].get<int>(), 8);
    for (const Json& picture : document["pictures"]) {
      if (picture["status"] == "failed") {
        EXPECT_TRUE(contains(picture["error"].get<std::string>(), "no space left"));
      }
    }
    const Files now = results_in(out_);
    EXPECT_EQ(now.size(), static_cast<std::size_t>(done)) << "something was left behind";
    EXPECT_TRUE(all_whole(now, expected));
    // With more space the rest follows.
    EXPECT_EQ(::mount("none", out_.c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
    EXPECT_EQ(json_batch({"--resume"})["summary"]["done"], 8 - done);
    EXPECT_EQ(results_in(out_), expected);
    return HasFailure() ? 1 : 0;
  }));
  if (result == cannot_mount) GTEST_SKIP() << "skipped: no file system can be mounted here";
  EXPECT_EQ(result, 0);
}

TEST_F(BatchFailures, AFullDiskIsOneErrorAndTheWayToGoOn) {
  put_many(8, {200, 150});  // 90 kB each
  fs::create_directory(out_);
  const int result = wait_for_child(start_child([&] {
    if (!mount_small(out_, 512 * 1024)) return cannot_mount;
    for (const auto& [jobs, more, repetition] :
         {std::tuple{"1", "--timing=off", "with --resume"}, {"8", "--resume", "again"}}) {
      const ProcessResult run = batch({"--jobs", jobs, more, "-q"});
      const auto done = static_cast<int>(results_in(out_).size());
      EXPECT_EQ(run.exit_code, 1);
      EXPECT_GT(done, 3);
      const std::string first = run.err.substr(0, run.err.find('\n') + 1);
      EXPECT_TRUE(begins(first, "gpufilter: " + out_ + "/p10"));
      EXPECT_TRUE(ends(first, ".png: no space left on the device\n"));
      EXPECT_EQ(run.err.substr(first.size()),
                formatted("gpufilter: {}: no space for more results; {} of 8 pictures remain; make "
                          "room, then the same command {} does the rest\n",
                          out_, 8 - done, repetition));
    }
    return HasFailure() ? 1 : 0;
  }));
  if (result == cannot_mount) GTEST_SKIP() << "skipped: no file system can be mounted here";
  EXPECT_EQ(result, 0);
}

TEST_F(BatchFailures, AFullDiskStopsAShard) {
  put_many(8, {200, 150});
  fs::create_directory(out_);
  const int result = wait_for_child(start_child([&] {
    if (!mount_small(out_, 512 * 1024)) return cannot_mount;
    expect_parts(ended(1, batch({"--shard", "0/1", "--jobs", "3", "-q"})).err,
                 {"no space for more results", "then the same command again does the rest"});
    EXPECT_EQ(::mount("none", out_.c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
    ended(0, batch({"--shard", "0/1"}));
    ended(0, filter({"gather", out_}));
    return HasFailure() ? 1 : 0;
  }));
  if (result == cannot_mount) GTEST_SKIP() << "skipped: no file system can be mounted here";
  EXPECT_EQ(result, 0);
}

// The shell sets the limit and then becomes the program.
ProcessResult with_open_files(int limit, const Words& words) {
  return run_process(
      Words{"sh", "-c", formatted("ulimit -n {}; exec \"$@\"", limit), "sh", GPUFILTER_PROGRAM} +
          words,
      {.environment = {{"GPUFILTER_DEVICE", ""}}});
}

TEST_F(BatchFailures, AFewOpenFilesAreEnoughForManyJobs) {
  put_many(70, {20, 20});
  const Files expected = undisturbed();
  for (const int limit : {20, 32, 64}) {
    EXPECT_TRUE(contains(ended(0, with_open_files(limit, command({"--jobs", "64", "-v",
                                                                  "--on-exists", "overwrite"})))
                             .err,
                         " instead of 64, because of the limit of open files (ulimit -n)\n"));
    EXPECT_EQ(results_in(out_), expected) << limit;
  }
}

TEST_F(BatchFailures, AReadOnlyDiskEndsIt) {
  put("a.png");
  fs::create_directory(out_);
  const int result = wait_for_child(start_child([&] {
    if (!mount_small(out_, 65536)) return cannot_mount;
    EXPECT_EQ(::mount("none", out_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
    EXPECT_EQ(ended(1, batch()).err, "gpufilter: " + out_ + ": read-only file system\n");
    EXPECT_EQ(batch({"--shard", "0/1", "-q"}).err,
              "gpufilter: " + out_ + ": read-only file system\n");
    return HasFailure() ? 1 : 0;
  }));
  if (result == cannot_mount) GTEST_SKIP() << "skipped: no file system can be mounted here";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace gpufilter::test
