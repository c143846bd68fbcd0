// Programs of kernels: fused, and in the cache.
#include <functional>
#include <tuple>

#include "cli/program_fixture.hpp"

namespace gpufilter::test {
namespace {

// Stages that share a kernel, as users see them: --show-kernel, --no-fuse, the report, programs in
// the cache, and --max-memory for networks that are too wide to share.

class FilterFusion : public ProgramTest {
 protected:
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
  const std::string in_ = stored(random_image(size_, format_, 1), "in.png");
  const std::string out_ = folder_ / "out.png";
  const std::string cache_ = folder_ / "cache";
  const ProcessOptions own_cache_{.environment = {{"XDG_CACHE_HOME", cache_}}};
};

Words with(Words options, const Words& more) {
  options = options + more;
  return options;
}

TEST_F(FilterFusion, AFirstRunOfAChainCompilesOneProgramAndTheNextNone) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(programs(account(chain_)), Words{"color + blur + levels: compiled"});
  EXPECT_EQ(cached_programs(), 1U);
  EXPECT_EQ(programs(account(chain_)), Words{"color + blur + levels: cache"});
  EXPECT_EQ(cached_programs(), 1U);
}

TEST_F(FilterFusion, WithoutItEachStageHasAKernelAndTheBitsAreTheSame) {
  GPUFILTER_REQUIRE_DEVICE();
  static_cast<void>(account(chain_));
  const std::string fused = read_file(out_);
  EXPECT_EQ(programs(account(with(chain_, {"--no-fuse"}))),
            (Words{"color: compiled", "blur: compiled", "levels: compiled"}));
  EXPECT_EQ(read_file(out_), fused);
  filter_quietly(with({in_, out_, "--device", "cpu", "--on-exists", "overwrite"}, chain_));
  EXPECT_EQ(read_file(out_), fused);
}

TEST_F(FilterFusion, StatisticsRideAlong) {
  GPUFILTER_REQUIRE_DEVICE();
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
  GPUFILTER_REQUIRE_DEVICE();
  const auto shown = [&](const Words& options) {
    return filter_quietly(with({in_, out_, "--device", "opencl", "--show-kernel", "--on-exists",
                                "overwrite", "--color", "sepia", "--levels", "auto"},
                               options),
                          own_cache_)
        .out;
  };
  const std::string fused = shown({});
  expect_parts(
      fused, {"// color + statistics: ", "// color + levels: ", "void fused(", "void stage_0_run(",
              "void stage_1_run(", "void count_pixel(", "// options: "});
  const std::string apart = shown({"--no-fuse"});
  expect_parts(apart, {"// color: ", "// statistics: ", "// levels: ", "void count_values("});
  EXPECT_FALSE(contains(apart, "void stage_1_run("));
}

// The same bits in blocks of any height, and no more memory than was allowed.
TEST_F(FilterFusion, WideNetworksKeepToTheMemoryThatIsAllowed) {
  GPUFILTER_REQUIRE_DEVICE();
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

class FilterCache : public ProgramTest {
 protected:
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

  const Image image_ = random_image(size_, format_, 1);
  const std::string in_ = stored(image_, "in.png");
  const std::string out_ = folder_ / "out.png";
  const std::string cache_ = folder_ / "cache";
  const ProcessOptions own_cache_{
      .environment = {{"XDG_CACHE_HOME", cache_}, {"TMPDIR", folder_.path()}}};
};

TEST_F(FilterCache, LeavesNoScratchFolder) {
  GPUFILTER_REQUIRE_DEVICE();
  forget_pocl_cache();
  EXPECT_EQ(program_of(own_cache_), "compiled");
  for (const std::string& name : names_in(fs::path(cache_) / "gpufilter")) {
    EXPECT_TRUE(name == "programs" || name == "rates.json" || name == "probes.json") << name;
  }
  EXPECT_EQ(names_in(folder_.path()), (Words{"cache", "in.png"}));
}

TEST_F(FilterCache, KeepsProgramsForTheNextRunAndReplacesDamagedOnes) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(program_of(own_cache_), "compiled");
  EXPECT_FALSE(cached_files().empty());
  EXPECT_EQ(program_of(own_cache_), "cache");
  const std::vector<std::pair<const char*, std::function<void(const fs::path&)>>> damages{
      {"cut", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); }},
      {"garbage",
       [](const fs::path& file) { write_file(file, std::string(fs::file_size(file), '\x5a')); }},
  };
  for (const auto& [name, damage] : damages) {
    SCOPED_TRACE(name);
    for (const fs::path& file : cached_files())
      damage(file);
    EXPECT_EQ(program_of(own_cache_), "compiled");
    EXPECT_EQ(program_of(own_cache_), "cache") << "the damaged one was replaced";
  }
}

TEST_F(FilterCache, AFolderInAProgramsPlaceIsNoFailure) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(program_of(own_cache_), "compiled");
  for (const fs::path& file : cached_files()) {
    fs::remove(file);
    fs::create_directory(file);
  }
  EXPECT_EQ(program_of(own_cache_), "compiled");
}

TEST_F(FilterCache, PlacesThatCannotBeWrittenAreNoFailure) {
  GPUFILTER_REQUIRE_DEVICE();
  forget_pocl_cache();
  EXPECT_EQ(program_of(with("XDG_CACHE_HOME", in_)), "compiled");
  EXPECT_EQ(program_of(with("XDG_CACHE_HOME", "/proc/nowhere")), "compiled");
  EXPECT_EQ(names_in(folder_.path()), (Words{"in.png"}));
}

TEST_F(FilterCache, NoHomeIsNoFailure) {
  GPUFILTER_REQUIRE_DEVICE();
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
  GPUFILTER_REQUIRE_DEVICE();
  ProcessOptions options = with("HOME", folder_ / "home");
  for (const std::string unusable : {"", "relative"}) {
    options.environment["XDG_CACHE_HOME"] = unusable;
    EXPECT_EQ(program_of(options), unusable.empty() ? "compiled" : "cache");
  }
  EXPECT_TRUE(fs::exists(folder_ / "home/.cache/gpufilter/programs"));
}

TEST_F(FilterCache, AnUnusablePoclCacheIsReplacedWithAWarning) {
  GPUFILTER_REQUIRE_DEVICE();
  std::string messages;
  EXPECT_EQ(program_of(with("POCL_CACHE_DIR", "/proc/nowhere"), &messages), "compiled");
  expect_one_line(messages, {"POCL_CACHE_DIR", "/proc/nowhere"});
  EXPECT_EQ(names_in(folder_.path()), (Words{"cache", "in.png"}));
}

TEST_F(FilterCache, AUsablePoclCacheIsKept) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(program_of(with("POCL_CACHE_DIR", folder_ / "pocl")), "compiled");
  EXPECT_TRUE(fs::is_directory(folder_ / "pocl"));
}

}  // namespace
}  // namespace gpufilter::test
