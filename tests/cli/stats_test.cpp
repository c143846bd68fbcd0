// "gpufilter stats" and "gpufilter info".
#include <cmath>

#include "cli/program_fixture.hpp"
#include "support/picture_counting.hpp"
#include "support/stage_cases.hpp"
#include "support/svg.hpp"

namespace gpufilter::test {
namespace {

// "gpufilter stats" as its users run it.

class Stats : public ProgramTest {
 protected:
  static ProcessResult stats(Words arguments, const ProcessOptions& options = {}) {
    arguments.insert(arguments.begin(), "stats");
    return filter(std::move(arguments), options);
  }

  static Json stats_json(Words arguments, const ProcessOptions& options = {}) {
    arguments.emplace_back("--json");
    const ProcessResult result = ended(0, stats(std::move(arguments), options));
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out.find('\n'), result.out.size() - 1) << "one line";
    return Json::parse(result.out);
  }

  void expect_trouble(int exit_code, Words arguments, const Words& parts) const {
    arguments.insert(arguments.begin(), "stats");
    expect_failure(exit_code, arguments, parts);
  }
};

// Compares everything in the JSON with a count of one sample at a time.
void expect_counted(const Json& json, const Image& image) {
  const auto totals = std::get<PictureTotals>(counted(image, Quantity::totals));
  const auto histograms = std::get<Histograms>(counted(image, Quantity::channel_histograms));
  const auto names = channel_names(image.format());
  const auto pixels = static_cast<double>(totals.pixels);
  ASSERT_EQ(json["channels"].size(), names.size());
  for (std::size_t c = 0; c < names.size(); ++c) {
    const Json& channel = json["channels"][c];
    const ChannelTotals& expected = totals.channels[c];
    EXPECT_EQ(channel["name"], names[c]);
    EXPECT_EQ(channel["count"], totals.pixels);
    EXPECT_EQ(channel["minimum"], expected.minimum);
    EXPECT_EQ(channel["maximum"], expected.maximum);
    EXPECT_EQ(channel["sum"], expected.sum);
    EXPECT_EQ(channel["sum_of_squares"], expected.sum_of_squares);
    EXPECT_EQ(std::stoull(channel["and"].get<std::string>(), nullptr, 16), expected.bit_and);
    EXPECT_EQ(std::stoull(channel["or"].get<std::string>(), nullptr, 16), expected.bit_or);
    EXPECT_EQ(std::stoull(channel["xor"].get<std::string>(), nullptr, 16), expected.bit_xor);
    EXPECT_EQ(channel["histogram"].get<Histogram>(), histograms.channels[c]);
    const double mean = static_cast<double>(expected.sum) / pixels;
    EXPECT_EQ(channel["mean"], mean);
    const double variance = static_cast<double>(expected.sum_of_squares) / pixels - mean * mean;
    EXPECT_NEAR(channel["standard_deviation"].get<double>(), std::sqrt(variance), 1e-6 * mean);
    std::vector<std::uint64_t> sorted;
    for (std::uint64_t value = 0; value < histograms.channels[c].size(); ++value)
      sorted.insert(sorted.end(), histograms.channels[c][value], value);
    EXPECT_EQ(channel["percentiles"].size(), 7U);
    for (const int percentage : {1, 5, 25, 50, 75, 95, 99}) {
      const std::size_t rank = (sorted.size() * static_cast<std::size_t>(percentage) + 99) / 100;
      EXPECT_EQ(channel["percentiles"][std::to_string(percentage)], sorted.at(rank - 1));
    }
  }
}

TEST_F(Stats, AreThoseOfEverySampleOnEveryDevice) {
  // Kernels are compiled here, whatever ran before: a compiler that warns would be seen.
  const ProcessOptions own_cache{.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}};
  Words devices{"cpu"};
  for (const auto& session : all_sessions())
    devices.push_back(std::to_string(session->device().index));
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({241, 67}, format, 1);
    const std::string path = folder_ / "in.png";
    write_png(image, path);
    for (const std::string& device : devices) {
      // Each format is a program to compile; the kernels' own tests have them all.
      if (device != "cpu" && (format.channels + format.depth / 16) % 2 == 0) continue;
      SCOPED_TRACE(to_string(format) + " on " + device);
      const Json json = stats_json({path, "--device", device}, own_cache);
      EXPECT_EQ(json["schema"], "gpufilter-stats-1");
      EXPECT_EQ(json["name"], path);
      EXPECT_EQ(json["width"], 241);
      EXPECT_EQ(json["height"], 67);
      EXPECT_EQ(json["depth"], format.depth);
      EXPECT_EQ(json["pixels"], 241 * 67);
      EXPECT_EQ(json["device"]["kind"] == "processor", device == "cpu");
      EXPECT_TRUE(json["device"]["reason"].get<std::string>().starts_with("requested"));
      expect_counted(json, image);
    }
  }
}

TEST_F(Stats, SayWhyTheProcessorCounted) {
  const std::string path = stored(random_image({5, 4}, {3, 8}, 1), "in.png");
  EXPECT_EQ(stats_json({path})["device"]["reason"],
            "statistics take less time than starting a device");
  const Json asked = stats_json({path, "--device", "cpu"})["device"];
  EXPECT_EQ(asked["reason"], "requested");
  EXPECT_EQ(asked["left_out"], Json::array());
}

TEST_F(Stats, OfManyBandsAndOfAJpeg) {
  const std::string path = folder_ / "in.jpg";
  write_picture(random_image({1501, 1203}, {3, 8}, 2).rows(), path);
  expect_counted(stats_json({path}), read_picture(path));
}

TEST_F(Stats, TableOfAPipedPicture) {
  Image image({2, 2}, {1, 8});
  for (int i = 0; i < 4; ++i)
    set_sample(image, i % 2, i / 2, 0, static_cast<std::uint32_t>(i));
  const std::string path = folder_ / "in.png";
  write_png(image, path);
  const ProcessResult result = ended(
      0,
      stats({"-", "--device=cpu"}, {.input = read_file(path),
                                    .environment = {{"GPUFILTER_INSTRUCTION_SET", "baseline"}}}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "standard input: 2x2, grey, 8-bit\n"
            "                        grey\n"
            "count                      4\n"
            "minimum                    0\n"
            "maximum                    3\n"
            "mean                  1.5000\n"
            "deviation             1.1180\n"
            "percentile 1               0\n"
            "percentile 5               0\n"
            "percentile 25              0\n"
            "percentile 50              1\n"
            "percentile 75              2\n"
            "percentile 95              3\n"
            "percentile 99              3\n"
            "and                     0x00\n"
            "or                      0x03\n"
            "xor                     0x00\n"
            "counted by the processor (baseline)\n");
}

TEST_F(Stats, PlotIsAnSvgFile) {
  const std::string path = folder_ / "in.png";
  write_png(random_image({64, 48}, {3, 8}, 3), path);
  EXPECT_TRUE(contains(ended(0, stats({path, "--plot", folder_ / "plot.svg"})).out, "percentile"))
      << "the table is printed too";
  const std::string svg = read_file(folder_ / "plot.svg");
  EXPECT_TRUE(begins(svg, "<svg "));
  EXPECT_EQ(objection_to_svg(svg), "");
}

TEST_F(Stats, FailuresAreOneLineAndLeaveNothing) {
  const std::string path = folder_ / "in.png";
  write_png(random_image({64, 48}, {3, 8}, 4), path);
  const std::string cut = folder_ / "cut.png";
  write_file(cut, read_file(path).substr(0, 5000));
  write_file(folder_ / "text.png", "no picture");
  const std::string plot = folder_ / "plot.svg";
  expect_trouble(1, {folder_ / "none.png"}, {"none.png"});
  expect_trouble(1, {folder_ / "text.png"}, {"text.png", "not a PNG, "});
  expect_trouble(1, {cut, "--plot", plot}, {"cut.png"});
  expect_trouble(1, {path, "--max-pixels", "3071"}, {"in.png", "--max-pixels"});
  expect_trouble(1, {path, "--plot", folder_ / "no/plot.svg"}, {"no"});
  expect_trouble(2, {folder_.path()}, {"is a folder"});
  expect_trouble(2, {path, "--plot", folder_.path()}, {"is a folder"});
  expect_trouble(2, {path, "--plot", folder_ / "plot.png"}, {"plot.png", ".svg"});
  expect_trouble(2, {path, "--plot", "-"}, {"--plot"});
  expect_trouble(2, {path, "--plot", path}, {"in.png", "is the input picture"});
  expect_trouble(2, {}, {"FILE is required"});
  expect_trouble(2, {path, path}, {"too many"});
  expect_trouble(2, {path, "--frobnicate"}, {"--frobnicate"});
  expect_trouble(2, {path, "--max-pixels", "0"}, {"--max-pixels"});
  expect_trouble(2, {path, "--device", "cpu", "--require-device"}, {"cpu"});
  expect_trouble(3, {path, "--device", "no such device"}, {"no such device"});
}

TEST_F(Stats, ALostResultIsAnError) {
  const std::string path = folder_ / "in.png";
  write_png(random_image({64, 48}, {3, 8}, 5), path);
  EXPECT_TRUE(contains(
      ended(1, run_process({"/bin/sh", "-c", R"(exec "$0" stats "$1" --device cpu > /dev/full)",
                            GPUFILTER_PROGRAM, path}))
          .err,
      "standard output"));
}

TEST_F(Stats, DescribeThemselves) {
  expect_parts(ended(0, stats({"--help"})).out,
               {"--json", "--plot", "--device", "--max-pixels", "percentile"});
}

// "gpufilter info": what pictures are, from their headers.

class Info : public ProgramTest {
 protected:
  [[nodiscard]] ProcessResult info(const Words& words) const {
    return filter(Words{"info"} + words, {.folder = folder_.path()});
  }
};

TEST_F(Info, NamesFormatSizeAndCoding) {
  const std::string photo = GPUFILTER_SOURCE "/samples/landscape.jpg";
  const ProcessResult result = ended(0, info({photo}));
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(begins(result.out, photo + ": JPEG, 1920x1280, RGB, 8-bit, "));
  EXPECT_TRUE(contains(result.out, "\n  coding       quality 88, 4:2:0\n"));
}

TEST_F(Info, SaysHowAPictureIsShownAndWhatElseTheFileHolds) {
  const ProcessResult turned = info({GPUFILTER_SHARED "/cases/jpeg-orientation-6-as-long.jpg"});
  if (turned.exit_code != 0) GTEST_SKIP() << "no pictures in " GPUFILTER_SHARED;
  EXPECT_TRUE(contains(turned.out, "  orientation  6: shown turned by 90 degrees, 50x67\n"));
  const std::string pages = info({GPUFILTER_SHARED "/cases/tiff-3-pages.tif"}).out;
  EXPECT_TRUE(ends(pages, "  not read     2 more pages\n"));
}

TEST_F(Info, NamesWhatCannotBeReadAndGoesOn) {
  static_cast<void>(stored(random_image({5, 4}, {1, 16}, 1), "a.png"));
  const ProcessResult result = ended(1, info({"missing.png", "a.png"}));
  EXPECT_EQ(result.err, "gpufilter: missing.png: no such file\n");
  EXPECT_TRUE(begins(result.out, "a.png: PNG, 5x4, grey, 16-bit, "));
}

}  // namespace
}  // namespace gpufilter::test
