// Rules for source files that can be checked without a compiler.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "structure/source_files.hpp"
#include "support/texts.hpp"

namespace gpufilter::test {
namespace {

constexpr std::ptrdiff_t maximum_lines = 700;

std::ptrdiff_t line_count(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') + (text.empty() || text.back() == '\n' ? 0 : 1);
}

// Whether the text writes to standard output or standard error.
bool prints(const std::string& text) {
  static const std::regex output(R"(std::(cout|cerr|clog|puts)\b|(^|[^a-z_])f?(printf|puts)\s*\()");
  return std::regex_search(text, output);
}

// The text without comments and without what literals contain.
std::string code_of(const std::string& text) {
  static const std::regex apart(
      R"re(R"(\w*)\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*[\s\S]*?\*/)re");
  return std::regex_replace(text, apart, "");
}

// The last bits of these functions of the C library differ between its versions and processors.
// std::sqrt, std::fma, std::fmod and those that round are exact or correctly rounded everywhere.
bool uses_inexact_functions(const std::string& text) {
  static const std::regex inexact(
      R"((^|[^\w.>:]|std::|(^|[^\w:])::)(log(2|10|1p|b)?|exp(2|m1)?|pow|a?(sin|cos|tan)h?|atan2|cbrt|hypot|[lt]gamma|erfc?)[fl]?\s*\()");
  return std::regex_search(code_of(text), inexact);
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

TEST(SourceHabits, InexactFunctionsAreRecognised) {
  for (const char* text : {"x = std::log(y);", "exp (1)", "a+powf(b, c)", "return ::sin(x);",
                           "std::atan2(y, x)", "/* why */ tanh(x)", "f(\"x\", std::log10(x))"}) {
    EXPECT_TRUE(uses_inexact_functions(text)) << text;
  }
  for (const char* text : {"log::info(text)", "base::log(x)", "store.exp(x)", "store->log(x)",
                           "natural_log(x)", "std::sqrt(x)", "std::fma(a, b, c)", "std::round(x)",
                           "// exp(x)", "/* sin(x)\n cos(x) */", "f(\"Lm = exp(mean)\")",
                           "f(\"a\\\"exp(x)\")", "R\"(exp(x) \" )\"", "explain(x)", "logic(x)"}) {
    EXPECT_FALSE(uses_inexact_functions(text)) << text;
  }
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
  for (const SourceFile& file : program_sources()) {
    EXPECT_LE(line_count(file.text), maximum_lines) << file.path;
  }
}

TEST(SourceHabits, HeadersAreIncludedOnce) {
  for (const SourceFile& file : program_sources()) {
    if (!is_header(file)) continue;
    EXPECT_TRUE(contains(file.text, "#pragma once\n")) << file.path;
  }
}

// Two classes of one name would share destructors and other inline functions, unnoticed.
TEST(SourceHabits, NoTwoHeadersDefineTheSameClass) {
  std::map<std::string, std::string> homes;
  for (const SourceFile& file : program_sources()) {
    if (!is_header(file)) continue;
    for (const std::string& name : classes_of(file.text)) {
      const auto [home, is_new] = homes.emplace(name, file.path);
      EXPECT_TRUE(is_new) << name << " is defined in " << home->second << " and in " << file.path;
    }
  }
  EXPECT_EQ(homes.count("gpufilter::Image"), 1U);
}

TEST(SourceHabits, HeadersOpenNoNamespace) {
  for (const SourceFile& file : program_sources()) {
    if (!is_header(file)) continue;
    EXPECT_FALSE(contains(file.text, "using namespace")) << file.path;
  }
}

TEST(SourceHabits, TheLibraryPrintsNothing) {
  for (const SourceFile& file : program_sources()) {
    if (file.folder() == "app" || file.folder() == "manual" || file.path == "base/log.cpp")
      continue;
    EXPECT_FALSE(prints(file.text)) << file.path;
  }
}

// host/loops.hpp is the one way to compile loops for several instruction sets: a set can be forced,
// and sanitizers see each of them.
TEST(SourceHabits, NoCompilerChoosesInstructionSets) {
  for (const SourceFile& file : program_sources())
    EXPECT_FALSE(contains(file.text, "target_clones")) << file.path;
}

TEST(SourceHabits, OneFileTouchesTheStateOfIsal) {
  static const std::regex fields(R"(\b(block_state|read_in(_length)?|tmp_(in|out)_\w+)\b)");
  for (const SourceFile& file : program_sources()) {
    EXPECT_EQ(std::regex_search(file.text, fields), file.path == "codec/deflate/isal_state.hpp")
        << file.path;
  }
}

// Pixels have the same bits on every machine. Where a logarithm decides one, base/elementary.hpp
// has it.
TEST(SourceHabits, InexactFunctionsDecideNoPixel) {
  static const std::set<std::string> drawing_and_reports{
      "lab/bench/report.cpp",          // digits of a number in a table
      "chart/svg_chart.cpp",           // marks on the axes of charts
      "lab/bench/pipeline_bench.cpp",  // operations per second
      "compare/comparison.cpp",        // decibels in a report
  };
  std::set<std::string> found;
  for (const SourceFile& file : program_sources()) {
    if (uses_inexact_functions(file.text)) found.insert(file.path);
  }
  EXPECT_EQ(found, drawing_and_reports);
}

}  // namespace
}  // namespace gpufilter::test
