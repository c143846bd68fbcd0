// Texts that are printed.
#pragma once

#include <source_location>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter::test {

// Whether `part` stands in `text`; says both if that is not what was expected.
[[nodiscard]] inline ::testing::AssertionResult contains(std::string_view text,
                                                         std::string_view part) {
  const bool found = text.find(part) != std::string_view::npos;
  return (found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << "\"" << part << "\" is " << (found ? "" : "not ") << "in \"" << text << "\"";
}

// Expects all of these parts.
inline void expect_parts(std::string_view text, const std::vector<std::string>& parts,
                         const std::source_location& where = std::source_location::current()) {
  const ::testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "");
  for (const std::string& part : parts)
    EXPECT_TRUE(contains(text, part));
}

// The lines of a text, without their ends.
[[nodiscard]] inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

}  // namespace gpufilter::test
