#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "stages/cube.hpp"
#include "stages/number.hpp"
#include "stages/text_pieces.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using Words = std::vector<std::string_view>;

constexpr std::string_view blanks = " \t\r";

Words words_of(std::string_view line) {
  Words words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) return words;
    const size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

class CubeParser {
 public:
  explicit CubeParser(const std::string& path) : path_(path) {}

  void add(std::string_view lines) {
    text_ = lines;
    if (line_ == 0 && text_.starts_with(byte_order_mark))
      text_.remove_prefix(byte_order_mark.size());
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      ++line_;
      take(words_of(text_.substr(0, end)));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
  }

  [[nodiscard]] Cube finish() {
    if (cube_.size == 0)
      throw UsageError(path_ + ": no LUT_1D_SIZE or LUT_3D_SIZE; is this a .cube file?");
    if (cube_.colors.size() < expected()) {
      fail(formatted("the file ends after {} of {} lines of numbers ({} {})", cube_.colors.size(),
                     expected(), size_keyword(), cube_.size));
    }
    check_domain();
    return std::move(cube_);
  }

 private:
  // A line.
  void take(const Words& words) {
    if (words.empty() || words.front().front() == '#') return;
    const std::string_view word = words.front();
    const bool is_keyword = (word.front() >= 'A' && word.front() <= 'Z') || word.front() == '_';
    if (is_keyword) return take_keyword(words);
    if (cube_.size == 0) fail("numbers before LUT_1D_SIZE or LUT_3D_SIZE");
    if (cube_.colors.size() == expected()) {
      fail(formatted("more than {} lines of numbers ({} {})", expected(), size_keyword(),
                     cube_.size));
    }
    if (words.size() != 3) fail(formatted("{} instead of 3", counted(words.size(), "number")));
    CubeColor color{};
    for (size_t c = 0; c < 3; ++c)
      color.at(c) = parse_float(here(), words[c]);
    cube_.colors.push_back(color);
  }

  void take_keyword(const Words& words) {
    const std::string_view word = words.front();
    if (word == "TITLE") return;
    if (!cube_.colors.empty()) fail(formatted("'{}' after the numbers", shown(word)));
    if (word == "LUT_3D_SIZE") return take_size(words, false);
    if (word == "LUT_1D_SIZE") return take_size(words, true);
    if (word == "DOMAIN_MIN") return take_bound(words, cube_.low);
    if (word == "DOMAIN_MAX") return take_bound(words, cube_.high);
    if (word == "LUT_3D_INPUT_RANGE" || word == "LUT_1D_INPUT_RANGE") return take_range(words);
    fail(formatted("unknown keyword '{}'", shown(word)));
  }

  void take_size(const Words& words, bool curves) {
    if (cube_.size != 0) fail("a second size; one table for each file");
    const int largest = curves ? Cube::largest_curve : Cube::largest;
    const auto size = words.size() == 2 ? to_number(words[1]) : std::nullopt;
    if (!size || *size != std::floor(*size) || *size < Cube::smallest || *size > largest) {
      fail(formatted("{} must be a whole number from {} to {}", words.front(), Cube::smallest,
                     largest));
    }
    cube_.curves = curves;
    cube_.size = static_cast<int>(*size);
    cube_.colors.reserve(std::min(expected(), text_.size() / 6));
  }

  void take_bound(const Words& words, std::array<double, 3>& bound) {
    if (words.size() != 4) fail(formatted("{} needs 3 numbers", words.front()));
    for (size_t c = 0; c < 3; ++c)
      bound.at(c) = parse_number(here(), words[c + 1]);
    domain_line_ = line_;
  }

  void take_range(const Words& words) {
    if (words.size() != 3) fail(formatted("{} needs 2 numbers", words.front()));
    cube_.low.fill(parse_number(here(), words[1]));
    cube_.high.fill(parse_number(here(), words[2]));
    domain_line_ = line_;
  }

  void check_domain() {
    line_ = domain_line_;
    for (size_t c = 0; c < 3; ++c) {
      if (!(cube_.low.at(c) < cube_.high.at(c)))
        fail(formatted("the domain from {} to {} is empty", cube_.low.at(c), cube_.high.at(c)));
    }
  }

  [[nodiscard]] const char* size_keyword() const {
    return cube_.curves ? "LUT_1D_SIZE" : "LUT_3D_SIZE";
  }
  [[nodiscard]] size_t expected() const {
    const auto size = static_cast<size_t>(cube_.size);
    return cube_.curves ? size : size * size * size;
  }
  [[nodiscard]] std::string here() const { return formatted("{}:{}", path_, line_); }
  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: {}", here(), reason));
  }

  std::string_view text_;  // that remains of the lines
  const std::string& path_;
  int line_ = 0;
  int domain_line_ = 0;  // of the last bound
  Cube cube_;
};

}  // namespace

Cube parse_cube(std::string_view text, const std::string& path) {
  CubeParser parser(path);
  parser.add(text);
  return parser.finish();
}

Cube parse_cube(const std::function<std::string_view()>& next_lines, const std::string& path) {
  CubeParser parser(path);
  for (std::string_view lines = next_lines(); !lines.empty(); lines = next_lines())
    parser.add(lines);
  return parser.finish();
}

}  // namespace gpufilter
