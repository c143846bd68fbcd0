// Programs of kernels: fused, in the cache, and tuned.

#include "cli/program_fixture.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

struct FilterFusion : OnePicture {
  void SetUp() override { GPUFILTER_REQUIRE_DEVICE(); }

  // Runs the stages on an OpenCL device with a separate cache. Returns the report as JSON.
  [[nodiscard]] Json account(Words options) const {
    options.insert(options.begin(), {in_, out_, "--device", "opencl", "--require-device", "-q",
                                     "--on-exists", "overwrite", "--timing", "json"});
    return filter_json(0, options, own_cache_);
  }

  // "compiled" or "cache" for each pass, with its stages.
  [[nodiscard]] static Words programs(const Json& account) {
    Words all;
    for (const Json& pass : account["passes"])
      all.push_back(pass["stage"].get<std::string>() + ": " + pass["program"].get<std::string>());
    return all;
  }

  [[nodiscard]] std::size_t cached_programs() const {
    return names_in(fs::path(cache_) / "gpufilter" / "programs").size();
  }

  // A network of random weights with two layers of this width in the middle.
  [[nodiscard]] std::string network(int width) const {
    std::uint32_t state = 1;
    const auto numbers = [&state](int count) {
      Json list = Json::array();
      for (int i = 0; i < count; ++i) {
        state = state * 1664525U + 1013904223U;
        list.push_back(static_cast<double>(state >> 8U) / (1U << 24U) / 8 - 0.05);
      }
      return list;
    };
    Json layers = Json::array();
    const std::vector<int> widths{3, width, width, 3};
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      Json weights = Json::array();
      for (int o = 0; o < widths[i + 1]; ++o)
        weights.push_back(numbers(widths[i]));
      layers.push_back(
          {{"weights", weights}, {"bias", numbers(widths[i + 1])}, {"activation", "relu"}});
    }
    const std::string path = folder_ / "network.json";
    write_file(path, Json{{"format", "gpufilter-network-1"}, {"layers", layers}}.dump());
    return path;
  }

  const Words chain_{"--color", "sepia", "--blur", "auto", "--levels", "10,200"};
  const std::string cache_ = folder_ / "cache";
  const ProcessOptions own_cache_{.environment = {{"XDG_CACHE_HOME", cache_}}};
};

Words with(Words options, const Words& more) {
  options = options + more;
  return options;
}

TEST_F(FilterFusion, AFirstRunOfAChainCompilesOneProgramAndTheNextNone) {
  EXPECT_EQ(programs(account(chain_)), Words{"color + blur + levels: compiled"});
  EXPECT_EQ(cached_programs(), 1U);
  EXPECT_EQ(programs(account(chain_)), Words{"color + blur + levels: cache"});
  EXPECT_EQ(cached_programs(), 1U);
}

TEST_F(FilterFusion, WithoutItEachStageHasAKernelAndTheBitsAreTheSame) {
  static_cast<void>(account(chain_));
  const std::string fused = read_file(out_);
  EXPECT_EQ(programs(account(with(chain_, {"--no-fuse"}))),
            (Words{"color: compiled", "blur: compiled", "levels: compiled"}));
  EXPECT_EQ(read_file(out_), fused);
  filter_quietly(with({in_, out_, "--device", "cpu", "--on-exists", "overwrite"}, chain_));
  EXPECT_EQ(read_file(out_), fused);
}

TEST_F(FilterFusion, StatisticsRideAlong) {
  const Words chain{"--color",  "sepia", "--blur",    "auto",
                    "--levels", "auto",  "--tonemap", "filmic"};
  EXPECT_EQ(programs(account(chain)), (Words{"color + blur + statistics: compiled",
                                             "color + blur + levels + statistics: compiled",
                                             "color + blur + levels + tonemap: compiled"}));
  const std::string fused = read_file(out_);
  const auto apart = programs(account(with(chain, {"--no-fuse"})));
  EXPECT_EQ(apart.size(), 11U) << "2 and 3 with statistics, then 4";
  EXPECT_EQ(read_file(out_), fused);
}

TEST_F(FilterFusion, ShowsTheKernelsThatRan) {
  const auto shown = [&](const Words& options) {
    return filter_quietly(with({in_, out_, "--device", "opencl", "--show-kernel", "--on-exists",
                                "overwrite", "--color", "sepia", "--levels", "auto"},
                               options),
                          own_cache_)
        .out;
  };
  expect_parts(shown({}),
               {"// color + statistics: ", "// color + levels: ", "void fused(",
                "void stage_0_run(", "void stage_1_run(", "void count_pixel(", "// options: "});
  const std::string apart = shown({"--no-fuse"});
  expect_parts(apart, {"// color: ", "// statistics: ", "// levels: ", "void count_values("});
  EXPECT_FALSE(contains(apart, "void stage_1_run("));
}

// Blocks of any height give the same bits, and take no more memory than is allowed.
TEST_F(FilterFusion, WideNetworksKeepToTheMemoryThatIsAllowed) {
  const std::string picture = stored(random_image({300, 200}, {3, 8}, 2), "large.png");
  const std::string weights = network(256);
  std::string expected;
  std::uint64_t plenty = 0;
  for (const std::uint64_t memory : {512U, 8U}) {
    const ProcessResult result =
        ended(0, filter({picture, out_, "--mlp", weights, "--device", "opencl", "--require-device",
                         "-q", "--on-exists", "overwrite", "--timing", "json", "--max-memory",
                         std::to_string(memory) + "M"},
                        optimised()));
    const Json report = Json::parse(result.out);
    EXPECT_LE(report["memory_bytes"], memory << 20U);
    if (expected.empty()) {
      expected = read_file(out_);
      plenty = result.peak_memory;
      EXPECT_GT(report["memory_bytes"], 60U << 20U) << "the numbers between layers are counted";
      continue;
    }
    EXPECT_EQ(read_file(out_), expected);
    if (report["device"]["kind"] == "cpu") {
      EXPECT_LT(result.peak_memory + (40U << 20U), plenty);
    }
  }
}

// A cache that does not work costs time, never a picture.

struct FilterCache : OnePicture {
  void SetUp() override { GPUFILTER_REQUIRE_DEVICE(); }

  // Runs a blur, which has to succeed. Returns what the report says about its program: "compiled"
  // or "cache".
  [[nodiscard]] std::string program_of(const ProcessOptions& options,
                                       std::string* messages = nullptr) const {
    const ProcessResult result = ended(
        0, filter({in_, out_, "--blur", "naive", "--timing", "json", "--require-device"}, options));
    EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
    fs::remove(out_);
    if (messages == nullptr) {
      EXPECT_EQ(result.err, "");
    } else {
      *messages = result.err;
    }
    return Json::parse(result.out)["passes"][0]["program"];
  }

  [[nodiscard]] std::vector<fs::path> cached_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(cache_)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
  }

  [[nodiscard]] ProcessOptions with(const std::string& name, const std::string& value) const {
    ProcessOptions options = own_cache_;
    options.environment[name] = value;
    return options;
  }

  const std::string cache_ = folder_ / "cache";
  const ProcessOptions own_cache_{
      .environment = {{"XDG_CACHE_HOME", cache_}, {"TMPDIR", folder_.path()}}};
};

TEST_F(FilterCache, LeavesNoScratchFolder) {
  forget_pocl_cache();
  EXPECT_EQ(program_of(own_cache_), "compiled");
  for (const std::string& name : names_in(fs::path(cache_) / "gpufilter"))
    EXPECT_TRUE(name == "programs" || name == "rates.json" || name == "probes.json") << name;
  EXPECT_EQ(names_in(folder_.path()), (Words{"cache", "in.png"}));
}

TEST_F(FilterCache, KeepsProgramsForTheNextRunAndReplacesDamagedOnes) {
  EXPECT_EQ(program_of(own_cache_), "compiled");
  EXPECT_FALSE(cached_files().empty());
  EXPECT_EQ(program_of(own_cache_), "cache");
  const std::vector<std::pair<const char*, std::function<void(const fs::path&)>>> damages{
      {"cut", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); }},
      {"garbage",
       [](const fs::path& file) { write_file(file, std::string(fs::file_size(file), '\x5a')); }}};
  for (const auto& [name, damage] : damages) {
    SCOPED_TRACE(name);
    for (const fs::path& file : cached_files())
      damage(file);
    EXPECT_EQ(program_of(own_cache_), "compiled");
    EXPECT_EQ(program_of(own_cache_), "cache") << "the damaged one was replaced";
  }
}

TEST_F(FilterCache, AFolderInAProgramsPlaceIsNoFailure) {
  EXPECT_EQ(program_of(own_cache_), "compiled");
  for (const fs::path& file : cached_files()) {
    fs::remove(file);
    fs::create_directory(file);
  }
  EXPECT_EQ(program_of(own_cache_), "compiled");
}

TEST_F(FilterCache, PlacesThatCannotBeWrittenAreNoFailure) {
  forget_pocl_cache();
  EXPECT_EQ(program_of(with("XDG_CACHE_HOME", in_)), "compiled");
  EXPECT_EQ(program_of(with("XDG_CACHE_HOME", "/proc/nowhere")), "compiled");
  EXPECT_EQ(names_in(folder_.path()), (Words{"in.png"}));
}

TEST_F(FilterCache, NoHomeIsNoFailure) {
  EXPECT_EQ(ended(0, run_process({"env", "-u", "HOME", "-u", "XDG_CACHE_HOME", "-u",
                                  "POCL_CACHE_DIR", GPUFILTER_PROGRAM, in_, out_, "--blur", "naive",
                                  "-q", "--require-device"},
                                 {.environment = {{"TMPDIR", folder_.path()}}}))
                .err,
            "");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
  EXPECT_EQ(names_in(folder_.path()), (Words{"in.png", "out.png"}));
}

TEST_F(FilterCache, HomeStandsInForTheCacheFolder) {
  ProcessOptions options = with("HOME", folder_ / "home");
  for (const std::string unusable : {"", "relative"}) {
    options.environment["XDG_CACHE_HOME"] = unusable;
    EXPECT_EQ(program_of(options), unusable.empty() ? "compiled" : "cache");
  }
  EXPECT_TRUE(fs::exists(folder_ / "home/.cache/gpufilter/programs"));
}

TEST_F(FilterCache, AnUnusablePoclCacheIsReplacedWithAWarning) {
  std::string messages;
  EXPECT_EQ(program_of(with("POCL_CACHE_DIR", "/proc/nowhere"), &messages), "compiled");
  expect_one_line(messages, {"POCL_CACHE_DIR", "/proc/nowhere"});
  EXPECT_EQ(names_in(folder_.path()), (Words{"cache", "in.png"}));
}

TEST_F(FilterCache, AUsablePoclCacheIsKept) {
  EXPECT_EQ(program_of(with("POCL_CACHE_DIR", folder_ / "pocl")), "compiled");
  EXPECT_TRUE(fs::is_directory(folder_ / "pocl"));
}

// "gpufilter tune": candidates are proved, timed, stored and used.

struct Tune : ProgramTest {
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
struct TuneOthers : Tune {
  void SetUp() override { GPUFILTER_REQUIRE_DEVICE(); }

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
  EXPECT_TRUE(contains(
      ended(0, filter({in, out_, "--levels", "auto", "--device", "opencl", "--timing", "json"},
                      here()))
          .out,
      "tuned here: "));
}

TEST_F(TuneOthers, AWrongMatrixProductIsNeverChosen) {
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
  kernels_.write("candidates.json", R"({
    "fused, light": {"pixels": [4, 8], "lines": [1], "groups": ["64x1"]}})");
  kernels_.replace("fused.cl", "TAKE_RUN(out,",
                   "if (PIXELS == 4 && x > 40) out[1].at[0] ^= 1;\n    TAKE_RUN(out,");
  expect_right_choice({"color"}, "fused, light 3x8 to 3x8",
                      [](const Json& candidate) { return candidate["pixels"] == 4; });
  const std::string in = stored(random_image(size_, format_, 1), "in.png");
  const Json pass =
      filter_json(0, {in, out_, "--color", "sepia", "--device", "opencl", "--timing", "json"},
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
  // A changed kernel is another kernel for the store.
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
