// Stages that share a kernel, as users see them: --show-kernel, --no-fuse, the report, programs in
// the cache, and --max-memory for networks that are too wide to share.
#include "cli/filter_fixture.hpp"
#include "cli/optimised.hpp"

namespace gpufilter::test {
namespace {

class FilterFusion : public FilterTest {
 protected:
  // Runs the stages on an OpenCL device with a separate cache. Returns the report as JSON.
  [[nodiscard]] Json account(std::vector<std::string> options) const {
    options.insert(options.begin(), {in_, out_, "--device", "opencl", "--require-device", "-q",
                                     "--on-exists", "overwrite", "--timing", "json"});
    return Json::parse(ended(0, filter(options, own_cache_)).out);
  }

  // "compiled" or "cache" for each pass, with its stages.
  [[nodiscard]] static std::vector<std::string> programs(const Json& account) {
    std::vector<std::string> all;
    for (const Json& pass : account["passes"])
      all.push_back(pass["stage"].get<std::string>() + ": " + pass["program"].get<std::string>());
    return all;
  }

  [[nodiscard]] std::size_t cached_programs() const {
    return names_in(std::filesystem::path(cache_) / "gpufilter" / "programs").size();
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

  const std::vector<std::string> chain_{"--color", "sepia", "--blur", "auto", "--levels", "10,200"};
  const std::string in_ = stored(random_image(size_, format_, 1), "in.png");
  const std::string out_ = folder_ / "out.png";
  const std::string cache_ = folder_ / "cache";
  const ProcessOptions own_cache_{.environment = {{"XDG_CACHE_HOME", cache_}}};
};

std::vector<std::string> with(std::vector<std::string> options,
                              const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

TEST_F(FilterFusion, AFirstRunOfAChainCompilesOneProgramAndTheNextNone) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(programs(account(chain_)), std::vector<std::string>{"color + blur + levels: compiled"});
  EXPECT_EQ(cached_programs(), 1U);
  EXPECT_EQ(programs(account(chain_)), std::vector<std::string>{"color + blur + levels: cache"});
  EXPECT_EQ(cached_programs(), 1U);
}

TEST_F(FilterFusion, WithoutItEachStageHasAKernelAndTheBitsAreTheSame) {
  GPUFILTER_REQUIRE_DEVICE();
  static_cast<void>(account(chain_));
  const std::string fused = read_file(out_);
  EXPECT_EQ(programs(account(with(chain_, {"--no-fuse"}))),
            (std::vector<std::string>{"color: compiled", "blur: compiled", "levels: compiled"}));
  EXPECT_EQ(read_file(out_), fused);
  filter_quietly(with({in_, out_, "--device", "cpu", "--on-exists", "overwrite"}, chain_));
  EXPECT_EQ(read_file(out_), fused);
}

TEST_F(FilterFusion, StatisticsRideAlong) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::vector<std::string> chain{"--color",  "sepia", "--blur",    "auto",
                                       "--levels", "auto",  "--tonemap", "filmic"};
  EXPECT_EQ(programs(account(chain)),
            (std::vector<std::string>{"color + blur + statistics: compiled",
                                      "color + blur + levels + statistics: compiled",
                                      "color + blur + levels + tonemap: compiled"}));
  const std::string fused = read_file(out_);
  const auto apart = programs(account(with(chain, {"--no-fuse"})));
  EXPECT_EQ(apart.size(), 11U) << "2 and 3 with statistics, then 4";
  EXPECT_EQ(read_file(out_), fused);
}

TEST_F(FilterFusion, ShowsTheKernelsThatRan) {
  GPUFILTER_REQUIRE_DEVICE();
  const auto shown = [&](const std::vector<std::string>& options) {
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

}  // namespace
}  // namespace gpufilter::test
