// "gpufilter tune": candidates are proved, timed, stored and used.
#include <algorithm>
#include <set>

#include "cli/program_fixture.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

class Tune : public ProgramTest {
 protected:
  // A few candidates, of which groups of 32 give wrong pixels in the naive blur.
  Tune() : kernels_(folder_ / "kernels") {
    kernels_.write("candidates.json", R"({
      "blur_naive": {"pixels": [1], "lines": [1], "groups": ["32x1", "128x1"]}})");
    kernels_.write("tuned.json", R"({"tuned": []})");
  }

  void break_groups_of_32() const {
    kernels_.replace("blur.cl", "x + dx, y + dy,",
                     "x + dx + (GROUP_WIDTH == 32 && x == 3), y + dy,");
  }

  [[nodiscard]] ProcessOptions here() const {
    ProcessOptions options{.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"},
                                           {"XDG_CACHE_HOME", folder_ / "cache"}}};
    if (optimised_) options.environment["POCL_EXTRA_BUILD_FLAGS"] = "";
    return options;
  }

  [[nodiscard]] Json tune(int exit_code) const {
    return filter_json(
        exit_code,
        {"tune", "blur", "--channels", "3", "--depth", "8", "--device", "opencl", "--json"},
        here())["devices"][0];
  }

  static Json site(const Json& device, const std::string& name) {
    for (const Json& kernel : device["kernels"]) {
      if (kernel["site"] == name) return kernel;
    }
    ADD_FAILURE() << name << " is missing: " << device;
    return {};
  }

  // Which kernel the blur used and why.
  [[nodiscard]] Json blurred() const {
    const std::string in = stored(random_image(size_, format_, 1), "in.png");
    return filter_json(
        0, {in, folder_ / "out.png", "--blur", "naive", "--device", "opencl", "--timing", "json"},
        here())["passes"][0];
  }

  KernelFolder kernels_;
  bool optimised_ = false;  // by PoCL, which pays where kernels run for long
};

TEST_F(Tune, AWrongCandidateIsNeverChosen) {
  GPUFILTER_REQUIRE_DEVICE();
  break_groups_of_32();
  const Json device = tune(1);
  const Json kernel = site(device, "blur_naive 3x8 to 3x8");
  int wrong = 0;
  double best = 1e9;
  for (const Json& tried : kernel["tried"]) {
    const bool is_broken = tried["group_width"] == 32;
    EXPECT_EQ(tried["outcome"], is_broken ? "wrong" : "timed") << tried;
    if (is_broken) ++wrong;
    if (!is_broken) best = std::min(best, tried["milliseconds"].get<double>());
  }
  EXPECT_EQ(wrong, 1);
  EXPECT_EQ(kernel["chosen"]["milliseconds"], best);
  // --blur auto chooses between algorithms.
  std::set<std::string> algorithms;
  const Json automatic = site(device, "blur_strips 3x8 to 3x8");
  for (const Json& tried : automatic["tried"])
    algorithms.insert(tried["algorithm"].get<std::string>());
  EXPECT_EQ(algorithms, (std::set<std::string>{"blur_strips", "blur_naive", "tiled 8x8",
                                               "tiled 16x16", "tiled 32x32"}));
  EXPECT_TRUE(contains(blurred()["variant"].get<std::string>(), "naive"));
}

// The other kinds of kernels: a candidate that gives wrong results is warned about, and not chosen.
class TuneOthers : public Tune {
 protected:
  // Returns the one site of the report; `broken` tells which candidates are to be wrong.
  template <typename IsBroken>
  void expect_right_choice(const Words& what, const std::string& name, const IsBroken& is_broken) {
    Words arguments{"tune", "--channels", "3", "--depth", "8", "--device", "opencl", "--json"};
    arguments.insert(arguments.begin() + 1, what.begin(), what.end());
    const ProcessResult result = ended(1, filter(arguments, here()));
    EXPECT_TRUE(contains(result.err, "differs from the processor and is left out"));
    const Json kernel = site(Json::parse(result.out)["devices"][0], name);
    int wrong = 0;
    int timed = 0;
    for (const Json& tried : kernel["tried"]) {
      EXPECT_EQ(tried["outcome"], is_broken(tried) ? "wrong" : "timed") << tried;
      ++(tried["outcome"] == "wrong" ? wrong : timed);
    }
    EXPECT_GE(wrong, 1);
    EXPECT_GE(timed, 2);
    EXPECT_FALSE(is_broken(kernel["chosen"])) << kernel["chosen"];
  }
};

TEST_F(TuneOthers, AWrongShapeOfStatisticsIsNeverChosen) {
  GPUFILTER_REQUIRE_DEVICE();
  // GPUs try those that read 48 to 96 bytes at a time, other devices those of one stretch.
  kernels_.write("candidates.json", R"({
    "count_values": {"constants": {"PIXELS": [4, 8, 16], "BATCH": [1, 2, 4], "GROUPS_A_UNIT": [2]}}})");
  kernels_.replace(
      "reduce_histogram.cl", "return opaque;\n}",
      "if (PIXELS == 8 && pixels > 20) count_pixel(counters, load_pixel(samples, 3));\n"
      "  return opaque;\n}");
  expect_right_choice({"statistics"}, "channel histograms 3x8 to 3x8",
                      [](const Json& candidate) { return candidate["constants"]["PIXELS"] == 8; });
  // A correct candidate is used, and the report says so.
  const std::string in = stored(random_image(size_, format_, 1), "in.png");
  EXPECT_TRUE(contains(ended(0, filter({in, folder_ / "out.png", "--levels", "auto", "--device",
                                        "opencl", "--timing", "json"},
                                       here()))
                           .out,
                       "tuned here: "));
}

TEST_F(TuneOthers, AWrongMatrixProductIsNeverChosen) {
  GPUFILTER_REQUIRE_DEVICE();
  optimised_ = true;
  kernels_.replace("matrix_product.cl", "float sum = has_bias && in_rows ? bias[row] : 0.0f;",
                   "float sum = has_bias && in_rows ? bias[row] : TILE == 8 ? 1e-3f : 0.0f;");
  expect_right_choice({"products"}, "matrix_product, 64 rows",
                      [](const Json& candidate) { return candidate["algorithm"] == "tiled 8x8"; });
}

// How the tuned row of such products was found; empty if there is none.
std::string tuned_row(const ProcessResult& bench) {
  EXPECT_EQ(bench.exit_code, 0) << bench.err;
  const Json report = Json::parse(bench.out);
  for (const Json& row : report["rows"]) {
    if (row["kernel"] != "tuned") continue;
    EXPECT_EQ(row["bits"], "equal") << row;
    return row["variant"].get<std::string>();
  }
  return "";
}

TEST_F(TuneOthers, AWrongLowPrecisionProductIsNeverChosen) {
  GPUFILTER_REQUIRE_DEVICE();
  // Stages of 64 bytes need fewer barriers, but the kernel copies only a quarter of them.
  kernels_.write("candidates.json", R"({
    "low_product_plain": {"constants": {"BLOCK_K": [16, 64], "STRIPE": [1]}}})");
  const auto bench = [&](const std::string& grouped) {
    return filter({"bench", "matmul", "--type=int8-scaled", "--shapes=256x70x130", grouped,
                   "--trials=1", "--device=opencl", "--json"},
                  here());
  };
  EXPECT_EQ(tuned_row(bench("--grouped=masked")), "");
  expect_right_choice(
      {"low-precision", "--type=int8-scaled"}, "int8-scaled product, masked",
      [](const Json& candidate) { return candidate["constants"]["BLOCK_K"] == 64; });
  for (const char* grouped : {"--grouped=masked", "--grouped=contiguous"}) {
    const std::string found = tuned_row(bench(grouped));
    EXPECT_TRUE(begins(found, "plain 64x64: OpenCL C, 4x4 a work-item, 1 stage of 16 bytes"));
    EXPECT_TRUE(contains(found, "; tuned here: "));
  }
  // Another driver has other choices.
  const std::string store = folder_ / "cache/gpufilter/tuning.json";
  Json json = Json::parse(read_file(store));
  Json devices = Json::object();
  for (const auto& [place, kernels] : json["devices"].items())
    devices[place + ".1"] = kernels;
  json["devices"] = devices;
  write_file(store, json.dump());
  const ProcessResult other = bench("--grouped=masked");
  EXPECT_EQ(tuned_row(other), "");
  EXPECT_TRUE(
      contains(other.out, "nothing is tuned for these products; 'gpufilter tune low-precision'"));
}

// However little the time is, each kernel is tried; one that compared nothing is tried again.
TEST_F(TuneOthers, SecondsAreSharedByAllKernels) {
  GPUFILTER_REQUIRE_DEVICE();
  kernels_.write("candidates.json", R"({
    "low_product_plain": {"constants": {"STRIPE": [1, 2, 4, 8], "LITERALS": [0, 1],
                                        "GROUPS_A_UNIT": [0, 1, 2, 3]}}})");
  const auto tuned = [this] {
    return filter_json(0,
                       {"tune", "low-precision", "--type=int8,int8-scaled", "--seconds=1",
                        "--device=opencl", "--json"},
                       here())["devices"][0]["kernels"];
  };
  const Json kernels = tuned();
  ASSERT_EQ(kernels.size(), 8U);
  bool all_tried = true;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Json& kernel = kernels[i];
    EXPECT_EQ(kernel["site"].get<std::string>().substr(0, 12),
              i % 2 == 0 ? "int8 product" : "int8-scaled ");
    EXPECT_EQ(kernel["candidates"], 32) << kernel["site"];
    ASSERT_GE(kernel["tried"].size(), 1U) << kernel["site"];
    EXPECT_EQ(kernel["tried"][0]["constants"]["STRIPE"], 8) << "the usual one";
    EXPECT_TRUE(kernel["chosen"].is_object()) << kernel["site"];
    all_tried &= kernel["tried"].size() == 32;
  }
  EXPECT_FALSE(all_tried) << "256 candidates in a second";
  const Json again = tuned();
  ASSERT_EQ(again.size(), 8U);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    EXPECT_EQ(again[i]["known"], kernels[i]["tried"].size() > 1) << kernels[i];
  ended(2, filter({"tune", "low-precision", "--seconds=0"}));
}

TEST_F(TuneOthers, AWrongShapeOfAFusedKernelIsNeverChosen) {
  GPUFILTER_REQUIRE_DEVICE();
  kernels_.write("candidates.json", R"({
    "fused, light": {"pixels": [4, 8], "lines": [1], "groups": ["64x1"]}})");
  kernels_.replace("fused.cl", "TAKE_RUN(out,",
                   "if (PIXELS == 4 && x > 40) out[1].at[0] ^= 1;\n    TAKE_RUN(out,");
  expect_right_choice({"color"}, "fused, light 3x8 to 3x8",
                      [](const Json& candidate) { return candidate["pixels"] == 4; });
  const std::string in = stored(random_image(size_, format_, 1), "in.png");
  const Json pass = filter_json(
      0, {in, folder_ / "out.png", "--color", "sepia", "--device", "opencl", "--timing", "json"},
      here())["passes"][0];
  EXPECT_TRUE(pass["reason"].get<std::string>().starts_with("tuned here: ")) << pass;
  EXPECT_TRUE(contains(pass["variant"].get<std::string>(), "pixels per work-item"));
}

TEST_F(Tune, WhatWasTunedIsKeptAndUsed) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(blurred()["reason"], "requested");
  const Json first = site(tune(0), "blur_naive 3x8 to 3x8");
  EXPECT_FALSE(first["known"]);
  const Json pass = blurred();
  EXPECT_TRUE(pass["reason"].get<std::string>().starts_with("tuned here: ")) << pass;
  EXPECT_TRUE(contains(pass["reason"].get<std::string>(), " ms, next best "));
  const Json again = site(tune(0), "blur_naive 3x8 to 3x8");
  EXPECT_TRUE(again["known"]);
  EXPECT_EQ(again["chosen"], first["chosen"]);
  // A changed version of the kernel counts as a different kernel.
  write_file(folder_ / "kernels/blur.cl", read_file(folder_ / "kernels/blur.cl") + "\n// new\n");
  EXPECT_EQ(blurred()["reason"], "requested");
  // A damaged file is ignored.
  write_file(folder_ / "cache/gpufilter/tuning.json", "{");
  EXPECT_EQ(blurred()["reason"], "requested");
}

TEST_F(Tune, MeasuresTheCopyThatDevicesShows) {
  GPUFILTER_REQUIRE_DEVICE();
  const auto copy = [this] {
    const Json found = Json::parse(filter({"devices", "--json"}, here()).out);
    for (const Json& device : found["devices"]) {
      if (!device["copy_gigabytes_per_second"].is_null())
        return device["copy_gigabytes_per_second"].get<double>();
    }
    return 0.0;
  };
  EXPECT_EQ(copy(), 0);
  ended(0, filter({"tune", "tonemap", "--channels", "1", "--depth", "8", "--device", "opencl"},
                  here()));
  EXPECT_GT(copy(), 0.01);
  EXPECT_LT(copy(), 100'000);
}

TEST_F(Tune, RefusesWhatItCannotTune) {
  const std::string no_kernels =
      "gpufilter: --device cpu: the processor has no kernels to tune; choose all, gpu, opencl or a "
      "device of 'gpufilter devices'\n";
  EXPECT_EQ(ended(2, filter({"tune", "--device", "cpu"})).err, no_kernels);
  EXPECT_EQ(filter({"tune", "blur"}, {.environment = {{"GPUFILTER_DEVICE", "cpu"}}}).err,
            no_kernels);
  EXPECT_FALSE(contains(filter({"tune", "--help"}).out, "cpu"));
  EXPECT_TRUE(contains(filter({"verify", "--help"}).out, "cpu (only the"));
  expect_failure(2, {"tune", "sharpenn"}, {"sharpenn"});
  expect_failure(2, {"tune", "--depth", "12"}, {"--depth"});
  EXPECT_EQ(filter({"tune", "products", "--type=int8,float16"}).err,
            "gpufilter: tune: --type is for low-precision: 'gpufilter tune low-precision --type "
            "int8,float16'\n");
  expect_failure(2, {"tune", "low-precision", "--type=int4"}, {"int4"});
}

}  // namespace
}  // namespace gpufilter::test
