// "gpufilter verify" and --verify: right kernels pass, wrong ones are found.
#include <set>

#include "cli/program_fixture.hpp"
#include "host/instruction_set.hpp"
#include "lab/stage_samples.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class Verify : public ProgramTest {
 protected:
  static Json verify_json(std::vector<std::string> arguments, int exit_code,
                          const ProcessOptions& options = {}) {
    arguments.insert(arguments.begin(), "verify");
    arguments.emplace_back("--json");
    const Json json = Json::parse(ended(exit_code, filter(arguments, options)).out);
    EXPECT_EQ(json["schema"], "gpufilter-verify-1");
    return json;
  }

  // Kernels whose naive blur gives one wrong sample; everything else is right.
  [[nodiscard]] ProcessOptions with_wrong_blur() const {
    const KernelFolder kernels(folder_ / "kernels");
    kernels.replace("blur.cl", "x + dx, y + dy,", "x + dx + (x == 3 && y == 1), y + dy,");
    return {.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"}}};
  }
};

TEST_F(Verify, FindsEveryInstructionSetExact) {
  const Json json = verify_json({"--device", "cpu", "--depth", "8", "blur", "levels"}, 0);
  EXPECT_TRUE(json["passed"]);
  EXPECT_EQ(json["first_failure"], nullptr);
  std::set<std::pair<std::string, std::string>> found;
  int cases = 0;
  for (const Json& variant : json["variants"]) {
    found.emplace(variant["place"].get<std::string>(), variant["stage"].get<std::string>());
    cases += variant["cases"].get<int>();
    EXPECT_GT(variant["cases"], 0);
    EXPECT_EQ(variant["different"], 0);
    EXPECT_EQ(variant["failed"], 0);
  }
  EXPECT_EQ(json["cases"], cases);
  for (const InstructionSet set : available_instruction_sets()) {
    const std::string place = "processor " + std::string(to_string(set));
    for (const char* stage : {"blur", "levels", "blur, levels", "levels, blur", "levels, levels"})
      EXPECT_TRUE(found.contains({place, stage})) << place << stage;
  }
}

TEST_F(Verify, ChecksEveryKernelOfADevice) {
  GPUFILTER_REQUIRE_DEVICE();
  const Json json =
      verify_json({"--quick", "--channels", "1", "--depth", "8", "--device", "opencl"}, 0,
                  {.time_limit = std::chrono::minutes(5)});  // a minute alone
  std::set<std::string> stages;
  std::set<std::string> blurs;
  for (const Json& variant : json["variants"]) {
    const std::string stage = variant["stage"];
    if (variant["place"].get<std::string>().starts_with("processor")) continue;
    stages.insert(stage);
    if (stage == "blur") blurs.insert(variant["variant"].get<std::string>().substr(0, 8));
  }
  const std::vector<std::string> all = lab::stage_names();
  std::set<std::string> expected(all.begin(), all.end());
  expected.insert("encode, decode");
  EXPECT_EQ(stages, expected);
  for (const char* kernel : {"naive 64", "tiled 8x", "tiled 16", "tiled 32"})
    EXPECT_TRUE(blurs.contains(kernel)) << kernel;
}

TEST_F(Verify, FindsAWrongKernel) {
  GPUFILTER_REQUIRE_DEVICE();
  const ProcessOptions wrong = with_wrong_blur();
  const Json json = verify_json(
      {"blur", "--quick", "--channels", "3", "--depth", "8", "--device", "opencl"}, 1, wrong);
  EXPECT_FALSE(json["passed"]);
  const Json& first = json["first_failure"];
  EXPECT_EQ(first["width"], 67);
  EXPECT_EQ(first["band_rows"], 37);
  EXPECT_TRUE(first["difference"].get<std::string>().starts_with("row 1, column 3, red: "))
      << first;
}

// With several cores, several processes share the work.
TEST_F(Verify, ReportsTheSameWithOneProcessAndWithSeveral) {
  const std::vector<std::string> command{GPUFILTER_PROGRAM, "verify", "levels", "gray",
                                         "--device",        "cpu"};
  std::vector<std::string> on_one_core{"taskset", "-c", "0"};
  on_one_core.insert(on_one_core.end(), command.begin(), command.end());
  const ProcessResult one = run_process(on_one_core);
  if (one.exit_code == 127 || one.exit_code == 1) GTEST_SKIP() << "skipped: no core 0 here";
  const ProcessResult several = ended(0, run_process(command));
  EXPECT_EQ(several.out, one.out);
  EXPECT_EQ(several.err, "");
}

TEST_F(Verify, RefusesUnknownStagesAndDevices) {
  expect_failure(2, {"verify", "blurr"}, {"blurr"});
  expect_failure(3, {"verify", "--device", "no such device"}, {"no such device"});
}

TEST_F(Verify, ARunSaysHowManyBlocksAreEqual) {
  const std::string in = stored(random_image({67, 400}, {3, 8}, 1), "in.png");
  for (const char* device : {"cpu", "opencl"}) {
    if (std::string(device) == "opencl" && !has_device()) continue;
    const ProcessResult result =
        ended(0, filter({in, folder_ / "out.png", "--blur", "auto", "--border", "wrap", "--levels",
                         "auto", "--device", device, "--verify=7", "--band-rows", "90"}));
    EXPECT_TRUE(contains(result.err, "; 7 blocks verified"));
  }
  // All blocks, if more are requested than exist; the default is 16.
  const auto blocks = [&](const std::string& option) {
    return Json::parse(filter({in, folder_ / "out.png", "--blur", "auto", "--device", "cpu", option,
                               "--timing", "json"})
                           .out)["verified_blocks"];
  };
  EXPECT_EQ(blocks("--verify=1000"), 50);
  EXPECT_EQ(blocks("--verify"), 16);
  EXPECT_EQ(blocks("--threads=2"), nullptr);
}

TEST_F(Verify, AWrongPictureFailsAndIsNotWritten) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string in = stored(random_image(size_, format_, 2), "in.png");
  const ProcessOptions wrong = with_wrong_blur();
  const std::vector<std::string> run{in,      folder_ / "out.png", "--blur",
                                     "naive", "--device",          "opencl"};
  EXPECT_EQ(filter(run, wrong).exit_code, 0);
  fs::remove(folder_ / "out.png");
  auto verified = run;
  verified.emplace_back("--verify=1000");
  expect_failure(1, verified, {in + ": not verified: ", "row 1, column 3, red: "}, wrong);
}

TEST_F(Verify, AFolderGoesOnAfterAWrongPicture) {
  GPUFILTER_REQUIRE_DEVICE();
  fs::create_directory(folder_ / "in");
  write_png(random_image(size_, format_, 3), folder_ / "in/a.png");
  write_png(random_image(size_, format_, 4), folder_ / "in/b.png");
  const ProcessResult right = ended(0, filter({folder_ / "in", folder_ / "right", "--blur", "naive",
                                               "--device", "opencl", "--verify=3"}));
  EXPECT_TRUE(contains(right.err, "; 6 blocks verified"));
  const ProcessResult result = ended(1, filter({folder_ / "in", folder_ / "out", "--blur", "naive",
                                                "--device", "opencl", "--verify=100"},
                                               with_wrong_blur()));
  EXPECT_TRUE(contains(result.err, "2 failed"));
  EXPECT_FALSE(fs::exists(folder_ / "out/a.png"));
}

}  // namespace
}  // namespace gpufilter::test
