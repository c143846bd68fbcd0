// "gpufilter compare" as its users run it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/pictures.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::test {

using Json = nlohmann::json;

class CompareTest : public ::testing::Test {
 protected:
  // A picture in the test's folder, and its path.
  [[nodiscard]] std::string stored(const Image& image, const std::string& name) const {
    std::string path = folder_ / name;
    write_png(image, path);
    return path;
  }

  static ProcessResult compare(std::vector<std::string> arguments,
                               const ProcessOptions& options = {}) {
    arguments.insert(arguments.begin(), "compare");
    return run_gpufilter(std::move(arguments), options);
  }

  // Runs it with --json and parses the output.
  static Json compare_json(std::vector<std::string> arguments, int exit_code) {
    arguments.emplace_back("--json");
    const ProcessResult result = ended(exit_code, compare(std::move(arguments)));
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out.back(), '\n');
    return Json::parse(result.out);
  }

  // Expects that comparing ends with 4, with nothing on standard output and one line on standard
  // error that contains `part`.
  static void expect_trouble(std::vector<std::string> arguments, const std::string& part) {
    const ProcessResult result = ended(4, compare(std::move(arguments)));
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("gpufilter: ")) << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_TRUE(contains(result.err, part));
  }

  TemporaryFolder folder_;
  const ImageSize size_{31, 17};
  const PixelFormat format_{3, 8};
};

// `image` with one sample changed by `by` (up or, if that does not fit, down).
inline Image moved(const Image& image, int x, int y, int channel, std::uint32_t by) {
  Image copy = copy_of(image);
  const std::uint32_t sample = sample_at(image, x, y, channel);
  const bool fits = sample + by <= image.format().max_sample();
  set_sample(copy, x, y, channel, fits ? sample + by : sample - by);
  return copy;
}

}  // namespace gpufilter::test
