// The program run as its users run it.
#pragma once

#include <nlohmann/json.hpp>

#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/process.hpp"

namespace gpufilter::test {

using Json = nlohmann::json;

struct ProgramTest : ::testing::Test {
  static ProcessOptions with_defaults(ProcessOptions options) {
    options.environment.emplace("GPUFILTER_DEVICE", "");
    options.environment.emplace("GPUFILTER_ON_EXISTS", "");
    return options;
  }

  static ProcessResult filter(Words arguments, const ProcessOptions& options = {}) {
    return run_gpufilter(std::move(arguments), with_defaults(options));
  }

  // The JSON document that a run prints which ends with `exit_code`.
  static Json filter_json(int exit_code, Words arguments, const ProcessOptions& options = {}) {
    const ProcessResult result = ended(exit_code, filter(std::move(arguments), options));
    EXPECT_TRUE(Json::accept(result.out)) << result.out;
    return Json::parse(result.out, nullptr, false);
  }

  // Runs the program, which has to succeed and print nothing.
  static ProcessResult filter_quietly(const Words& arguments, const ProcessOptions& options = {}) {
    ProcessResult result = ended(0, filter(arguments + Words{"-q"}, options));
    EXPECT_EQ(result.err, "");
    return result;
  }

  // Expects that a run fails with `exit_code`, with one line on standard error that contains
  // `parts` and nothing on standard output, and that the test's folder does not change.
  void expect_failure(int exit_code, const Words& arguments, const Words& parts,
                      const ProcessOptions& options = {}) const {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const auto before = contents();
    const ProcessResult result = ended(exit_code, filter(arguments, options));
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, parts);
    EXPECT_EQ(contents(), before);
  }

  static void expect_one_line(const std::string& text, const Words& parts) {
    EXPECT_TRUE(begins(text, "gpufilter: "));
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    expect_parts(text, parts);
  }

  // The reference's pixels.
  [[nodiscard]] static Image blurred(const Image& image, const BlurParameters& parameters = {},
                                     std::size_t times = 1) {
    return filter_on_host(image, StageChain(times, make_blur(parameters)), {});
  }

  // For tests of how the program finds a place for PoCL's files: without the tests' own.
  static void forget_pocl_cache() { ::unsetenv("POCL_CACHE_DIR"); }

  static std::string case_path(const std::string& name) {
    return GPUFILTER_SOURCE "/tests/cases/" + name;
  }

  static bool has_program(const std::string& name) {
    return run_process({"sh", "-c", "command -v " + name}).exit_code == 0;
  }

  // A PNG file in the test's folder, and its path.
  [[nodiscard]] std::string stored(const Image& image, const std::string& name) const {
    std::string path = folder_ / name;
    write_png(image, path);
    return path;
  }

  // Whether this machine has an OpenCL device of `kind` ("" for any).
  static bool has_device(const std::string& kind = "") {
    static const Json devices = Json::parse(filter({"devices", "--json"}).out)["devices"];
    for (const Json& device : devices) {
      if (kind.empty() || device["kind"] == kind) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  const std::string out_ = folder_ / "out.png";
  const ImageSize size_{67, 45};
  const PixelFormat format_{3, 8};

 private:
  // Name and bytes of every regular file in the test's folder.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> contents() const {
    std::vector<std::pair<std::string, std::string>> found;
    for (const std::string& name : names_in(folder_.path())) {
      const fs::path path = folder_.path() / name;
      const bool plain = fs::is_regular_file(fs::symlink_status(path));
      found.emplace_back(name, plain ? read_file(path) : "");
    }
    return found;
  }
};

// With a picture in a file.
struct OnePicture : ProgramTest {
  const Image image_ = random_image(size_, format_, 1);
  const std::string in_ = stored(image_, "in.png");
};

}  // namespace gpufilter::test

// Skips the running test if there is no OpenCL device.
#define GPUFILTER_REQUIRE_DEVICE() \
  if (!has_device()) GTEST_SKIP() << "skipped: no OpenCL device here"
