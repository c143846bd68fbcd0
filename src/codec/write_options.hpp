// The options for writing pictures, and the values that a caller has given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "image/color.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

using OptionValue = std::variant<int, std::string, Color, bool>;

// Declared once, in the row of every codec that has it. On the command line it is "--name".
struct WriteOption {
  struct WholeNumber {
    int minimum = 0;
    int maximum = 0;
  };
  struct Choice {
    std::vector<std::string> names;
    std::string alone = {};  // what the option means without a value; empty: it needs one
  };
  struct List {  // some of the names, separated by commas
    std::vector<std::string> names;
  };
  struct AnyColor {};
  struct Flag {};  // "on" or "off"; on the command line its name alone means "on"

  std::string name;  // without dashes: "quality"
  std::variant<WholeNumber, Choice, List, AnyColor, Flag> kind;
  std::string default_value;  // as text; empty: the codec decides, by the picture
  std::string help;
  // The pictures, as the codec gets them, that it makes a difference to.
  enum class Pixels { all, with_alpha, in_color };
  Pixels pixels = Pixels::all;
};

// The value that `text` stands for. Throws UsageError if the option does not take it.
[[nodiscard]] OptionValue parse_value(const WriteOption& option, std::string_view text);

// The text of a value: "85", "420", "#ffffff".
[[nodiscard]] std::string to_string(const OptionValue& value);

// The colour behind transparent pixels: for all formats that cannot hold alpha.
[[nodiscard]] const WriteOption& background_option();

// For all formats that lose samples to be small.
[[nodiscard]] const WriteOption& quality_option();

// Whether every bit of the picture is kept: for formats that may lose some.
[[nodiscard]] const WriteOption& lossless_option();

// What of the metadata is written: for all formats. See kept_metadata().
[[nodiscard]] const WriteOption& strip_option();
[[nodiscard]] const WriteOption& keep_option();

// The options that were given, by their names. A codec ignores those of other codecs.
class WriteOptions {
 public:
  // Throws as parse_value() does.
  WriteOptions& set(const WriteOption& option, std::string_view text);

  // The memory limit for encoders that have to hold a whole picture; 1 GiB until it is set.
  void limit_memory(std::uint64_t bytes) { max_memory_ = bytes; }
  [[nodiscard]] std::uint64_t max_memory() const { return max_memory_; }

  [[nodiscard]] bool is_given(const WriteOption& option) const;

  // The given value, otherwise the default; nothing if the codec decides.
  [[nodiscard]] std::optional<OptionValue> value(const WriteOption& option) const;

  // The value of an option whose values are of type Value.
  template <typename Value>
  [[nodiscard]] std::optional<Value> get(const WriteOption& option) const {
    const auto found = value(option);
    return found ? std::optional(std::get<Value>(*found)) : std::nullopt;
  }

 private:
  std::map<std::string, OptionValue> given_;
  std::uint64_t max_memory_ = std::uint64_t{1} << 30U;
};

// The kinds of metadata that these options keep.
[[nodiscard]] MetadataKinds kept_metadata(const WriteOptions& options);

}  // namespace gpufilter
