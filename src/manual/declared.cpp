#include "manual/declared.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <sstream>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/help/help_layout.hpp"
#include "base/format.hpp"

namespace gpufilter::manual {
namespace {

using Run = std::function<int(int argc, const char* const* argv)>;

// "-q,--quiet"; the parser's own text for a flag with a value is "--verify{16}".
std::vector<std::string> split_names(const std::string& all) {
  std::vector<std::string> names;
  std::istringstream stream(all);
  for (std::string name; std::getline(stream, name, ',');)
    names.push_back(name.substr(0, name.find('{')));
  return names;
}

DeclaredOption declared_option(const Option& option) {
  std::string form = option.portable_form();
  form.erase(0, form.find_first_not_of(' '));
  return {.names =
              option.is_positional() ? std::vector{option.name()} : split_names(option.all_names()),
          .form = form,
          .description = option.description(),
          .group = option.group(),
          .is_positional = option.is_positional(),
          .is_flag = option.is_flag(),
          .is_required = option.is_required(),
          .takes_several = option.takes_several(),
          .suggestions = option.suggestions()};
}

DeclaredCommand declared_command(const std::vector<std::string>& words, const std::string& summary,
                                 const Run& run) {
  DeclaredCommand command;
  command.words = words;
  command.summary = summary;
  const auto look = [&command](const Arguments& app) {
    if (!command.words.empty()) command.usage = usage_line(app);
    command.description = app.description();
    command.footer = app.footer();
    for (const std::string& group : app.groups()) {
      if (!group.empty()) command.groups.push_back(group);
    }
    const auto help = std::ranges::find(command.groups, app.help_option().group());
    std::rotate(help, std::next(help), command.groups.end());
    for (const Option* option : app.options())
      command.options.push_back(declared_option(*option));
  };
  std::vector<const char*> arguments;
  if (words.empty()) arguments.push_back("gpufilter");
  for (const std::string& word : words)
    arguments.push_back(word.c_str());
  arguments.push_back("--help");
  visit_declarations(
      [&] { static_cast<void>(run(static_cast<int>(arguments.size()), arguments.data())); }, look);
  return command;
}

std::vector<const DeclaredOption*> selected(
    const std::vector<DeclaredOption>& options,
    const std::function<bool(const DeclaredOption&)>& is_wanted) {
  std::vector<const DeclaredOption*> list;
  for (const DeclaredOption& option : options) {
    if (is_wanted(option)) list.push_back(&option);
  }
  return list;
}

}  // namespace

std::string DeclaredCommand::name() const {
  return formatted("{}", fmt::join(words, " "));
}

std::vector<const DeclaredOption*> DeclaredCommand::options_of(const std::string& group) const {
  return selected(options, [&group](const DeclaredOption& option) {
    return !option.is_positional && option.group == group;
  });
}

std::vector<const DeclaredOption*> DeclaredCommand::all_options() const {
  return selected(options, [](const DeclaredOption& option) { return !option.is_positional; });
}

std::vector<const DeclaredOption*> DeclaredCommand::positionals() const {
  return selected(options, &DeclaredOption::is_positional);
}

std::vector<DeclaredCommand> declared_commands() {
  std::vector<DeclaredCommand> list{declared_command({}, "", run_filter_command)};
  for (const Command& command : commands()) {
    list.push_back(declared_command({command.name}, command.summary, command.run));
    if (command.variants == nullptr) continue;
    for (const std::string& variant : command.variants())
      list.push_back(declared_command({command.name, variant}, "", command.run));
  }
  return list;
}

}  // namespace gpufilter::manual
