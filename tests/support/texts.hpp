// Texts that are printed.
#pragma once

#include <filesystem>
#include <source_location>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gpufilter::test {

namespace fs = std::filesystem;

// The words of a command line, or a list of names.
using Words = std::vector<std::string>;

// Both, one after the other: Words{"a.png", "b.png"} + stages.
[[nodiscard]] inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Whether `part` stands in `text`; says both if that is not what was expected.
[[nodiscard]] inline ::testing::AssertionResult contains(std::string_view text,
                                                         std::string_view part) {
  const bool found = text.find(part) != std::string_view::npos;
  return (found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << "\"" << part << "\" is " << (found ? "" : "not ") << "in \"" << text << "\"";
}

// Whether `text` begins or ends with `part`; says both if that is not what was expected.
[[nodiscard]] inline ::testing::AssertionResult begins(std::string_view text,
                                                       std::string_view part) {
  const bool found = text.starts_with(part);
  return (found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << "\"" << part << "\" is " << (found ? "" : "not ") << "the beginning of \"" << text
         << "\"";
}
[[nodiscard]] inline ::testing::AssertionResult ends(std::string_view text, std::string_view part) {
  const bool found = text.ends_with(part);
  return (found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << "\"" << part << "\" is " << (found ? "" : "not ") << "the end of \"" << text << "\"";
}

// Expects all of these parts.
inline void expect_parts(std::string_view text, const Words& parts,
                         const std::source_location& where = std::source_location::current()) {
  const ::testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "");
  for (const std::string& part : parts)
    EXPECT_TRUE(contains(text, part));
}

// The message of the error that `action` ends with; `none` if it does not.
template <typename Error = UsageError, typename Action>
[[nodiscard]] std::string objection_to(const Action& action, const std::string& none = "none") {
  try {
    static_cast<void>(action());
  } catch (const Error& error) {
    return error.what();
  }
  return none;
}

// The lines of a text, without their ends.
[[nodiscard]] inline Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

}  // namespace gpufilter::test
