// Every command line that the program understands, as it is declared for --help.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.hpp"

namespace gpufilter::manual {

struct DeclaredOption {
  std::vector<std::string> names;  // "-q", "--quiet"; for a positional word its name alone
  std::string form;  // of its values: "1..100 [90]"; "[=N]" if the value may be left out
  std::string description;
  std::string group;
  bool is_positional = false;
  bool is_flag = false;  // takes no value, or only one after '='
  bool is_required = false;
  bool takes_several = false;
  Suggestions suggestions;

  [[nodiscard]] bool has_optional_value() const { return is_flag && form.starts_with("[="); }
};

struct DeclaredCommand {
  std::vector<std::string>
      words;            // after the program's name: {"bench", "copy"}; none: the main job
  std::string summary;  // a phrase; empty for a variant of a subcommand
  std::string usage;    // "gpufilter stats FILE [OPTION...]"; empty for the main job
  std::string description;
  std::string footer;
  std::vector<std::string> groups;  // of its options, in the order of the help
  std::vector<DeclaredOption> options;

  // "bench copy"
  [[nodiscard]] std::string name() const;
  // The options of a group, or all options that are not positional.
  [[nodiscard]] std::vector<const DeclaredOption*> options_of(const std::string& group) const;
  [[nodiscard]] std::vector<const DeclaredOption*> all_options() const;
  [[nodiscard]] std::vector<const DeclaredOption*> positionals() const;
};

// The main job first, each subcommand before its variants.
[[nodiscard]] std::vector<DeclaredCommand> declared_commands();

}  // namespace gpufilter::manual
