// `gpufilter watch`: pictures are filtered as they arrive, complete, and once.
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

struct Watch : BatchTest {
  // Runs `script` beside a watch of "in" for "out", which SIGTERM ends behind it.
  [[nodiscard]] ProcessResult beside(const std::string& script,
                                     const std::string& more = "") const {
    const std::string whole =
        "await() { until [ -e $1 ]; do sleep 0.05; done; }\n"
        "\"$GPUFILTER\" watch in out --invert --device cpu -q " +
        more + " & watch=$!\n" + script + "\nkill $watch; wait $watch";
    ProcessOptions options = with_defaults({.folder = folder_.path()});
    options.environment["GPUFILTER"] = GPUFILTER_PROGRAM;
    return run_process({"sh", "-c", whole}, options);
  }

  void expect_inverted(const std::string& name) const {
    EXPECT_TRUE(
        same_pixels(read_picture(fs::path(out_) / name),
                    filter_on_host(read_picture(fs::path(in_) / name), stages_of("--invert"), {})))
        << name;
  }
};

TEST_F(Watch, FiltersWhatIsThereAndWhatArrives) {
  put("first.png");
  put("later/second.png");
  put("later/third.png");
  fs::rename(fs::path(in_) / "later", folder_ / "later");
  EXPECT_EQ(beside("await out/first.png; cp later/second.png in; mkdir in/sub; mv later/third.png "
                   "in/sub; await out/second.png; await out/sub/third.png",
                   "--recursive")
                .exit_code,
            143);
  for (const char* name : {"first.png", "second.png", "sub/third.png"})
    expect_inverted(name);
}

TEST_F(Watch, WaitsUntilAFileIsComplete) {
  put("first.png");
  put("whole.png", {300, 200});
  fs::rename(fs::path(in_) / "whole.png", folder_ / "whole.png");
  const ProcessResult result = beside(
      "await out/first.png; exec 3>in/slow.png; head -c 1000 whole.png >&3; sleep 2; ls out | grep "
      "slow; "
      "tail -c +1001 whole.png >&3; exec 3>&-; await out/slow.png");
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_EQ(result.out + result.err, "");
  expect_inverted("slow.png");
}

TEST_F(Watch, RepeatsWhatChanges) {
  put("a.png");
  put("b.png");
  fs::rename(fs::path(in_) / "b.png", folder_ / "b.png");
  EXPECT_EQ(beside("await out/a.png; cp out/a.png old.png; cp b.png in/a.png; while cmp -s old.png "
                   "out/a.png; do sleep 0.05; done")
                .exit_code,
            143);
  expect_inverted("a.png");
}

TEST_F(Watch, AfterARestartDoesNothingTwice) {
  put("a.png");
  EXPECT_EQ(beside("await out/a.png").exit_code, 143);
  const auto written = fs::last_write_time(fs::path(out_) / "a.png");
  put("b.png");
  EXPECT_EQ(beside("await out/b.png").exit_code, 143);
  EXPECT_EQ(fs::last_write_time(fs::path(out_) / "a.png"), written);
}

TEST_F(Watch, GoesOnAfterAPictureThatFails) {
  write_file(fs::path(in_) / "bad.png", "\x89PNG\r\n\x1a\nno");
  put("good.png");
  fs::rename(fs::path(in_) / "good.png", folder_ / "good.png");
  const ProcessResult result = beside("sleep 2; cp good.png in; await out/good.png");
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_TRUE(contains(result.err, "in/bad.png: ")) << result.err;
  EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
}

TEST_F(Watch, RefusesWhatItCannotDo) {
  put("a.png");
  for (const auto& [words, part] :
       {std::pair{Words{"watch", fs::path(in_) / "a.png", out_}, "watch takes a folder"},
        std::pair{Words{"watch", in_, out_, "--json"}, "watch does not take --json"},
        std::pair{Words{"watch", in_, out_, "--dry-run"}, "watch does not take --dry-run"},
        std::pair{Words{"watch", in_, "--in-place"}, "watch takes a folder"}})
    expect_failure(2, words, {part});
}

}  // namespace
}  // namespace gpufilter::test
