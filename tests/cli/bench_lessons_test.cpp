// The benchmarks of the lessons: docs/engineering/learning.md.
#include <map>
#include <set>

#include "cli/bench_fixture.hpp"

namespace gpufilter::test {
namespace {

class BenchLessons : public BenchTest {};

// Whole numbers are exact in any order of the additions, by OpenBLAS too.
TEST_F(BenchLessons, MatmulOfEveryShapeAndLayoutIsExact) {
  const Json json =
      bench_json({"matmul", "--shapes", "130x16x70,1x33x5", "--layout", "nn,nt,tn,tt"});
  std::map<std::pair<std::string, std::string>, std::set<std::string>> kernels;
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["bits"], "equal") << row;
    for (const char* error : {"max_absolute_error", "max_relative_error", "max_ulp_error"})
      EXPECT_EQ(row[error], 0);
    kernels[{row["shape"], row["layout"]}].insert(row["kernel"].get<std::string>().substr(0, 5));
  }
  EXPECT_EQ(kernels.size(), 8U);
  for (const auto& [shape, names] : kernels) {
    EXPECT_TRUE(names.contains("all c"));
    EXPECT_EQ(names.contains("OpenB"), json["parameters"].contains("openblas"));
    EXPECT_EQ(names.contains("naive") && names.contains("tuned"), has_device());
  }
}

TEST_F(BenchLessons, AccuracyOfSums) {
  const Json json = bench_json({"reduce", "--accuracy"});
  std::map<std::string, Json> rows;
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["operation"], "sum of 1.1");
    EXPECT_EQ(row["mean_ms"].is_null(), row["path"] == "exact");
    if (row["where"] != "device") rows[row["path"]] = row;
  }
  EXPECT_EQ(rows["staged 32/32/1024"]["result"], "1153421.75");
  EXPECT_EQ(rows["exact"]["result"], "1153433.625");
  EXPECT_EQ(rows["Kahan"]["max_ulp_error"], 0);
  EXPECT_EQ(rows["double"]["max_ulp_error"], 0);
  EXPECT_EQ(rows["left to right"]["result"], "1165568.5");
  EXPECT_EQ(rows["left to right"]["max_absolute_error"], 1165568.5 - 1153433.625);
  EXPECT_EQ(rows["left to right"]["max_ulp_error"], (1165568.5 - 1153433.625) * 8);
  EXPECT_LT(rows["tree"]["max_ulp_error"], 2);
}

TEST_F(BenchLessons, ParallelGoesFromOneWorkItemToMany) {
  const Json json = bench_json({"parallel", "--items", "1000,1,2049", "--groups", "1,64,1024"});
  std::map<std::string, std::vector<int>> items;
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["bits"], "equal");
    items[row["kernel"]].push_back(row["items"]);
    const double operations =
        2 * row["items"].get<double>() * json["parameters"]["steps"].get<int>();
    EXPECT_NEAR(row["gflops"].get<double>(), operations / row["mean_ms"].get<double>() * 1e-6,
                1e-6 * row["gflops"].get<double>());
  }
  EXPECT_EQ(items["one core"], std::vector{1});
  EXPECT_EQ(json["rows"][0]["speed_up_core"], 1);
  if (!has_device()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (const char* kernel : {"groups of 1", "groups of 64"})
    EXPECT_EQ(items[kernel], (std::vector{1, 1000, 2049})) << kernel;
  for (const Json& row : json["rows"]) {
    if (row["where"] != "device") continue;
    const int group = std::stoi(row["kernel"].get<std::string>().substr(10));
    EXPECT_EQ(row["groups"], (row["items"].get<int>() + group - 1) / group) << row;
    EXPECT_GE(row["groups_at_once"], 1) << row;
    EXPECT_LE(row["groups_at_once"], row["groups"]) << row;
  }
  EXPECT_TRUE(contains(json["notes"].dump(), "groups of 64: from ")) << json["notes"];
}

TEST_F(BenchLessons, AccessComparesEverythingWithACopy) {
  const Json json = bench_json({"access", "--bytes", "256K"});
  std::map<std::string, Json> on_device;
  std::map<std::string, Json> on_processor;
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["bits"], "equal") << row;
    EXPECT_EQ(row["checksum"].get<std::string>().size(), 16U);
    EXPECT_NEAR(row["gbytes_per_s"].get<double>(), 2 * 262144 / row["mean_ms"].get<double>() * 1e-6,
                1e-6 * row["gbytes_per_s"].get<double>());
    (row["where"] == "device" ? on_device : on_processor)[row["access"]] = row;
  }
  for (const char* stride : {"stride 1", "stride 2", "stride 32", "stride 64"})
    EXPECT_TRUE(on_processor.contains(stride)) << stride;
  EXPECT_NE(on_processor["stride 1"]["checksum"], on_processor["stride 2"]["checksum"]);
  if (!has_device()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (const char* access : {"copy", "stride 1", "stride 64", "local memory by columns, padding 0",
                             "local memory by columns, padding 1", "1 branch", "2 branches",
                             "32 branches", "nine pixels from a buffer"})
    EXPECT_TRUE(on_device.contains(access)) << access;
  EXPECT_EQ(on_device["copy"]["share_of_copy"], 1);
  EXPECT_EQ(on_device["copy"]["checksum"], on_device["stride 1"]["checksum"]);
  EXPECT_EQ(on_device["stride 64"]["checksum"], on_processor["stride 64"]["checksum"]);
  EXPECT_EQ(on_device["local memory by columns, padding 0"]["checksum"],
            on_device["local memory by columns, padding 1"]["checksum"]);
  EXPECT_NE(on_device["1 branch"]["checksum"], on_device["2 branches"]["checksum"]);
  const bool has_images = json["notes"].dump().find("images are left out") == std::string::npos;
  EXPECT_EQ(on_device.contains("nine pixels from an image"), has_images);
  if (has_images) {
    EXPECT_EQ(on_device["nine pixels from an image"]["checksum"],
              on_device["nine pixels from a buffer"]["checksum"]);
  }
}

// A tile of 16 x 16 pixels of three bytes with its halo takes local memory on every device.
TEST_F(BenchLessons, KernelsAreShownWithWhatTheyTake) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string in = stored(random_image({67, 37}, {3, 8}, 1), "in.png");
  const ProcessResult result =
      ended(0, filter({in, folder_ / "out.png", "--blur", "tiled", "--show-kernel"}));
  const std::size_t options = result.out.find("// options: ");
  ASSERT_NE(options, std::string::npos) << result.out;
  const std::size_t next = result.out.find('\n', options) + 1;
  const std::string line = result.out.substr(next, result.out.find('\n', next) - next);
  EXPECT_TRUE(line.starts_with("// takes: ") && line.ends_with(" bytes of local memory")) << line;
}

TEST_F(BenchLessons, RefuseWhatCannotBeMeasured) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& reason) {
    std::vector<std::string> words{"bench"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    expect_failure(2, words, {reason});
  };
  refused({"parallel", "--items", "0"}, "--items: ");
  refused({"parallel", "--groups", "1025"}, "--groups: ");
  refused({"access", "--strides", "3"}, "--strides: '3' is not one of 1, 2, 4, 8, 16, 32, 64");
  refused({"access", "--branches", "33"}, "--branches: ");
  refused({"access", "--bytes", "100"}, "--bytes 100: take a multiple of 4096 up to 8 GiB");
  refused({"access", "--bytes", "100G"}, "--bytes 107374182400: take a multiple of 4096");
}

}  // namespace
}  // namespace gpufilter::test
