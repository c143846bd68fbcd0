// "gpufilter compare" with two pictures.
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "cli/compare_fixture.hpp"
#include "codec/png/codec.hpp"
#include "compare/comparison.hpp"
#include "compare/difference_picture.hpp"

namespace gpufilter::test {
namespace {

using Compare = CompareTest;

TEST_F(Compare, EqualPicturesEndWithZeroAndOneLine) {
  const Image image = random_image(size_, format_, 1);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(image, "b.png");
  const ProcessResult result = ended(0, compare({a, b}));
  EXPECT_EQ(result.out, a + " and " + b + " are equal: 31x17, RGB, 8-bit\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(compare({a, a}).exit_code, 0);
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

TEST_F(Compare, TheToleranceIsMetExactly) {
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{1, 16}}) {
    const std::uint32_t difference = format.depth == 8 ? 100 : 30'000;
    const Image image = random_image(size_, format, 2);
    const std::string a = stored(image, "a.png");
    const std::string b = stored(moved(image, 4, 5, 0, difference), "b.png");
    EXPECT_EQ(compare({a, b}).exit_code, 2);
    EXPECT_EQ(compare({a, b, "--tolerance", std::to_string(difference - 1)}).exit_code, 2);
    EXPECT_EQ(compare({a, b, "--tolerance", std::to_string(difference)}).exit_code, 1);
    EXPECT_EQ(compare({a, b, "--tolerance", std::to_string(difference + 1)}).exit_code, 1);
    EXPECT_EQ(compare({a, a, "--tolerance", std::to_string(difference)}).exit_code, 0);
  }
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
    EXPECT_FALSE(std::filesystem::exists(drawing));

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
  const std::vector<std::string> names{"red", "green", "blue", "alpha"};
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
  const std::string a = stored(random_image(size_, {2, 8}, 1), "a.png");
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

TEST_F(Compare, JsonOfPicturesWithinTheTolerance) {
  const Image image = random_image(size_, {1, 16}, 1);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(moved(image, 0, 0, 0, 256), "b.png");
  const Json json = compare_json({"--tolerance", "256", a, b}, 1);
  EXPECT_EQ(json["result"], "within_tolerance");
  EXPECT_EQ(json["pixels"]["differing"], 1);
  EXPECT_EQ(json["pixels"]["beyond_tolerance"], 0);
  EXPECT_EQ(json["first"]["a"].size(), 1);
}

TEST_F(Compare, JsonHoldsNamesThatAreNotUtf8) {
  const std::string a = stored(random_image(size_, {1, 8}, 1), "a\xff.png");
  EXPECT_EQ(compare_json({a, a}, 0)["result"], "equal");
}

TEST_F(Compare, DrawsTheDifferences) {
  for (const PixelFormat format : {PixelFormat{4, 8}, PixelFormat{2, 16}, PixelFormat{1, 8}}) {
    const Image a = random_image(size_, format, 3);
    const Image b = moved(moved(a, 4, 5, 0, 1), 6, 7, format.channels - 1, 99);
    Image expected = poisoned_image(size_, difference_format);
    draw_difference(a.rows(), b.rows(), 0, expected.rows());
    const std::string drawing = folder_ / "drawing.PNG";
    const std::string path_a = stored(a, "a.png");
    EXPECT_EQ(compare({path_a, stored(b, "b.png"), "--diff", drawing}).exit_code, 2);
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
  const std::vector<std::pair<std::vector<std::string>, int>> cases{
      {{a, a}, 0}, {{a, b, "--tolerance", "1"}, 1}, {{a, b}, 2}, {{a, other}, 3}};
  for (auto [arguments, exit_code] : cases) {
    arguments.emplace_back("-q");
    const ProcessResult result = ended(exit_code, compare(arguments));
    EXPECT_EQ(result.out + result.err, "");
  }
  expect_trouble({"-q", a, folder_ / "none.png"}, "none.png");
}

TEST_F(Compare, EitherPictureMayBeStandardInput) {
  const Image image = random_image({301, 203}, {4, 16}, 1);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(moved(image, 300, 202, 0, 1), "b.png");
  const ProcessOptions from_a{.input = read_file(a)};
  EXPECT_EQ(compare({"-", a}, from_a).exit_code, 0);
  EXPECT_EQ(compare({a, "-"}, from_a).exit_code, 0);
  EXPECT_EQ(compare({a, "-"}, from_a).out,
            a + " and standard input are equal: 301x203, RGBA, 16-bit\n");
  EXPECT_EQ(compare({"-", b}, from_a).exit_code, 2);
  EXPECT_EQ(compare({b, "-"}, from_a).exit_code, 2);
  expect_trouble({a, "-"}, "standard input: ");
  expect_trouble({"-", "-"}, "only one");
}

TEST_F(Compare, FileFormatAndMetadataDoNotMatter) {
  const Image grey = poisoned_image(size_, {1, 8}, 128);
  const std::string png = stored(grey, "a.png");
  write_picture(grey.rows(), folder_ / "b.jpg");
  EXPECT_EQ(compare({png, folder_ / "b.jpg"}).exit_code, 0);
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
  EXPECT_EQ(compare({png, folder_ / "metadata.png"}).exit_code, 0);
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
    EXPECT_FALSE(std::filesystem::exists(drawing)) << name;
  }
  // Damaged in both files: that is not equality either.
  expect_trouble({folder_ / "damaged.png", folder_ / "damaged.png"}, "damaged.png: ");
  expect_trouble({good, good, "--max-pixels", "526"}, good + ": ");
  EXPECT_EQ(compare({good, good, "--max-pixels", "527"}).exit_code, 0);
}

TEST_F(Compare, WhatCannotBeWrittenEndsWithFour) {
  const std::string good = stored(random_image(size_, format_, 1), "good.png");
  expect_trouble({good, good, "--diff", folder_ / "none/out.png"}, "none/out.png: ");
  const ProcessResult full =
      ended(4, run_process({"/bin/sh", "-c", R"(exec "$0" compare "$1" "$1" > /dev/full)",
                            GPUFILTER_PROGRAM, good}));
  EXPECT_TRUE(full.err.starts_with("gpufilter: standard output: ")) << full.err;
}

TEST_F(Compare, WrongUsageEndsWithFour) {
  const std::string good = stored(random_image(size_, format_, 1), "good.png");
  const std::string before = read_file(good);
  std::filesystem::create_symlink(good, folder_ / "link.png");
  expect_trouble({}, "required");
  expect_trouble({good}, "required");
  expect_trouble({good, good, good}, "--help");
  expect_trouble({good, good, "--no-such-option"}, "--no-such-option");
  expect_trouble({good, good, "--tolerance", "-1"}, "--tolerance");
  expect_trouble({good, good, "--tolerance", "65536"}, "--tolerance");
  expect_trouble({good, good, "--tolerance", "2.5"}, "--tolerance");
  for (const char* percent : {"-1", "100.1", "5%", "x", "nan", "0x1", "", "1e999"}) {
    expect_trouble({good, good, "--fail-percent", percent}, "--fail-percent");
  }
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

}  // namespace
}  // namespace gpufilter::test
