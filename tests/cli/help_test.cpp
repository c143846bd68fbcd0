// Help pages as a user sees them.

#include "app/filter/format_options.hpp"
#include "cli/program_fixture.hpp"
#include "codec/codec_table.hpp"
#include "stage/options/catalogue.hpp"
#include "support/pseudo_terminal.hpp"

namespace gpufilter::test {
namespace {

const std::vector<Words>& all_pages() {
  static const std::vector<Words> pages = [] {
    std::vector<Words> all{{"--help"}, {"--help-all"}, {"help", "bench", "matmul"}};
    for (const char* topic :
         {"help",    "blur",     "color",    "mlp",        "levels",   "tonemap", "compare",
          "devices", "stats",    "bench",    "tune",       "verify",   "gather",  "info",
          "folders", "in-place", "clusters", "exit-codes", "metadata", "formats", "existing-files",
          "recipes", "networks", "numbers",  "gpus",       "learn",    "watch",   "montage"})
      all.push_back({"help", topic});
    for (const char* bench :
         {"matmul", "blur", "color", "lookup", "stages", "mlp", "reduce", "copy", "pipeline"})
      all.push_back({"bench", bench, "--help"});
    return all;
  }();
  return pages;
}

struct Help : ProgramTest {
  static std::string page(const Words& command) {
    const ProcessResult result = ended(0, filter(command, {.environment = {{"COLUMNS", ""}}}));
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  void expect_meant(const Words& command, const std::string& option) const {
    const std::string given = command.front().substr(0, command.front().find('='));
    expect_answer(command, given + ": unknown option; did you mean " + option + "?");
  }

  // The answer to a mistyped command line.
  void expect_answer(const Words& command, const std::string& answer) const {
    expect_failure(2, command, {"gpufilter: " + answer}, {.folder = folder_.path()});
  }
};

TEST_F(Help, FitsEightyColumns) {
  std::string all = page({"--list-presets"});
  for (const Words& command : all_pages())
    all += page(command);
  for (const std::string& line : lines_of(all)) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST_F(Help, TheShortPageIsOneScreen) {
  const std::string help = page({"--help"});
  EXPECT_LE(lines_of(help).size(), 43U);
  expect_parts(help, {"INPUT OUTPUT", "INPUT... OUTDIR", "INDIR OUTDIR", "black and white",
                      "all stages", "--quality 1..100", "--resume", "compare A B", "info FILE...",
                      "help [TOPIC]", "  bench, devices, gather, learn, montage, net, stats, tune, verify,\n"
                      "              watch\n",
                      "Examples:", "--help-all"});
  EXPECT_EQ(page({"-h"}), help);
  EXPECT_EQ(page({"help"}), help);
}

// Photographers' terms are listed with their stages.
TEST_F(Help, TheShortPageBeginsWithStagesThatWork) {
  const Words lines = lines_of(page({"--help"}));
  auto line = std::find(lines.begin(), lines.end(), "Stages, in any order and number:");
  ASSERT_LT(line - lines.begin(), 8);
  write_png(random_image({1700, 40}, format_, 1), folder_ / "in.png");
  int count = 0;
  for (++line; line->rfind("  all stages", 0) != 0; ++line, ++count) {
    std::istringstream words(line->substr(line->find("--")));
    Words command{"in.png", "out.png", "-q", "--on-exists", "overwrite"};
    for (std::string word; words >> word;)
      command.push_back(word);
    filter_quietly(command, {.folder = folder_.path()});
    EXPECT_FALSE(same_pixels(read_picture(folder_ / "in.png"), read_picture(out_))) << *line;
  }
  EXPECT_GT(count, 3);
}

TEST_F(Help, TheLongPageHasEveryOption) {
  const std::string help = page({"--help-all"});
  Words parts{"\nStages:\n",   "\nPictures:\n",    "\nFolders:\n",
              "\nReports:\n",  "\nSubcommands:\n", "\n  --tile 8|16|32 [16]",
              "-v, --verbose", "compare A B",      "Exit codes:"};
  for (const StageKind& kind : stage_catalogue()) {
    parts.push_back("\n  " + kind.option);
    for (const StageParameter& parameter : kind.parameters)
      parts.push_back(parameter.option);
    for (const StageListing& listing : kind.listings)
      parts.push_back(listing.option);
  }
  for (const WriteOption* option : all_write_options())
    parts.push_back("\n  --" + option->name);
  expect_parts(help, parts);
  EXPECT_EQ(page({"help", "all"}), help);
}

TEST_F(Help, StagesFormatsOptionsAndTopicsHavePages) {
  const std::string blur = page({"help", "blur"});
  expect_parts(blur, {"--blur naive|tiled|auto\n", "\nValues:\n  naive  ", "--tile 8|16|32\n",
                      "default is 16", "mirror  ", "\nFormula:\n  out = (S + 4) / 9\n",
                      "\nEdges:\n", "\nAlpha:\n", "\nExamples:\n  gpufilter "});
  EXPECT_EQ(page({"help", "--blur"}), blur);
  EXPECT_TRUE(contains(page({"help", "color"}), "--list-presets"));
  const std::string jpeg = page({"help", "jpeg"});
  expect_parts(jpeg, {"JPEG: .jpg, .jpeg, .jpe, .jfif\n", "8 bits per sample", "--quality ",
                      "--background "});
  EXPECT_EQ(page({"help", "JPG"}), jpeg);
  EXPECT_TRUE(contains(page({"help", "png"}), "--png-level"));
  const std::string text = page({"help", "environment"});
  expect_parts(text, {"GPUFILTER_DEVICE", "GPUFILTER_DATA", ".gpufilter-journal"});
  const std::string quality =
      "--quality 1..100\n\nQuality of lossy output. By default the input's from JPEG to JPEG and,\n"
      "estimated, from WebP, HEIC or AVIF to the same format; otherwise 90 for JPEG and\n"
      "JPEG XL, 75 for WebP, 50 for AVIF and HEIC. In JPEG XL, 100 is lossless.\n";
  EXPECT_EQ(page({"help", "--quality"}), quality);
  EXPECT_EQ(page({"help", "quality"}), quality);
  EXPECT_EQ(page({"help", "-q"}), page({"help", "--quiet"}));
  EXPECT_TRUE(page({"help", "--border"})
                  .starts_with("--border replicate|mirror|wrap|constant [replicate]"));
  EXPECT_TRUE(contains(page({"help", "exit-codes"}),
                       "129, 130, 131, 143: ended by SIGHUP, SIGINT, SIGQUIT, SIGTERM\n"));
  EXPECT_TRUE(contains(page({"--help-all"}),
                       "  129, 130, 131, 143  ended by SIGHUP, SIGINT, SIGQUIT, SIGTERM\n"));
}

TEST_F(Help, ASubcommandHasItsPage) {
  for (const std::string name :
       {"bench", "compare", "devices", "gather", "info", "learn", "montage", "stats", "tune", "verify", "watch"}) {
    const std::string help = page({"help", name});
    EXPECT_EQ(page({name, "--help"}), help);
    expect_parts(help, {"Usage: gpufilter " + name, "\nExamples:\n  gpufilter "});
  }
  EXPECT_EQ(page({"help", "bench", "blur"}), page({"bench", "blur", "--help"}));
}

TEST_F(Help, ASubjectHasItsPage) {
  const std::string folders = page({"help", "folders"});
  EXPECT_TRUE(begins(folders, "gpufilter INDIR OUTDIR filters every picture in a folder"));
  EXPECT_TRUE(contains(folders, "\nMore: docs/folders.md\n"));
  const std::string own = page({"help", "help"});
  for (const char* subject :
       {"folders", "existing-files", "in-place", "clusters", "exit-codes", "metadata", "formats",
        "recipes", "networks", "numbers", "gpus", "glossary"}) {
    EXPECT_TRUE(contains(own, subject)) << subject;
    const std::string text = page({"help", subject});
    const std::size_t begin = text.find("More: docs/") + 6;
    const std::string file = text.substr(begin, text.find('\n', begin) - begin);
    EXPECT_TRUE(fs::exists(fs::path(GPUFILTER_SOURCE) / file)) << file;
  }
}

TEST_F(Help, IsAResult) {
  for (const std::string command : {"--help", "--help-all", "help blur", "--list-presets"}) {
    const ProcessResult full = run_process(
        {"/bin/sh", "-c", "exec \"$0\" " + command + " > /dev/full", GPUFILTER_PROGRAM});
    EXPECT_EQ(full.exit_code, 1) << command;
    EXPECT_EQ(full.err.find("standard output: "), std::string("gpufilter: ").size()) << full.err;
  }
}

TEST_F(Help, EveryExampleWorks) {
  std::set<std::string> done;
  // These take minutes, or the results of an earlier run.
  const std::set<std::string> not_run{"tune", "verify", "gather", "info", "learn", "watch"};
  for (const Words& command : all_pages()) {
    if (not_run.contains(command.back())) continue;
    for (const std::string& line : lines_of(page(command))) {
      if (line.rfind("  gpufilter ", 0) != 0 || line.find("OUT") != std::string::npos) continue;
      const bool needs_jq = line.find("jq ") != std::string::npos;
      const bool needs_other_device = line.find("--device ") != std::string::npos && !has_device();
      if ((needs_jq && run_process({"/bin/sh", "-c", "command -v jq"}).exit_code != 0) ||
          needs_other_device) {
        continue;
      }
      // Text two blanks after a command is a remark.
      const std::string words = line.substr(2);
      const std::string example = words.substr(0, words.find("  "));
      if (example.find("[") != std::string::npos && !needs_jq) continue;
      if (!done.insert(example).second) continue;
      SCOPED_TRACE(example);
      const TemporaryFolder folder;
      for (const char* name :
           {"in.png", "a.png", "b.png", "other.png", "expected.png", "result.png", "logo.png"})
        write_png(random_image(size_, format_, 1), folder / name);
      for (const char* name : {"photos", "expected", "results"})
        fs::create_directory(folder.path() / name);
      for (const char* name : {"in.jpg", "photo.jpg", "b.jpg", "photos/p.jpg"})
        write_picture(random_image(size_, format_, 1).rows(), folder / name);
      if (example.find("compare expected/") != std::string::npos) {
        for (const char* name : {"expected/p.png", "results/p.png"})
          write_png(random_image(size_, format_, 1), folder / name);
      }
      fs::copy(fs::path(GPUFILTER_SOURCE) / "samples/networks/golden-hour.json",
               folder.path() / "network.json");
      fs::copy(fs::path(GPUFILTER_SOURCE) / "samples/luts/film.cube", folder.path());
      fs::copy(fs::path(GPUFILTER_SOURCE) / "samples/profiles/display-p3.icc",
               folder.path() / "display.icc");
      fs::copy(fs::path(GPUFILTER_SOURCE) / "samples/recipes/web-gallery.recipe", folder.path());
      const std::string place = fs::path(GPUFILTER_PROGRAM).parent_path();
      // Large products take longer than PoCL does to optimise their kernels.
      ProcessOptions options = with_defaults(
          example.find("--shapes") != std::string::npos ? optimised() : ProcessOptions());
      options.folder = folder.path();
      const ProcessResult result =
          run_process({"/bin/sh", "-c", "PATH=\"$0:$PATH\"; set -e; " + example, place}, options);
      const bool is_comparison = example.find("gpufilter compare") != std::string::npos;
      EXPECT_LE(result.exit_code, is_comparison ? 2 : 0) << result.err;
      EXPECT_FALSE(contains(result.err, "unknown"));
    }
  }
}

TEST_F(Help, WithoutArgumentsItIsBrief) {
  const ProcessResult result = ended(2, filter({}));
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(begins(result.err, "Usage:\n"));
  EXPECT_TRUE(
      contains(result.err,
               "gpufilter bench | compare | devices | gather | info | learn | montage | net |\n"
               "    stats | tune | verify | watch | help\n"));
  EXPECT_TRUE(contains(result.err, "gpufilter --help\n"));
  EXPECT_LE(lines_of(result.err).size(), 10U);
}

TEST_F(Help, MisspeltTopicsSubcommandsAndOptionsGetSuggestions) {
  expect_answer({"help", "blru"}, "blru: not a help topic; did you mean blur?");
  expect_answer({"help", "colour"}, "colour: not a help topic; did you mean color?");
  expect_answer({"help", "stat"}, "stat: not a help topic; did you mean stats?");
  expect_answer({"help", "nothing"},
                "nothing: not a help topic; choose a stage, a subcommand, an option, or folders, ");
  expect_answer({"help", "folder"}, "folder: not a help topic; did you mean folders?");
  expect_answer({"help", "--qualty"}, "--qualty: not a help topic; did you mean quality?");
  expect_answer({"help", "blur", "color"}, "color: help takes one topic");
  expect_answer({"help", "bench", "blru"}, "bench blru: unknown; did you mean blur?");
  expect_answer({"help", "bench", "blur", "color"}, "blur: help takes one topic");
  expect_answer({"devcies"}, "devcies: not a subcommand or a picture; did you mean 'devices'?");
  expect_answer({"stat", "a.png"}, "stat: not a subcommand or a picture; did you mean 'stats'?");
  expect_answer({"comapre", "a.png", "b.png"},
                "comapre: not a subcommand or a picture; did you "
                "mean 'compare'?");
  expect_answer({"hlep"}, "hlep: not a subcommand or a picture; did you mean 'help'?");
  expect_answer({"devcies", "--help"}, "devcies: not a subcommand");
  expect_answer({"--devices"}, "--devices: not an option; did you mean 'gpufilter devices'?");
  expect_answer({"nothing"}, "nothing: not a subcommand or a picture (see gpufilter --help)");
  expect_answer({"blur", "in.png", "out.png"},
                "blur: not a subcommand or a picture; stages are options, as in: gpufilter in.png "
                "out.png --blur ... (see gpufilter help blur)");
  write_file(folder_ / "-e=1.png", "any content");
  expect_answer({"-e=1.png", "out.png"},
                "-e: unknown option; for the file of this name, write ./-e=1.png");
  expect_answer({"--cache-clear"}, "--cache-clear: unknown option (see gpufilter --help-all)");
  expect_meant({"--blurr", "tiled"}, "--blur");
  expect_answer({"in.png", "out.png", "--colour", "sepia"},
                "--colour: unknown option; did you mean --color?");
  expect_meant({"--colour=sepia", "in.png"}, "--color");
  expect_answer({"in.png", "out.png", "-blur", "tiled"},
                "-blur: unknown option; did you mean --gaussian SIGMA?");
  expect_answer({"in.png", "out.png", "--tlie", "8", "--blur", "tield"},
                "--tlie: unknown option; did you mean --tile?");
  expect_answer({"in.png", "out.png", "--boder", "wrap", "--quality", "500"},
                "--boder: unknown option; did you mean --border?");
}

TEST_F(Help, AnExistingFileIsNotAMisspeltSubcommand) {
  write_png(random_image(size_, format_, 1), folder_ / "stat");
  fs::create_directory(folder_.path() / "device");
  const ProcessOptions here{.folder = folder_.path()};
  filter_quietly({"stat", "out.png"}, here);
  EXPECT_TRUE(fs::exists(out_));
  filter_quietly({"device", "results"}, here);
  // Neither an existing file nor similar to a subcommand: a picture that cannot be read.
  expect_failure(1, {"nothing", "out.png"}, {"gpufilter: nothing: "}, here);
  expect_failure(1, {"stat.png", "out.png"}, {"gpufilter: stat.png: "}, here);
  expect_failure(1, {"./devcies", "out.png"}, {"gpufilter: ./devcies: "}, here);
}

TEST_F(Help, MisspeltValuesGetSuggestions) {
  const auto expect_value = [this](const std::string& option, const std::string& value,
                                   const std::string& answer) {
    expect_answer({"in.png", "out.jpg", option, value}, answer);
  };
  expect_value("--blur", "tield", "--blur tield: unknown; did you mean tiled?");
  expect_value("--color", "sepai=0.3",
               "--color sepai=0.3: neither a preset nor a file; did you "
               "mean sepia?");
  expect_value("--tonemap", "reinhart", "--tonemap reinhart: unknown; did you mean reinhard?");
  expect_value("--on-exists", "ovewrite",
               "--on-exists: 'ovewrite' is not one of fail, skip, overwrite; did you mean "
               "overwrite?");
  expect_value("--progress", "no",
               "--progress: 'no' is not one of auto, on, off; did you mean on?");
  std::string to_names;
  for (const std::string& name : format_names())
    to_names += (to_names.empty() ? "" : ", ") + name;
  expect_value("--to", "jpeq",
               "--to: 'jpeq' is not one of " + to_names + "; did you mean jpeg or jpe?");
  expect_value("--background", "whit",
               "--background: 'whit' is not a colour: write #rgb, #rrggbb "
               "or a name such as white");
}

// Help pages on narrow and wide terminals.

// Without the signs that a break in a command adds.
std::multiset<std::string> words_of(const std::string& text) {
  std::multiset<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (word != "\\" && word != "#") words.insert(word);
  }
  return words;
}

// The commands below "Examples:" as a shell reads them: continued lines joined, remarks removed,
// blanks between words normalised.
Words examples_of(const std::string& page) {
  Words commands;
  std::istringstream rest(page.substr(std::min(page.find("\nExamples:\n"), page.size())));
  bool is_continued = false;
  for (std::string line; std::getline(rest, line);) {
    if (!is_continued && !line.starts_with("  gpufilter ")) continue;
    std::string command = line.substr(line.find_first_not_of(' '));
    const bool goes_on = command.ends_with(" \\");
    if (goes_on) command.resize(command.size() - 2);
    command = command.substr(0, command.find("  "));
    is_continued ? commands.back() += " " + command : commands.emplace_back(command);
    is_continued = goes_on;
  }
  return commands;
}

struct HelpWidth : ProgramTest {
  static std::string page(const Words& command, const std::string& columns) {
    return ended(0, filter(command, {.environment = {{"COLUMNS", columns}}})).out;
  }

  static void expect_width(const std::string& text, std::size_t columns) {
    std::size_t widest = 0;
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(line.size(), columns) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
      widest = std::max(widest, line.size());
    }
    EXPECT_GT(widest, columns * 3 / 4) << text;
  }
};

TEST_F(HelpWidth, IsThatOfTheTerminal) {
  for (const auto& [columns, width] :
       {std::pair{40, 40U}, std::pair{80, 80U}, std::pair{120, 100U}}) {
    SCOPED_TRACE(columns);
    for (const Words& command : {Words{"--help"}, {"--help-all"}, {"help", "tonemap"}}) {
      PseudoTerminal terminal(Words{"/usr/bin/env", "-u", "COLUMNS", GPUFILTER_PROGRAM} + command,
                              folder_.path(), columns);
      std::string text = terminal.read_to_end();
      EXPECT_EQ(terminal.wait(), 0);
      std::erase(text, '\r');
      expect_width(text, width);
      EXPECT_EQ(text, page(command, std::to_string(columns)));
    }
  }
}

TEST_F(HelpWidth, NeverBreaksAWordOrACommand) {
  for (const Words& command : all_pages()) {
    const std::string usual = page(command, "80");
    for (const std::size_t columns : {40U, 53U, 67U, 100U}) {
      SCOPED_TRACE(formatted("{} in {} columns", fmt::join(command, " "), columns));
      const std::string text = page(command, std::to_string(columns));
      for (const std::string& line : lines_of(text)) {
        EXPECT_LE(line.size(), columns) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
      EXPECT_EQ(words_of(text), words_of(usual));
      EXPECT_EQ(examples_of(text), examples_of(usual));
    }
  }
  EXPECT_EQ(examples_of(page({"--help-all"}, "40")).size(), 10U);
}

TEST_F(HelpWidth, IsLimitedAndNarrowListsHaveTheirTextsBelow) {
  EXPECT_EQ(page({"--help-all"}, "1"), page({"--help-all"}, "40"));
  EXPECT_EQ(page({"--help-all"}, "999"), page({"--help-all"}, "100"));
  for (const char* bad : {"", "0", "-5", "abc", "40x", "99999999999999999999999"})
    EXPECT_EQ(page({"--help-all"}, bad), page({"--help-all"}, "80")) << bad;
  // On a wide page the texts of lists stay beside their heads, on a narrow one they are below.
  EXPECT_TRUE(contains(page({"help", "compare"}, "40"),
                       "  --tolerance N [0]\n"
                       "      Allow samples to differ by up to N\n"
                       "      steps of the pictures' own depth.\n"));
  EXPECT_TRUE(contains(page({"help", "compare"}, "100"),
                       "  --tolerance N [0]   Allow samples to differ by up to N steps of the "
                       "pictures' own depth.\n"));
  EXPECT_TRUE(contains(page({"--help-all"}, "40"),
                       "  # blur once\n"
                       "  gpufilter in.png out.png --blur auto\n"));
  EXPECT_TRUE(contains(page({"--help"}, "40"),
                       "  gpufilter photos/ web/ \\\n"
                       "      --resize 1600x1600 --sharpen 0.5 \\\n"
                       "      --to webp --recursive\n"));
  EXPECT_TRUE(contains(page({"help", "blur"}, "40"),
                       "  gpufilter in.png out.png --blur auto \\\n"
                       "      --blur auto\n"));
}

}  // namespace
}  // namespace gpufilter::test
