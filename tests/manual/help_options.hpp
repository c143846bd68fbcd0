// The command lines of the program and their options, as --help lists them.
#pragma once

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/process.hpp"

namespace gpufilter::test {

// The first words of the list below `heading` in a page of the help.
inline std::vector<std::string> names_in_list(const std::vector<std::string>& page,
                                              const std::string& heading) {
  std::istringstream stream(run_gpufilter(page).out);
  std::vector<std::string> names;
  bool is_inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (is_inside && !line.starts_with("  ")) break;
    if (is_inside) names.push_back(line.substr(2, line.find(' ', 2) - 2));
    is_inside = is_inside || line.starts_with(heading);
  }
  EXPECT_GE(names.size(), 8U) << heading;
  return names;
}

// Subcommands with their variants; {} is the main job.
inline std::vector<std::vector<std::string>> command_lines() {
  std::vector<std::vector<std::string>> list{{}};
  for (const std::string& name : names_in_list({"--help-all"}, "Subcommands:"))
    list.push_back({name});
  for (const std::string& name : names_in_list({"bench", "--help"}, "Benchmarks ("))
    list.push_back({"bench", name});
  return list;
}

// "--quality" and "-q", from the beginnings of the lines of its help.
inline std::set<std::string> options_in_help(std::vector<std::string> command) {
  if (command == std::vector<std::string>{"help"})
    command.emplace_back("help");
  else
    command.emplace_back(command.empty() ? "--help-all" : "--help");
  const ProcessResult result = run_gpufilter(command, {.environment = {{"COLUMNS", "100"}}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> options;
  std::istringstream stream(result.out);
  const std::regex item("^  (-[a-zA-Z])?(?:, )?(--[a-z][a-z-]*)?.*");
  for (std::string line; std::getline(stream, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, item)) continue;
    for (const std::size_t part : {1U, 2U}) {
      if (parts[part].matched) options.insert(parts[part]);
    }
  }
  return options;
}

}  // namespace gpufilter::test
