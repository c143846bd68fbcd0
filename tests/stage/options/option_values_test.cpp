#include <gtest/gtest.h>

#include "stage/options/catalogue.hpp"
#include "support/objection.hpp"

namespace gpufilter {
namespace {

enum class Shape { round = 3, square = 7 };

const OneOf shapes{{{"round", Shape::round}, {"square", Shape::square}}};
const OneOf sides{{{"8", 8}, {"16", 16}, {"32", 32}}};

// The objection of set(); "none" if it accepts the text.
std::string value_objection(const ValueType& type, const std::string& text) {
  return test::objection_to([&] { return OptionValues().set("--x", type, text); });
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
  EXPECT_EQ(values.text("--network"), "a b.json");
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

TEST(OptionValues, SharesMayBePercentages) {
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
}

TEST(OptionValues, AreNeverEmpty) {
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

TEST(ValueWords, AreWhatIsNotInCapitals) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(value_words(sides), (Words{"8", "16", "32"}));
  EXPECT_EQ(value_words(FreeText{"auto|auto=PERCENT|LOW,HIGH"}), (Words{"auto", "auto="}));
  EXPECT_EQ(value_words(FreeText{"reinhard|filmic[=KEY]"}), (Words{"reinhard", "filmic"}));
  EXPECT_EQ(value_words(FreeText{"PRESET[=AMOUNT]|FILE", {}, {"sepia", "hue="}}),
            (Words{"sepia", "hue="}));
  EXPECT_EQ(value_words(FreeText{"WxH+X+Y"}), Words{});
  EXPECT_EQ(value_words(NumberIn{0, 1}), Words{});
  EXPECT_EQ(value_words(FileName{}), Words{});
}

TEST(ValueWords, SomeValuesAreFiles) {
  EXPECT_TRUE(may_be_file(FileName{}));
  EXPECT_TRUE(may_be_file(FreeText{"MATRIX|FILE"}));
  EXPECT_FALSE(may_be_file(FreeText{"MATRIX"}));
  EXPECT_FALSE(may_be_file(sides));
}

}  // namespace
}  // namespace gpufilter
