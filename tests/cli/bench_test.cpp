// "gpufilter bench" as its users run it, with small sizes.
#include <regex>

#include "base/machine_memory.hpp"
#include "cli/program_fixture.hpp"
#include "support/document_checks.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

struct BenchTest : ProgramTest {
  static ProcessResult bench(const Words& arguments, const ProcessOptions& options = {}) {
    return filter(Words{"bench"} + arguments + Words{"--trials=2"}, options);
  }

  // The JSON of a successful run; its chart is checked too.
  [[nodiscard]] Json bench_json(const Words& arguments) const {
    const std::string name = arguments.front();
    const std::string plot = folder_ / "chart.svg";
    const ProcessResult result = ended(0, bench(arguments + Words{"--json", "--plot", plot}));
    EXPECT_EQ(objection_to_svg(read_file(plot)), "");
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["schema"], "gpufilter-bench-1");
    EXPECT_EQ(json["bench"], name);
    EXPECT_EQ(json["all_bits_equal"], true);
    EXPECT_EQ(json["date"].get<std::string>().size(), 20U);
    EXPECT_EQ(json["device"].is_null(), !has_device());
    for (const Json& row : json["rows"])
      EXPECT_NE(row["bits"], "DIFFER") << row;
    return json;
  }

  // Expects that `rate` is `amount` for the mean time in milliseconds.
  static void expect_rate(const Json& row, const std::string& rate, double amount) {
    const double found = row[rate];
    EXPECT_NEAR(found, amount / row["mean_ms"].get<double>(), 1e-6 * found) << row;
  }

  static std::set<std::string> values(const Json& json, const std::string& key) {
    std::set<std::string> found;
    for (const Json& row : json["rows"]) {
      if (row[key].is_string()) found.insert(row[key].get<std::string>());
    }
    return found;
  }
};

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
    expect_rate(row, "gflops", 2e-6 * std::pow(row["size"].get<double>(), 3));
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
  const std::vector<Words> benches{{"blur", "--channels", "1,4", "--depth", "16"},
                                   {"color"},
                                   {"lookup"},
                                   {"mlp", "--layers", "3-8-3"}};
  for (const Words& arguments : benches) {
    SCOPED_TRACE(arguments.front());
    const bool is_blur = arguments.front() == "blur";
    const Json json = bench_json(arguments + Words{"--size", "67x45"});
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

// Rates, intensities and roofs agree with each other.
TEST_F(Bench, RooflineSaysWhatLimitsStages) {
  const Words stages{"roofline", "--blur", "auto", "--invert", "--size", "64x48"};
  const Json json = bench_json(stages);
  EXPECT_EQ(json["rows"].size(), has_device() ? 4U : 2U);
  for (const Json& row : json["rows"]) {
    const bool is_blur = row["stage"] == "blur";
    // RGB: six bytes read and written, and ten operations for each sample of the blur.
    EXPECT_TRUE(!is_blur || std::abs(row["operations_a_byte"].get<double>() - 5) < 1e-9) << row;
    expect_rate(row, "goperations_per_s", row["operations_a_byte"].get<double>() * 6e-6 * 64 * 48);
    EXPECT_GT(row["share_of_roof"], 0);
    EXPECT_TRUE(row["bound"] == "memory" || row["bound"] == "arithmetic") << row;
  }
  const std::string text = ended(0, bench(stages)).out;
  expect_parts(text, {"\nGop/s\n", "operations a byte\n", "  A  blur, processor\n",
                      "  .  roof of the processor\n"});
}

TEST_F(Bench, MatmulExplainsAKernelByItsReads) {
  GPUFILTER_REQUIRE_DEVICE();
  const Words matmul{"matmul", "--sizes", "32", "--tile", "16", "--explain"};
  // Each of A and B is read 32 / 16 times by tiles, and 32 times without.
  const std::string tiled = ended(0, bench(matmul + Words{"tiled"})).out;
  EXPECT_TRUE(std::regex_search(tiled, std::regex("\n      2048 +a_tile\\[y\\]\\[x\\] = ")));
  EXPECT_TRUE(std::regex_search(tiled, std::regex("\n      2048 +b_tile\\[y\\]\\[x\\] = ")));
  const std::string naive = ended(0, bench(matmul + Words{"naive"})).out;
  EXPECT_TRUE(std::regex_search(naive, std::regex("\n     65536 +sum = fma\\(READ"))) << naive;
}

TEST_F(Bench, TablesFitATerminal) {
  const std::vector<Words> benches{
      {"matmul", "--sizes", "33"},
      {"matmul", "--shapes", "32x16x8", "--layout", "tn"},
      {"matmul", "--sizes", "32", "--type", "int8,fp8-scaled"},
      {"blur", "--size", "64x48"},
      {"stages", "--gaussian", "2", "--median", "1", "--size", "64x48"},
      {"mlp", "--size", "64x48"},
      {"roofline", "--gaussian", "2", "--size", "64x48"},
      {"reduce", "--counts", "1000"},
      {"reduce", "--accuracy"},
      {"copy", "--bytes", "64K"},
      {"access", "--bytes", "64K"},
      {"parallel", "--items", "1,10"},
      {"histogram", "--values", "1000"},
      {"scan", "--values", "1000"}};
  for (const Words& words : benches) {
    std::istringstream lines(ended(0, bench(words)).out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80U) << ::testing::PrintToString(words) << "\n" << line;
  }
  std::istringstream devices(ended(0, filter({"devices"})).out);
  for (std::string line; std::getline(devices, line);)
    EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(Bench, RefusesStagesThatNeedTheWholePicture) {
  for (const Words& stage : {Words{"--levels", "auto"}, {"--rotate", "90"}, {"--auto-orient"}}) {
    EXPECT_EQ(ended(2, bench({"stages", stage.front(), stage.back()})).err,
              "gpufilter: " + stage.front() +
                  ": needs the whole picture first; 'gpufilter bench pipeline' "
                  "measures it\n");
  }
  EXPECT_EQ(bench({"stages"}).err,
            "gpufilter: bench stages: name stages to measure, such as --gaussian 2 --median 1\n");
}

// Where a loop would take long, times are those of a part of the picture.
TEST_F(Bench, SlowLoopsGetAPartOfThePicture) {
  const Json json = Json::parse(
      ended(0, bench({"mlp", "--layers=3-64-64-3", "--size=3000x2001", "--device=cpu", "--json"}))
          .out);
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["bits"], "equal");
    if (row["kernel"] == "one core, baseline") {
      EXPECT_LT(row["height"], 500) << "27 GFLOP at about 1 GFLOP/s";
      expect_rate(row, "gflops",
                  row["height"].get<double>() * 3000 * 2e-6 * (3 * 64 + 64 * 64 + 64 * 3));
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
  const Json json =
      Json::parse(ended(0, bench({"matmul", "--sizes=33", "--tile=8,32", "--json"},
                                 {.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"}}}))
                      .out);
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
  EXPECT_TRUE(begins(csv.out, "bench,version,date,device,driver,processor,mb,copy,where,"));
  EXPECT_EQ(count_of(csv.out, "\n"), 1 + json["rows"].size());
}

TEST_F(Bench, PipelineOnTheProcessorAndADevice) {
  const std::string path = folder_ / "in.png";
  write_png(random_image({301, 207}, {3, 8}, 1), path);
  for (const std::string& device : {std::string("cpu"), std::string("opencl")}) {
    const Json json = Json::parse(ended(0, bench({"pipeline", path, "--blur=auto", "--levels=auto",
                                                  "--device", device, "--json"}))
                                      .out);
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
      result.out, std::regex("\narithmetic +[0-9.]{4,6} billion multiply-adds a second\n")))
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
  const Words command{"copy", "--bytes=64K", "-q", "--device=no such device"};
  ended(3, bench(command));
  const bool has_gpu = has_device("gpu");
  if (has_gpu) GTEST_SKIP() << "skipped: a GPU is here";
  EXPECT_TRUE(contains(ended(0, bench({"copy", "--bytes=64K", "-q", "--device=gpu"})).err,
                       "only the processor is measured"));
  ended(3, bench({"copy", "--bytes=64K", "--device=gpu", "--require-device"}));
}

TEST_F(Bench, RefusesWhatItDoesNotKnow) {
  const auto expect_usage = [](const Words& arguments, const std::string& part) {
    EXPECT_TRUE(contains(ended(2, filter(Words{"bench"} + arguments)).err, part));
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
  if (machine_memory() < 155'000'000'000) {
    expect_usage({"matmul", "--shapes", "65536x65536x65536"},
                 "--shapes 65536x65536x65536: takes 155 GB of memory; ");
  }
  expect_usage({"matmul", "--tile", "12"}, "--tile: '12' is not one of 8, 16, 32");
  expect_usage({"blur", "--tile", "8,12"}, "--tile: '12' is not one of 8, 16, 32");
  expect_usage({"blur", "--depth", "12"}, "--depth: '12' is not one of 8, 16");
}

// The benchmarks of the lessons: docs/engineering/learning.md.

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
    expect_rate(row, "gflops",
                2e-6 * row["items"].get<double>() * json["parameters"]["steps"].get<int>());
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
    expect_rate(row, "gbytes_per_s", 2e-6 * 262144);
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
  const ProcessResult result = ended(0, filter({in, out_, "--blur", "tiled", "--show-kernel"}));
  const std::size_t options = result.out.find("// options: ");
  ASSERT_NE(options, std::string::npos) << result.out;
  const std::size_t next = result.out.find('\n', options) + 1;
  const std::string line = result.out.substr(next, result.out.find('\n', next) - next);
  EXPECT_TRUE(line.starts_with("// takes: ") && line.ends_with(" bytes local")) << line;
}

TEST_F(BenchLessons, RefuseWhatCannotBeMeasured) {
  const auto refused = [&](const Words& arguments, const std::string& reason) {
    expect_failure(2, Words{"bench"} + arguments, {reason});
  };
  refused({"parallel", "--items", "0"}, "--items: ");
  refused({"parallel", "--groups", "1025"}, "--groups: ");
  refused({"access", "--strides", "3"}, "--strides: '3' is not one of 1, 2, 4, 8, 16, 32, 64");
  refused({"access", "--branches", "33"}, "--branches: ");
  refused({"access", "--bytes", "100"}, "--bytes 100: take a multiple of 4096 up to 8 GiB");
  refused({"access", "--bytes", "100G"}, "--bytes 107374182400: take a multiple of 4096");
}

// "gpufilter bench matmul --type" as its users run it, with small sizes.

struct BenchLowPrecision : BenchTest {
  static ProcessResult matmul(const Words& arguments) {
    return filter(Words{"bench", "matmul", "--trials=1"} + arguments);
  }
  static Json rows_of(const Words& arguments) {
    return Json::parse(ended(0, matmul(arguments + Words{"--json"})).out)["rows"];
  }
  static void expect_usage(Words arguments, const std::string& message) {
    const ProcessResult result = ended(2, matmul(std::move(arguments)));
    EXPECT_EQ(result.err, "gpufilter: " + message + "\n");
    EXPECT_EQ(result.out, "");
  }
};

TEST_F(BenchLowPrecision, EveryTypeHasItsRowsAndErrors) {
  const std::string plot = folder_ / "chart.svg";
  const Json rows = rows_of({"--type=float32,int8,int8-scaled,fp8-scaled,bfloat16,float16",
                             "--shapes=130x65x70", "--plot", plot});
  EXPECT_EQ(objection_to_svg(read_file(plot)), "");
  std::map<std::string, double> errors;
  std::set<std::string> devices;
  for (const Json& row : rows) {
    const auto type = row["type"].get<std::string>();
    if (row["kernel"] == "all cores") errors[type] = row["error"].get<double>();
    if (row["where"] == "device") devices.insert(type);
    EXPECT_EQ(row["shape"], "130x65x70");
    expect_rate(row, "tops", 2e-9 * 130 * 65 * 70);
    if (row["where"] == "processor" || row["kernel"] == "plain 64x64") {
      EXPECT_EQ(row["bits"], "equal") << row;
    }
    EXPECT_LE(row["error_of_sums"].get<double>(), 1e-6) << row;
  }
  ASSERT_EQ(errors.size(), 7U);
  EXPECT_EQ(errors["int8"], 0) << "integers are exact";
  EXPECT_LT(errors["float32"], 1e-6);
  EXPECT_LT(errors["float32"], errors["float16"]);
  EXPECT_LT(errors["float16"], errors["bfloat16"]);
  EXPECT_LT(errors["bfloat16"], errors["int8-scaled"]);
  EXPECT_LT(errors["int8-scaled"], errors["fp8-scaled"]);
  EXPECT_LT(errors["fp8-unpromoted"], 0.1);
  EXPECT_EQ(devices.size(), has_device() ? 7U : 0U);
}

TEST_F(BenchLowPrecision, KernelsHaveTheirFiguresWhereTheDriverTells) {
  const Words keys{"registers", "spilled_bytes", "private_bytes", "resident_groups"};
  for (const Json& row : rows_of({"--type=int8,float16", "--shapes=130x65x70"})) {
    for (const std::string& key : keys) {
      ASSERT_TRUE(row.contains(key)) << row;
      if (row["where"] == "processor") {
        EXPECT_TRUE(row[key].is_null()) << row;
      } else {
        EXPECT_TRUE(row[key].is_null() || row[key].is_number_unsigned()) << row;
      }
    }
    EXPECT_EQ(row["registers"].is_null(), row["spilled_bytes"].is_null()) << row;
  }
  // A table has only columns with figures.
  const std::string table = matmul({"--type=int8", "--shapes=130x65x70", "--device=cpu"}).out;
  for (const char* heading : {"registers", "spilled", "private", "groups a unit"})
    EXPECT_FALSE(contains(table, heading));
}

TEST_F(BenchLowPrecision, GroupsAreOneLaunch) {
  for (const char* grouping : {"contiguous", "masked"}) {
    const Json rows =
        rows_of({"--type=int8-scaled", "--sizes=256", "--grouped", grouping, "--groups=3"});
    ASSERT_FALSE(rows.empty());
    for (const Json& row : rows) {
      EXPECT_EQ(row["bits"], "equal") << row;
      EXPECT_EQ(row["grouping"], grouping);
      EXPECT_EQ(row["groups"], 3);
    }
  }
}

TEST_F(BenchLowPrecision, WrongUsageIsRefusedBeforeAnythingRuns) {
  expect_usage({"--type=int8", "--tile=8"},
               "bench matmul: --tile is for --type float32 alone, without --grouped");
  expect_usage({"--type=int8", "--shapes=8x8x8", "--layout=nn"},
               "bench matmul: --layout is for --type float32 alone, without --grouped");
  expect_usage({"--type=int8", "--groups=2"}, "bench matmul: --groups is for --grouped");
  expect_usage({"--type=int8", "--sizes=256,200", "--grouped=contiguous"},
               "bench matmul: --grouped contiguous divides A into groups of whole blocks of 128 "
               "rows, but it has 200 rows; use a multiple of 128");
  EXPECT_TRUE(contains(ended(2, matmul({"--type=int4"})).err,
                       "--type: 'int4' is not one of float32, int8, int8-scaled, fp8-scaled, "
                       "bfloat16, float16"));
  expect_parts(
      ended(2, matmul({"--type=int8", "--sizes=16384", "--grouped=masked", "--groups=256",
                       "--device=cpu"}))
          .err,
      {"bench matmul: 16384x16384x16384 of int8 takes ", " MB are free; use smaller matrices\n"});
}

}  // namespace
}  // namespace gpufilter::test
