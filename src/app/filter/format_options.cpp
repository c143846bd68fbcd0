#include "app/filter/format_options.hpp"

#include <algorithm>

#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "batch/journal.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

// The form of an option's values in the help.
struct ValueNames {
  std::string operator()(const WriteOption::WholeNumber& numbers) const {
    return formatted("{}..{}", numbers.minimum, numbers.maximum);
  }
  std::string operator()(const WriteOption::Choice& choices) const {
    return formatted("{}", fmt::join(choices.names, "|"));
  }
  std::string operator()(const WriteOption::List&) const { return "LIST"; }
  std::string operator()(const WriteOption::AnyColor&) const { return "COLOR"; }
  std::string operator()(const WriteOption::ByteCount&) const { return "BYTES"; }
  std::string operator()(const WriteOption::Flag&) const { return ""; }
};

std::vector<std::string> words_of(const WriteOption& option) {
  if (const auto* choices = std::get_if<WriteOption::Choice>(&option.kind)) return choices->names;
  if (const auto* list = std::get_if<WriteOption::List>(&option.kind)) return list->names;
  return {};
}

// Accepts the values that parse_value() accepts.
ValueCheck value_of(const WriteOption& option) {
  const auto complaint = [&option](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_value(option, text));
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  return complaint;
}

// The colour of rows that are missing in a damaged picture.
bool is_for_readers(const WriteOption& option, Damaged damaged) {
  return damaged == Damaged::keep && &option == &background_option();
}

}  // namespace

void add_format_options(Arguments& app, WriteOptions& options) {
  for (const WriteOption* option : all_write_options()) {
    if (std::holds_alternative<WriteOption::Flag>(option->kind)) {
      app.add_flag_callback(
          "--" + option->name, [&options, option] { options.set(*option, "on"); }, option->help);
      continue;
    }
    std::string values = std::visit(ValueNames{}, option->kind);
    const auto* choice = std::get_if<WriteOption::Choice>(&option->kind);
    if (choice != nullptr && !choice->alone.empty()) {
      app.add_flag_with_words(
             "--" + option->name, choice->names, choice->alone,
             [&options, option](const std::string& text) { options.set(*option, text); },
             option->help)
          ->option_text(formatted("[{}]", values));
      continue;
    }
    if (!option->default_value.empty()) values += formatted(" [{}]", option->default_value);
    app.add_option_function(
           "--" + option->name,
           [&options, option](const std::string& text) { options.set(*option, text); },
           option->help)
        ->check(value_of(*option))
        ->option_text(values)
        ->suggests({.words = words_of(*option)});
  }
}

Suggestions picture_files(const CodecList& formats) {
  Suggestions files{.files = Suggestions::Files::all};
  for (const Codec* codec : formats)
    files.extensions.insert(files.extensions.end(), codec->extensions.begin(),
                            codec->extensions.end());
  return files;
}

// Without their dots: a name may have any of a format's extensions.
std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Codec* codec : codecs()) {
    for (const std::string& extension : codec->extensions)
      names.push_back(extension.substr(1));
  }
  return names;
}

std::vector<std::string> main_format_names() {
  std::vector<std::string> names;
  for (const Codec* codec : codecs())
    names.push_back(codec->extensions.front().substr(1));
  return names;
}

ValueCheck format_name() {
  ValueCheck known = one_of(format_names());
  known.complaint = [words = known.complaint](const std::string& text) -> std::string {
    for (const std::string_view word : split(text, ',')) {
      const std::string name(word);
      const std::string other = other_format_of_name("." + name);
      const std::string why = other.empty() ? words(name)
                                            : formatted("{} is not supported; choose {}", other,
                                                        enumerated(main_format_names(), "or"));
      if (!why.empty()) return why;
    }
    return "";
  };
  return known;
}

const Codec& codec_named(const std::string& name) {
  return codec_for_output("." + name);
}

void refuse_unused_options(const WriteOptions& options, const CodecList& formats, Damaged damaged) {
  if (formats.empty()) return;
  for (const WriteOption* option : all_write_options()) {
    if (!options.is_given(*option) || is_for_readers(*option, damaged)) continue;
    const CodecList takers = codecs_with(*option);
    const bool is_taken = std::find_first_of(formats.begin(), formats.end(), takers.begin(),
                                             takers.end()) != formats.end();
    if (is_taken) continue;
    throw UsageError(formatted("--{}: {} output does not take it; {} output does", option->name,
                               names_of(formats), names_of(takers)));
  }
}

// An option that one of the outputs or the reader uses has an effect.
void OptionUse::add(const RunReport& report) {
  ++pictures_;
  for (const UnusedOption& unused :
       unused_options(options_, *report.output_format, report.output_pixel)) {
    const bool is_used =
        std::any_of(report.others.begin(), report.others.end(), [&](const OutputReport& other) {
          const auto list = unused_options(options_, *other.output_format, other.output_pixel);
          return std::none_of(list.begin(), list.end(),
                              [&](const UnusedOption& own) { return own.option == unused.option; });
        });
    if (is_used || is_for_readers(*unused.option, damaged_)) continue;
    ++unused_[unused.option].pictures;
    unused_[unused.option].reason = unused.reason;
  }
}

std::vector<std::string> OptionUse::warnings() const {
  std::vector<std::string> lines;
  for (const WriteOption* option : all_write_options()) {
    const auto found = unused_.find(option);
    if (found == unused_.end() || found->second.pictures < pictures_) continue;
    lines.push_back(
        pictures_ == 1
            ? formatted("--{} has no effect: {}", option->name, found->second.reason)
            : formatted("--{} has no effect on any of the {} pictures", option->name, pictures_));
  }
  return lines;
}

}  // namespace gpufilter
