#include "app/filter/filter_options.hpp"

#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"
#include "stage/options/catalogue.hpp"
#include "support/objection.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

// The words after the program's name.
std::optional<FilterOptions> parse(const std::vector<const char*>& words) {
  std::vector<const char*> arguments{"gpufilter"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return parse_filter_options(static_cast<int>(arguments.size()), arguments.data());
}

FilterOptions parsed(std::vector<const char*> words) {
  words.insert(words.begin(), {"in.png", "out.png"});
  const auto options = parse(words);
  EXPECT_TRUE(options);
  return options.value_or(FilterOptions{});
}

std::string complaint(const std::vector<const char*>& words) {
  return test::objection_to([&] { return parse(words); }, "");
}

// "--blur, --convolve or --gaussian": the stages that take the parameter.
std::string stages_with(const std::string& parameter) {
  std::vector<std::string> names;
  for (const StageKind& kind : stage_catalogue()) {
    for (const StageParameter& known : kind.parameters) {
      if (known.option == parameter) names.push_back(kind.option);
    }
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

class FilterOptionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("GPUFILTER_DEVICE");
    ::unsetenv("GPUFILTER_ON_EXISTS");
  }
  void TearDown() override { ::unsetenv("GPUFILTER_DEVICE"); }
};

TEST_F(FilterOptionsTest, HaveTheDefaultsOfTheContract) {
  const FilterOptions options = parsed({});
  EXPECT_EQ(options.input, "in.png");
  EXPECT_EQ(options.inputs, std::vector<std::string>{"in.png"});
  EXPECT_EQ(options.output, "out.png");
  EXPECT_TRUE(options.only_names);
  EXPECT_TRUE(options.chain.empty());
  EXPECT_EQ(options.device, "auto");
  EXPECT_FALSE(options.require_device);
  EXPECT_FALSE(options.in_place);
  EXPECT_EQ(options.timing, TimingFormat::line);
  EXPECT_EQ(options.trace, "");
  EXPECT_EQ(options.on_exists, OnExists::overwrite);
  EXPECT_EQ(options.progress, ProgressMode::automatic);
  EXPECT_EQ(options.log_level, log::Level::warn);
  EXPECT_FALSE(options.band_rows);
  EXPECT_EQ(options.run.limits.max_pixels, 500'000'000U);
  const WriteOptions& write = options.run.write;
  EXPECT_EQ(write.get<Color>(background_option()), (Color{255, 255, 255}));
  EXPECT_EQ(write.get<int>(png_level_option()), 6);
  EXPECT_EQ(write.get<int>(quality_option()), std::nullopt);
  EXPECT_EQ(write.get<std::string>(jpeg_subsampling_option()), "auto");
}

TEST_F(FilterOptionsTest, TakeEveryOption) {
  const FilterOptions options =
      parsed({"--device",    "gpu",    "--require-device", "--no-fuse", "--timing",     "csv",
              "--trace",     "t.json", "--on-exists",      "skip",      "--progress",   "off",
              "--quality",   "75",     "--png-level",      "3",         "--max-pixels", "42",
              "--band-rows", "9",      "--background",     "red",       "--log-level",  "debug"});
  EXPECT_EQ(options.device, "gpu");
  EXPECT_TRUE(options.require_device);
  EXPECT_FALSE(options.fuse);
  EXPECT_EQ(options.timing, TimingFormat::csv);
  EXPECT_EQ(options.trace, "t.json");
  EXPECT_EQ(options.on_exists, OnExists::skip);
  EXPECT_EQ(options.progress, ProgressMode::off);
  EXPECT_EQ(options.run.write.get<int>(quality_option()), 75);
  EXPECT_EQ(options.run.write.get<int>(png_level_option()), 3);
  EXPECT_EQ(options.run.limits.max_pixels, 42U);
  EXPECT_EQ(options.band_rows, 9);
  EXPECT_EQ(options.run.write.get<Color>(background_option()), (Color{255, 0, 0}));
  EXPECT_EQ(options.log_level, log::Level::debug);
}

TEST_F(FilterOptionsTest, MemoryIsInBytesOrWithASuffix) {
  const auto memory = [](const char* text) { return parsed({"--max-memory", text}).max_memory; };
  EXPECT_EQ(memory("1"), 1U);
  EXPECT_EQ(memory("1000000"), 1'000'000U);
  EXPECT_EQ(memory("3K"), 3072U);
  EXPECT_EQ(memory("64M"), 64U * 1024 * 1024);
  EXPECT_EQ(memory("1G"), 1024U * 1024 * 1024);
  EXPECT_EQ(memory("17179869183G"), 17179869183ULL << 30U);
  EXPECT_EQ(parsed({}).max_memory, std::nullopt);
  for (const char* bad : {"", "0", "0K", "-1", "1.5G", "1T", "1m", "M", "G1", "1KK", " 1", "1 ",
                          "17179869184G", "18446744073709551616", "x"}) {
    EXPECT_EQ(complaint({"in.png", "out.png", "--max-memory", bad}),
              "--max-memory: '" + std::string(bad) +
                  "' is not a number of bytes such as 1000000, 500K, 64M or 1G (see gpufilter "
                  "--help)");
  }
}

TEST_F(FilterOptionsTest, EachJobTakesAThread) {
  EXPECT_EQ(parsed({}).threads, std::nullopt);
  EXPECT_EQ(parsed({"--threads", "3"}).threads, 3);
  EXPECT_EQ(parsed({"--threads", "1"}).folder.jobs, 1);
  EXPECT_EQ(parsed({"--threads", "9", "--jobs", "4"}).folder.jobs, 4);
  EXPECT_EQ(parsed({"--threads", "4", "--jobs", "4"}).folder.jobs, 4);
  EXPECT_EQ(complaint({"in", "out", "--threads", "3", "--jobs", "4"}),
            "--jobs 4 is more than --threads 3: each job takes one of the threads");
}

TEST_F(FilterOptionsTest, ParametersWithoutTheirStageAreRefused) {
  EXPECT_EQ(complaint({"in.png", "out.png", "--border", "wrap"}),
            "--border wrap: no stage here takes it; it goes with " + stages_with("--border"));
  EXPECT_EQ(complaint({"in.png", "out.png", "--alpha", "independent", "--levels", "auto"}),
            "--alpha independent: no stage here takes it; it goes with " + stages_with("--alpha"));
  EXPECT_EQ(complaint({"in.png", "out.png", "--tile", "8"}),
            "--tile 8: no stage here takes it; it goes with --blur tiled");
  EXPECT_EQ(complaint({"in.png", "out.png", "--tile", "8", "--blur", "auto"}),
            "--tile 8: no stage here takes it; it goes with --blur tiled");
  EXPECT_EQ(parsed({"--border", "wrap", "--alpha", "independent", "--blur", "auto"}).chain.size(),
            1U);
}

TEST_F(FilterOptionsTest, SubsamplingHasItsUsualNames) {
  for (const std::string name : {"auto", "444", "422", "420"}) {
    const FilterOptions options = parsed({"--subsampling", name.c_str()});
    EXPECT_EQ(options.run.write.get<std::string>(jpeg_subsampling_option()), name);
  }
}

TEST_F(FilterOptionsTest, AFlagOfAFormatTakesNoValue) {
  EXPECT_EQ(parsed({}).run.write.get<bool>(jpeg_progressive_option()), false);
  const FilterOptions options = parsed({"--progressive", "--max-memory", "2G"});
  EXPECT_EQ(options.run.write.get<bool>(jpeg_progressive_option()), true);
  EXPECT_EQ(options.run.write.max_memory(), std::uint64_t{2} << 30U);
  EXPECT_EQ(parsed({"--max-memory", "1M"}).run.write.max_memory(), std::uint64_t{1} << 30U);
}

TEST_F(FilterOptionsTest, TheOptionsOfFormatsSayWhatTheyTake) {
  EXPECT_EQ(complaint({"in.png", "out.png", "--png-level", "10"}),
            "--png-level: '10' is not a whole number from 0 to 9 (see gpufilter --help)");
  EXPECT_EQ(complaint({"in.png", "out.png", "--subsampling", "440"}),
            "--subsampling: '440' is not one of auto, 444, 422, 420 (see gpufilter --help)");
  EXPECT_EQ(
      complaint({"in.png", "out.png", "--background", "pink"}),
      "--background: 'pink' is not a colour: write #rgb, #rrggbb or a name such as white (see "
      "gpufilter --help)");
}

TEST_F(FilterOptionsTest, AFormatHasAllOfItsEndings) {
  EXPECT_EQ(parsed({}).to, nullptr);
  EXPECT_EQ(parsed({"--to", "png"}).to, &png_codec());
  EXPECT_EQ(parsed({"--to", "jpg"}).to, &jpeg_codec());
  EXPECT_EQ(parsed({"--to", "jpeg"}).to, &jpeg_codec());
}

TEST_F(FilterOptionsTest, StagesMayStandAnywhere) {
  const auto options =
      parse({"--blur", "naive", "in.png", "--blur=tiled", "out.png", "--blur", "auto"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->input, "in.png");
  EXPECT_EQ(options->output, "out.png");
  ASSERT_EQ(options->chain.size(), 3U);
  for (const auto& stage : options->chain)
    EXPECT_EQ(stage->name(), "blur");
}

TEST_F(FilterOptionsTest, StagesKeepTheirOrder) {
  const FilterOptions options = parsed(
      {"--color", "1 0 0; 0 1 0; 0 0 2", "--blur", "auto", "--color", "1 0 0; 0 1 0; 0 0 3"});
  ASSERT_EQ(options.chain.size(), 3U);
  EXPECT_EQ(options.chain[0]->name(), "color");
  EXPECT_EQ(options.chain[1]->name(), "blur");
  EXPECT_EQ(options.chain[2]->name(), "color");
}

TEST_F(FilterOptionsTest, AMinusIsAName) {
  const auto options = parse({"-", "-", "--blur", "auto"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->input, "-");
  EXPECT_EQ(options->output, "-");
}

TEST_F(FilterOptionsTest, VerboseAndQuietSetTheLevel) {
  EXPECT_EQ(parsed({"-v"}).log_level, log::Level::info);
  EXPECT_EQ(parsed({"-vv"}).log_level, log::Level::debug);
  EXPECT_EQ(parsed({"-v", "--verbose"}).log_level, log::Level::debug);
  const FilterOptions quiet = parsed({"-q"});
  EXPECT_EQ(quiet.log_level, log::Level::error);
  EXPECT_EQ(quiet.timing, TimingFormat::off);
  EXPECT_EQ(quiet.progress, ProgressMode::off);
}

TEST_F(FilterOptionsTest, QuietTakesNothingAwayThatWasAskedFor) {
  const FilterOptions options =
      parsed({"--timing", "json", "--progress", "on", "--log-level", "info", "-q"});
  EXPECT_EQ(options.timing, TimingFormat::json);
  EXPECT_EQ(options.progress, ProgressMode::on);
  EXPECT_EQ(options.log_level, log::Level::info);
}

TEST_F(FilterOptionsTest, TheEnvironmentNamesADevice) {
  ::setenv("GPUFILTER_DEVICE", "cpu", 1);
  EXPECT_EQ(parsed({}).device, "cpu");
  EXPECT_EQ(parsed({"--device", "gpu"}).device, "gpu");
  ::setenv("GPUFILTER_DEVICE", "", 1);
  EXPECT_EQ(parsed({}).device, "auto");
}

TEST_F(FilterOptionsTest, TheLastOfSeveralNamesIsTheOutput) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"/dev/null", "/dev/zero", "-", "/", "--blur", "auto"},
        {"/dev/null", "--blur", "auto", "/dev/zero", "-", "/"},
        {"--blur=auto", "/dev/null", "/dev/zero", "-", "/"}}) {
    const auto options = parse(words);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->inputs, (std::vector<std::string>{"/dev/null", "/dev/zero", "-"}));
    EXPECT_EQ(options->input, "/dev/null");
    EXPECT_EQ(options->output, "/");
    EXPECT_EQ(options->chain.size(), 1U);
    EXPECT_FALSE(options->only_names);
  }
}

TEST_F(FilterOptionsTest, ComplaintsAreOneLineWithAHint) {
  EXPECT_EQ(complaint({}), "INPUT is required (see gpufilter --help)");
  EXPECT_EQ(complaint({"in.png"}), "OUTPUT is required (see gpufilter --help)");
  EXPECT_EQ(complaint({"in.png", "out.png", "--vignette"}),
            "--vignette: unknown option (see gpufilter --help-all)");
  EXPECT_EQ(complaint({"in.png", "out.png", "--sharpness", "3"}),
            "--sharpness: unknown option (see gpufilter --help-all)");
  EXPECT_EQ(complaint({"in.png", "out.png", "--boder=wrap"}),
            "--boder: unknown option; did you mean --border?");
  EXPECT_EQ(complaint({"--boder", "wrap", "--quality", "500"}),
            "--boder: unknown option; did you mean --border?");
  EXPECT_EQ(complaint({"in.png", "out.png", "--blur"}),
            "--blur needs a value: naive|tiled|auto (see gpufilter --help)");
  EXPECT_EQ(complaint({"in.png", "out.png", "--blur", "tiled", "--tile"}),
            "--tile needs a value: 8|16|32 (see gpufilter --help)");
  EXPECT_EQ(complaint({"in.png", "out.png", "--quality", "5", "--quality", "6"}),
            "--quality is given more than once (see gpufilter --help)");
  EXPECT_EQ(
      complaint({"in.png", "out.png", "--max-pixels", "1e3"}),
      "--max-pixels: '1e3' is not a whole number from 1 to 18446744073709551615 (see gpufilter "
      "--help)");
}

TEST_F(FilterOptionsTest, HelpAndVersionAreAll) {
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}));
  EXPECT_FALSE(parse({"--version"}));
  EXPECT_TRUE(test::contains(::testing::internal::GetCapturedStdout(), "gpufilter "));
}

}  // namespace
}  // namespace gpufilter
