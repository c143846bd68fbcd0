// Runs that continue where an earlier one stopped, and failures of pictures and folders.

#include <sched.h>
#include <sys/mount.h>

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/child_process.hpp"

namespace gpufilter::test {
namespace {

struct BatchResume : BatchTest {
  [[nodiscard]] Words resumed(const Words& more = {}) const {
    return statuses(json_batch(more + Words{"--resume"}));
  }
};

TEST_F(BatchResume, DoesOnlyWhatIsMissing) {
  put_many(3);
  EXPECT_EQ(resumed(), (Words{"done", "done", "done"}));
  EXPECT_EQ(resumed(), (Words{"unchanged", "unchanged", "unchanged"}));
  put("p101a.png");
  fs::remove(out_ + "/p100.png");
  EXPECT_EQ(resumed(), (Words{"done", "unchanged", "done", "unchanged"}));
  EXPECT_EQ(results_in(out_), undisturbed());
}

TEST_F(BatchResume, SeesChangedInputs) {
  put_many(3);
  ended(0, batch());
  write_png(random_image({37, 29}, format_, 77), in_ + "/p101.png");
  EXPECT_EQ(resumed(), (Words{"unchanged", "done", "unchanged"}));
  EXPECT_EQ(results_in(out_), undisturbed());
  // A file of equal size and time counts as changed if its content differs.
  const auto time = fs::last_write_time(in_ + "/p101.png");
  write_png(random_image({37, 29}, format_, 78), in_ + "/p101.png");
  fs::last_write_time(in_ + "/p101.png", time);
  EXPECT_EQ(resumed(), (Words{"unchanged", "done", "unchanged"}));
  // A file of another time counts as unchanged if its content is the same.
  fs::last_write_time(in_ + "/p102.png", time - std::chrono::hours(1));
  EXPECT_EQ(resumed(), (Words{"unchanged", "unchanged", "unchanged"}));
}

// The decoder stops before such bytes; the journal's hash covers the whole file.
TEST_F(BatchResume, SeesChangesBehindThePicture) {
  put("a.png");
  put("b.jpg");
  for (const char* name : {"/a.png", "/b.jpg"})
    write_file(in_ + name, read_file(in_ + name) + "behind the end");
  ended(0, batch());
  EXPECT_EQ(resumed(), (Words{"unchanged", "unchanged"}));
  for (const char* name : {"/a.png", "/b.jpg"}) {
    const std::string bytes = read_file(in_ + name);
    write_file(in_ + name, bytes.substr(0, bytes.size() - 1) + "D");
  }
  EXPECT_EQ(resumed(), (Words{"done", "done"}));
}

// Also if a stage reads the picture twice, for its statistics.
TEST_F(BatchResume, KnowsInputsThatWereReadTwice) {
  put_many(2);
  const Words levels{"--levels", "auto"};
  ended(0, batch(levels));
  EXPECT_EQ(resumed(levels), (Words{"unchanged", "unchanged"}));
  write_png(random_image({37, 29}, format_, 77), in_ + "/p101.png");
  EXPECT_EQ(resumed(levels), (Words{"unchanged", "done"}));
}

TEST_F(BatchResume, SeesChangedResults) {
  put_many(4);
  ended(0, batch());
  const Files expected = results_in(out_);
  write_file(out_ + "/p100.png", "scribbled over");
  std::string bytes = expected.at("p101.png");
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  const auto time = fs::last_write_time(out_ + "/p101.png");
  write_file(out_ + "/p101.png", bytes);
  fs::last_write_time(out_ + "/p101.png", time);
  // A copy is as good as the written file.
  fs::copy(out_ + "/p102.png", out_ + "/copy");
  fs::rename(out_ + "/copy", out_ + "/p102.png");
  EXPECT_EQ(resumed(), (Words{"done", "done", "unchanged", "unchanged"}));
  EXPECT_EQ(results_in(out_), expected);
}

TEST_F(BatchResume, SeesAnotherPipeline) {
  put_many(2);
  put("photo.jpg");
  ended(0, batch());
  expect_refusal({"--border", "mirror", "--resume"},
                 {"gpufilter: " + out_ +
                  ": the stages differ from those of the earlier run; "
                  "--on-exists overwrite replaces its results; or name another folder\n"});
  EXPECT_EQ(resumed({"--border", "mirror", "--on-exists", "overwrite"}),
            (Words{"done", "done", "done"}));
  EXPECT_EQ(resumed({"--border", "mirror"}), (Words{"unchanged", "unchanged", "unchanged"}));
  EXPECT_EQ(resumed({"--border", "mirror", "--quality", "50"}),
            (Words{"unchanged", "unchanged", "done"}));
  EXPECT_EQ(resumed({"--border", "mirror", "--quality", "50", "--png-level", "1"}),
            (Words{"done", "done", "unchanged"}));
  EXPECT_EQ(results_in(out_),
            undisturbed({"--border", "mirror", "--quality", "50", "--png-level", "1"}));
}

TEST_F(BatchResume, SeesAnotherMatrixUnderTheSameName) {
  put("a.png");
  const std::string file = folder_ / "matrix.txt";
  write_file(file, "1 0 0\n0 1 0\n0 0 0.5\n");
  EXPECT_EQ(resumed({"--color", file}), Words{"done"});
  write_file(file, "# the same numbers\n1 0 0\n0 1 0\n0 0 0.5\n");
  EXPECT_EQ(resumed({"--color", file}), Words{"unchanged"});
  write_file(file, "1 0 0\n0 1 0\n0 0 0.25\n");
  EXPECT_EQ(resumed({"--color", file, "--on-exists", "overwrite"}), Words{"done"});
}

TEST_F(BatchResume, TheKernelDoesNotMatter) {
  put("a.png");
  EXPECT_EQ(resumed(), Words{"done"});
  filter_quietly({in_, out_, "--blur", "naive", "--resume", "--device", "cpu"});
  EXPECT_EQ(resumed(), Words{"unchanged"});
}

TEST_F(BatchResume, LeavesForeignFilesAlone) {
  put_many(2);
  fs::create_directory(out_);
  write_file(out_ + "/p101.png", "mine");
  expect_refusal({"--resume"}, {"p101.png: already exists"});
  EXPECT_EQ(resumed({"--on-exists", "skip"}), (Words{"done", "exists"}));
  EXPECT_EQ(resumed({"--on-exists", "skip"}), (Words{"unchanged", "exists"}));
  EXPECT_EQ(read_file(out_ + "/p101.png"), "mine");
}

TEST_F(BatchResume, ADamagedJournalCostsOnlyWork) {
  put_many(3);
  ended(0, batch());
  const Files expected = results_in(out_);
  const std::string path = out_ + "/.gpufilter-journal";
  std::string journal = read_file(path);
  for (std::size_t i = 0; i < journal.size(); i += 3)
    if (journal[i] != '\n') journal[i] = 'x';
  write_file(path, journal);
  const std::string damage = "gpufilter: warning: " + path +
                             ": is damaged: 8 of 8 lines cannot be read; the results that they "
                             "recorded are not known to be complete\n";
  EXPECT_EQ(ended(2, batch({"--resume"})).err,
            damage + "gpufilter: " + out_ +
                "/p100.png: already exists, and no journal records it; --on-exists "
                "overwrite replaces it, --on-exists skip leaves it\n");
  EXPECT_EQ(batch({"--resume", "--on-exists", "overwrite", "--log-level", "warn", "-q"}).err,
            damage);
  write_file(path, journal);
  EXPECT_EQ(resumed({"--on-exists", "overwrite"}), (Words{"done", "done", "done"}));
  EXPECT_EQ(resumed(), (Words{"unchanged", "unchanged", "unchanged"}));
  EXPECT_EQ(good_batch({"--resume", "-q", "--log-level", "warn"}).err, "") << "it is repaired";
  EXPECT_EQ(results_in(out_), expected);
}

TEST_F(BatchResume, AKilledWritersLineIsNoDamage) {
  put_many(2);
  ended(0, batch());
  const std::string path = out_ + "/.gpufilter-journal";
  const std::string whole = read_file(path);
  write_file(path, whole + whole.substr(whole.find('\n') + 1, 100));
  EXPECT_EQ(good_batch({"--resume", "--timing", "off"}).err,
            in_ + " -> " + out_ + ": 0 of 2 pictures done, 2 unchanged since an earlier run\n");
  EXPECT_EQ(read_file(path), whole) << "the incomplete line is gone";
}

TEST_F(BatchResume, InPlaceADamagedJournalIsRefused) {
  put_many(2);
  const std::string in = in_;
  out_ = in_;
  ended(0, batch({"--in-place"}));
  const std::string path = in_ + "/.gpufilter-journal";
  std::string journal = read_file(path);
  journal[30] = '!';
  write_file(path, journal);
  expect_refusal(
      {"--in-place", "--resume"},
      {"gpufilter: " + path +
       ": is damaged: 1 of 6 lines cannot be read; --in-place "
       "could filter a picture twice; to filter all of them again, remove the journal\n"});
}

TEST_F(BatchResume, InPlaceFiltersOnce) {
  put_many(3);
  const Files expected = undisturbed();
  out_ = in_;
  EXPECT_EQ(resumed({"--in-place"}), (Words{"done", "done", "done"}));
  EXPECT_EQ(resumed({"--in-place"}), (Words{"unchanged", "unchanged", "unchanged"}));
  EXPECT_EQ(results_in(in_), expected);
  put("p101.png");
  EXPECT_EQ(resumed({"--in-place"}), (Words{"unchanged", "done", "unchanged"}));
  EXPECT_EQ(results_in(in_), expected);
}

// A run that did not end is continued, not repeated on its own results.
TEST_F(BatchResume, InPlaceAnUnfinishedRunIsNotRepeated) {
  put_many(3);
  const Files expected = undisturbed();
  out_ = in_;
  ended(0, batch({"--in-place"}));
  EXPECT_EQ(results_in(in_), expected);
  // As if it had been killed before its last picture.
  const std::string path = in_ + "/.gpufilter-journal";
  const std::string journal = read_file(path);
  write_file(path, journal.substr(0, journal.rfind('\n', journal.size() - 2) + 1));
  put("p102.png");
  const std::string remedy = "; --resume continues it; to filter all of them again, remove " + path;
  for (const Words& more : {Words{}, Words{"--gaussian", "2"}, Words{"--dry-run"}}) {
    expect_refusal(Words{"--in-place"} + more,
                   {"gpufilter: " + in_ + ": an earlier run here was interrupted", remedy});
  }
  expect_refusal({"--in-place", "--resume", "--gaussian", "2"},
                 {"the stages differ from those of the earlier run; it has to end first: repeat "
                  "its command with --resume"});
  EXPECT_EQ(resumed({"--in-place"}), (Words{"unchanged", "unchanged", "done"}));
  EXPECT_EQ(results_in(in_), expected);
  ended(0, batch({"--in-place"}));
}

TEST_F(BatchResume, InPlaceOtherStagesOrOptionsAreRefused) {
  put_many(2);
  out_ = in_;
  ended(0, batch({"--in-place"}));
  expect_refusal({"--in-place", "--resume", "--gaussian", "2"},
                 {"the stages differ from those of the earlier run; without --resume its results "
                  "are filtered again"});
  expect_refusal({"--in-place", "--resume", "--png-level", "1"}, {"the options differ"});
  EXPECT_EQ(statuses(json_batch({"--in-place", "--gaussian", "2"})), (Words{"done", "done"}));
}

// All pictures are done, but the end was not written.
TEST_F(BatchResume, InPlaceNothingMayRemain) {
  put_many(2);
  out_ = in_;
  ended(0, batch({"--in-place"}));
  const std::string path = in_ + "/.gpufilter-journal";
  const std::string journal = read_file(path);
  write_file(path, journal.substr(0, journal.rfind('\n', journal.size() - 2) + 1));
  EXPECT_EQ(resumed({"--in-place"}), (Words{"unchanged", "unchanged"}));
  ended(0, batch({"--in-place"}));
}

TEST_F(BatchResume, AbandonedFilesGo) {
  put("sub/a.png");
  fs::create_directories(out_ + "/sub");
  write_file(out_ + "/sub/.a.png.gpufilter-1-0123abcd", "half a picture");
  EXPECT_EQ(good_batch({"--recursive", "-q"}).err, "");
  EXPECT_EQ(names_of(results_in(out_)), Words{"sub/a.png"});
}

TEST_F(BatchResume, AbandonedFilesGoFromTheFoldersOfAllOutputs) {
  put("a.png");
  const std::string grey = folder_ / "grey";
  for (const std::string& folder : {out_, grey}) {
    fs::create_directories(folder + "/a");
    write_file(folder + "/a/.small.png.gpufilter-1-0123abcd", "half a picture");
  }
  const Words more{"--output", grey, "--gray", "--name", "{stem}/small.png", "--resume", "-q"};
  EXPECT_EQ(good_batch(more).err, "");
  EXPECT_EQ(names_of(results_in(out_)), Words{"a/small.png"});
  EXPECT_EQ(names_of(results_in(grey)), Words{"a/small.png"});
}

// A run is killed `kills` times at random moments and resumed until it completes.
struct BatchEnds : BatchResume {
  void SetUp() override {
    BatchResume::SetUp();
    put_many(24, {150, 120});
    const auto begin = std::chrono::steady_clock::now();
    expected_ = undisturbed({"--png-level", "9"});
    duration_ = std::chrono::steady_clock::now() - begin;
  }

  // Ends a run at a random moment of its duration. Returns whether it was still running.
  [[nodiscard]] bool end_a_run(int signal_number, Words more) {
    more.insert(more.end(), {"--resume", "-q", "--png-level", "9"});
    const auto moment = std::chrono::duration_cast<std::chrono::milliseconds>(
        duration_ * std::uniform_real_distribution<>(0.02, 0.6)(random_));
    const ProcessResult result = batch(more, {.time_limit = moment, .end_signal = signal_number});
    if (signal_number == SIGKILL) {
      EXPECT_TRUE(result.exit_code == 0 || result.signal == SIGKILL) << result.err;
    } else {
      EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 128 + signal_number ||
                  (result.timed_out && result.signal == signal_number))
          << result.exit_code << " " << result.err;
    }
    return result.timed_out;
  }

  static int temporary_files(const Files& files) {
    return static_cast<int>(std::count_if(files.begin(), files.end(), [](const auto& file) {
      return is_temporary_name(fs::path(file.first).filename().native());
    }));
  }

  Files expected_;
  std::chrono::steady_clock::duration duration_{};
  std::mt19937 random_{20};
};

TEST_F(BatchEnds, KilledRunsAreResumedToTheSameBytes) {
  int kills = 0;
  int left_behind = 0;
  for (int round = 0; kills < 10 && round < 60; ++round) {
    kills += end_a_run(SIGKILL, {"--jobs", std::to_string(1 + round % 3)}) ? 1 : 0;
    const Files now = results_in(out_);
    EXPECT_TRUE(all_whole(now, expected_));
    left_behind += temporary_files(now);
    if (now.size() < expected_.size()) continue;
    ended(0, batch({"--resume", "-q", "--png-level", "9"}));
    EXPECT_EQ(results_in(out_), expected_);
    fs::remove_all(out_);
  }
  EXPECT_EQ(kills, 10);
  EXPECT_GT(left_behind, 0) << "no run was killed while it wrote: this test shows nothing";
  EXPECT_EQ(good_batch({"--resume", "-q", "--png-level", "9"}).err, "");
  EXPECT_EQ(results_in(out_), expected_);
  const Words unchanged(expected_.size(), "unchanged");
  EXPECT_EQ(resumed({"--png-level", "9"}), unchanged);
}

TEST_F(BatchEnds, KilledRunsAreCleanedUpInEveryFolder) {
  const std::string blurred = folder_ / "blurred";
  const Words more{"--output", blurred, "--name", "{stem}/a.png", "--jobs", "3"};
  int left_behind = 0;
  for (int round = 0; left_behind == 0 && round < 60; ++round) {
    fs::remove_all(out_);
    fs::remove_all(blurred);
    static_cast<void>(end_a_run(SIGKILL, more));
    left_behind = temporary_files(results_in(blurred));
  }
  EXPECT_GT(left_behind, 0) << "no run was killed while it wrote: this test shows nothing";
  EXPECT_EQ(good_batch(more + Words{"--resume", "-q", "--png-level", "9"}).err, "");
  EXPECT_EQ(temporary_files(results_in(blurred)), 0);
  EXPECT_EQ(temporary_files(results_in(out_)), 0);
}

TEST_F(BatchEnds, KilledInPlaceNothingIsFilteredTwice) {
  const Files originals = results_in(in_);
  out_ = in_;
  int kills = 0;
  for (int round = 0; kills < 10 && round < 40; ++round) {
    kills += end_a_run(SIGKILL, {"--in-place"}) ? 1 : 0;
    int filtered = 0;
    for (const auto& [name, bytes] : results_in(in_)) {
      if (is_temporary_name(name)) continue;
      EXPECT_TRUE(bytes == originals.at(name) || bytes == expected_.at(name)) << name;
      filtered += bytes == expected_.at(name) ? 1 : 0;
    }
    if (filtered < static_cast<int>(expected_.size())) continue;
    for (const auto& [name, bytes] : originals)
      write_file(in_ + "/" + name, bytes);
  }
  EXPECT_EQ(kills, 10);
  ended(0, batch({"--in-place", "--resume", "-q", "--png-level", "9"}));
  EXPECT_EQ(results_in(in_), expected_);
}

TEST_F(BatchEnds, InterruptedRunsLeaveNothingUnfinished) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGINT, SIGTERM, SIGINT, SIGTERM}) {
    static_cast<void>(end_a_run(signal_number, {"--jobs", "3"}));
    const Files now = results_in(out_);
    EXPECT_TRUE(all_whole(now, expected_));
    EXPECT_EQ(temporary_files(now), 0);
  }
  ended(0, batch({"--resume", "-q", "--png-level", "9"}));
  EXPECT_EQ(results_in(out_), expected_);
}

// Failures of some pictures of a folder, or of the folder itself.

struct BatchFailures : BatchTest {
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
  fs::create_symlink("fifo.png", in_ + "/link.png");
  fs::create_symlink("/dev/zero", in_ + "/zero.png");
  fs::create_directory_symlink("..", in_ + "/sub/up");
  fs::create_directory_symlink(".", in_ + "/here");
  const Json document = json_batch({"--recursive", "--follow-links"}, 1);
  EXPECT_EQ(statuses(document), (Words{"done", "failed", "failed", "done", "failed"}));
  EXPECT_EQ(document["pictures"][1]["error"], in_ + "/fifo.png: is not a regular file");
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.png", "sub/b.png"}));
}

TEST_F(BatchFailures, AResultThatCannotBeWrittenIsAFailure) {
  put_many(3);
  fs::create_directories(out_ + "/p100.png");
  ASSERT_EQ(::mkfifo((folder_ / "out/p101.png").c_str(), 0600), 0);
  const Json document = json_batch({"--on-exists", "overwrite"}, 1);
  EXPECT_EQ(statuses(document), (Words{"failed", "failed", "done"}));
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
  for (const Words& more : {Words{}, Words{"--resume"}, Words{"--shard", "0/2"}})
    EXPECT_EQ(ended(1, batch(more)).err, "gpufilter: " + out_ + ": file name too long\n");
  fs::create_symlink("loop", folder_ / "loop");
  out_ = folder_ / "loop/out";
  EXPECT_EQ(batch().err, "gpufilter: " + out_ + ": too many levels of symbolic links\n");
}

TEST_F(BatchFailures, BadOptionsDevicesAndFoldersEndIt) {
  put("a.png");
  expect_refusal({"--mlp", folder_ / "missing.json"}, {"missing.json"});
  expect_refusal({"--timing", "json", "--json"}, {"--json"});
  expect_refusal({"--trace", in_ + "/a.png"}, {"a.png: is a picture of this run"});
  expect_refusal({"--trace", "-", "--json"}, {"--trace -"});
  ended(3, filter({in_, out_, "--blur", "auto", "--device", "no such device"}));
  EXPECT_FALSE(fs::exists(out_));
  out_ = "/proc/gpufilter-out";
  expect_one_line(ended(1, batch()).err, {"/proc/gpufilter-out: "});
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

// Runs `body` in a process that has a file system of `bytes` at `folder`.
template <typename Body>
void on_small_disk(const std::string& folder, int bytes, const Body& body) {
  constexpr int cannot_mount = 77;
  const int result = wait_for_child(start_child([&] {
    if (!mount_small(folder, bytes)) return cannot_mount;
    body();
    return ::testing::Test::HasFailure() ? 1 : 0;
  }));
  if (result == cannot_mount) GTEST_SKIP() << "skipped: no file system can be mounted here";
  EXPECT_EQ(result, 0);
}

TEST_F(BatchFailures, AFullDiskStopsTheRunAndLeavesNoneUnfinished) {
  put_many(8, {200, 150});  // 90 kB each
  const Files expected = undisturbed();
  fs::create_directory(out_);
  on_small_disk(out_, 512 * 1024, [&] {
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
  });
}

TEST_F(BatchFailures, AFullDiskIsOneErrorAndTheWayToGoOn) {
  put_many(8, {200, 150});  // 90 kB each
  fs::create_directory(out_);
  on_small_disk(out_, 512 * 1024, [&] {
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
  });
}

TEST_F(BatchFailures, AFullDiskStopsAShard) {
  put_many(8, {200, 150});
  fs::create_directory(out_);
  on_small_disk(out_, 512 * 1024, [&] {
    expect_parts(ended(1, batch({"--shard", "0/1", "--jobs", "3", "-q"})).err,
                 {"no space for more results", "then the same command again does the rest"});
    EXPECT_EQ(::mount("none", out_.c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
    ended(0, batch({"--shard", "0/1"}));
    ended(0, filter({"gather", out_}));
  });
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
                         " instead of 64, because of the limit on open files (ulimit -n)\n"));
    EXPECT_EQ(results_in(out_), expected) << limit;
  }
}

TEST_F(BatchFailures, AReadOnlyDiskEndsIt) {
  put("a.png");
  fs::create_directory(out_);
  on_small_disk(out_, 65536, [&] {
    EXPECT_EQ(::mount("none", out_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
    EXPECT_EQ(ended(1, batch()).err, "gpufilter: " + out_ + ": read-only file system\n");
    EXPECT_EQ(batch({"--shard", "0/1", "-q"}).err,
              "gpufilter: " + out_ + ": read-only file system\n");
  });
}

}  // namespace
}  // namespace gpufilter::test
