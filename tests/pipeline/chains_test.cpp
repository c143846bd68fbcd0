// Stages one after the other, from file to file: the same bits on every device and for every band
// height, in every order, even if a stage needs the whole picture first.
#include <stdexcept>

#include <gtest/gtest.h>

#include "pipeline/run/run.hpp"
#include "stage/options/catalogue.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

struct StageUse {
  const char* option;
  const char* value;
};

constexpr std::array uses{StageUse{"--blur", "tiled"}, StageUse{"--color", "sepia"},
                          StageUse{"--levels", "auto=1"}, StageUse{"--tonemap", "reinhard"},
                          StageUse{"--mlp", GPUFILTER_SOURCE "/samples/networks/golden-hour.json"}};

std::shared_ptr<const Stage> make_stage(const StageUse& use) {
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option == use.option) return kind.make(use.value, {});
  }
  throw std::logic_error(std::string("no stage ") + use.option);
}

class Chains : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Engine> engine(std::optional<DeviceInfo> device,
                                               std::optional<int> rows) const {
    EngineOptions options{.band_rows = rows};
    // PoCL keeps what it compiled as long as the process lives; a binary would cost more.
    if (device && device->kind != DeviceKind::cpu)
      options.cache = ProgramCache(folder_.path() / "cache");
    return std::make_unique<Engine>(std::vector<DeviceCandidate>{{std::move(device), "requested"}},
                                    std::move(options));
  }

  RunReport filter(Engine& engine, const StageChain& chain) const {
    return filter_picture(folder_ / "in.png", folder_ / "out.png", nullptr, chain, engine, {});
  }

  test::TemporaryFolder folder_;
};

TEST_F(Chains, OfThreeInEveryOrderAreTheSameEverywhere) {
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 16}}) {
    test::write_png(test::random_image({61, 47}, format, 31), folder_ / "in.png");
    const auto reference = engine(std::nullopt, std::nullopt);
    std::vector<std::unique_ptr<Engine>> engines;
    std::vector<std::unique_ptr<Engine>> devices;
    for (const int rows : {1, 13, 1000}) {
      engines.push_back(engine(std::nullopt, rows));
      for (const auto& session : test::all_sessions()) {
        devices.push_back(engine(session->device(), rows));
      }
    }
    constexpr std::size_t kinds = uses.size();
    for (std::size_t i = 0; i < kinds * kinds * kinds; ++i) {
      const std::array order{uses.at(i % kinds), uses.at(i / kinds % kinds),
                             uses.at(i / kinds / kinds)};
      const StageChain chain{make_stage(order[0]), make_stage(order[1]), make_stage(order[2])};
      filter(*reference, chain);
      const Image expected = test::read_picture(folder_ / "out.png");
      const auto check = [&](Engine& other) {
        const RunReport report = filter(other, chain);
        other.keep_programs();
        ASSERT_TRUE(test::same_pixels(test::read_picture(folder_ / "out.png"), expected))
            << report.engine.device << ", " << to_string(format) << ": " << order[0].option << " "
            << order[1].option << " " << order[2].option;
      };
      for (const auto& other : engines)
        check(*other);
      // Every chain requires a program to be compiled: on devices, every stage comes before, after
      // and two after every other.
      const std::size_t third = (i + i / kinds) % kinds;
      if (i / kinds / kinds == third && i % 2 == (format.depth == 8 ? 0U : 1U)) {
        for (const auto& other : devices)
          check(*other);
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(Chains, StretchWhatPrecedesThemNotTheInput) {
  Image image({4, 1}, {1, 8});
  constexpr std::array<std::uint32_t, 4> samples{0, 60, 90, 200};
  for (int x = 0; x < 4; ++x)
    test::set_sample(image, x, 0, 0, samples.at(static_cast<std::size_t>(x)));
  test::write_png(image, folder_ / "in.png");
  const auto on_host = engine(std::nullopt, std::nullopt);
  // 50..100 becomes 0..255; the values 0, 51, 204, 255 already cover the full range, so nothing
  // changes any more.
  const StageChain chain{make_stage({"--levels", "50,100"}), make_stage({"--levels", "auto"})};
  const RunReport report = filter(*on_host, chain);
  const Image result = test::read_picture(folder_ / "out.png");
  EXPECT_EQ(test::sample_at(result, 0, 0, 0), 0U);
  EXPECT_EQ(test::sample_at(result, 1, 0, 0), 51U);
  EXPECT_EQ(test::sample_at(result, 2, 0, 0), 204U);
  EXPECT_EQ(test::sample_at(result, 3, 0, 0), 255U);
  // Once through the picture for its statistics, once to write it, with both tables as one.
  ASSERT_EQ(report.passes.size(), 3U);
  EXPECT_EQ(report.passes[0].stage, "levels");
  EXPECT_EQ(report.passes[1].stage, "statistics");
  EXPECT_EQ(report.passes[1].walk, 0);
  EXPECT_EQ(report.passes[2].walk, 1);
}

TEST_F(Chains, ReportProgressOverAllWalks) {
  test::write_png(test::random_image({20, 10}, {3, 8}, 32), folder_ / "in.png");
  const auto on_host = engine(std::nullopt, 5);
  std::vector<std::pair<std::int64_t, std::int64_t>> reported;
  RunOptions options;
  options.on_progress = [&](std::int64_t done, std::int64_t all) {
    reported.emplace_back(done, all);
  };
  static_cast<void>(filter_picture(folder_ / "in.png", folder_ / "out.png", nullptr,
                                   {make_stage({"--levels", "auto"})}, *on_host, options));
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected{
      {5, 20}, {10, 20}, {15, 20}, {20, 20}};
  EXPECT_EQ(reported, expected);
}

}  // namespace
}  // namespace gpufilter
