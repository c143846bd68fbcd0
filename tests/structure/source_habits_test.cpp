// Rules for source files that can be checked without a compiler.
#include <algorithm>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "structure/source_files.hpp"

namespace gpufilter::test {
namespace {

constexpr std::ptrdiff_t maximum_lines = 400;

std::ptrdiff_t line_count(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') + (text.empty() || text.back() == '\n' ? 0 : 1);
}

// Whether the text writes to standard output or standard error.
bool prints(const std::string& text) {
  static const std::regex output(R"(std::(cout|cerr|clog|puts)\b|(^|[^a-z_])f?(printf|puts)\s*\()");
  return std::regex_search(text, output);
}

bool is_header(const SourceFile& file) {
  return file.path.size() > 4 && file.path.compare(file.path.size() - 4, 4, ".hpp") == 0;
}

TEST(SourceHabits, LinesAreCounted) {
  EXPECT_EQ(line_count(""), 0);
  EXPECT_EQ(line_count("a\n"), 1);
  EXPECT_EQ(line_count("a\n\nb"), 3);
}

TEST(SourceHabits, PrintingIsRecognised) {
  EXPECT_TRUE(prints("  std::cout << 1;"));
  EXPECT_TRUE(prints("std::cerr<<1;"));
  EXPECT_TRUE(prints("printf(\"x\");"));
  EXPECT_TRUE(prints("  std::fprintf(stderr, \"x\");"));
  EXPECT_TRUE(prints("  puts (\"x\");"));
  EXPECT_FALSE(prints("std::snprintf(buffer, sizeof buffer, \"x\");"));
  EXPECT_FALSE(prints("outputs(x); std::ostringstream text;"));
}

TEST(SourceHabits, NoFileIsTooLongToReadAtOnce) {
  for (const SourceFile& file : library_sources()) {
    EXPECT_LE(line_count(file.text), maximum_lines) << file.path;
  }
}

TEST(SourceHabits, HeadersAreIncludedOnce) {
  for (const SourceFile& file : library_sources()) {
    if (!is_header(file)) continue;
    EXPECT_NE(file.text.find("#pragma once\n"), std::string::npos) << file.path;
  }
}

TEST(SourceHabits, HeadersOpenNoNamespace) {
  for (const SourceFile& file : library_sources()) {
    if (!is_header(file)) continue;
    EXPECT_EQ(file.text.find("using namespace"), std::string::npos) << file.path;
  }
}

TEST(SourceHabits, TheLibraryPrintsNothing) {
  for (const SourceFile& file : library_sources()) {
    if (file.folder() == "app" || file.path == "base/log.cpp") continue;
    EXPECT_FALSE(prints(file.text)) << file.path;
  }
}

}  // namespace
}  // namespace gpufilter::test
