// "gpufilter stats" and "gpufilter info", and the schemas of every JSON document.

#include "cli/batch_fixture.hpp"
#include "support/document_checks.hpp"
#include "support/kernel_folder.hpp"
#include "support/picture_counting.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

struct Stats : ProgramTest {
  static ProcessResult stats(const Words& arguments, const ProcessOptions& options = {}) {
    return filter(Words{"stats"} + arguments, options);
  }

  static Json stats_json(const Words& arguments, const ProcessOptions& options = {}) {
    const ProcessResult result = ended(0, stats(arguments + Words{"--json"}, options));
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out.find('\n'), result.out.size() - 1) << "one line";
    return Json::parse(result.out);
  }

  void expect_trouble(int exit_code, const Words& arguments, const Words& parts) const {
    expect_failure(exit_code, Words{"stats"} + arguments, parts);
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
  EXPECT_TRUE(
      begins(result.out, "standard input: 2x2, grey, 8-bit\n                        grey\n"));
  expect_parts(result.out, {"\nmaximum                    3\nmean                  1.5000\n"
                            "deviation             1.1180\npercentile 1               0\n"});
  EXPECT_TRUE(
      ends(result.out, "\nxor                     0x00\ncounted by the processor (baseline)\n"));
}

TEST_F(Stats, PlotAnSvgFileAndDescribeThemselves) {
  const std::string path = folder_ / "in.png";
  write_png(random_image({64, 48}, {3, 8}, 3), path);
  EXPECT_TRUE(contains(ended(0, stats({path, "--plot", folder_ / "plot.svg"})).out, "percentile"))
      << "the table is printed too";
  const std::string svg = read_file(folder_ / "plot.svg");
  EXPECT_TRUE(begins(svg, "<svg "));
  EXPECT_EQ(objection_to_svg(svg), "");
  write_png(random_image({64, 48}, {3, 8}, 5), path);
  EXPECT_TRUE(contains(
      ended(1, run_process({"/bin/sh", "-c", R"(exec "$0" stats "$1" --device cpu > /dev/full)",
                            GPUFILTER_PROGRAM, path}))
          .err,
      "standard output"));
  expect_parts(ended(0, stats({"--help"})).out,
               {"--json", "--plot", "--device", "--max-pixels", "percentile"});
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

// "gpufilter info": what pictures are, from their headers.

struct Info : ProgramTest {
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

// Every JSON document that the program prints follows its schema in docs/schemas.

struct JsonSchemas : ShardTest {
  void SetUp() override {
    ShardTest::SetUp();
    put("a.png");
    put("b.jpg");
    write_png(random_image({9, 8}, {4, 16}, 1), in_ + "/alpha.png");
  }

  // Runs the program and keeps the document that it prints.
  void print(const Words& words, const ProcessOptions& options = {}) {
    const ProcessResult result = filter(words, options);
    const Json json = Json::parse(result.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << ::testing::PrintToString(words) << result.out << result.err;
    std::string name = json["schema"];
    ASSERT_TRUE(name.starts_with("gpufilter-") && name.ends_with("-1")) << name;
    name = name.substr(10, name.size() - 12);
    documents_["schemas/" + name + ".schema.json"].push_back(result.out);
  }

  void print_runs() {
    const std::string png = folder_ / "o.png";
    const std::string jpg = folder_ / "o.jpg";
    print({in_ + "/a.png", png, "--levels", "auto", "--timing", "json"});
    print({in_ + "/alpha.png", jpg, "--blur", "tiled", "--verify", "--timing", "json"});
    print({in_ + "/b.jpg", jpg, "--json"});
    print({in_ + "/alpha.png", jpg, "--json", "--verify"});
    print({in_ + "/a.png", png, "--json", "--on-exists", "skip"});
    print({in_ + "/b.jpg", png, "--json", "--dry-run"});
    print({in_ + "/missing.png", png, "--json"});
    print({in_ + "/a.png", png, "--json", "--output", folder_ / "more.jpg", "--blur", "auto"});
    print(command({"--json", "--dry-run", "--output", folder_ / "others/"}));
    print(command({"--json", "--output", folder_ / "others/"}));
    fs::remove_all(out_);
    print(command({"--json", "--dry-run"}));
    print(command({"--timing", "json", "--verify"}));
    write_file(in_ + "/damaged\xff.png", "text");
    print(command({"--json", "--resume", "--verify"}));
    print({in_ + "/a.png", in_ + "/damaged\xff.png", folder_ / "more/", "--to", "jpg", "--json"});
  }

  void print_comparisons() {
    print({"compare", in_ + "/a.png", in_ + "/a.png", "--json"});
    print({"compare", in_ + "/a.png", in_ + "/alpha.png", "--json"});
    print({"compare", in_ + "/a.png", folder_ / "o.png", "--json", "--diff", folder_ / "d.png"});
    print({"compare", in_, out_, "--json"});
    print({"stats", in_ + "/alpha.png", "--json"});
    print({"stats", in_ + "/a.png", "--json", "--device", "opencl"});
    print({"info", in_ + "/a.png", in_ + "/b.jpg", in_ + "/missing.png", "--json"});
    print({"info", GPUFILTER_SOURCE "/samples/landscape.jpg", "--json"});
  }

  void print_shards() {
    fs::remove_all(out_);
    static_cast<void>(shard(0, 2, {"-q"}));
    print({"gather", out_, "--json"});
    static_cast<void>(shard(1, 2, {"-q"}));
    print({"gather", out_, "--json"});
    fs::remove_all(out_);
    Words words = command({"--shard", "0/1", "--json"});
    print(words);
  }

  void print_measurements() {
    print({"devices", "--json"});
    print({"bench", "matmul", "--json", "--trials=1", "--sizes", "17", "--show", "2"});
    print({"verify", "levels", "--device", "cpu", "--depth", "8", "--json"});
    print({"verify", "blur", "--quick", "--channels", "3", "--depth", "8", "--json", "--diff",
           folder_ / "v.png", "--kernels", GPUFILTER_SOURCE "/samples/broken/no-edge"});
    const KernelFolder kernels(folder_ / "kernels");
    kernels.write("candidates.json", R"({
      "blur_naive": {"pixels": [1], "lines": [1], "groups": ["32x1", "128x1"]}})");
    kernels.write("tuned.json", R"({"tuned": []})");
    print({"tune", "blur", "--channels", "3", "--depth", "8", "--json"},
          {.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"},
                           {"XDG_CACHE_HOME", folder_ / "cache"}}});
  }

  std::map<std::string, Words> documents_;  // by the schema's file
};

// A schema that refuses nothing would prove nothing: it refuses unknown and missing fields.
void expect_strict(const std::string& schema, const Json& document) {
  Words wrong;
  for (const auto& [key, value] : document.items()) {
    if (key.ends_with("_hex")) continue;
    Json changed = document;
    changed[key] = Json{{"not", "expected"}};
    if (key != "parameters") wrong.push_back(changed.dump());
  }
  Json more = document;
  more["unknown"] = 1;
  wrong.push_back(more.dump());
  Json less = document;
  less.erase("schema");
  wrong.push_back(less.dump());
  const auto accepted = accepted_by_schema(schema, wrong);
  ASSERT_EQ(accepted.size(), wrong.size());
  for (std::size_t i = 0; i < wrong.size(); ++i)
    EXPECT_FALSE(accepted[i]) << schema << ": " << wrong[i];
}

TEST_F(JsonSchemas, DescribeEveryDocument) {
  GPUFILTER_REQUIRE_VALIDATOR();
  GPUFILTER_REQUIRE_DEVICE();
  print_runs();
  print_comparisons();
  print_shards();
  print_measurements();
  std::set<std::string> printed;
  for (const auto& [schema, texts] : documents_) {
    printed.insert(schema);
    const auto accepted = accepted_by_schema(schema, texts);
    ASSERT_EQ(accepted.size(), texts.size()) << schema;
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_TRUE(accepted[i]) << schema << ": " << texts[i];
    expect_strict(schema, Json::parse(texts.front()));
  }
  std::set<std::string> described;
  for (const auto& file : fs::directory_iterator(GPUFILTER_SOURCE "/docs/schemas"))
    described.insert("schemas/" + file.path().filename().string());
  EXPECT_EQ(printed, described);
}

}  // namespace
}  // namespace gpufilter::test
