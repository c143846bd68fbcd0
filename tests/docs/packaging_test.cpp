// The metadata of packages agree with the project.
#include <regex>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

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
  list = std::regex_replace(list, std::regex(R"(\([^)]*\)|<cross>|:any|,)"), "");
  needed = words_of(list);
  EXPECT_EQ(needed.erase("debhelper-compat"), 1U);
  EXPECT_EQ(needed.erase("dh-python"), 1U);
  EXPECT_EQ(needed.erase("libpython3-dev"), 1U);  // part of python3-dev, but for a cross build
  EXPECT_EQ(needed.erase("qemu-user"), 1U);
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
      {"opencl-c-headers", {"opencl-headers", "opencl"}},
      {"opencl-clhpp-headers", {"opencl-clhpp", "opencl"}},
      {"zlib1g-dev", {"zlib", "zlib"}}};
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
  EXPECT_EQ(ended(1, notes("1.2.3")).err,
            "gpufilter: CHANGELOG.md says nothing about 1.2.3; give it the heading: ## [1.2.3]\n");
}

// The scripts of samples/clusters, run as a scheduler runs them: with the variables that it sets.

namespace fs = std::filesystem;

using Environment = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

const fs::path samples = GPUFILTER_SOURCE "/samples/clusters";

bool is_installed(const std::string& program) {
  return run_process({"sh", "-c", "command -v " + program}).exit_code == 0;
}

struct ClusterSamples : ::testing::Test {
  ClusterSamples() {
    fs::create_directory(folder_ / "photos");
    for (int i = 0; i < 6; ++i) {
      const Image picture = random_image({20 + i, 30}, {3, 8}, static_cast<unsigned>(i));
      write_png(picture, folder_ / formatted("photos/p{}.png", i));
    }
    EXPECT_EQ(run({"gpufilter", "photos", "expected", "--blur", "auto"}).exit_code, 0);
  }

  [[nodiscard]] ProcessResult run(Words words, Environment variables = {}) const {
    if (words.front() == "gpufilter") words.front() = GPUFILTER_PROGRAM;
    const char* path = std::getenv("PATH");
    const std::string programs = fs::path(GPUFILTER_PROGRAM).parent_path();
    variables.emplace("PATH", programs + ":" + (path == nullptr ? "" : path));
    variables.emplace("GPUFILTER_DEVICE", "cpu");
    return run_process(words, {.environment = variables, .folder = folder_.path()});
  }

  void expect_success(const Words& words, const Environment& variables = {}) const {
    const ProcessResult result = run(words, variables);
    EXPECT_EQ(result.exit_code, 0) << formatted("{}", fmt::join(words, " ")) << "\n"
                                   << result.out << result.err;
  }

  // Once everything was gathered.
  void expect_results() const {
    EXPECT_EQ(names_in(folder_ / "results"), names_in(folder_ / "expected"));
    for (const std::string& name : names_in(folder_ / "photos")) {
      EXPECT_EQ(read_file(folder_ / ("results/" + name)),
                read_file(folder_ / ("expected/" + name)));
    }
  }

  const TemporaryFolder folder_;
};

TEST_F(ClusterSamples, ScriptsAreValidAndExecutable) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(samples)) {
    if (entry.path().extension() != ".sh") continue;
    ++count;
    expect_success({"bash", "-n", entry.path()});
    EXPECT_NE(entry.status().permissions() & fs::perms::owner_exec, fs::perms::none);
  }
  EXPECT_EQ(count, 3);
}

TEST_F(ClusterSamples, TheSlurmArrayDoesAShardInEachTask) {
  for (int task = 0; task < 3; ++task) {
    expect_success({samples / "slurm-array.sh", "photos", "results", "--blur", "auto"},
                   {{"SLURM_ARRAY_JOB_ID", "7"},
                    {"SLURM_ARRAY_TASK_ID", std::to_string(task)},
                    {"SLURM_ARRAY_TASK_MIN", "0"},
                    {"SLURM_ARRAY_TASK_MAX", "2"},
                    {"SLURM_ARRAY_TASK_STEP", "1"},
                    {"SLURM_ARRAY_TASK_COUNT", "3"},
                    {"SLURM_JOB_ID", "8"},
                    {"SLURM_LOCALID", "0"},
                    {"SLURM_PROCID", "0"},
                    {"SLURM_NTASKS", "1"}});
  }
  expect_success({"gpufilter", "gather", "results"});
  expect_results();
}

// With a launcher in mpirun's place: it starts the processes one after the other.
TEST_F(ClusterSamples, TheMpirunScriptRunsAndGathers) {
  write_file(folder_ / "launch", R"(count=$2; shift 2
for ((rank = 0; rank < count; ++rank)); do
  OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$count OMPI_COMM_WORLD_LOCAL_RANK=$rank "$@" || exit
done
)");
  const Words words{samples / "mpirun.sh", "4", "photos", "results", "--blur", "auto"};
  expect_success(words, {{"MPIRUN", "bash ./launch"}});
  expect_results();
  expect_success(words, {{"MPIRUN", "bash ./launch"}});
  EXPECT_EQ(run({samples / "mpirun.sh", "4", "photos"}).exit_code, 2);
}

TEST_F(ClusterSamples, ThePicturesThatFailedAreListed) {
  write_file(folder_ / "photos/text.png", "text");
  write_file(folder_ / "launch", R"(count=$2; shift 2; code=0
for ((rank = 0; rank < count; ++rank)); do
  OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$count "$@" || code=$?
done
exit $code
)");
  const auto expect_list = [this](const Words& words) {
    const ProcessResult result =
        ended(1, run(words, {{"MPIRUN", "bash ./launch"}, {"HOME", folder_.path()}}));
    EXPECT_TRUE(contains(result.out, "6 of 7 pictures done, 1 failed\nfailed: photos/text.png: "))
        << result.out << result.err;
  };
  expect_list({samples / "mpirun.sh", "3", "photos", "results", "--blur", "auto"});
  if (!is_installed("parallel")) GTEST_SKIP() << "skipped in part: GNU parallel is not installed";
  expect_list({samples / "parallel.sh", "3", "photos", "results2", "--blur", "auto"});
}

// Even if an earlier run was complete.
TEST_F(ClusterSamples, AWrongOptionIsNotASuccess) {
  write_file(folder_ / "launch", "shift 2\nOMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 \"$@\"\n");
  const Environment variables{{"MPIRUN", "bash ./launch"}};
  Words words{samples / "mpirun.sh", "1", "photos", "results", "--blur", "auto"};
  expect_success(words, variables);
  words.back() = "atuo";
  EXPECT_EQ(run(words, variables).exit_code, 2);
}

TEST_F(ClusterSamples, TheParallelScriptRunsAndGathers) {
  EXPECT_EQ(run({samples / "parallel.sh", "4", "photos"}).exit_code, 2);
  if (!is_installed("parallel")) GTEST_SKIP() << "skipped: GNU parallel is not installed";
  expect_success({samples / "parallel.sh", "4", "photos", "results", "--blur", "auto"},
                 {{"HOME", folder_.path()}});
  expect_results();
}

// The words of "args: [a, b]" for the two jobs.
std::vector<Words> arguments_in(const std::string& yaml) {
  static const std::regex list(R"(args: \[(.*)\])");
  static const std::regex word(R"([^, ]+)");
  std::vector<Words> all;
  for (std::sregex_iterator found(yaml.begin(), yaml.end(), list), end; found != end; ++found) {
    const std::string text = (*found)[1];
    Words words;
    for (std::sregex_iterator at(text.begin(), text.end(), word); at != end; ++at)
      words.push_back(at->str());
    all.push_back(words);
  }
  return all;
}

TEST_F(ClusterSamples, TheKubernetesJobDoesAShardInEachPod) {
  std::vector<Words> jobs = arguments_in(read_file(samples / "kubernetes-job.yaml"));
  ASSERT_EQ(jobs.size(), 2U);
  for (Words& words : jobs) {
    words.insert(words.begin(), "gpufilter");
    for (std::string& word : words) {
      if (word.starts_with("/data/")) word = folder_.path() / word.substr(6);
    }
  }
  EXPECT_EQ(run(jobs[1]).exit_code, 2);  // there is nothing to gather yet
  for (int pod = 0; pod < 16; ++pod) {
    expect_success(jobs[0],
                   {{"JOB_COMPLETION_INDEX", std::to_string(pod)}, {"JOB_COMPLETIONS", "16"}});
    if (pod > 0) continue;
    EXPECT_EQ(run(jobs[1]).exit_code, 1);  // five pictures are missing
  }
  expect_success(jobs[1]);
  expect_results();
}

TEST_F(ClusterSamples, TheKubernetesJobCountsItsPodsEverywhereAlike) {
  if (run({"python3", "-c", "import yaml"}).exit_code != 0)
    GTEST_SKIP() << "skipped: python3-yaml is not installed";
  expect_success({"python3", "-c", R"(
import sys, yaml
shards, gather = yaml.safe_load_all(open(sys.argv[1]))
spec = shards["spec"]
container = spec["template"]["spec"]["containers"][0]
counts = {e["name"]: e["value"] for e in container["env"]}
assert shards["kind"] == gather["kind"] == "Job"
assert spec["completionMode"] == "Indexed"
assert counts == {"JOB_COMPLETIONS": str(spec["completions"])}
assert container["command"] == ["gpufilter"]
claims = [j["spec"]["template"]["spec"]["volumes"] for j in (shards, gather)]
assert claims[0] == claims[1]
)",
                  samples / "kubernetes-job.yaml"});
}

}  // namespace
}  // namespace gpufilter::test
