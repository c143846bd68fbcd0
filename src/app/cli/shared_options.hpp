// Options that several commands have.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "codec/byte_sink.hpp"

namespace gpufilter {

template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;

// Adds an option whose value is one of `choices`. The help shows them and, in brackets, the
// default: the current `value`.
template <typename Value>
void add_choice(Arguments& app, const std::string& name, Value& value,
                const Choices<Value>& choices, const std::string& help) {
  std::vector<std::string> words;
  std::string current;
  for (const auto& [text, choice] : choices) {
    words.push_back(text);
    if (choice == value) current = text;
  }
  app.add_option_function(
         name,
         [&value, choices](const std::string& given) {
           for (const auto& [text, choice] : choices) {
             if (text == given) value = choice;
           }
         },
         help)
      ->check(one_of(words))
      ->option_text(formatted("{} [{}]", fmt::join(words, "|"), current));
}

// The choice that an environment variable names, if it is set. Throws UsageError for other words.
template <typename Value>
std::optional<Value> choice_of_variable(const char* variable, const Choices<Value>& choices) {
  const char* given = std::getenv(variable);
  if (given == nullptr || *given == '\0') return std::nullopt;
  std::vector<std::string> words;
  for (const auto& [text, choice] : choices) {
    if (text == given) return choice;
    words.push_back(text);
  }
  throw UsageError(formatted("{}: {}", variable, not_among(given, words)));
}

// The parts of the help that differ between commands.
struct DeviceHelp {
  std::string automatic;  // what auto means
  bool has_all = false;   // whether work can be spread over all devices
};

// --device, --require-device and --device-timeout.
void add_device_choice(Arguments& app, std::string& device, bool& require_device,
                       const DeviceHelp& help);

// A page for browsers, in the folder `path`. `help` says what it shows.
void add_report(Arguments& app, std::string& path, const std::string& help);

// A chart. `path` stays empty if the option is not given.
void add_plot(Arguments& app, std::string& path, const std::string& help);

// Opened first, so that no work is wasted if what `option` draws cannot be written; nullptr for an
// empty path. Throws UsageError if it is not a name for a file of this format ("SVG"), PictureError
// if it cannot be created.
[[nodiscard]] std::unique_ptr<ByteSink> open_drawing(const std::string& path,
                                                     std::string_view option,
                                                     std::string_view format);

// Makes `svg` the file's contents. Throws PictureError.
void write_plot(ByteSink& sink, std::string_view svg);

}  // namespace gpufilter
