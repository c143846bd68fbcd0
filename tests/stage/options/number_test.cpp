// One form of numbers everywhere: options, matrices, networks.
#include "stage/options/number.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "net/pixel/mlp.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/colour/color_matrix.hpp"
#include "support/objection.hpp"

namespace gpufilter {
namespace {

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
      {"3.4028235e38", 3.4028235e38, std::numeric_limits<float>::max()},
  };
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

TEST(Number, IsRoundedOnceToTheNearest) {
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
}

TEST(Number, MeansTheSameInOptionsMatricesAndNetworks) {
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
    EXPECT_EQ(test::objection_to([&] { return parse_float("x", text); }), "x: " + single);
    EXPECT_EQ(test::objection_to([&] { return parse_number("x", text); }),
              formatted("x: '{}' is too large: double precision ends at 1.8e308", quoted));
    EXPECT_EQ(test::objection_to([&] { return matrix_with(text); }), "--color: row 1: " + single);
    EXPECT_NE(test::objection_to([&] { return option_with(text); }), "none");
    if (!is_json(text)) continue;
    EXPECT_EQ(test::objection_to([&] { return network_with(text); }),
              "net.json:1: layer 1, row 1 of weights: " + single);
  }
  EXPECT_EQ(parse_number("x", "3.5e38"), 3.5e38);
  EXPECT_EQ(test::objection_to([] { return parse_float("x", "3.5e38"); }),
            "x: '3.5e38' is too large: single precision ends at 3.4e38");
}

TEST(Number, OfAnotherFormIsRefusedEverywhere) {
  for (const std::string& text : malformed) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(is_number(text));
    EXPECT_EQ(to_number(text), std::nullopt);
    EXPECT_NE(test::objection_to([&] { return parse_number("x", text); }), "none");
    EXPECT_NE(test::objection_to([&] { return option_with(text); }), "none");
    // Blanks and commas separate the numbers of a matrix.
    if (text.find_first_of(" ,") == std::string::npos && !text.empty()) {
      EXPECT_NE(test::objection_to([&] { return matrix_with(text); }), "none");
    }
    if (text.find_first_of(" ,") == std::string::npos) {
      EXPECT_NE(test::objection_to([&] { return network_with(text); }), "none");
    }
  }
  EXPECT_EQ(test::objection_to([] { return parse_number("--x", "ä"); }),
            "--x: '\\xc3\\xa4' is not a number");
}

TEST(Number, OfAMatrixIsAddedInDoublePrecision) {
  const ColorMatrix matrix =
      parse_color_matrix("1 0 0 0.1; 0 1 0 " + long_third + "; 0 0 1 +.5", "");
  EXPECT_EQ(matrix.bias, (std::array<double, 4>{0.1, 1.0 / 3, 0.5, 0}));
}

TEST(Number, MayHaveAPlusSignWhereItIsWhole) {
  OptionValues values;
  values.set("--n", NumberIn{0, 10, true}, "+5");
  EXPECT_EQ(values.number<int>("--n"), 5);
  EXPECT_NE(test::objection_to([] {
              OptionValues().set("--n", NumberIn{0, 10, true}, "5.");
            }),
            "none");
}

}  // namespace
}  // namespace gpufilter
