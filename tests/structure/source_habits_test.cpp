// Rules for source files that can be checked without a compiler.
#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

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

// The classes that a header defines, with their namespaces but apart from specialisations and
// nested ones.
std::vector<std::string> classes_of(const std::string& header) {
  static const std::regex opening(R"(^namespace (\S+) \{$)");
  static const std::regex definition(
      R"(^(?:class|struct|enum class|enum) (?:alignas\([^)]*\) )?(\w+)( final)?( :.*)?( \{.*)?$)");
  std::vector<std::string> classes;
  std::vector<std::string> prefixes{""};
  std::istringstream lines(header);
  std::string line;
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_match(line, match, opening)) {
      prefixes.push_back(prefixes.back() + match[1].str() + "::");
    } else if (line.starts_with("}  // namespace") && prefixes.size() > 1) {
      prefixes.pop_back();
    } else if (std::regex_match(line, match, definition)) {
      classes.push_back(prefixes.back() + match[1].str());
    }
  }
  return classes;
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

TEST(SourceHabits, ClassesAreRecognised) {
  EXPECT_EQ(
      classes_of("class A {\nstruct B final : public A {\nstruct C {};\nenum class D : int {\n"
                 "struct alignas(64) E {\nclass F final\n    : public A {\n"),
      (std::vector<std::string>{"A", "B", "C", "D", "E", "F"}));
  EXPECT_EQ(classes_of("namespace a {\nstruct A {};\nnamespace b {\nstruct B {};\n"
                       "}  // namespace b\nstruct C {};\n}  // namespace a\nstruct D {};\n"),
            (std::vector<std::string>{"a::A", "a::b::B", "a::C", "D"}));
  EXPECT_EQ(classes_of("class A;\n  struct B {\nstruct C<int> {\n// struct D {\nstruct E e();\n"),
            std::vector<std::string>{});
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

// Two classes of one name would share destructors and other inline functions, unnoticed.
TEST(SourceHabits, NoTwoHeadersDefineTheSameClass) {
  std::map<std::string, std::string> homes;
  for (const SourceFile& file : library_sources()) {
    if (!is_header(file)) continue;
    for (const std::string& name : classes_of(file.text)) {
      const auto [home, is_new] = homes.emplace(name, file.path);
      EXPECT_TRUE(is_new) << name << " is defined in " << home->second << " and in " << file.path;
    }
  }
  EXPECT_EQ(homes.count("gpufilter::Image"), 1U);
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
