#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/expression/program.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t most_text = 65536;
constexpr size_t most_operations = 1000;
constexpr size_t most_points = 64;  // of a curve
constexpr int deepest = 64;
constexpr double largest = 1e30F;  // of a value: far from where single precision ends

// The values that an operation's result may have.
struct Range {
  double low = 0;
  double high = 0;
};

Range around(std::initializer_list<double> numbers) {
  return {std::min(numbers), std::max(numbers)};
}

Range operator+(const Range& a, const Range& b) {
  return {a.low + b.low, a.high + b.high};
}
Range operator-(const Range& a, const Range& b) {
  return {a.low - b.high, a.high - b.low};
}
Range operator*(const Range& a, const Range& b) {
  return around({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Token {
  enum class Kind { end, number, name, symbol } kind = Kind::end;
  std::string_view text;
  size_t at = 0;
};

class Tokens {
 public:
  Tokens(std::string_view text, const PixelContext& context) : text_(text), context_(context) {
    go_to(0);
  }

  [[nodiscard]] const Token& next() const { return next_; }
  [[nodiscard]] bool is(std::string_view symbol) const {
    return next_.kind == Token::Kind::symbol && next_.text == symbol;
  }
  Token take() {
    const Token taken = next_;
    go_to(taken.at + taken.text.size());
    return taken;
  }
  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    take();
    return true;
  }
  void expect(std::string_view symbol, const char* instead) {
    if (!accept(symbol)) fail(instead);
  }
  // Continues at this place of the text.
  void go_to(size_t at) {
    while (true) {
      at = std::min(text_.find_first_not_of(" \t\r\n", at), text_.size());
      if (at == text_.size() || text_[at] != '#') break;
      at = std::min(text_.find('\n', at), text_.size());
    }
    const size_t length = length_at(at);
    next_.at = at;
    next_.text = text_.substr(at, length);
  }

  // `expected` says what should stand here.
  [[noreturn]] void fail(const std::string& expected) const {
    const std::string found =
        next_.kind == Token::Kind::end ? "the end" : "'" + shown(next_.text, 32) + "'";
    refuse(next_.at, formatted("expected {}, found {}", expected, found));
  }
  [[noreturn]] void refuse(size_t at, const std::string& reason) const {
    const std::string_view before = text_.substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::string_view row = before.substr(before.rfind('\n') + 1);
    const auto column =
        1 + std::count_if(row.begin(), row.end(), [](char c) { return (c & 0xC0) != 0x80; });
    const std::string place = printable(context_.place);
    throw UsageError(context_.is_file
                         ? formatted("{}:{}:{}: {}", place, line, column, reason)
                         : formatted("{}: line {}, column {}: {}", place, line, column, reason));
  }

 private:
  // The length of the token there; notes its kind.
  size_t length_at(size_t at) {
    const std::string_view rest = text_.substr(at);
    const auto until = [&](auto ends) {
      return static_cast<size_t>(std::find_if(rest.begin(), rest.end(), ends) - rest.begin());
    };
    next_.kind = Token::Kind::end;
    if (rest.empty()) return 0;
    if (is_letter(rest[0])) {
      next_.kind = Token::Kind::name;
      return until([](char c) { return !is_letter(c) && !is_digit(c); });
    }
    if (is_digit(rest[0]) || rest[0] == '.') {
      next_.kind = Token::Kind::number;
      char before = 0;
      return until([&before](char c) {
        const bool is_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
        before = c;
        return !is_letter(c) && !is_digit(c) && c != '.' && !is_sign;
      });
    }
    next_.kind = Token::Kind::symbol;
    for (const std::string_view two : {"<=", ">=", "==", "!="}) {
      if (rest.starts_with(two)) return 2;
    }
    return std::max<size_t>(utf8_length(rest), 1);
  }

  std::string_view text_;
  const PixelContext& context_;
  Token next_;
};

// The operations of a program. Equal ones become one.
class PixelOperations {
 public:
  explicit PixelOperations(const Tokens& tokens) : tokens_(tokens) {}

  // `at` is the place in the text, for messages.
  int add(const PixelOperation& operation, const Range& range, size_t at) {
    if (!(range.low >= -largest && range.high <= largest))
      tokens_.refuse(at, formatted("this may reach {:.0e}; values end at {:.0e}",
                                   std::max(-range.low, range.high), largest));
    const auto [known, is_new] = known_.emplace(operation, static_cast<int>(ranges_.size()));
    if (!is_new) return known->second;
    if (ranges_.size() == most_operations)
      tokens_.refuse(at, formatted("more than {} operations", most_operations));
    program.operations.push_back(operation);
    ranges_.push_back(range);
    return known->second;
  }
  [[nodiscard]] Range range(int operation) const { return ranges_[static_cast<size_t>(operation)]; }

  // Without those that no result needs.
  PixelProgram finished() {
    std::vector<int> places(program.operations.size(), -1);
    for (const int result : program.results) {
      if (result >= 0) places[static_cast<size_t>(result)] = 0;
    }
    for (size_t i = places.size(); i-- > 0;) {
      if (places[i] < 0) continue;
      for (size_t k = 0; k < operand_count(program.operations[i].what); ++k)
        places[static_cast<size_t>(program.operations[i].from[k])] = 0;
    }
    std::vector<PixelOperation> needed;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      places[i] = static_cast<int>(needed.size());
      needed.push_back(program.operations[i]);
      for (size_t k = 0; k < operand_count(needed.back().what); ++k)
        needed.back().from[k] = places[static_cast<size_t>(needed.back().from[k])];
    }
    program.operations = std::move(needed);
    for (int& result : program.results)
      result = result < 0 ? result : places[static_cast<size_t>(result)];
    return std::move(program);
  }

  PixelProgram program;

 private:
  const Tokens& tokens_;
  std::map<PixelOperation, int> known_;
  std::vector<Range> ranges_;
};

// A number, which is known now, or the result of an operation.
struct PixelValue {
  double number = 0;
  int operation = -1;

  [[nodiscard]] bool is_number() const { return operation < 0; }
};

class PixelParser {
 public:
  PixelParser(std::string_view text, const PixelContext& context)
      : context_(context), tokens_(text, context), operations_(tokens_) {
    if (text.size() > most_text)
      throw UsageError(formatted("{}: more than {} bytes", printable(context.place), most_text));
    const bool is_grey = context.source.color_channels() == 1;
    using enum PixelOperator;
    names_["r"] = sample(red);
    names_["g"] = is_grey ? names_["r"] : sample(green);
    names_["b"] = is_grey ? names_["r"] : sample(blue);
    names_["a"] = sample(alpha);
    if (!is_grey && context.source.is_float())
      names_["gray"] = luma({names_["r"], names_["g"], names_["b"]}, 0);
    else
      names_["gray"] = is_grey ? names_["r"] : sample(gray);
  }

  PixelProgram parse() {
    do
      statement();
    while (tokens_.accept(";") && tokens_.next().kind != Token::Kind::end);
    if (tokens_.next().kind != Token::Kind::end) tokens_.fail("an operator or ';'");
    return finished();
  }

 private:
  using Kind = Token::Kind;

  PixelValue sample(PixelOperator what) { return {0, operations_.add({.what = what}, {0, 1}, 0)}; }

  // ---- Statements ----

  void statement() {
    if (tokens_.next().kind != Kind::name) tokens_.fail("a name to assign to");
    const Token name = tokens_.take();
    if (functions().contains(name.text))
      tokens_.refuse(name.at, formatted("'{}' is a function; choose another name", name.text));
    tokens_.expect("=", "'='");
    note_channel(name);
    if (name.text != "rgb") {
      names_[std::string(name.text)] = expression();
      return;
    }
    const size_t begin = tokens_.next().at;
    std::array<PixelValue, 3> colors;
    for (size_t c = 0; c < colors.size(); ++c) {
      tokens_.go_to(begin);
      names_["rgb"] = names_[color_names[c]];
      colors[c] = expression();
    }
    names_.erase("rgb");
    for (size_t c = 0; c < colors.size(); ++c)
      names_[color_names[c]] = colors[c];
  }

  void note_channel(const Token& name) {
    const bool is_gray = name.text == "gray";
    const bool is_one = std::ranges::count(color_names, name.text) > 0;
    if (is_gray || is_one || name.text == "rgb") {
      if (has_colors_ && is_gray != makes_gray_)
        tokens_.refuse(name.at, "the result is grey or in colour: assign to gray, or to r, g, b");
      has_colors_ = true;
      makes_gray_ = is_gray;
    }
    sets_one_ = sets_one_ || is_one;
    sets_alpha_ = sets_alpha_ || name.text == "a";
  }

  PixelProgram finished() {
    if (!has_colors_ && !sets_alpha_) tokens_.fail("an assignment to r, g, b, rgb, gray or a");
    PixelProgram& program = operations_.program;
    const PixelFormat& source = context_.source;
    const int colors = makes_gray_ ? 1 : sets_one_ ? 3 : source.color_channels();
    program.source = source;
    program.target = {colors + (source.has_alpha() || sets_alpha_ ? 1 : 0), source.depth};
    for (size_t c = 0; c < color_names.size(); ++c)
      program.results[c] = operation_of(names_[makes_gray_ ? "gray" : color_names[c]], 0);
    program.results[3] = sets_alpha_ ? operation_of(names_["a"], 0) : -1;
    return operations_.finished();
  }

  // ---- Expressions ----

  PixelValue expression() {
    PixelValue sum = term();
    while (tokens_.is("+") || tokens_.is("-")) {
      const Token sign = tokens_.take();
      const PixelValue other = term();
      if (sign.text == "+")
        sum = computed(PixelOperator::add, sum, other, sign.at);
      else
        sum = computed(PixelOperator::subtract, sum, other, sign.at);
    }
    return sum;
  }

  PixelValue term() {
    PixelValue product = factor();
    while (tokens_.is("*") || tokens_.is("/")) {
      const Token sign = tokens_.take();
      PixelValue other = factor();
      if (sign.text == "/") {
        if (!other.is_number())
          tokens_.refuse(sign.at, "only a number can divide; a curve can replace the division");
        if (product.is_number()) {
          product.number /= other.number;
          check_number(product.number, sign.at);
          continue;
        }
        other.number = 1 / other.number;
      }
      product = computed(PixelOperator::multiply, product, other, sign.at);
    }
    return product;
  }

  PixelValue factor() {
    const Token token = tokens_.next();
    if (++depth_ > deepest)
      tokens_.refuse(token.at, formatted("nested more than {} deep", deepest));
    PixelValue value;
    if (tokens_.accept("-")) {
      value = computed(PixelOperator::multiply, {-1}, factor(), token.at);
    } else if (tokens_.accept("(")) {
      value = expression();
      tokens_.expect(")", "an operator or ')'");
    } else if (token.kind == Kind::number) {
      value.number = number();
    } else if (token.kind == Kind::name) {
      value = named();
    } else {
      tokens_.fail("a value");
    }
    --depth_;
    return value;
  }

  PixelValue named() {
    const Token name = tokens_.take();
    if (const auto function = functions().find(name.text); function != functions().end()) {
      tokens_.expect("(", "'(' after the name of a function");
      const PixelValue value = (this->*function->second)(name);
      tokens_.expect(")", name.text == "min" || name.text == "max" ? "',' or ')'" : "')'");
      return value;
    }
    if (const auto known = names_.find(name.text); known != names_.end()) return known->second;
    refuse_name(name);
  }

  [[noreturn]] void refuse_name(const Token& name) const {
    if (name.text == "rgb") tokens_.refuse(name.at, "rgb is a value only in 'rgb = ...'");
    std::vector<std::string> all;
    for (const auto& [each, value] : names_)
      all.push_back(each);
    for (const auto& [each, function] : functions())
      all.emplace_back(each);
    const auto near = words_like(name.text, all);
    tokens_.refuse(name.at, formatted("unknown name '{}'{}", shown(name.text, 32),
                                      near.empty() ? "; known are r, g, b, a, gray and functions"
                                                   : "; did you mean " + near.front() + "?"));
  }

  double number() {
    const Token token = tokens_.next();
    if (token.kind != Kind::number) tokens_.fail("a number");
    const std::optional<double> value = to_number(token.text);
    if (!value) tokens_.fail("a number");
    check_number(*value, token.at);
    tokens_.take();
    return *value;
  }

  void check_number(double number, size_t at) const {
    if (!(std::abs(number) <= largest))
      tokens_.refuse(at, formatted("a number is at most {:.0e}", largest));
  }

  // ---- Functions: from the first argument to before the parenthesis ----

  using Function = PixelValue (PixelParser::*)(const Token& name);
  static const std::map<std::string_view, Function>& functions() {
    static const std::map<std::string_view, Function> all{
        {"min", &PixelParser::extreme},      {"max", &PixelParser::extreme},
        {"clamp", &PixelParser::clamped},    {"fma", &PixelParser::added_product},
        {"select", &PixelParser::selection}, {"luma", &PixelParser::luma},
        {"curve", &PixelParser::curve},      {"table", &PixelParser::table}};
    return all;
  }

  template <size_t count>
  std::array<PixelValue, count> arguments() {
    std::array<PixelValue, count> values;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) tokens_.expect(",", "','");
      values[i] = expression();
    }
    return values;
  }

  PixelValue extreme(const Token& name) {
    const auto what = name.text == "min" ? PixelOperator::minimum : PixelOperator::maximum;
    auto [value, second] = arguments<2>();
    value = computed(what, value, second, name.at);
    while (tokens_.accept(","))
      value = computed(what, value, expression(), name.at);
    return value;
  }

  PixelValue clamped(const Token& name) {
    const auto [x, low, high] = arguments<3>();
    return within(x, low, high, name.at);
  }
  PixelValue within(const PixelValue& x, const PixelValue& low, const PixelValue& high, size_t at) {
    return computed(PixelOperator::minimum, computed(PixelOperator::maximum, x, low, at), high, at);
  }

  PixelValue added_product(const Token& name) {
    const auto [a, b, c] = arguments<3>();
    return multiply_add(a, b, c, name.at);
  }

  PixelValue luma(const Token& name) { return luma(arguments<3>(), name.at); }
  PixelValue luma(const std::array<PixelValue, 3>& colors, size_t at) {
    const auto& [red, green, blue] = colors;
    const PixelValue last = computed(PixelOperator::multiply, {0.0722}, blue, at);
    return multiply_add({0.2126}, red, multiply_add({0.7152}, green, last, at), at);
  }

  PixelValue selection(const Token& name) {
    PixelValue a = expression();
    const Token sign = tokens_.next();
    constexpr std::array<std::string_view, 6> comparisons{"<", "<=", ">", ">=", "==", "!="};
    if (sign.kind != Kind::symbol || std::ranges::count(comparisons, sign.text) == 0)
      tokens_.fail("a comparison: <, <=, >, >=, == or !=");
    tokens_.take();
    PixelValue b = expression();
    tokens_.expect(",", "',' after the comparison");
    auto [yes, no] = arguments<2>();
    if (sign.text[0] == '>') std::swap(a, b);
    if (sign.text == "!=") std::swap(yes, no);
    if (sign.text[0] == '=' || sign.text[0] == '!')
      return selected(PixelOperator::select_equal, {a, b, yes, no}, name.at);
    return selected(
        sign.text.size() == 1 ? PixelOperator::select_less : PixelOperator::select_less_equal,
        {a, b, yes, no}, name.at);
  }

  // Straight lines between points; flat beside them.
  PixelValue curve(const Token& name) {
    const PixelValue x = expression();
    tokens_.expect(",", "',' after the value");
    const std::vector<double> numbers = list();
    const size_t points = numbers.size() / 2;
    if (numbers.size() % 2 != 0 || points < 2) tokens_.fail("a number: a curve is X Y X Y ...");
    if (points > most_points)
      tokens_.refuse(name.at, formatted("a curve has at most {} points", most_points));
    PixelValue slope;
    PixelValue start;
    const PixelValue limited = within(x, {numbers[0]}, {numbers[2 * points - 2]}, name.at);
    for (size_t i = points - 1; i-- > 0;) {
      const double* point = &numbers[2 * i];
      if (point[2] <= point[0])
        tokens_.refuse(name.at,
                       formatted("the curve's X of {} is not above {}", point[2], point[0]));
      const double rise = (point[3] - point[1]) / (point[2] - point[0]);
      const double at_zero = point[1] - rise * point[0];
      const bool is_last = i + 2 == points;
      const auto chosen = [&](double here, const PixelValue& later) {
        return is_last ? PixelValue{here}
                       : selected(PixelOperator::select_less, {limited, {point[2]}, {here}, later},
                                  name.at);
      };
      slope = chosen(rise, slope);
      start = chosen(at_zero, start);
    }
    return multiply_add(limited, slope, start, name.at);
  }

  // The nearest of evenly spaced entries.
  PixelValue table(const Token& name) {
    const PixelValue x = expression();
    tokens_.expect(",", "',' after the value");
    const std::vector<double> numbers = list();
    if (numbers.size() < 2) tokens_.fail("a number: a table has two or more");
    const std::vector<float> entries(numbers.begin(), numbers.end());
    std::vector<float>& table = operations_.program.table;
    const auto known =
        std::search(table.begin(), table.end(), entries.begin(), entries.end()) - table.begin();
    if (known == std::ssize(table)) table.insert(table.end(), entries.begin(), entries.end());
    const auto [low, high] = std::ranges::minmax(entries);
    const PixelOperation operation{.what = PixelOperator::look_up,
                                   .from = {operation_of(x, name.at)},
                                   .number = static_cast<float>(entries.size() - 1),
                                   .entries = static_cast<int>(known)};
    return {0, operations_.add(operation, {low, high}, name.at)};
  }

  std::vector<double> list() {
    std::vector<double> numbers;
    do {
      const double sign = tokens_.accept("-") ? -1 : 1;
      numbers.push_back(sign * number());
    } while (!tokens_.is(")") && tokens_.next().kind != Kind::end);
    return numbers;
  }

  // ---- Operations ----

  int operation_of(const PixelValue& value, size_t at) {
    if (!value.is_number()) return value.operation;
    const auto single = static_cast<float>(value.number);
    return operations_.add({.number = single}, {single, single}, at);
  }

  // Of numbers alone: in double precision.
  PixelValue computed(PixelOperator what, const PixelValue& a, const PixelValue& b, size_t at) {
    if (a.is_number() && b.is_number() && what <= PixelOperator::multiply) {
      const double number = what == PixelOperator::add        ? a.number + b.number
                            : what == PixelOperator::subtract ? a.number - b.number
                                                              : a.number * b.number;
      check_number(number, at);
      return {number};
    }
    const int first = operation_of(a, at);
    const int second = operation_of(b, at);
    const Range x = operations_.range(first);
    const Range y = operations_.range(second);
    const auto range = [&]() -> Range {
      switch (what) {
        case PixelOperator::add:
          return x + y;
        case PixelOperator::subtract:
          return x - y;
        case PixelOperator::multiply:
          return x * y;
        case PixelOperator::minimum:
          return {std::min(x.low, y.low), std::min(x.high, y.high)};
        default:
          return {std::max(x.low, y.low), std::max(x.high, y.high)};
      }
    };
    return {0, operations_.add({.what = what, .from = {first, second}}, range(), at)};
  }

  PixelValue multiply_add(const PixelValue& a, const PixelValue& b, const PixelValue& c,
                          size_t at) {
    const std::array<int, 4> from{operation_of(a, at), operation_of(b, at), operation_of(c, at)};
    const Range range =
        operations_.range(from[0]) * operations_.range(from[1]) + operations_.range(from[2]);
    return {0, operations_.add({.what = PixelOperator::multiply_add, .from = from}, range, at)};
  }

  PixelValue selected(PixelOperator what, const std::array<PixelValue, 4>& values, size_t at) {
    std::array<int, 4> from{};
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = operation_of(values[i], at);
    const Range yes = operations_.range(from[2]);
    const Range no = operations_.range(from[3]);
    return {0, operations_.add({.what = what, .from = from},
                               around({yes.low, yes.high, no.low, no.high}), at)};
  }

  static constexpr std::array<const char*, 3> color_names{"r", "g", "b"};
  const PixelContext& context_;
  Tokens tokens_;
  PixelOperations operations_;
  std::map<std::string, PixelValue, std::less<>> names_;
  int depth_ = 0;
  // What the statements assign to.
  bool has_colors_ = false;
  bool makes_gray_ = false;
  bool sets_one_ = false;
  bool sets_alpha_ = false;
};

}  // namespace

bool PixelProgram::changes_nothing() const {
  if (source != target || results[3] >= 0) return false;
  constexpr std::array samples{PixelOperator::red, PixelOperator::green, PixelOperator::blue};
  for (size_t c = 0; c < samples.size(); ++c) {
    const PixelOperator what = operations[static_cast<size_t>(results[c])].what;
    if (what != (source.color_channels() == 1 ? PixelOperator::red : samples[c])) return false;
  }
  return true;
}

PixelProgram parse_pixel_program(std::string_view text, const PixelContext& context) {
  return PixelParser(text, context).parse();
}

}  // namespace gpufilter
