#include "app/parse.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/posix_file.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t help_width = 80;
constexpr std::size_t help_indent = 22;

// One option a paragraph: its name and values, then what it does, broken at words.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string line = "  " + make_option_name(option, is_positional);
    if (!is_positional) line += make_option_opts(option);
    while (line.ends_with(' '))
      line.pop_back();
    std::string text;
    if (line.size() + 2 > help_indent) {
      text = line + "\n";
      line.clear();
    }
    line.resize(help_indent, ' ');
    std::istringstream words(make_option_desc(option));
    for (std::string word; words >> word;) {
      const bool begins = line.size() == help_indent;
      if (!begins && line.size() + 1 + word.size() > help_width) {
        text += line + "\n";
        line.assign(help_indent, ' ');
        line += word;
      } else {
        line += (begins ? "" : " ") + word;
      }
    }
    return text + line + "\n";
  }
};

// `word` looks like an option of `app` and is not.
std::string describe_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& own = option->get_lnames();
    names.insert(names.end(), own.begin(), own.end());
  }
  const std::string option = word.substr(0, word.find('='));
  std::string text = option + ": there is no such option";
  const auto near = words_like(option.starts_with("--") ? option.substr(2) : "", names);
  if (!near.empty()) text += formatted("; did you mean --{}?", fmt::join(near, " or --"));
  return text;
}

std::string describe_extras(const CLI::App& app, const CLI::ExtrasError& error) {
  const std::vector<std::string> extras = app.remaining();
  for (const std::string& extra : extras) {
    if (extra.size() > 1 && extra.starts_with('-')) return describe_unknown(app, extra);
  }
  return extras.empty() ? error.what() : extras.front() + ": one argument too many";
}

// The parser's own words are about types and counts of values.
std::string describe_mismatch(const CLI::App& app, const CLI::ArgumentMismatch& error) {
  std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) {
    const CLI::Option* known = app.get_option_no_throw(option);
    const std::string form = known == nullptr ? "" : known->get_option_text();
    const std::string values = form.substr(0, form.find(" ["));  // without the default
    return option + " needs a value" + (values.empty() ? "" : ": " + values);
  }
  if (text.find("At Most 1 ") != std::string::npos) return option + " is given more than once";
  return text;
}

[[noreturn]] void throw_usage(const CLI::App& app, const std::string& reason) {
  throw UsageError(formatted("{} (see {} --help)", reason, app.get_name()));
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  app.formatter(std::make_shared<HelpFormatter>());
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ExtrasError& error) {
    throw_usage(app, describe_extras(app, error));
  } catch (const CLI::ArgumentMismatch& error) {
    throw_usage(app, describe_mismatch(app, error));
  } catch (const CLI::ParseError& error) {
    throw_usage(app, error.what());
  }
}

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const auto complaint = [low, high](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && low <= value && value <= high) {
      return "";
    }
    return formatted("'{}' is not a whole number from {} to {}", text, low, high);
  };
  return {complaint, ""};
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view suffixes = "KMG";
  constexpr auto none = std::string_view::npos;
  const std::size_t suffix = text.empty() ? none : suffixes.find(text.back());
  const unsigned shift = suffix == none ? 0 : 10 * (static_cast<unsigned>(suffix) + 1);
  if (shift > 0) text.remove_suffix(1);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value == 0 || value > (UINT64_MAX >> shift)) {
    return std::nullopt;
  }
  return value << shift;
}

CLI::Validator byte_count() {
  const auto complaint = [](const std::string& text) -> std::string {
    if (parse_bytes(text)) return "";
    return formatted("'{}' is not a number of bytes such as 1000000, 500K, 64M or 1G", text);
  };
  return {complaint, ""};
}

void print_result(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw PictureError("standard output", describe_system_error(errno));
  }
}

}  // namespace gpufilter
