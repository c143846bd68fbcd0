// "gpufilter verify", and the broken kernels that it finds.

#include "cli/program_fixture.hpp"
#include "host/instruction_set.hpp"
#include "lab/stage_samples.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

struct Verify : ProgramTest {
  static Json verify_json(const Words& arguments, int exit_code,
                          const ProcessOptions& options = {}) {
    const Json json =
        filter_json(exit_code, Words{"verify"} + arguments + Words{"--json"}, options);
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
  const Words all = lab::stage_names();
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
  const Words command{GPUFILTER_PROGRAM, "verify", "gray", "--device", "cpu"};
  const ProcessResult one = run_process(Words{"taskset", "-c", "0"} + command);
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
    EXPECT_TRUE(contains(ended(0, filter({in, out_, "--blur", "auto", "--border", "wrap",
                                          "--dilate", "2", "--border", "wrap", "--levels", "auto",
                                          "--device", device, "--verify=7", "--band-rows", "90"}))
                             .err,
                         "; 7 blocks verified"));
  }
  // All blocks, if more are requested than exist; the default is 16.
  const auto blocks = [&](const std::string& option) {
    return Json::parse(
        filter({in, out_, "--blur", "auto", "--device", "cpu", option, "--timing", "json"})
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
  const Words run{in, out_, "--blur", "naive", "--device", "opencl"};
  ended(0, filter(run, wrong));
  fs::remove(out_);
  auto verified = run;
  expect_failure(1, verified + Words{"--verify=1000"},
                 {in + ": not verified: ", "row 1, column 3, red: "}, wrong);
}

TEST_F(Verify, AFolderGoesOnAfterAWrongPicture) {
  GPUFILTER_REQUIRE_DEVICE();
  fs::create_directory(folder_ / "in");
  write_png(random_image(size_, format_, 3), folder_ / "in/a.png");
  write_png(random_image(size_, format_, 4), folder_ / "in/b.png");
  EXPECT_TRUE(contains(ended(0, filter({folder_ / "in", folder_ / "right", "--blur", "naive",
                                        "--device", "opencl", "--verify=3"}))
                           .err,
                       "; 6 blocks verified"));
  EXPECT_TRUE(contains(ended(1, filter({folder_ / "in", folder_ / "out", "--blur", "naive",
                                        "--device", "opencl", "--verify=100"},
                                       with_wrong_blur()))
                           .err,
                       "2 failed"));
  EXPECT_FALSE(fs::exists(folder_ / "out/a.png"));
}

// samples/broken: "gpufilter verify --kernels" finds each mistake, shows it and says why.

constexpr const char* broken = GPUFILTER_SOURCE "/samples/broken";
// The quick check's picture; each of its pixels is drawn as a square.
constexpr ImageSize picture{67, 37};
constexpr int square = 11;

struct Group {
  int width = 0;
  int height = 0;
};

struct Mistake {
  const char* folder;
  const char* why;
  // Whether the pixel can be wrong; the first in the picture that can, is.
  std::function<bool(int x, int y, Group group)> may_differ;
};

bool beside_seam(int x, int width) {
  return x % width == 0 || x % width == width - 1;
}

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all{
      {"no-corners",
       "The four corners of the halo are never fetched: pixels in the corners of a tile take "
       "whatever was in local memory there.",
       [](int x, int y, Group group) {
         return beside_seam(x, group.width) && beside_seam(y, group.height);
       }},
      {"no-barrier",
       "There is no barrier between fetching the tile and reading it: a work-item reads what its "
       "neighbours have not fetched yet.",
       [](int, int, Group) { return true; }},
      {"no-edge",
       "Neighbours outside the picture are left out, but the sum is still divided by nine: the "
       "picture's edge is too dark.",
       [](int x, int y, Group) {
         return x == 0 || y == 0 || x == picture.width - 1 || y == picture.height - 1;
       }},
      {"truncating",
       "The sum is divided by nine without adding four first: the mean is rounded down instead of "
       "to the nearest, and half of the samples are one too small.",
       [](int, int, Group) { return true; }},
      {"stripes",
       "Only the rows above and below the tile are fetched, not the columns beside it: the seams "
       "between tiles show as vertical stripes.",
       [](int x, int, Group group) { return beside_seam(x, group.width); }}};
  return all;
}

struct BrokenKernels : ProgramTest {
  [[nodiscard]] Words quick_check(const std::string& folder) const {
    return {"verify",   "blur",   "--quick",   "--channels", "3",      "--depth", "8",
            "--device", "opencl", "--kernels", folder,       "--diff", drawing_};
  }

  // Whether the drawing shows a difference at this pixel.
  [[nodiscard]] bool differs(const Image& drawing, int x, int y) const {
    const auto at = [&](int channel) {
      return sample_at(drawing, x * square + square / 2, y * square + square / 2, channel);
    };
    return at(0) != at(1) || at(1) != at(2);
  }

  const std::string drawing_ = folder_ / "differences.png";
};

TEST_F(BrokenKernels, AreFoundShownAndExplained) {
  GPUFILTER_REQUIRE_DEVICE();
  for (const Mistake& mistake : mistakes()) {
    SCOPED_TRACE(mistake.folder);
    const Words check = quick_check(fs::path(broken) / mistake.folder);
    const Json json = filter_json(1, check + Words{"--json"});
    EXPECT_EQ(json["kernels"], Json({{"folder", fs::path(broken) / mistake.folder},
                                     {"files", {"blur.cl"}},
                                     {"why", mistake.why}}));
    const Json& first = json["first_failure"];
    EXPECT_EQ(first["drawing"], drawing_);
    // Only the changed kernel is wrong.
    for (const Json& variant : json["variants"]) {
      const bool is_changed = variant["variant"].get<std::string>().starts_with("naive");
      EXPECT_EQ(variant["different"] > 0, is_changed) << variant;
      EXPECT_EQ(variant["failed"], 0) << variant;
    }
    Group group;
    ASSERT_EQ(std::sscanf(first["variant"].get<std::string>().c_str(), "naive %dx%d", &group.width,
                          &group.height),
              2);
    const Image drawing = read_picture(drawing_);
    ASSERT_EQ(drawing.size(), (ImageSize{picture.width * square, picture.height * square}));
    int wrong = 0;
    for (const auto [x, y] : each_pixel(picture)) {
      if (!differs(drawing, x, y)) continue;
      EXPECT_TRUE(mistake.may_differ(x, y, group)) << x << ", " << y;
      if (wrong++ == 0) {
        const std::string place = "row " + std::to_string(y) + ", column " + std::to_string(x);
        EXPECT_TRUE(first["difference"].get<std::string>().starts_with(place + ", ")) << first;
      }
    }
    EXPECT_GT(wrong, 10);
  }
}

// Slow on GPUs, but right.
TEST_F(BrokenKernels, BankConflictsAndDivergenceGiveTheRightResult) {
  GPUFILTER_REQUIRE_DEVICE();
  for (const std::string name : {"bank-conflict", "divergence"}) {
    SCOPED_TRACE(name);
    const Json json = filter_json(0, {"verify", "blur", "--quick", "--device", "opencl",
                                      "--kernels", fs::path(broken) / name, "--json"});
    EXPECT_TRUE(json["kernels"]["why"].get<std::string>().starts_with(
        "Nothing is wrong with the result, but "));
    EXPECT_TRUE(json["passed"]);
  }
}

// Rounding down gives samples that are one less, and about half of them are.
TEST_F(BrokenKernels, TruncatingIsWrongByOne) {
  GPUFILTER_REQUIRE_DEVICE();
  const ProcessResult table = ended(1, filter(quick_check(fs::path(broken) / "truncating")));
  expect_parts(table.out, {"\nThe first that differs: --blur naive ("});
  EXPECT_TRUE(
      ends(table.out, "\n" + drawing_ + " shows where it differs\n" + mistakes().at(3).why + "\n"));
  const Image drawing = read_picture(drawing_);
  int wrong = 0;
  for (const auto [x, y] : each_pixel(picture)) {
    if (!differs(drawing, x, y)) continue;
    ++wrong;
    EXPECT_EQ(sample_at(drawing, x * square, y * square, 1), 255U) << "yellow: a step of one";
  }
  // A pixel has three samples, of which four in nine are rounded up.
  EXPECT_NEAR(wrong, picture.pixels() * (1 - std::pow(5.0 / 9, 3)), 0.05 * picture.pixels());
}

TEST_F(BrokenKernels, TheRightOnePasses) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_TRUE(ends(ended(0, filter(quick_check(fs::path(broken) / "right"))).out,
                   "results compared with the processor's baseline: all equal\n"));
  EXPECT_FALSE(fs::exists(drawing_));
}

// Each differs from the right one by the mistake alone.
TEST_F(BrokenKernels, DifferFromTheRightOneInAFewLines) {
  const auto right = lines_of(read_file(fs::path(broken) / "right/blur.cl"));
  EXPECT_GT(right.size(), 80U);
  for (const Mistake& mistake : mistakes()) {
    SCOPED_TRACE(mistake.folder);
    const auto wrong = lines_of(read_file(fs::path(broken) / mistake.folder / "blur.cl"));
    const auto [right_begin, wrong_begin] = std::ranges::mismatch(right, wrong);
    const auto right_rest = std::ranges::subrange(right_begin, right.end());
    const auto wrong_rest = std::ranges::subrange(wrong_begin, wrong.end());
    std::ptrdiff_t same = 0;
    while (same < std::min(std::ssize(right_rest), std::ssize(wrong_rest)) &&
           right.end()[-same - 1] == wrong.end()[-same - 1])
      ++same;
    const auto changed = std::max(std::ssize(right_rest), std::ssize(wrong_rest)) - same;
    EXPECT_GE(changed, 1);
    EXPECT_LE(changed, std::string(mistake.folder) == "stripes" ? 8 : 4);
  }
}

// Without --diff, the drawing is named after the folder and lies where the program runs.
TEST_F(BrokenKernels, TheDrawingHasANameOfItsOwn) {
  GPUFILTER_REQUIRE_DEVICE();
  auto check = quick_check(fs::path(broken) / "no-edge/");
  check.resize(check.size() - 2);
  EXPECT_TRUE(contains(ended(1, filter(check, {.folder = folder_.path()})).out,
                       "\nno-edge-differences.png shows where it differs\n"));
  EXPECT_EQ(names_in(folder_.path()), (Words{"no-edge-differences.png"}));
}

// A full check would take minutes.
TEST_F(BrokenKernels, AFullCheckEndsAtTheFirstDifference) {
  GPUFILTER_REQUIRE_DEVICE();
  const Json json = filter_json(1, {"verify", "blur", "--kernels", fs::path(broken) / "no-edge",
                                    "--json", "--diff", drawing_, "--device", "opencl"});
  EXPECT_EQ(json["first_failure"]["stages"], "--blur naive");
  int on_devices = 0;
  for (const Json& variant : json["variants"]) {
    if (variant["place"].get<std::string>().starts_with("processor")) continue;
    on_devices += variant["cases"].get<int>();
    EXPECT_EQ(variant["different"], 1) << variant;
  }
  EXPECT_EQ(on_devices, 1);
  EXPECT_TRUE(fs::exists(drawing_));
}

TEST_F(BrokenKernels, BadFoldersAreRefused) {
  const auto refused = [&](const Words& more, const std::string& reason) {
    const Words arguments = Words{"verify", "blur", "--quick"} + more;
    expect_failure(2, arguments, {});
    EXPECT_EQ(filter(arguments).err, "gpufilter: " + reason + "\n");
  };
  const std::string missing = folder_ / "missing";
  refused({"--kernels", missing}, missing + ": is not a folder");
  const std::string empty = folder_ / "empty";
  fs::create_directory(empty);
  refused(
      {"--kernels", empty},
      empty +
          ": has no kernel file; copy one there, such as kernels/window/blur.cl, and change it");
  const std::string right = fs::path(broken) / "right";
  refused({"--kernels", right, "--device", "cpu"},
          "--kernels: --device cpu runs no OpenCL kernel; name another device");
  refused({"--kernels", right, "--diff", "wrong.jpg"},
          "wrong.jpg: --diff draws PNG; give it a name that ends in .png");
  const std::string misspelt = folder_ / "misspelt";
  fs::create_directory(misspelt);
  write_file(misspelt + "/blurr.cl", "");
  expect_failure(
      2, {"verify", "--kernels", misspelt},
      {misspelt + "/blurr.cl: replaces no kernel file; those are blur.cl, blur_lines.cl"});
}

TEST_F(BrokenKernels, AMessageNamesTheFileThatDoesNotCompile) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string kernels = folder_ / "kernels";
  fs::create_directory(kernels);
  write_file(kernels + "/blur.cl", "\nint wrong(;\n");
  const ProcessResult result = ended(1, filter(quick_check(kernels)));
  const std::string file = kernels + "/blur.cl";
  expect_parts(result.out, {": " + file + " does not compile: ", file + ":2:"});
}

TEST_F(BrokenKernels, NeedADevice) {
  expect_failure(3, {"verify", "blur", "--kernels", fs::path(broken) / "right"},
                 {"--kernels: there is no OpenCL device to run them; see 'gpufilter devices'"},
                 {.environment = {{"OCL_ICD_VENDORS", folder_.path()}, {"OCL_ICD_FILENAMES", ""}}});
}

}  // namespace
}  // namespace gpufilter::test
