#include "codec/write_options.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/objection.hpp"

namespace gpufilter {
namespace {

const WriteOption effort{"effort", WriteOption::WholeNumber{-2, 9}, "4", ""};
const WriteOption method{"method", WriteOption::Choice{{"fast", "small"}}, "", ""};
const WriteOption paper{"paper", WriteOption::AnyColor{}, "black", ""};
const WriteOption careful{"careful", WriteOption::Flag{}, "off", ""};

std::string complaint(const WriteOption& option, const std::string& text) {
  return test::objection_to([&] { return parse_value(option, text); }, "");
}

TEST(WriteOptions, TakeTheValuesOfTheirKind) {
  EXPECT_EQ(parse_value(effort, "-2"), OptionValue(-2));
  EXPECT_EQ(parse_value(effort, "9"), OptionValue(9));
  EXPECT_EQ(parse_value(method, "small"), OptionValue("small"));
  EXPECT_EQ(parse_value(paper, "#010aff"), OptionValue(Color{1, 10, 255}));
  EXPECT_EQ(parse_value(careful, "on"), OptionValue(true));
  EXPECT_EQ(parse_value(careful, "off"), OptionValue(false));
}

TEST(WriteOptions, RefuseOthersSayingWhatTheyTake) {
  for (const std::string text : {"-3", "10", "", "x", "1.5", "1 ", " 1", "+1", "99999999999"}) {
    EXPECT_EQ(complaint(effort, text), "'" + text + "' is not a whole number from -2 to 9");
  }
  for (const std::string text : {"", "slow", "none"}) {
    EXPECT_EQ(complaint(method, text), "'" + text + "' is not one of fast, small");
  }
  for (const std::string text : {"Fast", "fast ", "fsat"}) {
    EXPECT_EQ(complaint(method, text),
              "'" + text + "' is not one of fast, small; did you mean fast?");
  }
  EXPECT_EQ(complaint(paper, "pink"),
            "'pink' is not a colour: write #rgb, #rrggbb or a name such as white");
  EXPECT_EQ(complaint(careful, "yes"), "'yes' is not one of on, off");
}

TEST(WriteOptions, HaveDefaultsUntilTheyAreSet) {
  WriteOptions options;
  EXPECT_EQ(options.get<int>(effort), 4);
  EXPECT_EQ(options.get<std::string>(method), std::nullopt);
  EXPECT_EQ(options.get<Color>(paper), (Color{0, 0, 0}));
  options.set(effort, "7").set(method, "fast").set(effort, "8");
  EXPECT_EQ(options.get<int>(effort), 8);
  EXPECT_EQ(options.get<std::string>(method), "fast");
  EXPECT_THROW(options.set(effort, "10"), UsageError);
  EXPECT_EQ(options.get<int>(effort), 8) << "what is refused changes nothing";
}

TEST(WriteOptions, ValuesComeBackFromTheirText) {
  for (const OptionValue& value : {OptionValue(-2), OptionValue(9)})
    EXPECT_EQ(parse_value(effort, to_string(value)), value);
  EXPECT_EQ(to_string(OptionValue("small")), "small");
  const OptionValue color = Color{0, 10, 255};
  EXPECT_EQ(to_string(color), "#000aff");
  EXPECT_EQ(parse_value(paper, to_string(color)), color);
  for (const bool flag : {false, true})
    EXPECT_EQ(parse_value(careful, to_string(OptionValue(flag))), OptionValue(flag));
}

}  // namespace
}  // namespace gpufilter
