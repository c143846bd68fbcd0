#include "codec/write_options.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

// Reads the values of each kind.
struct Parser {
  std::string_view text;

  OptionValue operator()(const WriteOption::WholeNumber& numbers) const {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value < numbers.minimum || value > numbers.maximum) {
      throw UsageError(formatted("'{}' is not a whole number from {} to {}", printable(text),
                                 numbers.minimum, numbers.maximum));
    }
    return value;
  }

  OptionValue operator()(const WriteOption::Choice& choices) const {
    const auto& names = choices.names;
    if (std::find(names.begin(), names.end(), text) == names.end()) {
      throw UsageError(not_among(text, names));
    }
    return std::string(text);
  }

  OptionValue operator()(const WriteOption::AnyColor&) const { return parse_color(text); }

  OptionValue operator()(const WriteOption::Flag&) const {
    const std::vector<std::string> names{"on", "off"};
    if (text != names[0] && text != names[1]) throw UsageError(not_among(text, names));
    return text == names[0];
  }
};

struct Printer {
  std::string operator()(int number) const { return std::to_string(number); }
  std::string operator()(const std::string& name) const { return name; }
  std::string operator()(const Color& color) const {
    return formatted("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
  }
  std::string operator()(bool flag) const { return flag ? "on" : "off"; }
};

}  // namespace

OptionValue parse_value(const WriteOption& option, std::string_view text) {
  return std::visit(Parser{text}, option.kind);
}

std::string to_string(const OptionValue& value) {
  return std::visit(Printer{}, value);
}

const WriteOption& background_option() {
  static const WriteOption option{"background", WriteOption::AnyColor{}, "white",
                                  "The colour behind transparent pixels if the output has no "
                                  "alpha, as in JPEG. #rgb, #rrggbb or a name.",
                                  WriteOption::Pixels::with_alpha};
  return option;
}

const WriteOption& quality_option() {
  static const WriteOption option{"quality", WriteOption::WholeNumber{1, 100}, "",
                                  "Quality of lossy output. By default that of a JPEG input from "
                                  "JPEG to JPEG, otherwise 90 for "
                                  "JPEG and JPEG XL, 75 for WebP. In JPEG XL, 100 is lossless."};
  return option;
}

const WriteOption& strip_option() {
  static const WriteOption option{"strip", WriteOption::Flag{}, "off",
                                  "Leave out EXIF (with its GPS position), XMP, IPTC, text and "
                                  "comments. The colour profile, density and orientation stay."};
  return option;
}

WriteOptions& WriteOptions::set(const WriteOption& option, std::string_view text) {
  given_.insert_or_assign(option.name, parse_value(option, text));
  return *this;
}

bool WriteOptions::is_given(const WriteOption& option) const {
  return given_.count(option.name) > 0;
}

std::optional<OptionValue> WriteOptions::value(const WriteOption& option) const {
  if (const auto found = given_.find(option.name); found != given_.end()) return found->second;
  if (option.default_value.empty()) return std::nullopt;
  return parse_value(option, option.default_value);
}

}  // namespace gpufilter
