// Options of the command line: for runs, for formats, and of stages invented for the test.

#include "app/cli/parse.hpp"
#include "app/filter/filter_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/filter/stage_options.hpp"
#include "codec/formats.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/shared_parameters.hpp"
#include "support/testing.hpp"

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

std::string complaint_about(std::vector<const char*> words) {
  words.insert(words.begin(), {"in.png", "out.png"});
  return complaint(words);
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

struct FilterOptionsTest : ::testing::Test {
  void SetUp() override {
    ::unsetenv("GPUFILTER_DEVICE");
    ::unsetenv("GPUFILTER_ON_EXISTS");
  }
  void TearDown() override { ::unsetenv("GPUFILTER_DEVICE"); }
};

TEST_F(FilterOptionsTest, HaveTheDefaultsOfTheContract) {
  const FilterOptions options = parsed({});
  EXPECT_EQ(options.input(), "in.png");
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
    EXPECT_EQ(complaint_about({"--max-memory", bad}),
              "--max-memory: '" + std::string(bad) +
                  "' is not a number of bytes such as 1000000, 500K, 64M or 1G (see gpufilter "
                  "--help)");
  }
}

TEST_F(FilterOptionsTest, JobsTakeThreadsAndParametersStages) {
  EXPECT_EQ(parsed({}).threads, 0);
  EXPECT_EQ(parsed({"--threads", "3"}).threads, 3);
  EXPECT_EQ(parsed({"--threads", "1"}).jobs, 1);
  EXPECT_EQ(parsed({"--threads", "9", "--jobs", "4"}).jobs, 4);
  EXPECT_EQ(parsed({"--threads", "4", "--jobs", "4"}).jobs, 4);
  EXPECT_EQ(complaint({"in", "out", "--threads", "3", "--jobs", "4"}),
            "--jobs 4 is more than --threads 3: each job takes one of the threads");
  EXPECT_EQ(complaint_about({"--border", "wrap"}),
            "--border wrap: no stage here takes it; it goes with " + stages_with("--border"));
  EXPECT_EQ(complaint_about({"--alpha", "independent", "--levels", "auto"}),
            "--alpha independent: no stage here takes it; it goes with " + stages_with("--alpha"));
  EXPECT_EQ(complaint_about({"--tile", "8"}),
            "--tile 8: no stage here takes it; it goes with --blur tiled");
  EXPECT_EQ(complaint_about({"--tile", "8", "--blur", "auto"}),
            "--tile 8: no stage here takes it; it goes with --blur tiled");
  EXPECT_EQ(parsed({"--border", "wrap", "--alpha", "independent", "--blur", "auto"}).chain.size(),
            1U);
}

TEST_F(FilterOptionsTest, OptionsOfFormatsSayWhatTheyTake) {
  for (const std::string name : {"auto", "444", "422", "420"}) {
    const FilterOptions options = parsed({"--subsampling", name.c_str()});
    EXPECT_EQ(options.run.write.get<std::string>(jpeg_subsampling_option()), name);
  }
  EXPECT_EQ(parsed({}).run.write.get<bool>(jpeg_progressive_option()), false);
  const FilterOptions options = parsed({"--progressive", "--max-memory", "2G"});
  EXPECT_EQ(options.run.write.get<bool>(jpeg_progressive_option()), true);
  EXPECT_EQ(options.run.write.max_memory(), std::uint64_t{2} << 30U);
  EXPECT_EQ(parsed({"--max-memory", "1M"}).run.write.max_memory(), std::uint64_t{1} << 30U);
  EXPECT_EQ(complaint_about({"--png-level", "10"}),
            "--png-level: '10' is not a whole number from 0 to 9 (see gpufilter --help)");
  EXPECT_EQ(complaint_about({"--subsampling", "440"}),
            "--subsampling: '440' is not one of auto, 444, 422, 420 (see gpufilter --help)");
  EXPECT_EQ(
      complaint_about({"--background", "pink"}),
      "--background: 'pink' is not a colour: write #rgb, #rrggbb or a name such as white (see "
      "gpufilter --help)");
  EXPECT_EQ(parsed({}).to, nullptr);
  EXPECT_EQ(parsed({"--to", "png"}).to, &png_codec());
  EXPECT_EQ(parsed({"--to", "jpg"}).to, &jpeg_codec());
  EXPECT_EQ(parsed({"--to", "jpeg"}).to, &jpeg_codec());
}

TEST_F(FilterOptionsTest, VerboseAndQuietSetTheLevelAndTakeNothingAwayThatWasAskedFor) {
  EXPECT_EQ(parsed({"-v"}).log_level, log::Level::info);
  EXPECT_EQ(parsed({"-vv"}).log_level, log::Level::debug);
  EXPECT_EQ(parsed({"-v", "--verbose"}).log_level, log::Level::debug);
  const FilterOptions quiet = parsed({"-q"});
  EXPECT_EQ(quiet.log_level, log::Level::error);
  EXPECT_EQ(quiet.timing, TimingFormat::off);
  EXPECT_EQ(quiet.progress, ProgressMode::off);
  const FilterOptions options =
      parsed({"--timing", "json", "--progress", "on", "--log-level", "info", "-q"});
  EXPECT_EQ(options.timing, TimingFormat::json);
  EXPECT_EQ(options.progress, ProgressMode::on);
  EXPECT_EQ(options.log_level, log::Level::info);
}

TEST_F(FilterOptionsTest, TheLastOfSeveralNamesIsTheOutput) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"/dev/null", "/dev/zero", "-", "/", "--blur", "auto"},
        {"/dev/null", "--blur", "auto", "/dev/zero", "-", "/"},
        {"--blur=auto", "/dev/null", "/dev/zero", "-", "/"}}) {
    const auto options = parse(words);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->inputs, (std::vector<std::string>{"/dev/null", "/dev/zero", "-"}));
    EXPECT_EQ(options->input(), "/dev/null");
    EXPECT_EQ(options->output, "/");
    EXPECT_EQ(options->chain.size(), 1U);
    EXPECT_FALSE(options->only_names);
  }
}

TEST_F(FilterOptionsTest, ComplaintsAreOneLineWithAHint) {
  EXPECT_EQ(complaint({}), "INPUT is required (see gpufilter --help)");
  EXPECT_EQ(complaint({"in.png"}), "OUTPUT is required (see gpufilter --help)");
  EXPECT_EQ(complaint_about({"--solarize"}),
            "--solarize: unknown option (see gpufilter --help-all)");
  EXPECT_EQ(complaint_about({"--sharpness", "3"}),
            "--sharpness: unknown option (see gpufilter --help-all)");
  EXPECT_EQ(complaint_about({"--boder=wrap"}), "--boder: unknown option; did you mean --border?");
  EXPECT_EQ(complaint({"--boder", "wrap", "--quality", "500"}),
            "--boder: unknown option; did you mean --border?");
  EXPECT_EQ(complaint_about({"--blur"}),
            "--blur needs a value: naive|tiled|auto (see gpufilter --help)");
  EXPECT_EQ(complaint_about({"--blur", "tiled", "--tile"}),
            "--tile needs a value: 8|16|32 (see gpufilter --help)");
  EXPECT_EQ(complaint_about({"--quality", "5", "--quality", "6"}),
            "--quality is given more than once (see gpufilter --help)");
  EXPECT_EQ(
      complaint_about({"--max-pixels", "1e3"}),
      "--max-pixels: '1e3' is not a whole number from 1 to 18446744073709551615 (see gpufilter "
      "--help)");
}

using Lines = std::vector<std::string>;

constexpr PixelFormat rgb{3, 8};
constexpr PixelFormat rgba{4, 8};
constexpr PixelFormat grey{1, 16};

WriteOptions with(const WriteOption& option, const char* value) {
  return WriteOptions().set(option, value);
}

std::string objection(const WriteOptions& options, const CodecList& formats) {
  return test::objection_to([&] { refuse_unused_options(options, formats); }, "");
}

TEST(RefuseUnusedOptions, WhatNoOutputTakesIsRefused) {
  const WriteOptions quality = with(quality_option(), "80");
  EXPECT_EQ(objection(quality, {&png_codec()}), "--quality: PNG output does not take it; " +
                                                    names_of(codecs_with(quality_option())) +
                                                    " output does");
  EXPECT_EQ(objection(with(jpeg_subsampling_option(), "auto"), {&png_codec()}),
            "--subsampling: PNG output does not take it; JPEG output does");
  EXPECT_EQ(objection(with(background_option(), "white"), {&png_codec()}),
            "--background: PNG output does not take it; JPEG, PPM, PGM, PNM or PFM output does");
  EXPECT_EQ(objection(with(png_level_option(), "6"), {&jpeg_codec()}),
            "--png-level: JPEG output does not take it; PNG output does");
  EXPECT_EQ(objection(quality, {&jpeg_codec()}), "");
  EXPECT_EQ(objection(quality, {&png_codec(), &jpeg_codec()}), "");
  EXPECT_EQ(objection(WriteOptions(), {&png_codec()}), "");
  EXPECT_EQ(objection(with(quality_option(), "80"), {}), "");
}

RunReport written(const Codec& codec, const PixelFormat& pixel) {
  RunReport report;
  report.output_format = &codec;
  report.output_pixel = pixel;
  return report;
}

TEST(OptionUse, OneOutputThatItConcernsIsEnough) {
  const auto options = WriteOptions().set(quality_option(), "50");
  OptionUse use(options);
  RunReport report = written(png_codec(), rgb);
  report.others = {written(png_codec(), rgb), written(jpeg_codec(), rgb)};
  use.add(report);
  EXPECT_EQ(use.warnings(), Lines{});
}

TEST(OptionUse, OnePictureThatItConcernsIsEnough) {
  const WriteOptions options = with(background_option(), "red").set(png_level_option(), "1");
  OptionUse use(options);
  EXPECT_EQ(use.warnings(), Lines{});
  use.add(written(jpeg_codec(), rgb));
  use.add(written(png_codec(), rgba));
  EXPECT_EQ(use.warnings(), Lines{"--background has no effect on any of the 2 pictures"});
  use.add(written(jpeg_codec(), rgba));
  EXPECT_EQ(use.warnings(), Lines{});
}

TEST(FormatNames, AreThoseOfTheirEndings) {
  const Lines names = format_names();
  const Lines always{"png", "jpg", "jpeg", "jpe", "jfif", "ppm", "pgm", "pnm", "pam", "pfm"};
  ASSERT_GE(names.size(), always.size());
  EXPECT_EQ(Lines(names.begin(), names.begin() + 10), always);
  EXPECT_EQ(main_format_names().size(), codecs().size());
  EXPECT_EQ(main_format_names()[1], "jpg");
  EXPECT_EQ(&codec_named("jpeg"), &jpeg_codec());
}

// Reports the values that it was made from.
class Note final : public OneStepStage {
 public:
  explicit Note(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::string name() const override { return "note"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"note", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] std::string key() const override { return text_; }

 private:
  std::string text_;
};

// --soft plain or tiled, with --tile only for tiled; --sharp 1 to 9. They share --border.
const std::vector<StageKind>& kinds() {
  static const std::vector<StageKind> list{
      {.option = "--soft",
       .type = OneOf{{{"plain", 0}, {"tiled", 1}}},
       .help = "softer",
       .parameters = {{.option = "--tile",
                       .type = OneOf{{{"8", 8}, {"16", 16}, {"32", 32}}},
                       .default_value = "16",
                       .help = "side of a tile",
                       .only_with = "tiled"},
                      border_parameter()},
       .from_options =
           [](const OptionValues& values) {
             return std::make_shared<Note>(formatted(
                 "soft {} {} {}", values.choice<int>("--soft"), values.choice<int>("--tile"),
                 static_cast<int>(values.choice<Border>("--border"))));
           }},
      {.option = "--sharp",
       .type = NumberIn{1, 9, true},
       .help = "sharper",
       .parameters = {border_parameter(),
                      {.option = "--share",
                       .type = NumberIn{0, 1},
                       .default_value = "0.5",
                       .help = "how much"}},
       .from_options =
           [](const OptionValues& values) {
             return std::make_shared<Note>(formatted(
                 "sharp {} {} {}", values.number<int>("--sharp"), values.number("--share"),
                 static_cast<int>(values.choice<Border>("--border"))));
           }},
      {.option = "--invert",
       .type = FreeText{"HOW"},
       .help = "the other way round",
       .from_options = [](const OptionValues& values) {
         return std::make_shared<Note>("invert " + values.text("--invert"));
       }}};
  return list;
}

using Notes = std::vector<std::string>;

Notes chain(const std::vector<const char*>& words) {
  std::vector<const char*> arguments{"gpufilter"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  Arguments app("", "gpufilter");
  const StageOptions options(app, kinds());
  static_cast<void>(parse_command_line(app, static_cast<int>(arguments.size()), arguments.data()));
  Notes notes;
  for (const auto& stage : options.chain())
    notes.push_back(stage->key());
  return notes;
}

std::string objection_to_stages(const std::vector<const char*>& words) {
  return test::objection_to([&] { return chain(words); });
}

TEST(StageOptions, AParameterBelongsToTheStageBeforeItOrToAll) {
  EXPECT_EQ(chain({"--soft", "tiled", "--tile", "8", "--soft", "tiled", "--tile=32", "--border",
                   "mirror", "--soft", "tiled"}),
            (Notes{"soft 1 8 0", "soft 1 32 1", "soft 1 16 0"}));
  EXPECT_EQ(chain({"--border", "wrap", "--soft", "plain", "--invert", "all", "--sharp", "1"}),
            (Notes{"soft 0 16 2", "invert all", "sharp 1 0.5 2"}));
  EXPECT_EQ(
      chain({"--tile", "8", "--share", "1", "--soft", "plain", "--sharp", "1", "--soft", "tiled"}),
      (Notes{"soft 0 16 0", "sharp 1 1 0", "soft 1 8 0"}));
  EXPECT_EQ(chain({"--border", "wrap", "--soft", "plain", "--border", "mirror", "--sharp", "1"}),
            (Notes{"soft 0 16 1", "sharp 1 0.5 2"}));
  // A default is accepted even if every stage has its own.
  EXPECT_EQ(chain({"--border", "wrap", "--soft", "plain", "--border", "mirror"}),
            Notes{"soft 0 16 1"});
}

TEST(StageOptions, MistakesAreNamed) {
  EXPECT_EQ(
      objection_to_stages({"--soft", "tiled", "--tile", "8", "--border", "wrap", "--tile", "32"}),
      "--tile 8 and --tile 32: --soft tiled takes only one");
  EXPECT_EQ(objection_to_stages({"--soft", "tiled", "--tile", "8", "--tile", "8"}),
            "--tile 8 and --tile 8: --soft tiled takes only one");
  EXPECT_EQ(objection_to_stages({"--border", "wrap", "--border", "mirror", "--soft", "plain"}),
            "--border wrap and --border mirror: only one can be the default for the stages");
  EXPECT_EQ(objection_to_stages({"--soft", "tiled", "--invert", "all", "--tile", "8"}),
            "--tile 8: --invert all does not take it; it goes after --soft tiled");
  EXPECT_EQ(objection_to_stages({"--soft", "plain", "--tile", "8", "--soft", "tiled"}),
            "--tile 8: --soft plain does not take it; it goes after --soft tiled");
  EXPECT_EQ(objection_to_stages({"--invert", "a\nb", "--border", "wrap"}),
            "--border wrap: --invert a\\nb does not take it; it goes after --soft or --sharp");
  EXPECT_EQ(objection_to_stages({"--border", "wrap"}),
            "--border wrap: no stage here takes it; it goes with --soft or --sharp");
  EXPECT_EQ(objection_to_stages({"--border", "wrap", "--invert", "all"}),
            "--border wrap: no stage here takes it; it goes with --soft or --sharp");
  EXPECT_EQ(objection_to_stages({"--tile", "8", "--soft", "plain"}),
            "--tile 8: no stage here takes it; it goes with --soft tiled");
  EXPECT_EQ(objection_to_stages({"--soft", "--tile", "8"}), "--soft needs a value: plain or tiled");
  EXPECT_EQ(objection_to_stages({"--soft", "--tile=8"}), "--soft needs a value: plain or tiled");
  EXPECT_EQ(objection_to_stages({"--invert", "-h"}), "--invert needs a value: HOW");
  EXPECT_EQ(objection_to_stages({"--soft", ""}), "--soft needs a value: plain or tiled");
  EXPECT_EQ(chain({"--invert", "-1 0"}), Notes{"invert -1 0"});
}

TEST(StageOptions, TheHelpComesFromTheDeclarations) {
  Arguments app("", "gpufilter");
  const StageOptions options(app, kinds());
  const std::string help = command_page(app);
  test::expect_parts(
      help, {"--soft plain|tiled", "--tile 8|16|32 [16]", "side of a tile With --soft tiled.",
             "--sharp 1..9", "--share 0..1 [0.5]", "--invert HOW", "With --soft or --sharp.",
             "mirror: the reflection"});
  EXPECT_EQ(help.find("--border"), help.rfind("--border")) << "listed once\n" << help;
}

}  // namespace
}  // namespace gpufilter
