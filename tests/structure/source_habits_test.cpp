// Rules for source files that can be checked without a compiler.
#include <regex>

#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

struct SourceFile {
  std::string path;  // below src/: "codec/codec.hpp"; of the laboratory: "lab/random_data.hpp"
  std::string text;

  [[nodiscard]] std::string folder() const { return path.substr(0, path.find('/')); }
};

// Every .cpp and .hpp of the program, below src/ and lab/ but for lab/peers, sorted by path.
std::vector<SourceFile> program_sources() {
  const std::filesystem::path project = GPUFILTER_SOURCE;
  std::vector<SourceFile> files;
  for (const auto& [folder, root] :
       {std::pair{"src", project / "src"}, std::pair{"lab", project}}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(project / folder)) {
      const std::filesystem::path extension = entry.path().extension();
      const std::string path = entry.path().lexically_relative(root).generic_string();
      if ((extension == ".cpp" || extension == ".hpp") && !path.starts_with("lab/peers/"))
        files.push_back({path, read_file(entry.path().string())});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

// Rules for source files that can be checked without a compiler.

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

TEST(SourceHabits, NoFileIsTooLongToReadAtOnce) {
  for (const SourceFile& file : program_sources())
    EXPECT_LE(line_count(file.text), maximum_lines) << file.path;
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

// Comments and pages name files of the project by their path; NAME, KIND and * stand for others.
TEST(SourceHabits, FilesThatTextsNameExist) {
  namespace fs = std::filesystem;
  const fs::path project = GPUFILTER_SOURCE;
  static const std::regex path(
      R"((^|[^\w/.-])((src|kernels|lab|tests|docs|scripts|samples|cmake)/[\w./-]+\.(cpp|hpp|cl|inc|md|sh|py)))");
  for (const char* folder : {"src", "kernels", "lab", "tests/fuzz", "tests/support", "docs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(project / folder)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".png") continue;
      const std::string text = read_file(entry.path().string());
      for (std::sregex_iterator at(text.begin(), text.end(), path), end; at != end; ++at) {
        const std::string named = at->str(2);
        const bool stands_for_others = named.find("NAME") != std::string::npos;
        const bool is_include = text.substr(0, at->position(2)).ends_with("#include \"");
        EXPECT_TRUE(stands_for_others || is_include || fs::exists(project / named))
            << entry.path() << " names " << named;
      }
    }
  }
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
      "lab/bench/report.cpp",    // digits of a number in a table
      "chart/svg_chart.cpp",     // marks on the axes of charts
      "lab/bench/ceilings.cpp",  // operations per second
      "compare/comparison.cpp",  // decibels in a report
  };
  std::set<std::string> found;
  for (const SourceFile& file : program_sources()) {
    if (uses_inexact_functions(file.text)) found.insert(file.path);
  }
  EXPECT_EQ(found, drawing_and_reports);
}

// Which folder of src/ may include which other, and which folder alone may use which library.

using Lines = std::vector<std::string>;

// Each folder may include itself and those that it is listed after.
const std::map<std::string, std::set<std::string>>& known_folders() {
  using Folders = std::set<std::string>;
  static const auto folders = [] {
    std::map<std::string, Folders> known{{"base", {}},
                                         {"image", {"base"}},
                                         {"host", {"image", "base"}},
                                         {"codec", {"host", "image", "base"}},
                                         {"device", {"image", "base"}},
                                         {"compute", {"host", "device", "image", "base"}},
                                         {"chart", {"compute", "image", "base"}}};
    Folders below{"codec", "compute", "host", "device", "image", "base"};
    for (const char* folder : {"stage", "stages"}) {
      known[folder] = below;
      below.insert(folder);
    }
    known["net"] = below;
    below.insert("net");
    for (const char* folder : {"pipeline", "batch"}) {
      known[folder] = below;
      below.insert(folder);
    }
    known["compare"] = below;
    below.insert("compare");
    known["api"] = below;
    below.insert("chart");
    known["html"] = below;
    below.insert("html");
    known["lab"] = below;
    below.insert("lab");
    known["app"] = below;
    known["manual"] = {"app", "stage", "base"};
    return known;
  }();
  return folders;
}

struct Confinement {
  std::string header;           // the beginning of its name
  std::set<std::string> homes;  // folders, "codec/png" too, or single files
};

const std::vector<Confinement>& confinements() {
  static const std::vector<Confinement> list{
      {"xxhash.h", {"base/content_hash.cpp"}},
      {"png.h", {"codec/png"}},
      {"isa-l", {"codec/png", "codec/deflate", "codec/tiff/reader.cpp"}},
      {"libdeflate.h", {"codec/png", "codec/deflate", "codec/tiff/reader.cpp"}},
      {"zlib.h", {"codec/png", "device/program_cache.cpp"}},
      {"jpeglib.h", {"codec/jpeg"}},
      {"jerror.h", {"codec/jpeg"}},
      {"tiffio.h", {"codec/tiff"}},
      {"webp/", {"codec/webp"}},
      {"jxl/", {"codec/jxl"}},
      {"libheif/", {"codec/heif"}},
      {"CL/", {"device"}},
      {"CLI/", {"app"}},
      {"tbb/",
       {"base/background.cpp", "base/threads.cpp", "host/parallel.cpp",
        "pipeline/execute/band_pipeline.hpp"}},
      {"oneapi/", {}},
      {"nlohmann/", {"base/json.cpp", "net/pixel/network.cpp"}},
      {"protozero/", {"net/graph/onnx_model.cpp"}},
      {"spdlog/", {"base/log.cpp", "base/format.hpp"}},
      {"fmt/", {"base/format.hpp"}}};
  return list;
}

// "codec/png/write/writer.cpp" is at home in "codec", in "codec/png" and in itself.
bool is_at_home(const std::string& path, const std::string& home) {
  return path == home || path.starts_with(home + "/");
}

// Why `file` may not include `header`; empty if it may.
std::string objection(const SourceFile& file, const std::string& header, bool quoted) {
  for (const Confinement& confinement : confinements()) {
    if (header.rfind(confinement.header, 0) != 0) continue;
    const bool at_home =
        std::any_of(confinement.homes.begin(), confinement.homes.end(),
                    [&](const std::string& home) { return is_at_home(file.path, home); });
    return at_home ? "" : "belongs elsewhere";
  }
  if (!quoted) return "";
  const std::size_t slash = header.find('/');
  if (slash == std::string::npos) return "names no folder";
  const std::string target = header.substr(0, slash);
  const auto own = known_folders().find(file.folder());
  if (own == known_folders().end()) return "is included from an unknown folder";
  return target == own->first || own->second.count(target) > 0 ? "" : "is not known here";
}

// "path:line: "header" reason" for every include that breaks a rule.
Lines violations(const SourceFile& file) {
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  Lines found;
  std::istringstream lines(file.text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string why = objection(file, match[2], match[1] == "\"");
    if (!why.empty()) {
      found.push_back(file.path + ":" + std::to_string(number) + ": " + match[2].str() + " " + why);
    }
  }
  return found;
}

TEST(IncludeDirections, HoldInEveryFile) {
  EXPECT_EQ(violations({"codec/png/reader.cpp",
                        "#include <png.h>\n#include \"base/error.hpp\"\n"
                        "#include \"device/session.hpp\"\n  # include <jpeglib.h>  // why not\n"
                        "#include \"reader.hpp\"\n"}),
            (Lines{"codec/png/reader.cpp:3: device/session.hpp is not known here",
                   "codec/png/reader.cpp:4: jpeglib.h belongs elsewhere",
                   "codec/png/reader.cpp:5: reader.hpp names no folder"}));
  std::set<std::string> folders;
  for (const SourceFile& file : program_sources()) {
    folders.insert(file.folder());
    EXPECT_EQ(violations(file), Lines{});
  }
  for (const auto& [folder, below] : known_folders())
    EXPECT_EQ(folders.count(folder), 1U) << "no source files in src/" << folder;
}

}  // namespace
}  // namespace gpufilter::test
