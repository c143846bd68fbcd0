// What packages of the project say about it agrees with the project.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/pictures.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

std::string project_file(const std::string& name) {
  return read_file(GPUFILTER_SOURCE "/" + name);
}

// The first group of the first match.
std::string found(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "";
}

std::string project_version() {
  return found(project_file("CMakeLists.txt"), R"(project\(gpufilter VERSION ([0-9.]+))");
}

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> words;
  for (std::string word; stream >> word;)
    words.insert(word);
  return words;
}

TEST(Packaging, VersionsAgree) {
  const std::string version = project_version();
  EXPECT_NE(version, "");
  EXPECT_EQ(found(project_file("debian/changelog"), R"(^gpufilter \((.*)-[^-]+\) )"), version);
  EXPECT_EQ(found(project_file("packaging/conda/recipe.yaml"), R"re(version: "([0-9.]+)")re"),
            version);
  const auto port = nlohmann::json::parse(project_file("packaging/vcpkg/gpufilter/vcpkg.json"));
  EXPECT_EQ(port.at("version"), version);
  const std::string major = version.substr(0, version.find('.'));
  EXPECT_EQ(found(project_file("debian/control"), R"(\nPackage: libgpufilter([0-9]+)\n)"), major);
}

TEST(Packaging, DebianBuildsWithWhatTheScriptsInstall) {
  const std::string scripts = project_file("scripts/setup.sh");
  std::set<std::string> expected = words_of(found(scripts, R"(build_packages=\(([^)]*)\))"));
  expected.merge(words_of(found(scripts, R"(python_packages=\(([^)]*)\))")));
  EXPECT_EQ(expected.erase("g++"), 1U);              // always there when packages are built
  EXPECT_EQ(expected.erase("pocl-opencl-icd"), 1U);  // to run
  std::set<std::string> needed;
  std::string list =
      found(project_file("debian/control"), R"(\nBuild-Depends:\n([\s\S]*?)\nStandards)");
  list = std::regex_replace(list, std::regex(R"(\([^)]*\)|,)"), "");
  needed = words_of(list);
  EXPECT_EQ(needed.erase("debhelper-compat"), 1U);
  EXPECT_EQ(needed.erase("dh-python"), 1U);
  EXPECT_EQ(needed, expected);
}

TEST(Packaging, EveryListHasEveryLibrary) {
  struct Names {
    std::string conda;
    std::string vcpkg;
  };
  // The packages of libraries in scripts/setup.sh.
  const std::map<std::string, Names> names{
      {"libcli11-dev", {"cli11", "cli11"}},
      {"libdeflate-dev", {"libdeflate", "libdeflate"}},
      {"libheif-dev", {"libheif", "libheif"}},
      {"libisal-dev", {"isa-l", "isal"}},
      {"libjpeg-dev", {"libjpeg-turbo", "libjpeg-turbo"}},
      {"libjxl-dev", {"libjxl", "libjxl"}},
      {"liblcms2-dev", {"lcms2", "lcms"}},
      {"libpng-dev", {"libpng", "libpng"}},
      {"libprotozero-dev", {"protozero", "protozero"}},
      {"libspdlog-dev", {"spdlog", "spdlog"}},
      {"libtbb-dev", {"tbb-devel", "tbb"}},
      {"libtiff-dev", {"libtiff", "tiff"}},
      {"libwebp-dev", {"libwebp-base", "libwebp"}},
      {"libxxhash-dev", {"xxhash", "xxhash"}},
      {"nlohmann-json3-dev", {"nlohmann_json", "nlohmann-json"}},
      {"ocl-icd-opencl-dev", {"khronos-opencl-icd-loader", "opencl"}},
      {"opencl-c-headers", {"opencl-headers", "opencl"}},
      {"opencl-clhpp-headers", {"opencl-clhpp", "opencl"}},
      {"zlib1g-dev", {"zlib", "zlib"}},
  };
  std::set<std::string> libraries =
      words_of(found(project_file("scripts/setup.sh"), R"(build_packages=\(([^)]*)\))"));
  for (const char* tool : {"cmake", "ninja-build", "g++", "pocl-opencl-icd"})
    EXPECT_EQ(libraries.erase(tool), 1U) << tool;
  std::set<std::string> ports;
  const auto port = nlohmann::json::parse(project_file("packaging/vcpkg/gpufilter/vcpkg.json"));
  for (const auto& dependency : port.at("dependencies"))
    ports.insert(dependency.is_string() ? dependency : dependency.at("name"));
  const std::set<std::string> conda =
      words_of(found(project_file("packaging/conda/recipe.yaml"), R"(\n  host:\n([\s\S]*?)\n\n)"));
  const std::string guide = project_file("CONTRIBUTING.md");
  for (const std::string& library : libraries) {
    SCOPED_TRACE(library);
    ASSERT_EQ(names.count(library), 1U);
    EXPECT_EQ(conda.count(names.at(library).conda), 1U);
    EXPECT_EQ(ports.count(names.at(library).vcpkg), 1U);
    EXPECT_TRUE(contains(guide, library));
  }
  EXPECT_EQ(libraries.size(), names.size());
}

TEST(Packaging, DebiansTestRunsTheCommandsOfTheReadme) {
  const std::string vendors = "/etc/OpenCL/vendors/pocl.icd";
  if (!fs::exists(vendors)) GTEST_SKIP() << "skipped: no PoCL here";
  const TemporaryFolder folder;
  const std::string programs = fs::path(GPUFILTER_PROGRAM).parent_path();
  const ProcessResult result =
      ended(0, run_process({"sh", "debian/tests/readme-commands"},
                           {.environment = {{"AUTOPKGTEST_TMP", folder.path()},
                                            {"PATH", programs + ":" + std::getenv("PATH")},
                                            {"OCL_ICD_VENDORS", vendors}},
                            .folder = GPUFILTER_SOURCE}));
  EXPECT_TRUE(result.out.ends_with("soft.png and opencl.png are equal: 1920x1280, RGB, 8-bit\n"))
      << result.out;
}

TEST(Packaging, ReleaseNotesComeFromTheChangelog) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "scripts");
  fs::create_directories(folder / "debian");
  for (const char* file : {"scripts/setup.sh", "scripts/release-notes.sh"})
    fs::copy_file(GPUFILTER_SOURCE "/" + std::string(file), folder / file);
  std::ofstream(folder / "CMakeLists.txt") << "project(gpufilter VERSION 1.2.3 LANGUAGES CXX\n";
  std::ofstream(folder / "debian/changelog") << "gpufilter (1.2.3-1) unstable; urgency=low\n";
  std::ofstream(folder / "CHANGELOG.md")
      << "# Changelog\n\n## [Unreleased]\n\n- later\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n"
         "- this\n\n## [1.2.30] - 2025-01-31\n\n- earlier\n";
  const auto notes = [&](const std::string& version) {
    return run_process({folder / "scripts/release-notes.sh", version});
  };
  EXPECT_EQ(ended(0, notes("1.2.3")).out, "\n### Added\n\n- this\n");
  EXPECT_EQ(notes("1.2").err, "gpufilter: 1.2: not a version such as 1.2.3\n");
  EXPECT_EQ(notes("1.2.4").err, "gpufilter: CMakeLists.txt has version 1.2.3, not 1.2.4\n");
  std::ofstream(folder / "debian/changelog") << "gpufilter (1.2.2-1) unstable; urgency=low\n";
  EXPECT_EQ(notes("1.2.3").err, "gpufilter: debian/changelog has version 1.2.2, not 1.2.3\n");
  std::ofstream(folder / "debian/changelog") << "gpufilter (1.2.3-1) unstable; urgency=low\n";
  std::ofstream(folder / "CHANGELOG.md") << "## [Unreleased]\n\n- later\n";
  const ProcessResult missing = ended(1, notes("1.2.3"));
  EXPECT_EQ(missing.err,
            "gpufilter: CHANGELOG.md says nothing about 1.2.3; give it the heading: ## [1.2.3]\n");
}

}  // namespace
}  // namespace gpufilter::test
