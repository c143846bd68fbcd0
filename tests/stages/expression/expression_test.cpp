// --pixel against a second implementation: random expressions, which a tree of functions computes
// one pixel after the other; and texts that are refused.

#include "stages/expression/program.hpp"
#include "support/single_pixels.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::test {
namespace {

using Names = std::map<std::string, float>;

// An expression and its value. Sums and products may be written without parentheses where a
// stronger operator stands beside them.
struct Expression {
  std::string text;
  std::function<float(const Names&)> value;
  enum { sum, product, whole } strength = whole;
  bool is_number = false;
};

std::string held(const Expression& expression, int weakest) {
  return expression.strength < weakest ? "(" + expression.text + ")" : expression.text;
}

float limited(float x, float low, float high) {
  return std::fmin(std::fmax(x, low), high);
}

// Straight lines between the points, by the segment that x lies in.
float on_curve(const std::vector<double>& points, float x) {
  x = limited(x, static_cast<float>(points[0]), static_cast<float>(points[points.size() - 2]));
  std::size_t i = 0;
  while (i + 4 < points.size() && x >= static_cast<float>(points[i + 2]))
    i += 2;
  const double slope = (points[i + 3] - points[i + 1]) / (points[i + 2] - points[i]);
  return std::fma(x, static_cast<float>(slope),
                  static_cast<float>(points[i + 1] - slope * points[i]));
}

float in_table(const std::vector<double>& entries, float x) {
  const auto last = static_cast<float>(entries.size() - 1);
  return static_cast<float>(
      entries.at(static_cast<std::size_t>(std::nearbyint(limited(x * last, 0, last)))));
}

// Makes random expressions of all operations.
class ExpressionMaker {
 public:
  ExpressionMaker(std::uint32_t seed, std::vector<std::string> names)
      : random_(seed), names_(std::move(names)) {}

  void add_name(const std::string& name) { names_.push_back(name); }

  Expression make(int depth) {
    if (depth == 0) return below(3) == 0 ? number() : name();
    switch (below(11)) {
      case 0:
      case 1:
        return sum_of(depth);
      case 2:
      case 3:
        return product_of(depth);
      case 4:
        return extreme_of(depth);
      case 5:
        return call("clamp", arguments(depth, 3),
                    [](const auto& x) { return limited(x[0], x[1], x[2]); });
      case 6:
        return call("fma", arguments(depth, 3),
                    [](const auto& x) { return std::fma(x[0], x[1], x[2]); });
      case 7:
        return selection(depth);
      case 8:
        return luma_of(arguments(depth, 3));
      case 9:
        return of_list(depth, "curve", points(), on_curve);
      default:
        return of_list(depth, "table", numbers(2 + below(9)), in_table);
    }
  }

 private:
  using Numbers = std::vector<float>;

  std::size_t below(std::size_t end) { return random_() % end; }

  double any_number() {
    static const std::vector<double> some{0, 1, 0.5, 2, 1.0 / 3, -0.25, 1e-6, -3};
    return below(2) == 0
               ? some[below(some.size())]
               : std::round(std::uniform_real_distribution(-2.0, 2.0)(random_) * 1e4) / 1e4;
  }
  std::vector<double> numbers(std::size_t count) {
    std::vector<double> all(count);
    for (double& each : all)
      each = any_number();
    return all;
  }
  std::vector<double> points() {
    std::vector<double> all = numbers(2 * (2 + below(5)));
    double x = -0.2;
    for (std::size_t i = 0; i < all.size(); i += 2)
      all[i] = x += static_cast<double>(1 + below(40)) / 100;
    return all;
  }

  Expression number() {
    const double number = any_number();
    return {formatted("{}", number), [number](const Names&) { return static_cast<float>(number); },
            number < 0 ? Expression::product : Expression::whole, true};
  }
  Expression name() {
    const std::string name = names_[below(names_.size())];
    return {name, [name](const Names& names) { return names.at(name); }};
  }

  // Numbers alone are computed in double precision, so at most one of two is a number.
  std::array<Expression, 2> two(int depth) {
    Expression a = make(depth - 1);
    Expression b = make(depth - 1);
    if (a.is_number && b.is_number) b = name();
    return {a, b};
  }

  Expression sum_of(int depth) {
    const auto [a, b] = two(depth);
    const bool plus = below(2) == 0;
    return {
        formatted("{} {} {}", held(a, Expression::sum), plus ? "+" : "-",
                  held(b, Expression::product)),
        [=](const Names& n) { return plus ? a.value(n) + b.value(n) : a.value(n) - b.value(n); },
        Expression::sum};
  }

  Expression product_of(int depth) {
    const auto [a, b] = two(depth);
    const std::string first = held(a, Expression::product);
    if (below(4) == 0 && !a.is_number) {
      const auto divisor = static_cast<double>(1 + below(9));
      const auto factor = static_cast<float>(1 / divisor);
      return {formatted("{} / {}", first, divisor),
              [=](const Names& n) { return a.value(n) * factor; }, Expression::product};
    }
    if (below(5) == 0 && !a.is_number) {
      return {"-" + held(a, Expression::whole), [=](const Names& n) { return -a.value(n); },
              Expression::product};
    }
    return {formatted("{}*{}", first, held(b, Expression::whole)),
            [=](const Names& n) { return a.value(n) * b.value(n); }, Expression::product};
  }

  std::vector<Expression> arguments(int depth, std::size_t count) {
    std::vector<Expression> all;
    while (all.size() < count)
      all.push_back(make(depth - 1));
    return all;
  }

  static Expression call(const std::string& function, const std::vector<Expression>& from,
                         const std::function<float(const Numbers&)>& compute) {
    std::string text = function + "(";
    for (std::size_t i = 0; i < from.size(); ++i)
      text += (i > 0 ? ", " : "") + from[i].text;
    return {text + ")", [from, compute](const Names& names) {
              Numbers x;
              for (const Expression& each : from)
                x.push_back(each.value(names));
              return compute(x);
            }};
  }

  Expression luma_of(std::vector<Expression> from) {
    if (from[2].is_number) from[2] = name();  // whose product with a number is known before
    return call("luma", from, [](const Numbers& x) {
      return std::fma(0.2126F, x[0], std::fma(0.7152F, x[1], 0.0722F * x[2]));
    });
  }

  Expression extreme_of(int depth) {
    const bool least = below(2) == 0;
    return call(least ? "min" : "max", arguments(depth, 2 + below(2)), [least](const Numbers& x) {
      return least ? *std::ranges::min_element(x) : *std::ranges::max_element(x);
    });
  }

  Expression selection(int depth) {
    static const std::vector<std::pair<std::string, bool (*)(float, float)>> comparisons{
        {"<", [](float a, float b) { return a < b; }},
        {"<=", [](float a, float b) { return a <= b; }},
        {">", [](float a, float b) { return a > b; }},
        {">=", [](float a, float b) { return a >= b; }},
        {"==", [](float a, float b) { return a == b; }},
        {"!=", [](float a, float b) { return a != b; }}};
    const auto& [sign, holds] = comparisons[below(comparisons.size())];
    const auto from = arguments(depth, 4);
    return {formatted("select({} {} {}, {}, {})", from[0].text, sign, from[1].text, from[2].text,
                      from[3].text),
            [from, holds = holds](const Names& n) {
              return holds(from[0].value(n), from[1].value(n)) ? from[2].value(n)
                                                               : from[3].value(n);
            }};
  }

  Expression of_list(int depth, const std::string& function, const std::vector<double>& list,
                     float (*compute)(const std::vector<double>&, float)) {
    const Expression x = make(depth - 1);
    return {formatted("{}({}, {})", function, x.text, fmt::join(list, " ")),
            [=](const Names& n) { return compute(list, x.value(n)); }};
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
};

// ---- Programs ----

struct Assignment {
  std::string name;
  Expression expression;
};
using Assignments = std::vector<Assignment>;

std::string text_of(const Assignments& assignments) {
  std::string text;
  for (const Assignment& each : assignments)
    text += (text.empty() ? "" : ";\n") + each.name + " = " + each.expression.text;
  return text;
}

bool assigns(const Assignments& assignments, const std::string& name) {
  return std::ranges::count(assignments, name, &Assignment::name) > 0;
}

const std::vector<std::string> rgb{"r", "g", "b"};

PixelFormat format_of_result(const Assignments& assignments, const PixelFormat& format) {
  const bool makes_one = std::ranges::any_of(
      rgb, [&](const std::string& color) { return assigns(assignments, color); });
  const int colors = assigns(assignments, "gray") ? 1 : makes_one ? 3 : format.color_channels();
  const bool has_alpha = format.has_alpha() || assigns(assignments, "a");
  return {colors + (has_alpha ? 1 : 0), format.depth};
}

// --gray: no sum is near enough to a half to matter.
std::uint32_t grey_of(const Samples& in) {
  return static_cast<std::uint32_t>(0.2126 * in[0] + 0.7152 * in[1] + 0.0722 * in[2] + 0.5 + 1e-9);
}

std::uint32_t sample_of(float value, std::uint32_t max) {
  const float scaled = std::nearbyint(value * static_cast<float>(max));
  return static_cast<std::uint32_t>(limited(scaled, 0, static_cast<float>(max)));
}

Samples computed(const Assignments& assignments, const PixelFormat& format, const Samples& in) {
  const std::uint32_t max = format.max_sample();
  const auto value = [&](std::uint32_t sample) {
    return static_cast<float>(sample) * (1.0F / static_cast<float>(max));
  };
  const bool grey = format.color_channels() == 1;
  const std::uint32_t alpha =
      format.has_alpha() ? in.at(static_cast<std::size_t>(format.channels) - 1) : max;
  Names names{{"r", value(in[0])},
              {"g", value(in.at(grey ? 0 : 1))},
              {"b", value(in.at(grey ? 0 : 2))},
              {"a", value(alpha)},
              {"gray", value(grey ? in[0] : grey_of(in))}};
  for (const auto& [name, expression] : assignments) {
    if (name != "rgb") {
      names[name] = expression.value(names);
      continue;
    }
    Names after = names;
    for (const std::string& color : rgb) {
      Names own = names;
      own["rgb"] = names[color];
      after[color] = expression.value(own);
    }
    names = after;
  }
  const PixelFormat target = format_of_result(assignments, format);
  Samples out{};
  for (int c = 0; c < target.color_channels(); ++c) {
    const std::string& color = rgb.at(static_cast<std::size_t>(c));
    out.at(static_cast<std::size_t>(c)) =
        sample_of(names[assigns(assignments, "gray") ? "gray" : color], max);
  }
  if (target.has_alpha()) {
    out.at(static_cast<std::size_t>(target.channels) - 1) =
        assigns(assignments, "a") ? sample_of(names["a"], max) : alpha;
  }
  return out;
}

// A local name, and then one or more of the results.
Assignments random_program(std::uint32_t seed, int depth) {
  ExpressionMaker maker(seed, {"r", "g", "b", "a", "gray"});
  Assignments assignments{{"local", maker.make(depth - 1)}};
  maker.add_name("local");
  const std::vector<std::vector<std::string>> results{
      {"r"}, {"gray"}, {"rgb"}, {"a"}, {"g", "b"}, {"rgb", "r"}, {"gray", "a"}, {"b", "a", "r"}};
  for (const std::string& result : results[seed % results.size()]) {
    ExpressionMaker own(seed + 7919, {"r", "g", "b", "a", "gray", "local"});
    if (result == "rgb") own.add_name("rgb");
    assignments.push_back({result, result == "rgb" ? own.make(depth) : maker.make(depth)});
  }
  return assignments;
}

Image expected_of(const Assignments& assignments, const Image& image) {
  return mapped(image, format_of_result(assignments, image.format()),
                [&](const Samples& in) { return computed(assignments, image.format(), in); });
}

std::shared_ptr<const Stage> pixel(const std::string& text) {
  return pixel_stage_kind().make(text);
}

TEST(Pixel, ComputesRandomExpressionsWithEveryInstructionSet) {
  constexpr std::array<ImageSize, 4> sizes{{{1, 1}, {33, 5}, {255, 3}, {517, 4}}};
  for (std::uint32_t seed = 0; seed < 240; ++seed) {
    const Assignments assignments = random_program(seed, 1 + static_cast<int>(seed % 5));
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text_of(assignments));
    for (const PixelFormat& format : all_formats()) {
      const ImageSize size = sizes[(seed + static_cast<std::uint32_t>(format.channels)) % 4];
      for (const Image& image :
           {random_image(size, format, seed), extreme_image(size, format, seed)}) {
        check_on_host(image, {pixel(text_of(assignments))}, expected_of(assignments, image), {1000},
                      RowEnds::hold);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Pixel, ComputesRandomExpressionsOnDevices) {
  for (std::uint32_t seed = 1000; seed < 1016; ++seed) {
    const Assignments assignments = random_program(seed, 4);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text_of(assignments));
    const auto formats = all_formats();
    for (const std::size_t i : {seed % 8, (5 * seed + 3) % 8}) {
      for (const Image& image :
           {random_image({131, 9}, formats[i], seed), extreme_image({17, 5}, formats[i], seed)}) {
        for (Session* session : kernel_sessions(image.format()))
          check_on_device(*session, image, {pixel(text_of(assignments))},
                          expected_of(assignments, image), {4, 1000});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Every level stays as it is between samples and values.
TEST(Pixel, KeepsSamplesThatAreNotChanged) {
  for (const int depth : {8, 16}) {
    const std::uint32_t max = PixelFormat{1, depth}.max_sample();
    Image levels({256, depth == 8 ? 1 : 256}, {1, depth});
    for (const auto [x, y] : each_pixel(levels))
      set_sample(levels, x, y, 0, static_cast<std::uint32_t>(256 * y + x));
    const Image same = mapped(levels, {2, depth}, [&](Samples in) {
      in[1] = in[0];
      return in;
    });
    expect_everywhere({pixel("rgb = 1*rgb; a = r")}, levels, same);
    const Image white = mapped(levels, {3, depth}, [&](Samples in) {
      return Samples{max, in[0], in[0]};
    });
    expect_everywhere({pixel("r = a")}, levels, white);
  }
}

TEST(Pixel, StatementsSeeWhatThoseBeforeThemAssigned) {
  const Image image = random_image({67, 3}, {3, 8}, 1);
  const Image swapped = mapped(image, {3, 8}, [](Samples in) {
    std::swap(in[0], in[2]);
    return in;
  });
  expect_everywhere({pixel("old = r; r = b; b = old")}, image, swapped);
  const Image copied = mapped(image, {3, 8}, [](const Samples& in) {
    return Samples{in[2], in[1], in[2]};
  });
  expect_everywhere({pixel("r = b; b = r")}, image, copied);
}

// Numbers alone are computed in double precision and rounded once.
TEST(Pixel, ComputesNumbersBefore) {
  const PixelProgram program = parse_pixel_program(
      "third = 1 / 3; r = r * (third + 1e-9 - -2 * (4 - 1.5)); # comment\n g = 2;",
      {.source = {3, 8}, .place = "test"});
  std::vector<float> numbers;
  for (const PixelOperation& operation : program.operations) {
    if (operation.what == PixelOperator::number) numbers.push_back(operation.number);
  }
  EXPECT_EQ(numbers, (std::vector<float>{static_cast<float>(1.0 / 3 + 1e-9 + 5), 2}));
}

TEST(Pixel, ChangesNothingWithoutWork) {
  for (const char* text : {"rgb = rgb", "r = r; b = b", "x = 2*r; g = g"})
    EXPECT_TRUE(changes_nothing(pixel(text), {{3, 3}, {3, 8}})) << text;
  EXPECT_TRUE(changes_nothing(pixel("gray = gray"), {{3, 3}, {2, 16}}));
  for (const char* text : {"gray = gray", "r = g", "a = a", "rgb = 1 - rgb"})
    EXPECT_FALSE(changes_nothing(pixel(text), {{3, 3}, {3, 8}})) << text;
}

TEST(Pixel, ReadsItsTextFromAFile) {
  const TemporaryFolder folder;
  write_file(folder / "warm.pixel", "# warmer\nr = 1.1*r;\nb = 0.9*b;\n");
  const Image image = random_image({67, 3}, {3, 8}, 1);
  EXPECT_TRUE(same_pixels(filter_on_host(image, {pixel(folder / "warm.pixel")}, {}),
                          filter_on_host(image, {pixel("r = 1.1*r; b = 0.9*b")}, {})));
  write_file(folder / "bad.pixel", "r = 1.1*r;\n\xC3\xA9 = r");
  EXPECT_EQ(objection_to_value(pixel_stage_kind(), folder / "bad.pixel"),
            folder / "bad.pixel" + ":2:1: expected a name to assign to, found '\\xc3\\xa9'");
}

// ---- Refusals ----

TEST(PixelOption, SaysWhereAndWhatItExpected) {
  struct Case {
    const char* text;
    const char* objection;
  };
  const std::vector<Case> cases{
      {"= r", "1, column 1: expected a name to assign to, found '='"},
      {"r = ", "1, column 5: expected a value, found the end"},
      {"r = 1.1*", "1, column 9: expected a value, found the end"},
      {"r = (1 + g", "1, column 11: expected an operator or ')', found the end"},
      {"r = 1 g = 2", "1, column 7: expected an operator or ';', found 'g'"},
      {"r = r;; g = g", "1, column 7: expected a name to assign to, found ';'"},
      {"r = 1;\n  g = 0.5.2", "2, column 7: expected a number, found '0.5.2'"},
      {"r = 2r;", "1, column 5: expected a number, found '2r'"},
      {"# a\n# b\nr == g", "3, column 3: expected '=', found '=='"},
      {"r = red", "1, column 5: unknown name 'red'; known are r, g, b, a, gray and functions"},
      {"r = exp(r); g = g",
       "1, column 5: unknown name 'exp'; known are r, g, b, a, gray and functions"},
      {"r = mix(r, g)", "1, column 5: unknown name 'mix'; did you mean max?"},
      {"r = rgb", "1, column 5: rgb is a value only in 'rgb = ...'"},
      {"min = r", "1, column 1: 'min' is a function; choose another name"},
      {"x = r", "1, column 6: expected an assignment to r, g, b, rgb, gray or a, found the end"},
      {"gray = r; g = 0",
       "1, column 11: the result is grey or in colour: assign to gray, or to r, g, b"},
      {"r = max r", "1, column 9: expected '(' after the name of a function, found 'r'"},
      {"r = max(r)", "1, column 10: expected ',', found ')'"},
      {"r = max(r, g b)", "1, column 14: expected ',' or ')', found 'b'"},
      {"r = clamp(r, 0)", "1, column 15: expected ',', found ')'"},
      {"r = fma(r, 0, 1, 2)", "1, column 16: expected ')', found ','"},
      {"r = select(r, 0, 1)",
       "1, column 13: expected a comparison: <, <=, >, >=, == or !=, found ','"},
      {"r = select(r < g < b, 0, 1)", "1, column 18: expected ',' after the comparison, found '<'"},
      {"r = r < g", "1, column 7: expected an operator or ';', found '<'"},
      {"r = r / g", "1, column 7: only a number can divide; a curve can replace the division"},
      {"r = r / 0", "1, column 7: this may reach inf; values end at 1e+30"},
      {"r = 1 / 0", "1, column 7: a number is at most 1e+30"},
      {"r = r * 1e31", "1, column 9: a number is at most 1e+30"},
      {"r = 1e20*r; g = 1e20*r*r", "1, column 21: this may reach 1e+40; values end at 1e+30"},
      {"r = curve(r)", "1, column 12: expected ',' after the value, found ')'"},
      {"r = curve(r, 0 1)", "1, column 17: expected a number: a curve is X Y X Y ..., found ')'"},
      {"r = curve(r, 0 0 1)", "1, column 19: expected a number: a curve is X Y X Y ..., found ')'"},
      {"r = curve(r, 0 0 g 1)", "1, column 18: expected a number, found 'g'"},
      {"r = curve(r, 0 0 1 1 0.5 1)", "1, column 5: the curve's X of 0.5 is not above 1"},
      {"r = table(r, 1)", "1, column 15: expected a number: a table has two or more, found ')'"},
      {"r = r $ g", "1, column 7: expected an operator or ';', found '$'"},
      {"r = \xC3\xA9\xC3\xA9; g = (", "1, column 5: expected a value, found '\\xc3\\xa9'"},
      {"r = r # \xC3\xA9\n + \xE2\x82\xAC",
       "2, column 4: expected a value, found '\\xe2\\x82\\xac'"}};
  for (const Case& each : cases) {
    EXPECT_EQ(objection_to_value(pixel_stage_kind(), each.text),
              std::string("--pixel: line ") + each.objection)
        << each.text;
  }
  EXPECT_EQ(objection_to_value(pixel_stage_kind(), "warm"),
            "--pixel warm: neither an expression, which has a '=', nor a file; write NAME = VALUE");
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

TEST(PixelOption, HasLimits) {
  const auto objection = [](const std::string& text) {
    return objection_to_value(pixel_stage_kind(), text);
  };
  EXPECT_EQ(objection("r = min(1e30 * r, 1)"), "none");
  EXPECT_EQ(objection("r = " + repeated("(", 62) + "r" + repeated(")", 62)), "none");
  EXPECT_EQ(objection("r = " + repeated("(", 60'000)),
            "--pixel: line 1, column 69: nested more than 64 deep");
  EXPECT_EQ(objection("r = " + repeated("-", 60'000)),
            "--pixel: line 1, column 69: nested more than 64 deep");
  // Two operations a statement, the samples and a number.
  EXPECT_EQ(objection(repeated("r = r*1.001 + g;", 497)), "none");
  EXPECT_EQ(objection(repeated("r = r*1.001 + g;", 498)),
            "--pixel: line 1, column 7958: more than 1000 operations");
  EXPECT_EQ(objection("r = r" + repeated(" ", 65536)), "--pixel: more than 65536 bytes");
  const std::string table = "r = table(r, 0 " + repeated("1 ", 32'000) + ")";
  EXPECT_EQ(objection(table), "none");
  EXPECT_EQ(objection("r = curve(r, 0 0" + repeated(" 1 0", 64) + ")"),
            "--pixel: line 1, column 5: a curve has at most 64 points");
}

}  // namespace
}  // namespace gpufilter::test
