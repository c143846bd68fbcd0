#include "stage/options/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/installed_files.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/options/stage_text.hpp"

namespace gpufilter {
namespace {

std::vector<std::string> words_of(const OneOf& type) {
  std::vector<std::string> words;
  std::transform(type.choices.begin(), type.choices.end(), std::back_inserter(words),
                 [](const Choice& choice) { return choice.word; });
  return words;
}

std::string form_of(const OneOf& type) {
  return type.form.empty() ? formatted("{}", fmt::join(words_of(type), "|")) : type.form;
}
std::string form_of(const NumberIn& type) {
  return formatted("{}..{}", type.low, type.high);
}
std::string form_of(const FileName& /*type*/) {
  return "FILE";
}
std::string form_of(const FreeText& type) {
  return type.form;
}
std::string form_of(const NoValue& /*type*/) {
  return "";
}

std::string expectation(const OneOf& type) {
  return enumerated(words_of(type), "or");
}
std::string expectation(const NumberIn& type) {
  return formatted("a {}number from {} to {}", type.whole ? "whole " : "", type.low, type.high);
}
std::string expectation(const FileName& /*type*/) {
  return "the name of a file";
}
std::string expectation(const FreeText& type) {
  return type.form;
}
std::string expectation(const NoValue& /*type*/) {
  return "no value";
}

std::vector<ValueMeaning> meanings_of(const OneOf& type) {
  std::vector<ValueMeaning> meanings;
  std::transform(type.choices.begin(), type.choices.end(), std::back_inserter(meanings),
                 [](const Choice& choice) {
                   return ValueMeaning{choice.word, choice.help};
                 });
  return meanings;
}
std::vector<ValueMeaning> meanings_of(const FreeText& type) {
  return type.meanings;
}
template <typename Type>
std::vector<ValueMeaning> meanings_of(const Type& /*type*/) {
  return {};
}

// The alternatives of "PRESET[=AMOUNT]|FILE": "PRESET[=AMOUNT]", "FILE".
std::vector<std::string> alternatives(const FreeText& type) {
  std::vector<std::string> parts;
  std::istringstream stream(type.form);
  for (std::string part; std::getline(stream, part, '|');)
    parts.push_back(part);
  return parts;
}

std::vector<std::string> literal_words(const OneOf& type) {
  return words_of(type);
}
// Words in capitals are placeholders.
std::vector<std::string> literal_words(const FreeText& type) {
  std::vector<std::string> words;
  for (const std::string& part : alternatives(type)) {
    const bool is_word = part.front() >= 'a' && part.front() <= 'z';
    if (!is_word) continue;
    const std::string word = part.substr(0, part.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ["));
    // The "x" of "xH" says nothing.
    if (word == part || word.ends_with('=') || part[word.size()] == '[') words.push_back(word);
  }
  words.insert(words.end(), type.words.begin(), type.words.end());
  return words;
}
template <typename Type>
std::vector<std::string> literal_words(const Type& /*type*/) {
  return {};
}

// The number from 0 to period - 1 that means the same; other text as it is.
std::string within_period(const std::string& text, int period) {
  constexpr double largest = 1e9;
  const std::optional<double> number = to_number(text);
  if (period == 0 || !number || std::abs(*number) > largest) return text;
  const double rest = *number - std::floor(*number / period) * period;
  return formatted("{}", rest);
}

// Each returns the value of `text`. `words` is the user's text for messages: "--tile 12".
int read(const OneOf& type, const std::string& words, const std::string& text) {
  const std::string word = within_period(text, type.period);
  for (const Choice& choice : type.choices) {
    if (choice.word == word) return choice.meaning;
  }
  const std::vector<std::string> known = words_of(type);
  // Similar numbers of one or two digits are no useful suggestion.
  const auto near = text.size() > 2 ? words_like(text, known) : std::vector<std::string>{};
  if (near.empty()) throw UsageError(formatted("{}: choose {}", words, enumerated(known, "or")));
  throw UsageError(formatted("{}: unknown; did you mean {}? ({})", words, enumerated(near, "or"),
                             fmt::join(known, ", ")));
}

bool holds(const NumberIn& type, double number) {
  return type.low <= number && number <= type.high && (!type.whole || number == std::floor(number));
}

double read(const NumberIn& type, const std::string& words, const std::string& text) {
  const bool digits = text.find_first_not_of("+-0123456789") == std::string::npos;
  const std::optional<double> number = to_number(text);
  if (number && holds(type, *number) && (digits || !type.whole)) return *number;
  if (text.ends_with('%') && type.percent != Percent::none) {
    const double hundred = type.percent == Percent::of_one ? 100 : 1;
    const std::optional<double> percent = to_number(text.substr(0, text.size() - 1));
    if (percent && holds(type, *percent / hundred)) return *percent / hundred;
  }
  throw UsageError(formatted("{}: {}{}", words, expectation(type), point_advice(text)));
}

std::string read(const FileName& /*type*/, const std::string& /*words*/, const std::string& text) {
  return text;
}
std::string read(const FreeText& /*type*/, const std::string& /*words*/, const std::string& text) {
  return text;
}
std::string read(const NoValue& /*type*/, const std::string& words, const std::string& text) {
  if (!text.empty()) throw UsageError(formatted("{}: the option takes no value", words));
  return text;
}

}  // namespace

std::string value_form(const ValueType& type) {
  return std::visit([](const auto& known) { return form_of(known); }, type);
}

std::vector<ValueMeaning> value_meanings(const ValueType& type) {
  return std::visit([](const auto& known) { return meanings_of(known); }, type);
}

std::vector<std::string> value_words(const ValueType& type) {
  return std::visit([](const auto& known) { return literal_words(known); }, type);
}

bool may_be_file(const ValueType& type) {
  if (std::holds_alternative<FileName>(type)) return true;
  const auto* text = std::get_if<FreeText>(&type);
  if (text == nullptr) return false;
  const std::vector<std::string> parts = alternatives(*text);
  return std::find(parts.begin(), parts.end(), "FILE") != parts.end();
}

namespace {

// The expected values, in words: "naive, tiled or auto", "a whole number from 1 to 255".
std::string expected_value(const ValueType& type) {
  return std::visit([](const auto& known) { return expectation(known); }, type);
}

}  // namespace

void OptionValues::set(const std::string& option, const ValueType& type, const std::string& text) {
  if (text.empty() && !std::holds_alternative<NoValue>(type))
    throw UsageError(formatted("{} needs a value: {}", option, expected_value(type)));
  const std::string words = formatted("{} {}", option, printable(text));
  values_[option] =
      std::visit([&](const auto& known) -> Value { return read(known, words, text); }, type);
  if (const auto* file = std::get_if<FileName>(&type)) {
    values_[option] = InputFile(found_file(text, file->extension));
  } else if (may_be_file(type)) {
    values_[option] = found_file(text);
  }
}

void OptionValues::set_file(const std::string& option, const ValueType& type,
                            const InputFile& file) {
  if (!std::holds_alternative<FileName>(type))
    throw UsageError(formatted("{}: takes no file in memory", option));
  values_.insert_or_assign(option, file);
}

bool StageKind::takes(std::string_view value, std::string_view parameter) const {
  return std::any_of(parameters.begin(), parameters.end(), [&](const StageParameter& known) {
    return known.option == parameter && (known.only_with.empty() || known.only_with == value);
  });
}

std::shared_ptr<const Stage> StageKind::make(const std::string& value, const GivenParameters& given,
                                             const ReadLimits& limits,
                                             const GivenFiles& files) const {
  for (const auto& [parameter, text] : given) {
    if (!takes(value, parameter)) {
      throw UsageError(formatted("{} {}: {} {} does not take it", parameter, text, option, value));
    }
  }
  OptionValues values(limits);
  const auto file = files.find(option);
  if (file == files.end()) {
    values.set(option, type, value);
  } else {
    values.set_file(option, type, file->second);
  }
  for (const StageParameter& parameter : parameters) {
    const auto own = given.find(parameter.option);
    if (own == given.end() && std::holds_alternative<NoValue>(parameter.type)) continue;
    values.set(parameter.option, parameter.type,
               own == given.end() ? parameter.default_value : own->second);
  }
  return from_options(values);
}

const std::vector<StageKind>& stage_catalogue() {
  // A line for each.
  // clang-format off
  static const std::vector<StageKind> catalogue{
      blur_stage_kind(),
      gaussian_stage_kind(),
      sharpen_stage_kind(),
      median_stage_kind(),
      dilate_stage_kind(),
      erode_stage_kind(),
      open_stage_kind(),
      close_stage_kind(),
      edges_stage_kind(),
      denoise_stage_kind(),
      convolve_stage_kind(),
      color_stage_kind(),
      mlp_stage_kind(),
      net_stage_kind(),
      levels_stage_kind(),
      tonemap_stage_kind(),
      lut_stage_kind(),
      gray_stage_kind(),
      channel_stage_kind(),
      swap_stage_kind(),
      hue_stage_kind(),
      vibrance_stage_kind(),
      exposure_stage_kind(),
      white_balance_stage_kind(),
      brightness_stage_kind(),
      contrast_stage_kind(),
      gamma_stage_kind(),
      curve_stage_kind(),
      invert_stage_kind(),
      equalize_stage_kind(),
      clahe_stage_kind(),
      binarize_stage_kind(),
      posterize_stage_kind(),
      tint_stage_kind(),
      vignette_stage_kind(),
      flatten_stage_kind(),
      depth_stage_kind(),
      linear_stage_kind(),
      encoded_stage_kind(),
      to_srgb_stage_kind(),
      profile_stage_kind(),
      crop_stage_kind(),
      trim_stage_kind(),
      pad_stage_kind(),
      overlay_stage_kind(),
      resize_stage_kind(),
      rotate_stage_kind(), affine_stage_kind(), perspective_stage_kind(),
      flip_stage_kind(),
      flop_stage_kind(),
      auto_orient_stage_kind(),
      pixel_stage_kind(),
      kernel_stage_kind(),
  };
  // clang-format on
  return catalogue;
}

const StageKind* find_stage(std::string_view option, const std::vector<StageKind>& kinds) {
  const auto found = std::ranges::find(kinds, option, &StageKind::option);
  return found == kinds.end() ? nullptr : &*found;
}

namespace {

const ValueType* parameter_type(std::string_view option, const std::vector<StageKind>& kinds) {
  for (const StageKind& kind : kinds) {
    const auto own = std::ranges::find(kind.parameters, option, &StageParameter::option);
    if (own != kind.parameters.end()) return &own->type;
  }
  return nullptr;
}

}  // namespace

const ValueType* option_type(std::string_view option) {
  const StageKind* kind = find_stage(option);
  return kind != nullptr ? &kind->type : parameter_type(option, stage_catalogue());
}

const StageKind* requested_stage(std::string_view option, std::string_view value,
                                 const std::vector<StageKind>& kinds) {
  const StageKind* kind = find_stage(option, kinds);
  if (kind == nullptr || parameter_type(option, kinds) == nullptr) return kind;
  return value.ends_with(std::get<FileName>(kind->type).extension) ? kind : nullptr;
}

const ValueType* option_type(std::string_view option, std::string_view value,
                             const std::vector<StageKind>& kinds) {
  const StageKind* kind = requested_stage(option, value, kinds);
  return kind != nullptr ? &kind->type : parameter_type(option, kinds);
}

}  // namespace gpufilter
