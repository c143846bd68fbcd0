// "gpufilter bench" as its users run it, with small sizes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>

#include "cli/bench_fixture.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class Bench : public BenchTest {};

TEST_F(Bench, MatmulHasEveryRow) {
  const Json json = bench_json({"matmul", "--sizes", "33,64", "--tile", "8,16", "--show", "2"});
  const auto kernels = values(json, "kernel");
  for (const char* kernel : {"plain loop, no FMA", "plain loop", "loops interchanged",
                             "in registers, L1, L2, L3", "prefetched", "vectors", "all cores"})
    EXPECT_TRUE(kernels.contains(kernel)) << kernel;
  for (const Json& row : json["rows"]) {
    const bool is_fused = row["kernel"].get<std::string>().find("FMA") == std::string::npos;
    const bool is_ours = !row["kernel"].get<std::string>().starts_with("OpenBLAS");
    EXPECT_TRUE(row["bits"] == "equal" || !is_fused || !is_ours) << row;
    // 64 products of numbers below 1, each rounded to 2^-24 of a sum below 64.
    EXPECT_LT(row["max_absolute_error"], 64 * 64 * 0x1p-24) << row;
    EXPECT_GT(row["max_absolute_error"], 0) << row;
    EXPECT_GT(row["max_relative_error"], 0);
    EXPECT_GT(row["max_ulp_error"], 0.5);
  }
  EXPECT_EQ(json["corners"].size(), 8U);
  EXPECT_EQ(json["corners"]["A (33x33)"].size(), 2U);
  if (!has_device()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (const Json& row : json["rows"]) {
    const double flop = 2 * std::pow(row["size"].get<double>(), 3);
    EXPECT_NEAR(row["gflops"].get<double>(), flop / row["mean_ms"].get<double>() * 1e-6,
                1e-6 * row["gflops"].get<double>());
    EXPECT_LE(row["min_ms"], row["mean_ms"]);
    if (row["size"] != 33 || row["where"] != "device") continue;
    // 33 takes three blocks of 16: each number of A and B is read three times, not 33 times.
    if (row["kernel"] == "naive") {
      EXPECT_EQ(row["global_reads"], 2 * 33 * 33 * 33);
    } else if (row["kernel"] == "tiled 16x16") {
      EXPECT_EQ(row["global_reads"], 2 * 33 * 33 * 3);
    }
  }
}

TEST_F(Bench, StagesHaveTheProcessorBesideTheDevice) {
  const std::vector<std::vector<std::string>> benches{
      {"blur", "--channels", "1,4", "--depth", "16"},
      {"color"},
      {"lookup"},
      {"mlp", "--layers", "3-8-3"}};
  for (std::vector<std::string> arguments : benches) {
    SCOPED_TRACE(arguments.front());
    const bool is_blur = arguments.front() == "blur";
    arguments.insert(arguments.end(), {"--size", "67x45"});
    const Json json = bench_json(arguments);
    EXPECT_TRUE(values(json, "where").contains("processor"));
    EXPECT_TRUE(values(json, "kernel").contains("one core, baseline"));
    EXPECT_EQ(values(json, "format").size(), is_blur ? 2U : 1U);
    EXPECT_EQ(values(json, "where").contains("device"), has_device());
  }
}

TEST_F(Bench, MeasuresAnyStageByItself) {
  const Json json = bench_json({"stages", "--gaussian", "2", "--open", "1", "--linear", "--median",
                                "1", "--median", "1", "--border", "constant", "--depth", "16",
                                "--size", "67x45", "--bits", "8,16"});
  const std::set<std::string> stages{"gaussian sigma 2",  "open 3x3",       "linear sRGB curve",
                                     "median 3x3",        "median 3x3 (2)", "depth 16",
                                     "encoded sRGB curve"};
  EXPECT_EQ(values(json, "stage"), stages);
  EXPECT_EQ(values(json, "format"), (std::set<std::string>{"RGB, 8-bit", "RGB, 16-bit"}));
  std::set<std::string> on_device;
  for (const Json& row : json["rows"]) {
    if (row["where"] == "device") on_device.insert(row["stage"].get<std::string>());
  }
  EXPECT_EQ(on_device, has_device() ? stages : std::set<std::string>{});
}

TEST_F(Bench, RefusesStagesThatNeedTheWholePicture) {
  for (const std::vector<std::string>& stage :
       {std::vector<std::string>{"--levels", "auto"}, {"--rotate", "90"}, {"--auto-orient"}}) {
    const ProcessResult result = ended(2, bench({"stages", stage.front(), stage.back()}));
    EXPECT_EQ(result.err, "gpufilter: " + stage.front() +
                              ": needs the whole picture first; 'gpufilter bench pipeline' "
                              "measures it\n");
  }
  EXPECT_EQ(bench({"stages"}).err,
            "gpufilter: bench stages: name stages to measure, such as --gaussian 2 --median 1\n");
}

TEST_F(Bench, HasEveryCombinationOfChannelsAndDepths) {
  const ProcessResult result = ended(0, bench({"blur", "--channels=1,4", "--depth=8,16",
                                               "--size=67x45", "--device=cpu", "--json"}));
  EXPECT_EQ(values(Json::parse(result.out), "format").size(), 4U);
}

// Where a loop would take long, times are those of a part of the picture.
TEST_F(Bench, SlowLoopsGetAPartOfThePicture) {
  const ProcessResult result =
      ended(0, bench({"mlp", "--layers=3-64-64-3", "--size=3000x2001", "--device=cpu", "--json"}));
  const Json json = Json::parse(result.out);
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["bits"], "equal");
    if (row["kernel"] == "one core, baseline") {
      EXPECT_LT(row["height"], 500) << "27 GFLOP at about 1 GFLOP/s";
      const double gflop = row["height"].get<double>() * 3000 * 2 * (3 * 64 + 64 * 64 + 64 * 3);
      EXPECT_NEAR(row["gflops"].get<double>(), gflop / row["mean_ms"].get<double>() * 1e-6,
                  1e-6 * row["gflops"].get<double>());
    }
  }
  EXPECT_TRUE(contains(json["notes"].dump(), "one core, baseline: times are those of"))
      << json["notes"];
}

// A kernel that the device cannot run takes its row with it, nothing else.
TEST_F(Bench, AKernelThatCannotRunIsLeftOut) {
  GPUFILTER_REQUIRE_DEVICE();
  const KernelFolder kernels(folder_ / "kernels");
  kernels.replace("matrix_product.cl", "#define TILE GROUP_WIDTH",
                  "#define TILE GROUP_WIDTH\n#if GROUP_WIDTH == 32\n#error no room\n#endif");
  const ProcessResult result =
      ended(0, bench({"matmul", "--sizes=33", "--tile=8,32", "--json"},
                     {.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"}}}));
  const Json json = Json::parse(result.out);
  EXPECT_TRUE(values(json, "kernel").contains("tiled 8x8"));
  EXPECT_TRUE(values(json, "kernel").contains("tuned"));
  EXPECT_FALSE(values(json, "kernel").contains("tiled 32x32"));
  EXPECT_TRUE(contains(json["notes"].dump(), "tiled 32x32 is left out: ")) << json["notes"];
}

TEST_F(Bench, ReduceComparesPathsGroupsAndAccuracy) {
  const Json json = bench_json({"reduce", "--counts", "70001"});
  EXPECT_TRUE(values(json, "path").contains("left to right"));
  for (const Json& row : json["rows"]) {
    // Sums, squares and products of floats have errors; minima, and sums of integers, have none.
    const bool is_rounded =
        row["type"] == "float" && row["operation"] != "minimum" && row["operation"] != "maximum";
    for (const char* error : {"max_absolute_error", "max_relative_error", "max_ulp_error"})
      EXPECT_EQ(row[error].is_number(), is_rounded) << row;
  }
  if (!has_device()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const auto paths = values(json, "path");
  for (const char* path :
       {"serial", "local memory", "groups of 31", "groups of 32", "groups of 64"})
    EXPECT_TRUE(paths.contains(path)) << path;
  const auto operations = values(json, "operation");
  for (const char* operation : {"sum", "product", "minimum", "maximum", "and", "or", "xor"})
    EXPECT_TRUE(operations.contains(operation)) << operation;
}

TEST_F(Bench, CopyAndItsCsv) {
  const Json json = bench_json({"copy", "--bytes", "1M"});
  EXPECT_TRUE(values(json, "copy").contains("all cores"));
  const ProcessResult csv = ended(0, bench({"copy", "--bytes=64K", "--csv"}));
  EXPECT_TRUE(csv.out.starts_with("bench,version,date,device,driver,processor,mb,copy,where,"));
  EXPECT_EQ(count_of(csv.out, "\n"), 1 + json["rows"].size());
}

TEST_F(Bench, PipelineOnTheProcessorAndADevice) {
  const std::string path = folder_ / "in.png";
  write_png(random_image({301, 207}, {3, 8}, 1), path);
  for (const std::string& device : {std::string("cpu"), std::string("opencl")}) {
    const ProcessResult result = ended(
        0, bench({"pipeline", path, "--blur=auto", "--levels=auto", "--device", device, "--json"}));
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["rows"].back()["step"], "whole run");
    EXPECT_EQ(json["rows"].back()["bits"], "equal");
    const auto steps = values(json, "step");
    for (const char* step : {"decode", "kernel", "encode"})
      EXPECT_TRUE(steps.contains(step)) << step;
    EXPECT_TRUE(std::ranges::any_of(values(json, "stage"), [](const std::string& stage) {
      return stage.starts_with("blur");  // with statistics or levels where they share a kernel
    }));
  }
}

TEST_F(Bench, PipelineSaysInWordsWhatTheMachineReaches) {
  const std::string path = folder_ / "in.png";
  write_png(random_image({301, 207}, {3, 8}, 1), path);
  const ProcessResult result = ended(0, bench({"pipeline", path, "--blur=auto", "--device=cpu"}));
  EXPECT_FALSE(contains(result.out, "_per_s"));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\nmemory +[0-9.]{4,5} GB/s, bytes read")))
      << result.out;
  EXPECT_TRUE(std::regex_search(
      result.out, std::regex("\narithmetic +[0-9.]{4,5} billion multiply-adds a second\n")))
      << result.out;
}

// A kernel whose result differs from the processor's.
TEST_F(Bench, DifferingBitsEndItWithOne) {
  GPUFILTER_REQUIRE_DEVICE();
  const fs::path kernels = folder_.path() / "kernels";
  copy_kernels(kernels);
  std::string source = read_file(kernels / "copy.cl");
  const std::string right = "target[i] = source[i]";
  ASSERT_TRUE(contains(source, right));
  source.replace(source.find(right), right.size(), "target[i] = source[i] ^ 1");
  write_file(kernels / "copy.cl", source);
  const ProcessResult result = ended(
      1,
      bench({"copy", "--bytes=64K"}, {.environment = {{"GPUFILTER_KERNELS", kernels.string()}}}));
  EXPECT_TRUE(contains(result.out, "DIFFER"));
  EXPECT_TRUE(contains(result.err, "differs from the reference"));
}

TEST_F(Bench, AMissingDeviceIsAWarningOrAnError) {
  const std::vector<std::string> command{"copy", "--bytes=64K", "-q", "--device=no such device"};
  EXPECT_EQ(bench(command).exit_code, 3);
  const bool has_gpu = has_device("gpu");
  if (has_gpu) GTEST_SKIP() << "skipped: a GPU is here";
  const ProcessResult result = ended(0, bench({"copy", "--bytes=64K", "-q", "--device=gpu"}));
  EXPECT_TRUE(contains(result.err, "only the processor is measured"));
  EXPECT_EQ(bench({"copy", "--bytes=64K", "--device=gpu", "--require-device"}).exit_code, 3);
}

TEST_F(Bench, RefusesWhatItDoesNotKnow) {
  const auto expect_usage = [](std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.begin(), "bench");
    EXPECT_TRUE(contains(ended(2, filter(std::move(arguments))).err, part));
  };
  expect_usage({}, "matmul");
  expect_usage({"teapot"}, "bench teapot: unknown; choose one of matmul, blur,");
  expect_usage({"matmull"}, "bench matmull: unknown; did you mean matmul?");
  expect_usage({"copy", "--plot", "chart.png"}, ".svg");
  expect_usage({"copy", "--json", "--csv"}, "--csv");
  expect_usage({"blur", "--size", "12"}, "640x480");
  expect_usage({"mlp", "--layers", "3-x-3"}, "3-16-16-3");
  expect_usage({"matmul", "--sizes", "0"}, "--sizes");
  expect_usage(
      {"matmul", "--shapes", "3x4"},
      "--shapes: '3x4' is not of the form ROWSxCOLUMNSxDEPTH with numbers from 1 to 65536");
  expect_usage({"matmul", "--shapes", "4x4x4", "--layout", "nx"},
               "--layout: 'nx' is not one of nn, nt, tn, tt");
  expect_usage({"matmul", "--layout", "nt"}, "--layout: is for --shapes");
  expect_usage({"matmul", "--shapes", "4x4x4", "--sizes", "4"},
               "--sizes: is for square matrices; leave out --shapes");
  expect_usage({"matmul", "--shapes", "65536x65536x65536"},
               "--shapes 65536x65536x65536: takes 155 GB of memory; ");
  expect_usage({"matmul", "--tile", "12"}, "--tile: '12' is not one of 8, 16, 32");
  expect_usage({"blur", "--tile", "8,12"}, "--tile: '12' is not one of 8, 16, 32");
  expect_usage({"blur", "--depth", "12"}, "--depth: '12' is not one of 8, 16");
}

}  // namespace
}  // namespace gpufilter::test
