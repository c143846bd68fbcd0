#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>

#include <fcntl.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "codec/codec.hpp"
#include "codec/codec_table.hpp"
#include "codec/unread.hpp"
#include "image/image.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/point/lut.hpp"

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

char to_upper(char letter) {
  return static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
}

class CubeParser {
  using Bound = std::array<double, 3>;

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
    if (expected() == 0)
      throw UsageError(path_ + ": no LUT_1D_SIZE or LUT_3D_SIZE; is this a .cube file?");
    if (taken() < expected()) {
      fail(formatted("the file ends after {} of {} lines of numbers ({})", taken(), expected(),
                     sizes()));
    }
    set_domain(curves_.size != 0 ? curves_ : lattice_);
    if (lattice_.size == 0) return std::move(curves_);
    if (curves_.size != 0) lattice_.shaper = std::make_shared<const Cube>(std::move(curves_));
    return std::move(lattice_);
  }

 private:
  // A line.
  void take(const Words& words) {
    if (words.empty() || words.front().front() == '#') return;
    const std::string_view word = words.front();
    const char first = to_upper(word.front());
    if ((first >= 'A' && first <= 'Z') || first == '_') return take_keyword(words);
    if (expected() == 0) fail("numbers before LUT_1D_SIZE or LUT_3D_SIZE");
    if (taken() == expected())
      fail(formatted("more than {} lines of numbers ({})", expected(), sizes()));
    if (words.size() != 3) fail(formatted("{} instead of 3", counted(words.size(), "number")));
    CubeColor color{};
    for (size_t c = 0; c < 3; ++c)
      color.at(c) = parse_float(here(), words[c]);
    (taken() < count_of(curves_) ? curves_ : lattice_).colors.push_back(color);
  }

  void take_keyword(const Words& words) {
    std::string word(words.front());
    std::ranges::transform(word, word.begin(), to_upper);
    if (word == "TITLE") return;
    if (taken() != 0) fail(formatted("'{}' after the numbers", shown(word)));
    if (word == "LUT_1D_SIZE") return take_size(words, word, curves_, Cube::largest_curve);
    if (word == "LUT_3D_SIZE") return take_size(words, word, lattice_, Cube::largest);
    if (word == "DOMAIN_MIN") return take_bound(words, word, domain_low_);
    if (word == "DOMAIN_MAX") return take_bound(words, word, domain_high_);
    if (word == "LUT_1D_INPUT_RANGE") return take_range(words, word, curves_);
    if (word == "LUT_3D_INPUT_RANGE") return take_range(words, word, lattice_);
    fail(formatted("unknown keyword '{}'", shown(words.front())));
  }

  void take_size(const Words& words, const std::string& word, Cube& cube, int largest) {
    if (cube.size != 0) fail(word + " a second time");
    const auto size = words.size() == 2 ? to_number(words[1]) : std::nullopt;
    if (!size || *size != std::floor(*size) || *size < Cube::smallest || *size > largest)
      fail(formatted("{} must be a whole number from {} to {}", word, Cube::smallest, largest));
    cube.size = static_cast<int>(*size);
    cube.colors.reserve(std::min(count_of(cube), text_.size() / 6));
  }

  void take_bound(const Words& words, const std::string& word, std::optional<Bound>& bound) {
    if (words.size() != 4) fail(word + " needs 3 numbers");
    bound.emplace();
    for (size_t c = 0; c < 3; ++c)
      bound->at(c) = parse_number(here(), words[c + 1]);
    domain_line_ = line_;
  }

  void take_range(const Words& words, const std::string& word, Cube& cube) {
    if (words.size() != 3) fail(word + " needs 2 numbers");
    cube.low.fill(parse_number(here(), words[1]));
    cube.high.fill(parse_number(here(), words[2]));
    if (!(cube.low.front() < cube.high.front())) fail_empty(cube.low.front(), cube.high.front());
  }

  // DOMAIN_MIN and DOMAIN_MAX are the input of the whole: of the table that comes first.
  void set_domain(Cube& first) {
    line_ = domain_line_;
    first.low = domain_low_.value_or(first.low);
    first.high = domain_high_.value_or(first.high);
    for (size_t c = 0; c < 3; ++c) {
      if (!(first.low.at(c) < first.high.at(c))) fail_empty(first.low.at(c), first.high.at(c));
    }
  }

  [[nodiscard]] std::string sizes() const {
    std::vector<std::string> all;
    if (curves_.size != 0) all.push_back(formatted("LUT_1D_SIZE {}", curves_.size));
    if (lattice_.size != 0) all.push_back(formatted("LUT_3D_SIZE {}", lattice_.size));
    return formatted("{}", fmt::join(all, ", "));
  }
  [[nodiscard]] static size_t count_of(const Cube& cube) {
    const auto size = static_cast<size_t>(cube.size);
    return cube.curves ? size : size * size * size;
  }
  // Lines of numbers.
  [[nodiscard]] size_t expected() const { return count_of(curves_) + count_of(lattice_); }
  [[nodiscard]] size_t taken() const { return curves_.colors.size() + lattice_.colors.size(); }

  [[noreturn]] void fail_empty(double low, double high) const {
    fail(formatted("the domain from {} to {} is empty", low, high));
  }
  [[nodiscard]] std::string here() const { return formatted("{}:{}", path_, line_); }
  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: {}", here(), reason));
  }

  std::string_view text_;  // that remains of the lines
  const std::string& path_;
  int line_ = 0;
  int domain_line_ = 0;  // of the last bound
  std::optional<Bound> domain_low_;
  std::optional<Bound> domain_high_;
  Cube curves_{.curves = true};
  Cube lattice_;
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

namespace {

// A HaldCLUT of level L has L^3 x L^3 pixels: a table with L^2 entries along each axis, row by row.
int level_of(const std::string& path, const ImageSize& size) {
  for (int level = 2; level * level <= Cube::largest; ++level) {
    const int side = level * level * level;
    if (size == ImageSize{side, side}) return level;
  }
  throw UsageError(formatted(
      "{}: a HaldCLUT is a square of 8, 27, 64, 125, ... or 4096 pixels, but this picture has "
      "{}x{}",
      path, size.width, size.height));
}

template <typename Sample>
void append_row(const std::uint8_t* row, const PixelFormat& format, int width,
                std::vector<CubeColor>& colors) {
  const auto* samples = reinterpret_cast<const Sample*>(row);
  const auto max = static_cast<float>(format.max_sample());
  const bool grey = format.color_channels() == 1;
  for (int x = 0; x < width; ++x, samples += format.channels) {
    colors.push_back({static_cast<float>(samples[0]) / max,
                      static_cast<float>(samples[grey ? 0 : 1]) / max,
                      static_cast<float>(samples[grey ? 0 : 2]) / max});
  }
}

Cube read_hald(RowReader& reader, const std::string& path) {
  const int level = level_of(path, reader.header().size);
  warn_of_unread(path, reader.header().unread);
  Image image(reader.header().size, reader.header().format);
  reader.read(image.rows());
  Cube cube{.size = level * level};
  cube.colors.reserve(image.size().pixels());
  const auto append =
      image.format().depth == 8 ? append_row<std::uint8_t> : append_row<std::uint16_t>;
  for (int y = 0; y < image.size().height; ++y)
    append(image.rows().row(y), image.format(), image.width(), cube.colors);
  return cube;
}

// Yields the whole lines of a text, as many as fit a buffer.
class Lines {
 public:
  explicit Lines(ByteSource& source) : source_(source) {}

  std::string_view next() {
    text_.erase(0, given_);
    const std::size_t kept = text_.size();
    text_.resize(size);
    const std::span bytes(reinterpret_cast<std::uint8_t*>(text_.data()), text_.size());
    text_.resize(kept + source_.read(bytes.subspan(kept)));
    given_ = text_.size() < size ? text_.size() : text_.rfind('\n') + 1;
    if (given_ == 0 && !text_.empty())
      throw UsageError(formatted("{}: a line of more than {} bytes; is this a .cube file?",
                                 source_.name(), size));
    return std::string_view(text_).substr(0, given_);
  }

 private:
  static constexpr std::size_t size = std::size_t{64} << 10U;

  ByteSource& source_;
  std::string text_;
  std::size_t given_ = 0;  // of its bytes
};

}  // namespace

Cube read_cube(const InputFile& file, const ReadLimits& limits) {
  const std::string& path = file.name;
  try {
    auto source =
        file.contents ? open_stage_file(file) : descriptor_source(open_file(path, O_RDONLY), path);
    if (codec_of_content(source->peek(recognition_size())) != nullptr)
      return read_hald(*open_picture(std::move(source), limits), path);
    Lines lines(*source);
    return parse_cube([&] { return lines.next(); }, path);
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  } catch (const std::system_error& error) {
    throw UsageError(formatted("{}: {}", path, describe_system_error(error.code().value())));
  }
}

}  // namespace gpufilter
