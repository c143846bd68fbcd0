// Tests of the test tools: a check that cannot fail proves nothing.

#include "support/process.hpp"

#ifndef GPUFILTER_SAMPLES_GENERATOR
#define GPUFILTER_SAMPLES_GENERATOR ""
#endif

namespace gpufilter::test {
namespace {

ProcessResult shell(const std::string& script, const ProcessOptions& options = {}) {
  return run_process({"/bin/sh", "-c", script}, options);
}

TEST(Process, ReportsExitCodeAndBothOutputs) {
  const ProcessResult result = shell("printf 'out\\000put'; printf error >&2; exit 7");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.out, std::string("out\0put", 7));
  EXPECT_EQ(result.err, "error");
}

TEST(Process, HasTheArgumentsEnvironmentAndFolderAskedFor) {
  EXPECT_EQ(run_process({"printf", "<%s>", "a b", "", "$HOME", "*", "'\"\\"}).out,
            "<a b><><$HOME><*><'\"\\>");
  ended(3, shell("exit 3", {.input = std::string(1'000'000, 'x')}));
  EXPECT_EQ(shell("kill -PIPE $$").signal, SIGPIPE);
  EXPECT_EQ(shell("echo \"$GPUFILTER_TEST,$PATH\"",
                  {.environment = {{"GPUFILTER_TEST", "a=b"}, {"PATH", "p"}}})
                .out,
            "a=b,p\n");
  const TemporaryFolder folder;
  EXPECT_EQ(shell("pwd -P", {.folder = folder.path()}).out,
            fs::canonical(folder.path()).string() + "\n");
  EXPECT_THROW((void)run_process({"/no/such/program"}), std::system_error);
}

TEST(Process, MovesLargeInputAndOutputAtOnce) {
  std::string input;
  for (int i = 0; input.size() < 20'000'000; ++i)
    input += std::to_string(i) + ",";
  const ProcessResult result = ended(0, shell("tee /dev/stderr", {.input = input}));
  EXPECT_TRUE(result.out == input);
  EXPECT_TRUE(result.err == input);
}

TEST(Process, EndsAtTheTimeLimit) {
  const ProcessResult killed =
      shell("exec sleep 600", {.time_limit = std::chrono::milliseconds(50)});
  EXPECT_TRUE(killed.timed_out);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.exit_code, -1);

  const ProcessResult asked =
      shell("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done",
            {.time_limit = std::chrono::milliseconds(500), .end_signal = SIGTERM});
  EXPECT_TRUE(asked.timed_out);
  EXPECT_EQ(asked.exit_code, 5);
  EXPECT_EQ(asked.out, "ready\n");
}

TEST(Pictures, AreTheSameForTheSameSeed) {
  const PixelFormat format{4, 16};
  EXPECT_TRUE(same_pixels(random_image({9, 9}, format, 1), random_image({9, 9}, format, 1)));
  EXPECT_FALSE(same_pixels(random_image({9, 9}, format, 1), random_image({9, 9}, format, 2)));
}

TEST(Pictures, HaveTheSamplesTheyPromise) {
  for (const int depth : {8, 16}) {
    const PixelFormat format{4, depth};
    const Image extreme = extreme_image({40, 30}, format, 1);
    const Image mixed = mixed_alpha_image({40, 30}, format, 1);
    const Image opaque = opaque_image({40, 30}, format, 1);
    int low = 0;
    int clear = 0;
    int full = 0;
    for (const auto [x, y] : each_pixel({40, 30})) {
      const std::uint32_t sample = sample_at(extreme, x, y, 1);
      EXPECT_TRUE(sample == 0 || sample == format.max_sample());
      low += sample == 0 ? 1 : 0;
      clear += sample_at(mixed, x, y, 3) == 0 ? 1 : 0;
      full += sample_at(mixed, x, y, 3) == format.max_sample() ? 1 : 0;
      EXPECT_EQ(sample_at(opaque, x, y, 3), format.max_sample());
    }
    EXPECT_NEAR(low, 600, 150);
    EXPECT_NEAR(clear, 400, 150);
    EXPECT_NEAR(full, 400, 150);
  }
}

TEST(SamePixels, NamesTheFirstOfAllDifferences) {
  const Image a = poisoned_image({5, 4}, {3, 16}, 1);
  Image b = copy_of(a);
  set_sample(b, 4, 2, 1, 7);
  set_sample(b, 0, 3, 0, 8);
  const auto result = same_pixels(a, b);
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.message(),
               "5x4, RGB, 16-bit, first difference at x 4, y 2, channel 1: 257 and 7; 2 samples "
               "differ");
  EXPECT_TRUE(same_pixels(a.rows().part({0, 2}), b.rows().part({0, 2})));
}

TEST(SamePixels, LooksAtNoPadding) {
  const Image a = poisoned_image({5, 4}, {3, 8}, 1);
  Image b = poisoned_image({5, 4}, {3, 8}, 2);
  EXPECT_FALSE(same_pixels(a, b));
  for (const auto [x, y, channel] : each_sample({5, 4}, 3))
    set_sample(b, x, y, channel, 1);
  EXPECT_TRUE(same_pixels(a, b));
}

TEST(SamePixels, WantsTheSameShape) {
  const Image a = poisoned_image({5, 4}, {3, 8});
  EXPECT_FALSE(same_pixels(a, poisoned_image({4, 5}, {3, 8})));
  EXPECT_FALSE(same_pixels(a, poisoned_image({5, 4}, {1, 8})));
  EXPECT_FALSE(same_pixels(a, poisoned_image({5, 4}, {3, 16})));
  EXPECT_TRUE(same_pixels(a, poisoned_image(5, {10, 14}, {3, 8}))) << "rows count from their first";
}

// Only the PNG files; the JPEG's samples depend on the version of the encoder and decoder.
constexpr const char* lossless[] = {"landscape.png", "badge-alpha.png", "gradient-16bit.png",
                                    "grey.png"};

std::string committed(const std::string& name) {
  return std::string(GPUFILTER_SOURCE) + "/samples/" + name;
}

ProcessResult generate(const std::string& folder) {
  return run_process({GPUFILTER_SAMPLES_GENERATOR, folder, "1"});  // which compresses fast
}

#define REQUIRE_GENERATOR()                             \
  if (std::string(GPUFILTER_SAMPLES_GENERATOR).empty()) \
  GTEST_SKIP() << "skipped: built without GPUFILTER_BUILD_SAMPLES"

TEST(Samples, GeneratorReproducesThem) {
  REQUIRE_GENERATOR();
  const TemporaryFolder folder;
  ended(0, generate(folder.path()));
  EXPECT_TRUE(fs::exists(folder / "landscape.jpg"));
  for (const char* name : lossless)
    EXPECT_TRUE(same_pixels(read_picture(folder / name), read_picture(committed(name)))) << name;
}

TEST(Samples, AreWhatTheirNamesSay) {
  const auto check = [](const std::string& name, ImageSize size, PixelFormat format) {
    const Image picture = read_picture(committed(name));
    EXPECT_EQ(picture.size(), size) << name;
    EXPECT_EQ(picture.format(), format) << name;
  };
  check("landscape.png", {1920, 1280}, {.channels = 3, .depth = 8});
  check("landscape.jpg", {1920, 1280}, {.channels = 3, .depth = 8});
  check("grey.png", {640, 427}, {.channels = 1, .depth = 8});
  check("badge-alpha.png", {512, 512}, {.channels = 4, .depth = 8});
  check("gradient-16bit.png", {320, 240}, {.channels = 3, .depth = 16});
}

TEST(Samples, GeneratorRefusesAFolderThatIsNotThere) {
  REQUIRE_GENERATOR();
  EXPECT_TRUE(
      contains(ended(1, generate("/nowhere/at/all")).err, "/nowhere/at/all/badge-alpha.png"));
}

}  // namespace
}  // namespace gpufilter::test
