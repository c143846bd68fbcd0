// "gpufilter compare": pictures and folders.

#include "cli/program_fixture.hpp"
#include "codec/formats.hpp"
#include "compare/comparison.hpp"
#include "compare/difference_picture.hpp"

namespace gpufilter::test {
namespace {

struct CompareTest : ProgramTest {
  static ProcessResult compare(const Words& arguments, const ProcessOptions& options = {}) {
    return run_gpufilter(Words{"compare"} + arguments, options);
  }

  // Runs it with --json and parses the output.
  static Json compare_json(const Words& arguments, int exit_code) {
    const ProcessResult result = ended(exit_code, compare(arguments + Words{"--json"}));
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out.back(), '\n');
    return Json::parse(result.out);
  }

  // Expects that comparing ends with 4, with nothing on standard output and one line on standard
  // error that contains `part`.
  static void expect_trouble(Words arguments, const std::string& part) {
    const ProcessResult result = ended(4, compare(std::move(arguments)));
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, {part});
  }

  const ImageSize size_{31, 17};
  const PixelFormat format_{3, 8};
};

// `image` with one sample changed by `by` (up or, if that does not fit, down).
Image moved(const Image& image, int x, int y, int channel, std::uint32_t by) {
  Image copy = copy_of(image);
  const std::uint32_t sample = sample_at(image, x, y, channel);
  const bool fits = sample + by <= image.format().max_sample();
  set_sample(copy, x, y, channel, fits ? sample + by : sample - by);
  return copy;
}

using Compare = CompareTest;

TEST_F(Compare, EqualPicturesEndWithZeroAndOneLine) {
  const Image image = random_image(size_, format_, 1);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(image, "b.png");
  const ProcessResult result = ended(0, compare({a, b}));
  EXPECT_EQ(result.out, a + " and " + b + " are equal: 31x17, RGB, 8-bit\n");
  EXPECT_EQ(result.err, "");
  ended(0, compare({a, a}));
}

TEST_F(Compare, ADifferenceInTheLastPixelIsSeen) {
  Image image = random_image(size_, format_, 1);
  for (const int channel : {0, 1, 2})
    set_sample(image, 30, 16, channel, 10U + channel);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(moved(image, 30, 16, 2, 3), "b.png");
  const ProcessResult result = ended(2, compare({a, b}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, a + " and " + b +
                            " are different: 1 of 527 pixels (0.19 %) differ, by at most 3\n"
                            "first at x 30, y 16: A (10, 11, 12), B (10, 11, 15)\n"
                            "worst at x 30, y 16: A (10, 11, 12), B (10, 11, 15)\n"
                            "PSNR 70.58 dB, SSIM more than 0.9999\n"
                            "channel      differing   maximum          mean\n"
                            "red                  0         0             0\n"
                            "green                0         0             0\n"
                            "blue                 1         3     0.0056926\n");
}

TEST_F(Compare, OtherSizesAndFormatsEndWithThree) {
  const std::string a = stored(random_image({8, 9}, {3, 8}, 1), "a.png");
  for (const auto& [size, pixel_format, text] :
       std::vector<std::tuple<ImageSize, PixelFormat, std::string>>{
           {{9, 8}, {3, 8}, "9x8, RGB, 8-bit"},
           {{8, 9}, {1, 8}, "8x9, grey, 8-bit"},
           {{8, 9}, {4, 8}, "8x9, RGBA, 8-bit"},
           {{8, 9}, {3, 16}, "8x9, RGB, 16-bit"}}) {
    const std::string b = stored(random_image(size, pixel_format, 1), "b.png");
    const std::string drawing = folder_ / "drawing.png";
    const ProcessResult result =
        ended(3, compare({a, b, "--tolerance", "65535", "--diff", drawing}));
    EXPECT_EQ(result.out,
              formatted("not comparable: {} is 8x9, RGB, 8-bit; {} is {}\n{} was not written\n", a,
                        b, text, drawing));
    EXPECT_FALSE(fs::exists(drawing));

    const Json json = compare_json({a, b, "--diff", drawing}, 3);
    EXPECT_EQ(json["result"], "other_size_or_format");
    EXPECT_EQ(json["exit_code"], 3);
    EXPECT_EQ(json["b"]["width"], size.width);
    EXPECT_EQ(json["b"]["height"], size.height);
    EXPECT_EQ(json["b"]["channels"], pixel_format.channels);
    EXPECT_EQ(json["b"]["depth"], pixel_format.depth);
    EXPECT_FALSE(json.contains("pixels"));
    EXPECT_EQ(json["difference_picture"], nullptr);
  }
}

TEST_F(Compare, JsonSaysEverything) {
  const PixelFormat format{4, 16};
  const Image image_a = random_image(size_, format, 1);
  const Image image_b = moved(extreme_image(size_, format, 2), 3, 3, 3, 1);
  Comparer comparer(size_, format, {20'000, 0});
  comparer.add(image_a.rows(), image_b.rows());
  const Comparison& expected = comparer.result();
  const std::string a = stored(image_a, "a.png");
  const std::string b = stored(image_b, "b.png");
  const std::string drawing = folder_ / "drawing.png";
  const Json json = compare_json({a, b, "--tolerance", "20000", "--diff", drawing}, 2);
  EXPECT_EQ(json["schema"], "gpufilter-compare-1");
  EXPECT_EQ(json["result"], "different");
  EXPECT_EQ(json["exit_code"], 2);
  EXPECT_EQ(json["tolerance"], 20'000);
  EXPECT_EQ(json["fail_percent"], 0);
  EXPECT_EQ(json["a"], (Json{{"name", a},
                             {"file_format", "PNG"},
                             {"width", 31},
                             {"height", 17},
                             {"channels", 4},
                             {"depth", 16}}));
  EXPECT_EQ(json["b"]["name"], b);
  EXPECT_EQ(json["pixels"]["total"], 527);
  EXPECT_EQ(json["pixels"]["differing"], expected.differing_pixels);
  EXPECT_EQ(json["pixels"]["differing_share"].get<double>(),
            static_cast<double>(expected.differing_pixels) / 527);
  EXPECT_EQ(json["pixels"]["beyond_tolerance"], expected.pixels_beyond_tolerance);
  EXPECT_EQ(json["pixels"]["beyond_tolerance_share"].get<double>(),
            static_cast<double>(expected.pixels_beyond_tolerance) / 527);
  EXPECT_EQ(json["samples"]["total"], 4 * 527);
  EXPECT_EQ(json["samples"]["differing"], expected.differing_samples());
  EXPECT_EQ(json["samples"]["beyond_tolerance"], expected.samples_beyond_tolerance());
  EXPECT_EQ(json["maximum"], expected.maximum());
  EXPECT_EQ(json["mean"].get<double>(), expected.mean());
  EXPECT_EQ(json["psnr_db"].get<double>(), expected.psnr().value());
  EXPECT_EQ(json["ssim"].get<double>(), expected.ssim.value());
  EXPECT_EQ(json["difference_picture"], drawing);
  ASSERT_EQ(json["channels"].size(), 4);
  const Words names{"red", "green", "blue", "alpha"};
  for (std::size_t c = 0; c < 4; ++c) {
    const Json& channel = json["channels"][c];
    EXPECT_EQ(channel["name"], names[c]);
    EXPECT_EQ(channel["differing"], expected.channels[c].differing);
    EXPECT_EQ(channel["beyond_tolerance"], expected.channels[c].beyond_tolerance);
    EXPECT_EQ(channel["maximum"], expected.channels[c].maximum);
    EXPECT_EQ(channel["mean"].get<double>(), expected.mean(c));
    EXPECT_EQ(channel["sum"], expected.channels[c].sum);
    EXPECT_EQ(channel["sum_of_squares"], expected.channels[c].sum_of_squares);
  }
  const auto pixel = [](const std::optional<DifferingPixel>& of) {
    return Json{{"x", of.value().x}, {"y", of->y}, {"a", of->a}, {"b", of->b}};
  };
  EXPECT_EQ(json["first"], pixel(expected.first));
  EXPECT_EQ(json["first_beyond_tolerance"], pixel(expected.first_beyond_tolerance));
  EXPECT_EQ(json["worst"], pixel(expected.worst));
}

TEST_F(Compare, JsonOfEqualPicturesHasNoInfinity) {
  // The names need not be UTF-8.
  const std::string a = stored(random_image(size_, {2, 8}, 1), "a\xff.png");
  const Json json = compare_json({a, a}, 0);
  EXPECT_EQ(json["result"], "equal");
  EXPECT_EQ(json["psnr_db"], nullptr);
  EXPECT_EQ(json["ssim"].get<double>(), 1.0);
  EXPECT_EQ(json["first"], nullptr);
  EXPECT_EQ(json["first_beyond_tolerance"], nullptr);
  EXPECT_EQ(json["worst"], nullptr);
  EXPECT_EQ(json["pixels"]["beyond_tolerance_share"], 0);
  EXPECT_EQ(json["maximum"], 0);
  EXPECT_EQ(json["channels"][0]["name"], "grey");
  EXPECT_EQ(json["channels"][1]["name"], "alpha");
}

TEST_F(Compare, SimilarityIsRoundedAndNeedsElevenPixels) {
  // Constant pictures of 50 and 200: (2 * 50 * 200 + C1) / (50^2 + 200^2 + C1), C1 = 2.55^2.
  const std::string a = stored(poisoned_image(size_, format_, 50), "a.png");
  const std::string b = stored(poisoned_image(size_, format_, 200), "b.png");
  EXPECT_TRUE(contains(compare({a, b}).out, "\nPSNR 4.61 dB, SSIM 0.4707\n"));
  EXPECT_NEAR(compare_json({a, b}, 2)["ssim"].get<double>(), 20006.5025 / 42506.5025, 1e-12);
  for (const ImageSize size : {ImageSize{10, 40}, {40, 10}}) {
    const std::string low = stored(poisoned_image(size, format_, 50), "low.png");
    const std::string high = stored(poisoned_image(size, format_, 200), "high.png");
    EXPECT_TRUE(contains(compare({low, high}).out, "\nPSNR 4.61 dB, no SSIM below 11x11 pixels\n"));
    EXPECT_EQ(compare_json({low, high}, 2)["ssim"], nullptr);
    EXPECT_EQ(compare_json({low, low}, 0)["ssim"], nullptr);
  }
}

TEST_F(Compare, DrawsTheDifferences) {
  for (const PixelFormat format : {PixelFormat{4, 8}, PixelFormat{2, 16}, PixelFormat{1, 8}}) {
    const Image a = random_image(size_, format, 3);
    const Image b = moved(moved(a, 4, 5, 0, 1), 6, 7, format.channels - 1, 99);
    Image expected = poisoned_image(size_, difference_format);
    draw_difference(a.rows(), b.rows(), 0, expected.rows());
    const std::string drawing = folder_ / "drawing.PNG";
    const std::string path_a = stored(a, "a.png");
    ended(2, compare({path_a, stored(b, "b.png"), "--diff", drawing}));
    EXPECT_TRUE(same_pixels(read_picture(drawing), expected));

    draw_difference(a.rows(), a.rows(), 0, expected.rows());
    EXPECT_EQ(compare({path_a, path_a, "--diff", drawing}).exit_code, 0) << "over the first one";
    EXPECT_TRUE(same_pixels(read_picture(drawing), expected));
  }
}

TEST_F(Compare, QuietSaysNothing) {
  const Image image = random_image(size_, format_, 1);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(moved(image, 1, 1, 1, 1), "b.png");
  const std::string other = stored(random_image({1, 1}, format_, 1), "other.png");
  const std::vector<std::pair<Words, int>> cases{
      {{a, a}, 0}, {{a, b, "--tolerance", "1"}, 1}, {{a, b}, 2}, {{a, other}, 3}};
  for (auto [arguments, exit_code] : cases) {
    const ProcessResult result = ended(exit_code, compare(arguments + Words{"-q"}));
    EXPECT_EQ(result.out + result.err, "");
  }
  expect_trouble({"-q", a, folder_ / "none.png"}, "none.png");
}

TEST_F(Compare, EitherPictureMayBeStandardInput) {
  const Image image = random_image({301, 203}, {4, 16}, 1);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(moved(image, 300, 202, 0, 1), "b.png");
  const ProcessOptions from_a{.input = read_file(a)};
  ended(0, compare({"-", a}, from_a));
  ended(0, compare({a, "-"}, from_a));
  EXPECT_EQ(compare({a, "-"}, from_a).out,
            a + " and standard input are equal: 301x203, RGBA, 16-bit\n");
  ended(2, compare({"-", b}, from_a));
  ended(2, compare({b, "-"}, from_a));
  expect_trouble({a, "-"}, "standard input: ");
  expect_trouble({"-", "-"}, "only one");
}

TEST_F(Compare, FileFormatAndMetadataDoNotMatter) {
  const Image grey = poisoned_image(size_, {1, 8}, 128);
  const std::string png = stored(grey, "a.png");
  write_picture(grey.rows(), folder_ / "b.jpg");
  ended(0, compare({png, folder_ / "b.jpg"}));
  EXPECT_EQ(compare_json({png, folder_ / "b.jpg"}, 0)["b"]["file_format"], "JPEG");

  PictureHeader header;
  header.size = size_;
  header.format = {1, 8};
  header.metadata.gamma = 45455;
  header.metadata.text.push_back({"Title", "the same picture", {}, {}});
  const auto sink = open_sink(folder_ / "metadata.png");
  const auto writer = create_picture(png_codec(), *sink, header);
  writer->write(grey.rows());
  writer->finish({});
  sink->commit();
  EXPECT_NE(read_file(folder_ / "metadata.png"), read_file(png));
  ended(0, compare({png, folder_ / "metadata.png"}));
}

TEST_F(Compare, FilesThatCannotBeReadEndWithFour) {
  const std::string good = stored(random_image(size_, format_, 1), "good.png");
  const std::string bytes = read_file(good);
  write_file(folder_ / "empty.png", "");
  write_file(folder_ / "text.png", "no picture at all, and not short either");
  write_file(folder_ / "short.png", bytes.substr(0, bytes.size() / 2));
  write_file(folder_ / "no-end.png", bytes.substr(0, bytes.size() - 12));
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(~damaged[bytes.size() / 2]);
  write_file(folder_ / "damaged.png", damaged);
  const std::string drawing = folder_ / "drawing.png";
  for (const char* name :
       {"none.png", "empty.png", "text.png", "short.png", "no-end.png", "damaged.png"}) {
    const std::string bad = folder_ / name;
    expect_trouble({good, bad, "--diff", drawing}, bad + ": ");
    expect_trouble({bad, good, "--json"}, bad + ": ");
    EXPECT_FALSE(fs::exists(drawing)) << name;
  }
  // Damaged in both files: that is not equality either.
  expect_trouble({folder_ / "damaged.png", folder_ / "damaged.png"}, "damaged.png: ");
  expect_trouble({good, good, "--max-pixels", "526"}, good + ": ");
  ended(0, compare({good, good, "--max-pixels", "527"}));
}

TEST_F(Compare, WhatCannotBeWrittenAndWrongUsageEndWithFour) {
  const std::string good = stored(random_image(size_, format_, 1), "good.png");
  expect_trouble({good, good, "--diff", folder_ / "none/out.png"}, "none/out.png: ");
  EXPECT_TRUE(
      begins(ended(4, run_process({"/bin/sh", "-c", R"(exec "$0" compare "$1" "$1" > /dev/full)",
                                   GPUFILTER_PROGRAM, good}))
                 .err,
             "gpufilter: standard output: "));
  const std::string before = read_file(good);
  fs::create_symlink(good, folder_ / "link.png");
  expect_trouble({}, "required");
  expect_trouble({good}, "required");
  expect_trouble({good, good, good}, "--help");
  expect_trouble({good, good, "--no-such-option"}, "--no-such-option");
  expect_trouble({good, good, "--tolerance", "-1"}, "--tolerance");
  expect_trouble({good, good, "--tolerance", "65536"}, "--tolerance");
  expect_trouble({good, good, "--tolerance", "2.5"}, "--tolerance");
  for (const char* percent : {"-1", "100.1", "5%", "x", "nan", "0x1", "", "1e999"})
    expect_trouble({good, good, "--fail-percent", percent}, "--fail-percent");
  expect_trouble({good, good, "--recursive"}, "--recursive");
  expect_trouble({good, good, "--max-pixels", "0"}, "--max-pixels");
  expect_trouble({good, good, "-q", "--json"}, "--json");
  expect_trouble({good, good, "--diff", folder_ / "out.jpg"}, "out.jpg");
  expect_trouble({good, good, "--diff", folder_ / "out"}, "out");
  expect_trouble({good, good, "--diff", "-"}, ".png");
  expect_trouble({good, good, "--diff", good}, "is one of the pictures");
  expect_trouble({good, good, "--diff", folder_ / "link.png"}, "is one of the pictures");
  EXPECT_EQ(read_file(good), before);
}

TEST_F(Compare, HelpNamesOptionsAndExitCodes) {
  const ProcessResult help = ended(0, compare({"--help"}));
  EXPECT_EQ(help.err, "");
  expect_parts(help.out, {"gpufilter compare", "--tolerance N [0]", "--fail-percent P [0]",
                          "--recursive", "--diff OUT.png", "--json", "--max-pixels N", "--quiet",
                          "Exit codes", "Examples", "yellow", "bluish green"});
}

// How "gpufilter compare" treats differences within and beyond a tolerance.

// Two pictures of 527 pixels that differ in two: by 5 at (1, 1) and by 9 at (2, 2).
struct CompareTolerance : CompareTest {
  const Image image_a_ = poisoned_image(size_, format_, 50);
  const Image image_b_ = moved(moved(image_a_, 1, 1, 0, 5), 2, 2, 0, 9);
  const std::string a_ = stored(image_a_, "a.png");
  const std::string b_ = stored(image_b_, "b.png");
};

constexpr const char* differences =
    "PSNR 59.87 dB, SSIM more than 0.9999\n"
    "channel      differing   maximum          mean\n"
    "red                  2         9     0.0265655\n"
    "green                0         0             0\n"
    "blue                 0         0             0\n";

TEST_F(CompareTolerance, NamesAndDrawsWhatLiesBeyondIt) {
  EXPECT_EQ(ended(2, compare({a_, b_})).out,
            a_ + " and " + b_ +
                " are different: 2 of 527 pixels (0.38 %) differ, by at most 9\n"
                "first at x 1, y 1: A (50, 50, 50), B (55, 50, 50)\n"
                "worst at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n" +
                differences);
  EXPECT_EQ(ended(2, compare({a_, b_, "--tolerance=8"})).out,
            a_ + " and " + b_ +
                " are different: 2 of 527 pixels (0.38 %) differ, by at most 9\n"
                "beyond the tolerance of 8: 1 of 527 pixels (0.19 %)\n"
                "first beyond the tolerance at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n"
                "worst at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n" +
                differences);
  EXPECT_EQ(ended(1, compare({a_, b_, "--tolerance=9"})).out,
            a_ + " and " + b_ +
                " are equal within the tolerance of 9: 2 of 527 pixels (0.38 %) differ, "
                "by at most 9\n"
                "beyond the tolerance of 9: 0 of 527 pixels (0.00 %)\n"
                "first at x 1, y 1: A (50, 50, 50), B (55, 50, 50)\n"
                "worst at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n" +
                differences);
  const std::string drawing = folder_ / "drawing.png";
  ended(2, compare({a_, b_, "--tolerance=8", "--diff", drawing}));
  Image expected = poisoned_image(size_, difference_format);
  draw_difference(image_a_.rows(), image_b_.rows(), 8, expected.rows());
  EXPECT_TRUE(same_pixels(read_picture(drawing), expected));
}

// One of 527 pixels is 0.18975... percent.
TEST_F(CompareTolerance, FailPercentLetsAShareOfPixelsPass) {
  ended(2, compare({a_, b_, "--tolerance=8", "--fail-percent", "0.18"}));
  EXPECT_TRUE(begins(ended(1, compare({a_, b_, "--tolerance=8", "--fail-percent", "0.19"})).out,
                     a_ + " and " + b_ +
                         " are equal within the tolerance of 8 in all but 0.19 % of the "
                         "pixels: 2 of 527 pixels (0.38 %) differ, by at most 9\n"
                         "beyond the tolerance of 8: 1 of 527 pixels (0.19 %)\n"));
  // Without --tolerance, every difference is beyond it.
  ended(2, compare({a_, b_, "--fail-percent", "0.37"}));
  ended(1, compare({a_, b_, "--fail-percent", "+.38"}));
  ended(1, compare({a_, b_, "--fail-percent=100"}));
  ended(0, compare({a_, a_, "--fail-percent=100"}));
  const std::string other = stored(random_image({1, 1}, format_, 1), "other.png");
  ended(3, compare({a_, other, "--fail-percent=100"}));
  const Json json = compare_json(
      {a_, b_, "--tolerance", "8", "--fail-percent", "0.33333333333333333333333333"}, 1);
  EXPECT_EQ(json["result"], "within_tolerance");
  EXPECT_EQ(json["tolerance"], 8);
  EXPECT_EQ(json["fail_percent"].get<double>(), 1.0 / 3);
  EXPECT_EQ(json["pixels"]["beyond_tolerance"], 1);
  EXPECT_EQ(json["pixels"]["beyond_tolerance_share"].get<double>(), 1.0 / 527);
  EXPECT_EQ(json["first"]["x"], 1);
  const Json beyond{{"x", 2}, {"y", 2}, {"a", {50, 50, 50}}, {"b", {59, 50, 50}}};
  EXPECT_EQ(json["first_beyond_tolerance"], beyond);
  EXPECT_EQ(json["worst"], beyond);
  EXPECT_EQ(compare_json({a_, b_, "--tolerance=9"}, 1)["first_beyond_tolerance"], nullptr);
}

// "gpufilter compare" with two folders.

struct CompareFolders : CompareTest {
  void SetUp() override {
    fs::create_directories(fs::path(a_) / "sub");
    fs::create_directories(fs::path(b_) / "sub");
  }

  // Puts the same picture into both folders, or `image` into A and a different one into B.
  void put(const std::string& name, const Image& image) const { put(name, image, image); }
  void put(const std::string& name, const Image& in_a, const Image& in_b) const {
    write_picture(in_a.rows(), a_ + "/" + name);
    write_picture(in_b.rows(), b_ + "/" + name);
  }

  [[nodiscard]] ProcessResult compare_both(const Words& more = {}) const {
    return compare(Words{a_, b_} + more);
  }

  const std::string a_ = folder_ / "a";
  const std::string b_ = folder_ / "b";
  const Image image_ = poisoned_image(size_, format_, 50);
};

TEST_F(CompareFolders, OfEqualPicturesEndWithZero) {
  put("1.png", image_);
  put("2.jpg", image_);
  const ProcessResult result = ended(0, compare_both());
  EXPECT_EQ(result.out, "2 names: 2 equal\n");
  EXPECT_EQ(result.err, "");
  ended(0, compare({a_, a_}));
}

TEST_F(CompareFolders, ListNamesThatAreNotEqualInOrder) {
  put("z.png", image_);
  put("near.png", image_, moved(image_, 4, 5, 1, 2));
  put("far.png", image_, moved(moved(image_, 6, 7, 0, 9), 1, 2, 0, 1));
  put("size.png", image_, random_image({8, 9}, {1, 8}, 1));
  write_png(image_, a_ + "/left.png");
  write_png(image_, b_ + "/right.png");
  // Other files are ignored.
  write_file(a_ + "/notes.txt", "text");
  write_file(b_ + "/.hidden.png", "text");
  const ProcessResult result = ended(3, compare_both({"--tolerance", "2"}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            formatted("far.png: different: 2 of 527 pixels (0.38 %) differ, by at most 9 at x 6, y "
                      "7, 1 of 527 pixels (0.19 %) beyond the tolerance, PSNR 60.98 dB, "
                      "SSIM 0.9977\n"
                      "left.png: only in {0}\n"
                      "near.png: equal within the tolerance of 2: 1 of 527 pixels (0.19 %) differ, "
                      "by at most 2 at x 4, y 5, 0 of 527 pixels (0.00 %) beyond the tolerance, "
                      "PSNR 74.10 dB, SSIM more than 0.9999\n"
                      "right.png: only in {1}\n"
                      "size.png: not comparable: 31x17, RGB, 8-bit; 8x9, grey, 8-bit\n"
                      "6 names: 1 equal, 1 equal within the tolerance, 1 different, 1 not "
                      "comparable, 1 only in {0}, 1 only in {1}\n",
                      a_, b_));
}

TEST_F(CompareFolders, EndWithTheWorstOfAllNames) {
  put("1.png", image_);
  ended(0, compare_both());
  put("2.png", image_, moved(image_, 4, 5, 1, 2));
  ended(1, compare_both({"--tolerance=2"}));
  ended(1, compare_both({"--fail-percent=0.2"}));
  ended(2, compare_both());
  put("3.png", image_, random_image({8, 9}, {1, 8}, 1));
  ended(3, compare_both());
  write_file(b_ + "/1.png", "not a picture");
  ended(4, compare_both());
}

TEST_F(CompareFolders, CountANameInOneOfThemAsDifferent) {
  put("1.png", image_);
  write_png(image_, b_ + "/2.png");
  ended(2, compare_both({"--tolerance=65535", "--fail-percent=100"}));
  fs::remove(b_ + "/2.png");
  // The same picture with a different extension is a different name.
  write_picture(image_.rows(), a_ + "/3.png");
  write_picture(image_.rows(), b_ + "/3.jpg");
  EXPECT_EQ(ended(2, compare_both()).out,
            formatted("3.jpg: only in {1}\n3.png: only in {0}\n"
                      "3 names: 1 equal, 1 only in {0}, 1 only in {1}\n",
                      a_, b_));
}

TEST_F(CompareFolders, NameFilesThatCannotBeReadAndGoOn) {
  put("1.png", image_);
  put("2.png", image_);
  put("3.png", image_);
  const std::string bytes = read_file(b_ + "/2.png");
  write_file(b_ + "/2.png", bytes.substr(0, bytes.size() / 2));
  const ProcessResult result = ended(4, compare_both());
  EXPECT_EQ(result.out, "2.png: cannot be read\n3 names: 2 equal, 1 cannot be read\n");
  EXPECT_TRUE(begins(result.err, "gpufilter: " + b_ + "/2.png: "));
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;

  const ProcessResult quiet = ended(4, compare_both({"-q"}));
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(quiet.err, result.err);
}

TEST_F(CompareFolders, EnterFoldersOnlyWhenAskedTo) {
  put("1.png", image_);
  put("sub/1.png", image_, moved(image_, 4, 5, 1, 2));
  ended(0, compare_both());
  EXPECT_TRUE(begins(ended(2, compare_both({"--recursive"})).out, "sub/1.png: different: "));
  // A folder of results within the originals' folder is not one of the originals.
  const std::string inner = a_ + "/results";
  fs::create_directory(inner);
  fs::create_directory(inner + "/sub");
  for (const char* name : {"/1.png", "/sub/1.png"})
    fs::copy_file(a_ + name, inner + name);
  ended(0, compare({a_, inner, "--recursive"}));
  ended(0, compare({inner, a_, "--recursive"}));
}

TEST_F(CompareFolders, JsonHasAnObjectForEachName) {
  put("equal.png", image_);
  put("far.png", image_, moved(image_, 6, 7, 0, 9));
  put("size.png", image_, random_image({8, 9}, {1, 8}, 1));
  put("torn.png", image_);
  write_file(a_ + "/torn.png", read_file(a_ + "/torn.png").substr(0, 60));
  write_png(image_, a_ + "/left.png");
  write_png(image_, b_ + "/right.png");
  const ProcessResult result =
      ended(4, compare_both({"--json", "--tolerance=2", "--fail-percent=0.1"}));
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["schema"], "gpufilter-compare-folders-1");
  EXPECT_EQ(json["tolerance"], 2);
  EXPECT_EQ(json["fail_percent"], 0.1);
  EXPECT_EQ(json["recursive"], false);
  EXPECT_EQ(json["a"], a_);
  EXPECT_EQ(json["b"], b_);
  ASSERT_EQ(json["pictures"].size(), 6);
  const std::vector<std::tuple<std::string, std::string, int>> expected{
      {"equal.png", "equal", 0},
      {"far.png", "different", 2},
      {"left.png", "only_in_a", 2},
      {"right.png", "only_in_b", 2},
      {"size.png", "other_size_or_format", 3},
      {"torn.png", "unreadable", 4}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [name, outcome, code] = expected[i];
    const Json& picture = json["pictures"][i];
    EXPECT_EQ(picture["name"], name);
    EXPECT_EQ(picture["result"], outcome);
    EXPECT_EQ(picture["exit_code"], code);
    EXPECT_EQ(picture.contains("pixels"), code == 0 || name == "far.png") << name;
    EXPECT_EQ(picture.contains("error"), outcome == "unreadable") << name;
    EXPECT_EQ(picture.contains("a"), picture.contains("pixels") || name == "size.png") << name;
  }
  // A pair has the same figures as a comparison of its two pictures.
  Json single =
      compare_json({a_ + "/far.png", b_ + "/far.png", "--tolerance=2", "--fail-percent=0.1"}, 2);
  Json pair = json["pictures"][1];
  pair.erase("name");
  for (const char* key : {"schema", "tolerance", "fail_percent", "difference_picture"})
    single.erase(key);
  EXPECT_EQ(pair, single);
  EXPECT_GT(pair["ssim"].get<double>(), 0.99);
  EXPECT_LT(pair["ssim"].get<double>(), 1.0);
  EXPECT_EQ(json["summary"], (Json{{"result", "unreadable"},
                                   {"exit_code", 4},
                                   {"counts",
                                    {{"names", 6},
                                     {"equal", 1},
                                     {"within_tolerance", 0},
                                     {"different", 1},
                                     {"other_size_or_format", 1},
                                     {"only_in_a", 1},
                                     {"only_in_b", 1},
                                     {"unreadable", 1}}}}));
}

TEST_F(CompareFolders, OfManyPicturesKeepTheOrderOfNames) {
  std::string expected;
  for (int i = 100; i < 160; ++i) {
    // Large ones among small ones end later.
    const Image large = random_image({i % 7 == 0 ? 700 : 31, 300}, format_, 5);
    put(formatted("p{}.png", i), large, moved(large, 3, 2, 1, 1));
    expected += formatted("p{}.png: different: 1 of ", i);
  }
  const ProcessResult result = ended(2, compare_both());
  std::string found;
  for (const std::string& line : lines_of(result.out)) {
    if (line.starts_with("p")) found += line.substr(0, line.find("1 of ") + 5);
  }
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(ends(result.out, "\n60 names: 0 equal, 60 different\n"));
}

TEST_F(CompareFolders, ShowNamesOnOneLine) {
  const std::string name = "a\nb\x1b[31m.png";
  write_png(image_, a_ + "/" + name);
  EXPECT_EQ(compare_both().out,
            formatted("a\\nb\\x1b[31m.png: only in {0}\n1 name: 0 equal, 1 only in {0}\n", a_));
  EXPECT_EQ(Json::parse(compare_both({"--json"}).out)["pictures"][0]["name"], name);
}

TEST_F(CompareFolders, AreRefusedWhereNothingCanBeCompared) {
  put("1.png", image_);
  const std::string picture = a_ + "/1.png";
  expect_trouble({a_, picture}, "is a folder, but " + picture + " is not");
  expect_trouble({picture, a_}, "is a folder, but " + picture + " is not");
  expect_trouble({a_, "-"}, "is a folder");
  expect_trouble({a_, b_ + "/none"}, b_ + "/none: no such file or folder");
  expect_trouble({a_, b_, "--diff", out_}, "--diff");
  expect_trouble({a_ + "/sub", b_ + "/sub"}, "neither folder holds a picture");
  expect_trouble({a_ + "/sub", b_ + "/sub", "--json"}, "neither folder holds a picture");
  EXPECT_TRUE(
      begins(ended(4, run_process({"/bin/sh", "-c", R"(exec "$0" compare "$1" "$2" > /dev/full)",
                                   GPUFILTER_PROGRAM, a_, b_}))
                 .err,
             "gpufilter: standard output: "));
}

}  // namespace
}  // namespace gpufilter::test
