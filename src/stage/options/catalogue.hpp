// Every stage and its parameters, declared once: the command line, its help and its checks are
// generated from this.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "codec/read_limits.hpp"
#include "stage/options/stage_file.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// A word, and the enumerator or whole number that it means. `help` says what it does; it may be
// empty if the word is clear.
struct Choice {
  template <typename Meaning>
  requires std::is_enum_v<Meaning> || std::is_same_v<Meaning, int> Choice(std::string name,
                                                                          Meaning what,
                                                                          std::string text = {})
      : word(std::move(name)), meaning(static_cast<int>(what)), help(std::move(text)) {}
  bool operator==(const Choice&) const = default;

  std::string word;
  int meaning;
  std::string help;
};

// A value or a form of values, and what it does: {"LOW,HIGH", "from LOW to HIGH"}. The help is a
// phrase without a capital and a full stop.
struct ValueMeaning {
  std::string form;
  std::string help;
  bool operator==(const ValueMeaning&) const = default;
};

struct OneOf {
  std::vector<Choice> choices;
  std::string form = {};  // how the help shows many choices, "POSITION"; otherwise it lists them
  int period = 0;         // above 0: numbers that differ by a multiple of it are equivalent
  bool operator==(const OneOf&) const = default;
};

// The meaning of a number followed by '%': nothing, hundredths ("40%" is 0.4), or the number
// itself.
enum class Percent { none, of_one, itself };

// A number from `low` to `high`, both included.
struct NumberIn {
  double low = 0;
  double high = 0;
  bool whole = false;
  Percent percent = Percent::none;
  bool operator==(const NumberIn&) const = default;
};

// The name of a file to read.
struct FileName {
  std::string extension = {};  // that such files usually have, ".json"
  bool operator==(const FileName&) const = default;
};

// Text that the stage reads itself. The help shows it as `form`: "auto|LOW,HIGH".
struct FreeText {
  std::string form;
  std::vector<ValueMeaning> meanings = {};
  std::vector<std::string> words =
      {};  // some values, for shells; '=' at the end: an amount follows
  bool operator==(const FreeText&) const = default;
};

// An option without a value: "--gray".
struct NoValue {
  bool operator==(const NoValue&) const = default;
};

using ValueType = std::variant<OneOf, NumberIn, FileName, FreeText, NoValue>;

// How the help shows a value of this type: "naive|tiled|auto", "1..255", "FILE".
[[nodiscard]] std::string value_form(const ValueType& type);

// Each value, or form of values, with what it does; empty if the form is clear.
[[nodiscard]] std::vector<ValueMeaning> value_meanings(const ValueType& type);

// Words that a value can be or begin with, for shells: "auto", "auto=" for "auto|auto=PERCENT".
[[nodiscard]] std::vector<std::string> value_words(const ValueType& type);

// Whether a value can be the name of a file.
[[nodiscard]] bool may_be_file(const ValueType& type);

// Option values that have been read and checked.
class OptionValues {
 public:
  explicit OptionValues(ReadLimits limits = {}) : limits_(std::move(limits)) {}

  // For pictures that the stage reads.
  [[nodiscard]] const ReadLimits& limits() const { return limits_; }

  // Reads `text`. Throws UsageError if it is not of `type`; the message begins with the words of
  // the command line: "--tile 12: choose 8, 16 or 32".
  void set(const std::string& option, const ValueType& type, const std::string& text);
  // Sets the value of a FileName. Throws UsageError for other types.
  void set_file(const std::string& option, const ValueType& type, const InputFile& file);

  [[nodiscard]] bool is_set(const std::string& option) const { return values_.contains(option); }

  // The value of an option that was set: a OneOf, a NumberIn, a FreeText, a FileName.
  template <typename Meaning>
  [[nodiscard]] Meaning choice(const std::string& option) const {
    return static_cast<Meaning>(std::get<int>(values_.at(option)));
  }
  template <typename Number = double>
  [[nodiscard]] Number number(const std::string& option) const {
    return static_cast<Number>(std::get<double>(values_.at(option)));
  }
  [[nodiscard]] const std::string& text(const std::string& option) const {
    return std::get<std::string>(values_.at(option));
  }
  [[nodiscard]] const InputFile& file(const std::string& option) const {
    return std::get<InputFile>(values_.at(option));
  }

 private:
  using Value = std::variant<int, double, std::string, InputFile>;
  ReadLimits limits_;
  std::map<std::string, Value> values_;
};

// An option that belongs to the stage before it. A parameter of several kinds of stages is declared
// once for all (shared_parameters.hpp).
struct StageParameter {
  std::string option;  // with dashes: "--tile"
  ValueType type;
  std::string default_value;   // as text
  std::string help;            // sentences, like StageKind::help
  std::string only_with = {};  // the only stage value with which it is allowed; empty: every value
  // For a choice of numbers: whether a device can run a number with pixels of every format;
  // nullptr: all can.
  bool (*fits)(const DeviceInfo& device, int number) = nullptr;
  bool repeats = false;  // it may be given again; its values are joined by blanks
  bool operator==(const StageParameter&) const = default;
};

// The parameters given for one stage: texts by option.
using GivenParameters = std::map<std::string, std::string>;
// Files that the stage's own option and its parameters hold in memory instead of naming them.
using GivenFiles = std::map<std::string, InputFile>;

// An option that prints a list for a kind of stage instead of filtering: "--list-presets".
struct StageListing {
  std::string option;  // with dashes
  std::string help;
  std::function<std::string()> text;
};

struct StageKind {
  std::string option;  // with dashes: "--blur"
  ValueType type;
  std::string help;  // what it does, in sentences; short lists show only the first
  std::vector<StageParameter> parameters = {};
  std::vector<StageListing> listings = {};
  // More for its page, "gpufilter help blur": how a sample is computed, what happens at the
  // picture's edges and to alpha, and command lines without the program's name.
  std::string formula = {};
  std::string edges = {};
  std::string alpha = {};
  std::vector<std::string> examples = {};
  // For `gpufilter verify` and `tune`: values, or stages by name, that together cover every path of
  // its code, the most common one first. A kind whose value is a word needs neither.
  std::vector<std::string> sample_values = {};
  std::function<std::vector<std::pair<std::string, std::shared_ptr<const Stage>>>()> sample_stages =
      {};
  // Makes a stage from the values of its option and of all its parameters; reads the file that its
  // option names, if any. Throws UsageError if the values make no sense.
  std::function<std::shared_ptr<const Stage>(const OptionValues&)> from_options = {};

  // Whether the stage takes a parameter when its own option has this value.
  [[nodiscard]] bool takes(std::string_view value, std::string_view parameter) const;

  // The stage for one use of the option; parameters that are not given have their default values.
  // `limits` are for pictures that it reads. Throws UsageError if a value does not fit its
  // declaration or the stage does not take it.
  [[nodiscard]] std::shared_ptr<const Stage> make(const std::string& value,
                                                  const GivenParameters& given = {},
                                                  const ReadLimits& limits = {},
                                                  const GivenFiles& files = {}) const;
};

// All kinds, and each one, defined in its stage's file.
[[nodiscard]] const std::vector<StageKind>& stage_catalogue();
[[nodiscard]] StageKind blur_stage_kind(), gaussian_stage_kind(), sharpen_stage_kind(),
    median_stage_kind(), dilate_stage_kind(), erode_stage_kind(), open_stage_kind(),
    close_stage_kind(), edges_stage_kind(), denoise_stage_kind(), convolve_stage_kind(),
    color_stage_kind(), mlp_stage_kind(), net_stage_kind(), levels_stage_kind(),
    tonemap_stage_kind(), lut_stage_kind(), gray_stage_kind(), hue_stage_kind(),
    vibrance_stage_kind(), exposure_stage_kind(), gamma_stage_kind(), curve_stage_kind(),
    invert_stage_kind(), equalize_stage_kind(), binarize_stage_kind(), posterize_stage_kind(),
    flatten_stage_kind(), depth_stage_kind(), linear_stage_kind(), encoded_stage_kind(),
    to_srgb_stage_kind(), profile_stage_kind(), crop_stage_kind(), trim_stage_kind(),
    pad_stage_kind(), overlay_stage_kind(), resize_stage_kind(), rotate_stage_kind(),
    affine_stage_kind(), perspective_stage_kind(), flip_stage_kind(), flop_stage_kind(),
    auto_orient_stage_kind(), kernel_stage_kind(), white_balance_stage_kind(),
    contrast_stage_kind(), brightness_stage_kind(), tint_stage_kind(), vignette_stage_kind(),
    channel_stage_kind(), swap_stage_kind(), clahe_stage_kind(), pixel_stage_kind();

// The kind of stage that this option requests, and the type of the values of a stage or of a
// parameter; nullptr if there is no such option.
[[nodiscard]] const StageKind* find_stage(std::string_view option,
                                          const std::vector<StageKind>& kinds = stage_catalogue());
[[nodiscard]] const ValueType* option_type(std::string_view option);

// The kind of stage, and the type, that an option requests with this value. A stage whose value is
// a file may have the name of another stage's parameter: it gets the values that end as its files
// do,
// "--kernel blur.cl", and the parameter gets the others, "--kernel cubic".
[[nodiscard]] const StageKind* requested_stage(
    std::string_view option, std::string_view value,
    const std::vector<StageKind>& kinds = stage_catalogue());
[[nodiscard]] const ValueType* option_type(std::string_view option, std::string_view value,
                                           const std::vector<StageKind>& kinds = stage_catalogue());

}  // namespace gpufilter
