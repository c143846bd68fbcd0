#include "lab/stage_samples.hpp"
#include "net/pixel/mlp.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/recipe.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/colour/color.hpp"
#include "stages/window/blur.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

TEST(Catalogue, EveryOptionIsDeclaredOnce) {
  std::set<std::string> options;
  std::map<std::string, StageParameter> parameters;
  for (const StageKind& kind : stage_catalogue()) {
    EXPECT_TRUE(options.insert(kind.option).second) << kind.option;
    for (const StageListing& listing : kind.listings)
      EXPECT_TRUE(options.insert(listing.option).second) << listing.option;
    std::set<std::string> own;
    for (const StageParameter& parameter : kind.parameters) {
      EXPECT_TRUE(own.insert(parameter.option).second) << kind.option << " " << parameter.option;
      // A default may suit one kind only: ONNX asks for another border than filters do.
      StageParameter meaning = parameter;
      meaning.default_value.clear();
      const auto [known, is_first] = parameters.emplace(parameter.option, meaning);
      EXPECT_TRUE(is_first || known->second == meaning) << parameter.option << " differs";
    }
  }
  for (const auto& [option, parameter] : parameters) {
    if (option == "--kernel") continue;  // below
    EXPECT_EQ(options.count(option), 0U) << option << " is a stage or a listing, too";
  }
}

// A stage and a parameter share this name: the value tells them apart.
TEST(Catalogue, FilesGoToTheStageAndWordsToTheParameter) {
  const auto has_words = [](const char* value) {
    return std::holds_alternative<OneOf>(*option_type("--kernel", value));
  };
  ASSERT_NE(requested_stage("--kernel", "own.cl"), nullptr);
  EXPECT_EQ(requested_stage("--kernel", "own.cl")->option, "--kernel");
  EXPECT_FALSE(has_words("own.cl"));
  for (const char* word : {"cubic", "cl", ""}) {
    EXPECT_EQ(requested_stage("--kernel", word), nullptr);
    EXPECT_TRUE(has_words(word));
  }
  EXPECT_EQ(requested_stage("--blur", "cubic"), find_stage("--blur"));
  EXPECT_EQ(option_type("--tile", "8"), option_type("--tile"));
  EXPECT_EQ(requested_stage("--tile", "8"), nullptr);
}

TEST(Catalogue, DefaultValuesAreOfTheirType) {
  for (const StageKind& kind : stage_catalogue()) {
    for (const StageParameter& parameter : kind.parameters) {
      EXPECT_NO_THROW(OptionValues().set(parameter.option, parameter.type, parameter.default_value))
          << parameter.option;
      EXPECT_FALSE(parameter.help.empty()) << parameter.option;
    }
  }
}

// Estimates need a time for every operation, and the same time for what is measured as the same.
TEST(Catalogue, EveryStageSaysHowLongItTakes) {
  std::map<std::string, std::pair<double, double>> seconds;
  for (const StageKind& kind : stage_catalogue()) {
    for (const auto& [sample, channels, depth] :
         each_of(lab::samples_of(kind, false), std::array{3, 4}, std::array{8, 16})) {
      const PixelFormat format{channels, depth};
      PictureShape source{{640, 480}, format};
      const Lowered lowered = sample.stage->lower({.shape = source});
      std::vector<StageCost> costs;
      if (lowered.demand) costs.push_back(lowered.demand->cost);
      for (const auto& step : lowered.steps) {
        costs.push_back(step->cost(source.format));
        source = step->output(source);
      }
      for (const StageCost& cost : costs) {
        SCOPED_TRACE(cost.rate.kind);
        EXPECT_GT(cost.operations_a_pixel, 0);
        EXPECT_GT(cost.rate.device, 0);
        EXPECT_GT(cost.rate.host, cost.rate.device);
        EXPECT_LT(cost.rate.host, 1e-7);
        const std::pair both(cost.rate.host, cost.rate.device);
        EXPECT_EQ(seconds.emplace(cost.rate.kind, both).first->second, both);
      }
    }
  }
  EXPECT_EQ(seconds.count("blur 8"), 1U);
}

// Short lists show only the first sentence.
std::string first_sentence(const std::string& help) {
  return help.substr(0, help.find(". "));
}

TEST(Catalogue, EveryStageExplainsItself) {
  for (const StageKind& kind : stage_catalogue()) {
    SCOPED_TRACE(kind.option);
    EXPECT_LE(first_sentence(kind.help).size(), 36U) << kind.help;
    EXPECT_TRUE(kind.help.ends_with('.')) << kind.help;
    EXPECT_FALSE(kind.formula.empty());
    EXPECT_FALSE(kind.edges.empty());
    EXPECT_FALSE(kind.alpha.empty());
    EXPECT_FALSE(kind.examples.empty());
    for (const std::string& example : kind.examples)
      EXPECT_TRUE(contains((example + " "), " " + kind.option + " ")) << example;
    for (const StageParameter& parameter : kind.parameters)
      EXPECT_TRUE(parameter.help.ends_with('.')) << parameter.help;
  }
}

TEST(Catalogue, EveryValueHasAMeaning) {
  for (const StageKind& kind : stage_catalogue()) {
    const bool is_clear = std::holds_alternative<FileName>(kind.type) ||
                          std::holds_alternative<NumberIn>(kind.type) ||
                          std::holds_alternative<NoValue>(kind.type);
    if (is_clear) continue;
    const auto meanings = value_meanings(kind.type);
    EXPECT_FALSE(meanings.empty()) << kind.option;
    for (const auto& [form, help] : meanings)
      EXPECT_FALSE(help.empty()) << kind.option << " " << form;
  }
}

TEST(StageKind, TakesItsParameters) {
  const StageKind blur = blur_stage_kind();
  EXPECT_TRUE(blur.takes("tiled", "--tile"));
  EXPECT_FALSE(blur.takes("naive", "--tile"));
  EXPECT_TRUE(blur.takes("naive", "--border"));
  EXPECT_FALSE(blur.takes("naive", "--blur"));
  EXPECT_FALSE(blur.takes("naive", "--sharpness"));
}

TEST(StageKind, MakesStagesFromDefaultsAndFromWhatIsGiven) {
  const StageKind blur = blur_stage_kind();
  EXPECT_EQ(blur.make("auto")->key(), make_blur({})->key());
  EXPECT_EQ(blur.make("auto", {{"--border", "wrap"}, {"--alpha", "independent"}})->key(),
            make_blur({.border = Border::wrap, .alpha = AlphaMode::independent})->key());
  EXPECT_NO_THROW(static_cast<void>(blur.make("tiled", {{"--tile", "32"}})));
}

TEST(StageKind, RefusesWhatItDoesNotTake) {
  const StageKind blur = blur_stage_kind();
  EXPECT_THROW(static_cast<void>(blur.make("tield")), UsageError);
  EXPECT_THROW(static_cast<void>(blur.make("tiled", {{"--tile", "12"}})), UsageError);
  EXPECT_THROW(static_cast<void>(blur.make("naive", {{"--tile", "8"}})), UsageError);
  EXPECT_THROW(static_cast<void>(blur.make("auto", {{"--sharpness", "8"}})), UsageError);
}

enum class Shape { round = 3, square = 7 };

const OneOf shapes{{{"round", Shape::round}, {"square", Shape::square}}};
const OneOf sides{{{"8", 8}, {"16", 16}, {"32", 32}}};

// The objection of set(); "none" if it accepts the text.
std::string value_objection(const ValueType& type, const std::string& text) {
  return objection_to([&] { return OptionValues().set("--x", type, text); });
}

TEST(OptionValues, AreReadByTheirType) {
  OptionValues values;
  values.set("--shape", shapes, "square");
  values.set("--side", sides, "32");
  values.set("--share", NumberIn{0, 1}, "0.25");
  values.set("--radius", NumberIn{1, 255, true}, "255");
  values.set("--network", FileName{}, "a b.json");
  values.set("--levels", FreeText{"LOW,HIGH"}, "1,2");
  EXPECT_EQ(values.choice<Shape>("--shape"), Shape::square);
  EXPECT_EQ(values.choice<int>("--side"), 32);
  EXPECT_EQ(values.number("--share"), 0.25);
  EXPECT_EQ(values.number<int>("--radius"), 255);
  EXPECT_EQ(values.file("--network").name, "a b.json");
  EXPECT_EQ(values.text("--levels"), "1,2");
}

TEST(OptionValues, TheLastOneCounts) {
  OptionValues values;
  values.set("--side", sides, "8");
  values.set("--side", sides, "16");
  EXPECT_EQ(values.choice<int>("--side"), 16);
}

TEST(OptionValues, OfAnotherTypeOrNameAreTheProgrammersError) {
  OptionValues values;
  values.set("--side", sides, "8");
  EXPECT_ANY_THROW(static_cast<void>(values.number("--side")));
  EXPECT_ANY_THROW(static_cast<void>(values.text("--side")));
  EXPECT_ANY_THROW(static_cast<void>(values.choice<int>("--size")));
}

TEST(OptionValues, ChoicesAreNamed) {
  EXPECT_EQ(value_objection(sides, "12"), "--x 12: choose 8, 16 or 32");
  EXPECT_EQ(value_objection(sides, "08"), "--x 08: choose 8, 16 or 32");
  EXPECT_EQ(value_objection(shapes, "flat"), "--x flat: choose round or square");
  EXPECT_EQ(value_objection(shapes, "sqare"),
            "--x sqare: unknown; did you mean square? (round, square)");
  EXPECT_EQ(value_objection(shapes, "Round"),
            "--x Round: unknown; did you mean round? (round, square)");
  EXPECT_EQ(value_objection(shapes, "a\nb"), "--x a\\nb: choose round or square");
}

TEST(OptionValues, NumbersHaveARange) {
  const NumberIn radius{1, 255, true};
  for (const char* good : {"1", "255", "42"})
    EXPECT_EQ(value_objection(radius, good), "none");
  for (const std::string bad : {"0", "256", "300", "-1", "1.5", "2.0", "1e1", "x", "3x", " 3",
                                "0x2", "inf", "99999999999999999999"}) {
    EXPECT_EQ(value_objection(radius, bad), "--x " + bad + ": a whole number from 1 to 255");
  }
  const NumberIn shift{-0.5, 1};
  for (const char* good : {"-0.5", "1", "0", "1e-3", ".5"})
    EXPECT_EQ(value_objection(shift, good), "none");
  for (const std::string bad : {"-0.51", "1.0001", "nan", "inf", "", "0,5"}) {
    EXPECT_EQ(value_objection(shift, bad), bad.empty()
                                               ? "--x needs a value: a number from -0.5 to 1"
                                               : "--x " + bad + ": a number from -0.5 to 1" +
                                                     (bad == "0,5" ? "; did you mean 0.5?" : ""));
  }
}

TEST(OptionValues, SharesMayBePercentagesAndAreNeverEmpty) {
  const auto number = [](const NumberIn& type, const std::string& text) {
    OptionValues values;
    values.set("--x", type, text);
    return values.number("--x");
  };
  EXPECT_EQ(number({0, 1, false, Percent::of_one}, "40%"), 0.4);
  EXPECT_EQ(number({-1, 1, false, Percent::of_one}, "-50%"), -0.5);
  EXPECT_EQ(number({0, 100, false, Percent::itself}, "40%"), 40);
  EXPECT_EQ(value_objection(NumberIn{0, 1, false, Percent::of_one}, "101%"),
            "--x 101%: a number from 0 to 1");
  EXPECT_EQ(value_objection(NumberIn{0, 1}, "40%"), "--x 40%: a number from 0 to 1");
  EXPECT_EQ(value_objection(shapes, ""), "--x needs a value: round or square");
  EXPECT_EQ(value_objection(FileName{}, ""), "--x needs a value: the name of a file");
  EXPECT_EQ(value_objection(FreeText{"auto|LOW,HIGH"}, ""), "--x needs a value: auto|LOW,HIGH");
}

TEST(ValueForm, IsWhatTheHelpShows) {
  EXPECT_EQ(value_form(sides), "8|16|32");
  EXPECT_EQ(value_form(NumberIn{0, 1}), "0..1");
  EXPECT_EQ(value_form(NumberIn{1, 255, true}), "1..255");
  EXPECT_EQ(value_form(FileName{}), "FILE");
  EXPECT_EQ(value_form(FreeText{"auto|LOW,HIGH"}), "auto|LOW,HIGH");
}

TEST(ValueMeanings, ComeWithTheirForms) {
  const std::vector<ValueMeaning> round{{"round", "like a ball"}, {"square", ""}};
  EXPECT_EQ(value_meanings(OneOf{{{"round", 0, "like a ball"}, {"square", 1}}}), round);
  EXPECT_EQ(value_meanings(FreeText{"round|square", round}), round);
  EXPECT_TRUE(value_meanings(FreeText{"LOW,HIGH"}).empty());
  EXPECT_TRUE(value_meanings(NumberIn{0, 1}).empty());
  EXPECT_TRUE(value_meanings(FileName{}).empty());
}

TEST(ValueWords, AreWhatIsNotInCapitalsAndSomeValuesAreFiles) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(value_words(sides), (Words{"8", "16", "32"}));
  EXPECT_EQ(value_words(FreeText{"auto|auto=PERCENT|LOW,HIGH"}), (Words{"auto", "auto="}));
  EXPECT_EQ(value_words(FreeText{"reinhard|filmic[=KEY]"}), (Words{"reinhard", "filmic"}));
  EXPECT_EQ(value_words(FreeText{"PRESET[=AMOUNT]|FILE", {}, {"sepia", "hue="}}),
            (Words{"sepia", "hue="}));
  EXPECT_EQ(value_words(FreeText{"WxH+X+Y"}), Words{});
  EXPECT_EQ(value_words(NumberIn{0, 1}), Words{});
  EXPECT_EQ(value_words(FileName{}), Words{});
  EXPECT_TRUE(may_be_file(FileName{}));
  EXPECT_TRUE(may_be_file(FreeText{"MATRIX|FILE"}));
  EXPECT_FALSE(may_be_file(FreeText{"MATRIX"}));
  EXPECT_FALSE(may_be_file(sides));
}

// One form of numbers everywhere: options, matrices, networks.

struct WrittenNumber {
  std::string text;
  double as_double;
  float as_float;
};

const std::string zeros(400, '0');
const std::string long_third = "0.33333333333333333333333333333333333333";

// Between two floats. As a double it is the middle of the two, which would round to the lower one.
const std::string above_middle = "16777217.00000000000000000000001";

const std::vector<WrittenNumber>& written_numbers() {
  static const std::vector<WrittenNumber> cases{
      {"1", 1, 1},
      {"+1", 1, 1},
      {"-1", -1, -1},
      {".5", .5, .5F},
      {"-.5", -.5, -.5F},
      {"+.5", .5, .5F},
      {"1.", 1, 1},
      {"2e-3", 2e-3, 2e-3F},
      {"2.5E+01", 25, 25},
      {"007", 7, 7},
      {long_third, 1.0 / 3, 1.0F / 3},
      {above_middle, 16777217, 16777218},
      {"1" + zeros + "e-400", 1, 1},
      {"0." + zeros + "1e401", 1, 1},
      {"1e-45", 1e-45, std::numeric_limits<float>::denorm_min()},
      {"1e-50", 1e-50, 0},
      {"1e-400", 0, 0},
      {"-1e-400", 0, 0},
      {"1e-99999999999999999999", 0, 0},
      {"0." + zeros + "1", 0, 0},
      {"0." + zeros + "1e10", 0, 0},
      {"1" + zeros + "e-900", 0, 0},
      {"0e99999999999999999999", 0, 0},
      {"3.4028235e38", 3.4028235e38, std::numeric_limits<float>::max()}};
  return cases;
}

const std::vector<std::string> too_large{"1e400",
                                         "-1e400",
                                         "+1e999",
                                         "1e99999999999999999999",
                                         "1" + zeros,
                                         "1" + zeros + "e-10",
                                         "0." + zeros + "1e900"};

const std::vector<std::string> malformed{
    "",    "+",   "-",    ".",     "e5",    "1e",    "1e+", "+-1",           "--1",  "-+1",
    "++1", "1,5", "0x10", "0x1p3", "nan",   "NaN",   "inf", "-inf",          "+inf", "infinity",
    "1 ",  " 1",  " .5",  "1f",    "1.2.3", "1_000", "½",   long_third + "x"};

bool same_finite(double a, double b) {
  return a == b && std::isfinite(a);
}

ColorMatrix matrix_with(const std::string& number) {
  return parse_color_matrix(formatted("{0} 0 0 0; 0 1 0 0; 0 0 1 0", number), "");
}

Network network_with(const std::string& number) {
  return parse_network(
      formatted(R"({{"format": "gpufilter-network-1", "layers": [{{"weights": [[{}, 0, 0],
                    [0, 1, 0], [0, 0, 1]], "bias": [0, 0, 0], "activation": "none"}}]}})",
                number),
      "net.json");
}

double option_with(const std::string& number) {
  OptionValues values;
  values.set("--x", NumberIn{-1e300, 1e300}, number);
  return values.number("--x");
}

// The additional rules of JSON: no plus sign, no point without digits around it, no leading zero.
bool is_json(const std::string& number) {
  return number[0] != '+' && number.find("-.") != 0 && number[0] != '.' && number.back() != '.' &&
         number.substr(0, 2) != "00";
}

TEST(Number, IsRoundedOnceToTheNearestAndMeansTheSameInOptionsMatricesAndNetworks) {
  for (const WrittenNumber& known : written_numbers()) {
    SCOPED_TRACE(known.text);
    EXPECT_TRUE(is_number(known.text));
    EXPECT_TRUE(same_finite(parse_number("x", known.text), known.as_double));
    EXPECT_EQ(to_number(known.text), known.as_double);
    EXPECT_TRUE(same_finite(parse_float("x", known.text), known.as_float));
    // The C library is another implementation of the same rounding.
    EXPECT_EQ(parse_number("x", known.text), std::strtod(known.text.c_str(), nullptr));
    EXPECT_EQ(parse_float("x", known.text), std::strtof(known.text.c_str(), nullptr));
  }
  for (const WrittenNumber& known : written_numbers()) {
    SCOPED_TRACE(known.text);
    EXPECT_TRUE(same_finite(matrix_with(known.text).weights[0][0], known.as_float));
    EXPECT_TRUE(same_finite(option_with(known.text), known.as_double));
    if (!is_json(known.text)) continue;
    EXPECT_TRUE(same_finite(network_with(known.text).layers[0].weights[0], known.as_float));
  }
}

TEST(Number, ThatIsTooLargeIsRefusedEverywhere) {
  for (const std::string& text : too_large) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(is_number(text));
    EXPECT_EQ(to_number(text), std::nullopt);
    const std::string quoted = text.size() > 32 ? text.substr(0, 32) + "..." : text;
    const std::string single =
        formatted("'{}' is too large: single precision ends at 3.4e38", quoted);
    EXPECT_EQ(objection_to([&] { return parse_float("x", text); }), "x: " + single);
    EXPECT_EQ(objection_to([&] { return parse_number("x", text); }),
              formatted("x: '{}' is too large: double precision ends at 1.8e308", quoted));
    EXPECT_EQ(objection_to([&] { return matrix_with(text); }), "--color: row 1: " + single);
    EXPECT_NE(objection_to([&] { return option_with(text); }), "none");
    if (!is_json(text)) continue;
    EXPECT_EQ(objection_to([&] { return network_with(text); }),
              "net.json:1: layer 1, row 1 of weights: " + single);
  }
  EXPECT_EQ(parse_number("x", "3.5e38"), 3.5e38);
  EXPECT_EQ(objection_to([] { return parse_float("x", "3.5e38"); }),
            "x: '3.5e38' is too large: single precision ends at 3.4e38");
}

TEST(Number, OfAnotherFormIsRefusedEverywhere) {
  for (const std::string& text : malformed) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(is_number(text));
    EXPECT_EQ(to_number(text), std::nullopt);
    EXPECT_NE(objection_to([&] { return parse_number("x", text); }), "none");
    EXPECT_NE(objection_to([&] { return option_with(text); }), "none");
    // Blanks and commas separate the numbers of a matrix.
    if (text.find_first_of(" ,") == std::string::npos && !text.empty()) {
      EXPECT_NE(objection_to([&] { return matrix_with(text); }), "none");
    }
    if (text.find_first_of(" ,") == std::string::npos) {
      EXPECT_NE(objection_to([&] { return network_with(text); }), "none");
    }
  }
  EXPECT_EQ(objection_to([] { return parse_number("--x", "ä"); }),
            "--x: '\\xc3\\xa4' is not a number");
}

TEST(Number, OfAMatrixIsAddedInDoublePrecisionAndMayHaveAPlusSignWhereItIsWhole) {
  const ColorMatrix matrix =
      parse_color_matrix("1 0 0 0.1; 0 1 0 " + long_third + "; 0 0 1 +.5", "");
  EXPECT_EQ(matrix.bias, (std::array<double, 4>{0.1, 1.0 / 3, 0.5, 0}));
  OptionValues values;
  values.set("--n", NumberIn{0, 10, true}, "+5");
  EXPECT_EQ(values.number<int>("--n"), 5);
  EXPECT_NE(objection_to([] { OptionValues().set("--n", NumberIn{0, 10, true}, "5."); }), "none");
}

// The words of recipes, and how they take the place of "@FILE".

namespace fs = std::filesystem;

// "1:word 2:word"
std::string split(const std::string& text) {
  std::string all;
  for (const RecipeWord& word : recipe_words(text, "r"))
    all += (all.empty() ? "" : "|") + std::to_string(word.line) + ":" + word.text;
  return all;
}

TEST(RecipeWords, EndWithBlanksAndLinesAndCommentsBeginWithAWordAndQuotesAreThoseOfAShell) {
  EXPECT_EQ(split(""), "");
  EXPECT_EQ(split(" \n\t\n"), "");
  EXPECT_EQ(split("--blur auto\n\n\t--resize 800x"), "1:--blur|1:auto|3:--resize|3:800x");
  EXPECT_EQ(split("\xef\xbb\xbf--gray\r\n--invert\r\n"), "1:--gray|2:--invert");
  EXPECT_EQ(split("# all\n--blur # \"no quote\nauto#1 ##\n#"), "2:--blur|3:auto#1");
  EXPECT_EQ(split("'#fff' \\#000 \"\"#1"), "1:#fff|1:#000|1:#1");
  EXPECT_EQ(split("'a b' \"c  d\"e'f' ''"), "1:a b|1:c  def|1:");
  EXPECT_EQ(split(R"("a \" \\ \n $x" 'b \')"), R"(1:a " \ \n $x|1:b \)");
  EXPECT_EQ(split(R"(a\ b \"c \\ ~ *)"), R"(1:a b|1:"c|1:\|1:~|1:*)");
  EXPECT_EQ(split("--color \"1 0 0\n0 1 0\" x"), "1:--color|1:1 0 0\n0 1 0|2:x");
  EXPECT_EQ(split("a\\\nb \\\r\n c\\"), "1:ab|3:c\\");
}

TEST(RecipeWords, OpenQuotesAreRefused) {
  EXPECT_EQ(objection_to([] { return split("a\n--color 'b\nc"); }),
            "r:2: the quote ' is not closed");
  EXPECT_EQ(objection_to([] { return split("\"a\\\""); }), "r:1: the quote \" is not closed");
}

class Recipe : public testing::Test {
 protected:
  void SetUp() override { fs::current_path(folder_.path()); }
  void TearDown() override { fs::current_path("/"); }

  static void write(const std::string& name, const std::string& text) {
    const fs::path path(name);
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  static std::string expanded(const std::vector<std::string>& words) {
    std::string all;
    for (const PlacedWord& word : with_recipes(words))
      all += (all.empty() ? "" : "|") + word.place + (word.place.empty() ? "" : " ") + word.text;
    return all;
  }

  static std::string refusal(const std::vector<std::string>& words) {
    return objection_to([&] { return with_recipes(words); });
  }

  TemporaryFolder folder_;
};

TEST_F(Recipe, TakesThePlaceOfItsName) {
  write("r", "--blur auto\n--gray");
  EXPECT_EQ(expanded({"a", "@r", "b"}), "a|r:1 --blur|r:1 auto|r:2 --gray|b");
  EXPECT_EQ(expanded({"@r", "@r"}),
            "r:1 --blur|r:1 auto|r:2 --gray|r:1 --blur|r:1 auto|r:2 --gray");
  write("empty", "# nothing\n");
  EXPECT_EQ(expanded({"a", "@empty"}), "a");
}

TEST_F(Recipe, OtherWordsMayBeginWithTheSign) {
  write("r", "--gray");
  EXPECT_EQ(expanded({"./@r", "--name=@r", "@", "--", "@r"}), "./@r|--name=@r|@|--|@r");
  write("names", "-- @r");
  EXPECT_EQ(expanded({"@names", "@r"}), "names:1 --|names:1 @r|@r");
}

TEST_F(Recipe, MayIncludeOthers) {
  write("look/all", "@part\n@../other --gray");
  write("look/part", "\n--invert");
  write("other", "--flip");
  EXPECT_EQ(expanded({"@look/all"}),
            "look/part:2 --invert|look/../other:1 --flip|look/all:2 --gray");
  // One in the current folder is found too.
  write("look/far", "@other");
  EXPECT_EQ(expanded({"@look/far"}), "other:1 --flip");
}

TEST_F(Recipe, FilesOfStagesAreLookedForBesideIt) {
  for (const char* name : {"look/film.cube", "look/sepia", "look/warm.txt", "look/mirror"})
    write(name, "");
  write("look/r",
        "--lut film.cube --lut=film.cube --color warm.txt --color sepia --lut other.cube in.png "
        "--border mirror");
  EXPECT_EQ(expanded({"@look/r"}),
            "look/r:1 --lut|look/r:1 look/film.cube|look/r:1 --lut=look/film.cube|look/r:1 --color|"
            "look/r:1 look/warm.txt|look/r:1 --color|look/r:1 sepia|look/r:1 --lut|"
            "look/r:1 other.cube|look/r:1 in.png|look/r:1 --border|look/r:1 mirror");
}

TEST_F(Recipe, ThatIncludesItselfIsRefused) {
  write("a", "--gray\n@a");
  EXPECT_EQ(refusal({"@a"}), "a:2: @a: this recipe includes itself");
  write("b", "@c");
  write("c", "\n\n@./b");
  EXPECT_EQ(refusal({"@b"}), "c:3: @./b: this recipe includes itself");
}

TEST_F(Recipe, ThatGrowsWithoutEndIsRefused) {
  write("r0", "a b c d e f g h");
  for (int i = 1; i < 20; ++i) {
    const std::string before = "@r" + std::to_string(i - 1);
    write("r" + std::to_string(i), before + " " + before + " " + before);
  }
  EXPECT_EQ(refusal({"@r19"}), "r0:1: the recipes have more than 100000 words");
}

TEST_F(Recipe, ThatCannotBeReadIsRefused) {
  const std::string remedy =
      "; a word that begins with '@' names a recipe; write ./@NAME for a file and --OPTION=@VALUE "
      "for a value of this name";
  EXPECT_EQ(refusal({"@none"}), "@none: no such file" + remedy);
  write("r", "--gray\n@none");
  EXPECT_EQ(refusal({"@r"}), "r:2: @none: no such file" + remedy);
  fs::create_directory("folder");
  EXPECT_EQ(refusal({"@folder"}), "@folder: is a folder" + remedy);
  write("picture", std::string("\x89PNG\0", 5));
  EXPECT_EQ(refusal({"@picture"}), "@picture: is not a text file" + remedy);
  write("large", std::string((1U << 20U) + 1, '\n'));
  EXPECT_EQ(refusal({"@large"}), "@large: is larger than 1 MiB" + remedy);
}

TEST_F(Recipe, MessagesNameThePlaceOfTheirWord) {
  write("r", "--blur auto\n--resize 0x4 --quality=200\n--tile 8");
  const auto words = with_recipes({"in.png", "--resize", "4x4", "@r", "--tile", "8"});
  const auto place = [&](const std::string& reason) { return with_place(words, reason); };
  EXPECT_EQ(place("--resize 0x4: too small"), "r:2: --resize 0x4: too small");
  EXPECT_EQ(place("--resize 4x4: too small"), "--resize 4x4: too small");
  EXPECT_EQ(place("--quality: too large"), "r:2: --quality: too large");
  EXPECT_EQ(place("--blur needs a value"), "r:1: --blur needs a value");
  EXPECT_EQ(place("--blurred: unknown"), "--blurred: unknown");
  EXPECT_EQ(place("in.png: no such file"), "in.png: no such file");
  // The second of two equal words is superfluous.
  EXPECT_EQ(place("--tile 8 and --tile 8: --blur takes only one"),
            "--tile 8 and --tile 8: --blur takes only one");
}

}  // namespace
}  // namespace gpufilter::test
