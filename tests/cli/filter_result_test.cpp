// The pixels that "gpufilter INPUT OUTPUT" writes.

#include "cli/program_fixture.hpp"
#include "codec/byte_sink.hpp"
#include "codec/codec_table.hpp"
#include "codec/formats.hpp"
#include "stage/options/catalogue.hpp"
#include "support/jpeg.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {
namespace {

using FilterResult = ProgramTest;

TEST_F(FilterResult, EveryVariantGivesTheReferencesPixels) {
  const std::vector<Words> variants{{"--blur", "naive"},
                                    {"--blur", "tiled"},
                                    {"--blur", "auto"},
                                    {"--blur", "tiled", "--tile", "8"},
                                    {"--blur", "tiled", "--tile", "32"},
                                    {"--blur", "tiled", "--device", "cpu"}};
  // The tests of kernels have every variant in every format.
  constexpr std::array formats{PixelFormat{1, 8}, PixelFormat{4, 8}, PixelFormat{3, 16}};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Image image = random_image(size_, formats.at(i % formats.size()), 1);
    Words arguments{stored(image, "in.png"), out_};
    arguments.insert(arguments.end(), variants[i].begin(), variants[i].end());
    filter_quietly(arguments);
    EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image)))
        << ::testing::PrintToString(variants[i]);
    fs::remove(out_);
  }
}

TEST_F(FilterResult, StagesRunInTheOrderWritten) {
  const Image image = random_image(size_, format_, 2);
  const std::string in = stored(image, "in.png");
  const std::string twice_as_bright = "2 0 0; 0 2 0; 0 0 2";
  const auto& kinds = stage_catalogue();
  const auto color = std::find_if(kinds.begin(), kinds.end(),
                                  [](const StageKind& kind) { return kind.option == "--color"; });
  ASSERT_NE(color, kinds.end());
  const auto brighter = color->make(twice_as_bright, {});
  const auto blur = make_blur({});

  const Image blurred_first = filter_on_host(image, {blur, brighter}, {});
  const Image brighter_first = filter_on_host(image, {brighter, blur}, {});
  EXPECT_FALSE(same_pixels(blurred_first, brighter_first)) << "or the order could not be seen";
  filter_quietly({in, out_, "--blur", "naive", "--color", twice_as_bright});
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred_first));
  filter_quietly({"--color", twice_as_bright, in, "--blur", "naive", out_});
  EXPECT_TRUE(same_pixels(read_picture(out_), brighter_first));
}

TEST_F(FilterResult, BordersAndAlphaAreAsAskedFor) {
  const Image image = mixed_alpha_image(size_, {4, 8}, 3);
  const std::string in = stored(image, "in.png");
  for (const auto& [name, border] : {std::pair{"replicate", Border::replicate},
                                     {"mirror", Border::mirror},
                                     {"wrap", Border::wrap},
                                     {"constant", Border::constant}}) {
    for (const auto& [alpha_name, alpha] :
         {std::pair{"weighted", AlphaMode::weighted}, {"independent", AlphaMode::independent}}) {
      filter_quietly({in, out_, "--border", name, "--alpha", alpha_name, "--blur", "auto", "--blur",
                      "auto", "--device", "cpu"});
      const Image expected = blurred(image, {.border = border, .alpha = alpha}, 2);
      EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << name << " " << alpha_name;
    }
  }
}

TEST_F(FilterResult, EachStageHasItsOwnParameters) {
  const Image image = mixed_alpha_image(size_, {4, 8}, 5);
  const std::string in = stored(image, "in.png");
  const BlurParameters mirrored{.border = Border::mirror, .alpha = AlphaMode::independent};
  const BlurParameters black{.border = Border::constant, .alpha = AlphaMode::weighted};
  const Image expected = blurred(blurred(image, mirrored), black);
  EXPECT_FALSE(same_pixels(expected, blurred(blurred(image, black), mirrored)))
      << "or the order could not be seen";
  for (const char* device : {"auto", "cpu"}) {
    filter_quietly({in, out_, "--device", device, "--blur", "tiled", "--tile", "8", "--border",
                    "mirror", "--alpha", "independent", "--blur", "tiled", "--tile", "32",
                    "--border", "constant"});
    EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << device;
    filter_quietly({"--border", "constant", in, "--blur", "naive", "--alpha", "independent",
                    "--border", "mirror", out_, "--blur", "auto", "--device", device});
    EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << device << ", by default";
  }
}

TEST_F(FilterResult, ThreadsMemoryAndBandsDoNotShow) {
  const std::string in = stored(random_image({517, 431}, format_, 11), "in.png");
  const std::vector<Words> ways{{"--threads", "1"},
                                {"--threads", "2"},
                                {"--threads", "7"},
                                {"--max-memory", "1M"},
                                {"--max-memory", "1G"},
                                {"--max-memory", "1"},
                                {"--band-rows", "1"},
                                {"--band-rows", "7"},
                                {"--band-rows", "64"},
                                {"--band-rows", "2147483647"},
                                {"--threads", "1", "--max-memory", "100K", "--band-rows", "7"}};
  for (const auto& [name, device] :
       each_of(std::array{"out.png", "out.jpg"}, std::array{"opencl", "cpu"})) {
    const std::string out = folder_ / name;
    const Words arguments{in, out, "--blur", "tiled", "--blur", "auto", "--device", device};
    filter_quietly(arguments);
    const std::string expected = read_file(out);
    for (const auto& way : ways) {
      filter_quietly(arguments + way);
      EXPECT_TRUE(read_file(out) == expected)
          << name << " " << device << ::testing::PrintToString(way);
    }
  }
}

TEST_F(FilterResult, ASinglePixelIsAPicture) {
  const Image image = random_image({1, 1}, {4, 16}, 5);
  filter_quietly({stored(image, "in.png"), out_, "--blur", "tiled", "--blur", "naive"});
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image, {}, 2)));
}

TEST_F(FilterResult, WithoutStagesPixelsAreCopied) {
  for (const auto& [channels, depth] : each_of(std::array{1, 2, 3, 4}, std::array{8, 16})) {
    const Image image = random_image(size_, {channels, depth}, 6);
    filter_quietly({stored(image, "in.png"), out_});
    EXPECT_TRUE(same_pixels(read_picture(out_), image));
  }
}

TEST_F(FilterResult, PngToJpegToPng) {
  const Image image = random_image(size_, format_, 7);
  const std::string jpeg = folder_ / "between.JPG";
  filter_quietly({stored(image, "in.png"), jpeg, "--quality", "95"});
  EXPECT_EQ(read_file(jpeg).substr(0, 3), "\xff\xd8\xff");
  filter_quietly({jpeg, out_, "--blur", "tiled"});
  EXPECT_EQ(read_file(out_).substr(1, 3), "PNG");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(read_picture(jpeg))));
}

TEST_F(FilterResult, QualityAndLevelDecideTheSize) {
  // Wide, but rows repeat within deflate's window.
  const Image noise = random_image({64, 4}, format_, 9);
  Image image = poisoned_image({64, 400}, format_);
  for (int y = 0; y < 400; ++y)
    std::copy_n(noise.rows().row(y % 4), noise.pitch(), image.rows().row(y));
  const std::string in = stored(image, "in.png");
  const auto size_with = [&](const char* name, const char* option, const char* value) {
    const std::string out = folder_ / name;
    filter_quietly({in, out, option, value});
    return fs::file_size(out);
  };
  EXPECT_LT(size_with("out.jpg", "--quality", "10"), size_with("out.jpg", "--quality", "90"));
  EXPECT_LT(size_with("out.png", "--png-level", "9"), size_with("out.png", "--png-level", "0"));
  EXPECT_TRUE(same_pixels(read_picture(out_), image));
}

TEST_F(FilterResult, JpegKeepsItsSettingsOrTakesThoseAskedFor) {
  const Raster raster = textured_raster(45, 67, 3);
  JpegRecipe recipe{.quality = 77, .horizontal_subsampling = 1, .vertical_subsampling = 2};
  const auto expected = [&] { return components_of(encode_with_libjpeg(raster, recipe)); };
  const Bytes jpeg = encode_with_libjpeg(raster, recipe);
  const std::string in = folder_ / "in.jpg";
  const std::string out = folder_ / "out.jpg";
  write_file(in, {jpeg.begin(), jpeg.end()});

  EXPECT_TRUE(contains(filter({in, out, "--blur", "auto", "--timing", "table"}).err,
                       "quality 77 (kept from the input), 4:4:0 (kept from the input)\n"));
  EXPECT_EQ(components_of(file_bytes(out)), expected());
  filter_quietly({in, out, "--quality", "95", "--blur", "auto"});
  recipe.quality = 95;
  EXPECT_EQ(components_of(file_bytes(out)), expected());
  filter_quietly({in, out, "--subsampling", "422"});
  recipe = {.quality = 77, .vertical_subsampling = 1};
  EXPECT_EQ(components_of(file_bytes(out)), expected());
}

TEST_F(FilterResult, JpegOutputLaysAlphaOverTheBackground) {
  Image clear = poisoned_image(size_, {4, 8}, 200);
  for (const auto [x, y] : each_pixel(size_))
    set_sample(clear, x, y, 3, 0);
  const std::string in = stored(clear, "in.png");
  const std::string out = folder_ / "out.jpg";
  const std::vector<std::tuple<Words, int, int, int>> cases{
      {{}, 255, 255, 255},
      {{"--background", "blue"}, 0, 0, 255},
      {{"--background", "#0F0"}, 0, 255, 0},
      {{"--background", "#102030"}, 16, 32, 48}};
  for (const auto& [option, red, green, blue] : cases) {
    const ProcessResult result =
        ended(0, filter(Words{in, out, "--blur", "auto", "--timing", "off"} + option));
    if (option.empty()) {
      expect_one_line(result.err, {out + ": ", "alpha"});
    } else {
      EXPECT_EQ(result.err, "");  // it was asked for
    }
    const Image picture = read_picture(out);
    ASSERT_EQ(picture.format(), (PixelFormat{3, 8}));
    EXPECT_NEAR(sample_at(picture, 5, 5, 0), red, 2);
    EXPECT_NEAR(sample_at(picture, 5, 5, 1), green, 2);
    EXPECT_NEAR(sample_at(picture, 5, 5, 2), blue, 2);
  }
}

TEST_F(FilterResult, PalettesBecomeEightBitColours) {
  const Bytes palette{10, 20, 30, 200, 100, 50};  // two colours
  const std::vector<PngPart> parts{{"IHDR", png_header(8, 2, 1, 3)},
                                   {"PLTE", palette},
                                   {"IDAT", deflated(Bytes{0, 0b01010101, 0, 0b11110000})},
                                   {"IEND", {}}};
  const Bytes file = join_png(parts);
  const std::string in = folder_ / "palette.png";
  write_file(in, {file.begin(), file.end()});
  filter_quietly({in, out_, "--blur", "tiled"});

  Image expanded = poisoned_image({8, 2}, {3, 8});
  const auto set_colour = [&](int x, int y, int index) {
    for (int channel = 0; channel < 3; ++channel) {
      set_sample(expanded, x, y, channel,
                 palette.at(static_cast<std::size_t>(index) * 3 + channel));
    }
  };
  for (int x = 0; x < 8; ++x) {
    set_colour(x, 0, x % 2);
    set_colour(x, 1, x < 4 ? 1 : 0);
  }
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(expanded)));
}

TEST_F(FilterResult, ACropHasItsOwnSize) {
  const Image image = random_image(size_, format_, 12);
  const std::string in = stored(image, "in.png");
  const ProcessResult result =
      ended(0, filter({in, out_, "--blur", "auto", "--crop", "20x5+7+40", "--timing", "json"}));
  const Image all = blurred(image);
  Image part({20, 5}, format_);
  for (int y = 0; y < 5; ++y)
    std::copy_n(all.rows().row(40 + y) + 7 * 3, 20 * 3, part.rows().row(y));
  EXPECT_TRUE(same_pixels(read_picture(out_), part));
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["width"], 67);
  EXPECT_EQ(json["height"], 45);
  EXPECT_EQ(json["output_width"], 20);
  EXPECT_EQ(json["output_height"], 5);
  EXPECT_EQ(json["band_rows"], 5);
  EXPECT_TRUE(
      contains(filter({in, out_, "--crop", "20x5+7+40"}).err, "67x45 -> 20x5, RGB, 8-bit;"));
}

// One picture of a folder is too small; usage errors are found before any picture.
TEST_F(FilterResult, ACropBeyondThePictureFails) {
  const std::string in = stored(random_image(size_, format_, 13), "in.png");
  expect_failure(1, {in, out_, "--crop", "60x40+8+5"},
                 {in + ": --crop 60x40+8+5 reaches beyond its 67x45 pixels\n"});
  expect_failure(
      2, {folder_ / "none.png", out_, "--crop", "60x"},
      {"--crop 60x: write WIDTHxHEIGHT+X+Y or WIDTHxHEIGHT in whole pixels or percent, such as "
       "640x480+10+20 or 50%, or a ratio such as 3:2\n"});
  fs::create_directory(folder_ / "photos");
  write_png(random_image(size_, format_, 14), folder_ / "photos/large.png");
  write_png(random_image({50, 50}, format_, 15), folder_ / "photos/small.png");
  expect_one_line(
      ended(1, filter({folder_ / "photos", folder_ / "parts", "--crop", "60x40+7+5", "-q"})).err,
      {"small.png: --crop 60x40+7+5 reaches beyond its 50x50 pixels"});
  EXPECT_EQ(names_in(folder_ / "parts"), (Words{".gpufilter-journal", "large.png"}));
}

TEST_F(FilterResult, PicturesWithMorePixelsThanAllowedAreRefused) {
  const std::string in = stored(random_image(size_, format_, 11), "in.png");
  expect_failure(1, {in, out_, "--max-pixels", "3014"}, {in + ": ", "67 x 45", "--max-pixels"});
  filter_quietly({in, out_, "--max-pixels", "3015"});
}

// Guarantees of filters, shown by small files that were once filtered wrongly.

struct FilterPromises : ProgramTest {
  // The samples of a result, row by row.
  std::vector<std::uint32_t> samples_of(Words stage, const std::string& in) {
    const std::string out = folder_ / "out.png";
    filter_quietly(Words{in, out} + stage);
    const Image image = read_picture(out);
    std::vector<std::uint32_t> samples;
    for (const auto [x, y, c] : each_sample(image))
      samples.push_back(sample_at(image, x, y, c));
    return samples;
  }

  std::string grey_row(const std::string& numbers, int width) {
    std::string path = folder_ / "row.pgm";
    write_file(path, "P2\n" + std::to_string(width) + " 1\n255\n" + numbers + "\n");
    return path;
  }
};

using SampleRow = std::vector<std::uint32_t>;

TEST_F(FilterPromises, OfAreasZerosAndNegativeAngles) {
  const auto resized = [&](const std::string& numbers, int width, const std::string& size) {
    return samples_of({"--resize", size, "--fit", "fill", "--kernel", "area"},
                      grey_row(numbers, width));
  };
  EXPECT_EQ(resized("0 90 30", 3, "2x1"), (SampleRow{30, 50}));
  EXPECT_EQ(resized("255 0 255 0 0", 5, "1x1"), (SampleRow{102}));
  EXPECT_EQ(resized("0 100", 2, "3x1"), (SampleRow{0, 50, 100}));
  EXPECT_EQ(
      samples_of({"--convolve", "0 0 0; 0 0 0; 0 0 0", "--offset", "100"}, grey_row("7 80 255", 3)),
      (SampleRow{100, 100, 100}));
  const std::string in = stored(random_image({5, 3}, {3, 8}, 1), "in.png");
  EXPECT_EQ(samples_of({"--rotate", "-90"}, in), samples_of({"--rotate", "270"}, in));
  EXPECT_EQ(samples_of({"--rotate", "450"}, in), samples_of({"--rotate", "90"}, in));
}

// The values are OpenColorIO's.
TEST_F(FilterPromises, ACubeMayHaveAShaper) {
  const SampleRow found =
      samples_of({"--lut", case_path("oracle-lut-shaper-and-cube/resolve_1d3d.cube")},
                 case_path("oracle-lut-shaper-and-cube/five.ppm"));
  const SampleRow expected{77, 70, 64, 118, 118, 115, 109, 86, 108, 79, 117, 86, 92, 85, 79};
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1) << i;
}

TEST_F(FilterPromises, ACubeMayBeInLowerCase) {
  const std::string lower = case_path("cube-lower-case-keywords.cube");
  std::string text = read_file(lower);
  text.replace(text.find("lut_3d_size"), 11, "LUT_3D_SIZE");
  const std::string upper = folder_ / "upper.cube";
  write_file(upper, text);
  const std::string in = stored(random_image({31, 9}, {3, 8}, 2), "in.png");
  EXPECT_EQ(samples_of({"--lut", lower}, in), samples_of({"--lut", upper}, in));
}

// docs/stages/pad.md: an odd rest is rounded towards zero.
TEST_F(FilterPromises, PaddingCutsTheMiddleAsThePageSays) {
  const std::string in = case_path("oracle-pad-middle-rounding/in.ppm");
  const Image source = read_picture(in);
  filter_quietly({in, out_, "--pad", "6x4"});
  const Image found = read_picture(out_);
  const int left = (6 - source.width()) / 2;
  for (int x = 0; x < source.width(); ++x)
    EXPECT_EQ(sample_at(found, x + left, 0, 0), sample_at(source, x, 16, 0));
}

// docs/stages/trim.md says how ImageMagick and libvips differ.
TEST_F(FilterPromises, TrimmingGoesByTheFirstPixel) {
  const auto trimmed = [&](const std::string& name) {
    filter_quietly({case_path("oracle-trim-unlike-peers/" + name), out_, "--trim"});
    return read_picture(out_).size();
  };
  EXPECT_EQ(trimmed("two-corners.png"), (ImageSize{50, 40}));
  EXPECT_EQ(trimmed("speck.png"), (ImageSize{31, 23}));
}

double psnr_of(const Image& a, const Image& b) {
  double sum = 0;
  double count = 0;
  for (const auto [x, y] : each_pixel(a)) {
    for (int c = 0; c < 3; ++c, ++count)
      sum += std::pow(double(sample_at(a, x, y, c)) - double(sample_at(b, x, y, c)), 2);
  }
  return 10 * std::log10(255.0 * 255.0 * count / sum);
}

TEST_F(FilterPromises, DenoisingKnowsWhatSuitsTheNoise) {
  for (const auto& [sigma, least] : {std::pair{"10", 31.2}, {"20", 29.1}}) {
    const std::string folder = case_path(std::string("oracle-denoise-auto-") + sigma);
    filter_quietly({folder + "/noisy.png", out_, "--denoise", sigma});
    EXPECT_GE(psnr_of(read_picture(out_), read_picture(folder + "/clean.png")), least) << sigma;
  }
}

// Noise as wide as several pixels that deviates by `sigma`.
std::vector<double> blotches(int side, double sigma, std::mt19937& random) {
  std::vector<double> noise(static_cast<std::size_t>(side * side));
  for (double& number : noise)
    number = static_cast<double>(random() % 2001) / 1000 - 1;
  const auto blur = [&](int step, int reach) {
    const std::vector<double> from = noise;
    for (int i = 0; i < side * side; ++i) {
      double sum = 0;
      for (int k = -reach; k <= reach; ++k)
        sum += from[static_cast<std::size_t>((i + k * step + side * side) % (side * side))];
      noise[static_cast<std::size_t>(i)] = sum;
    }
  };
  for (int round = 0; round < 2; ++round) {
    blur(1, 2);
    blur(side, 2);
  }
  double square = 0;
  for (const double number : noise)
    square += number * number;
  for (double& number : noise)
    number *= sigma / std::sqrt(square / (side * side));
  return noise;
}

// As a camera's JPEG has it: coloured blotches, and little noise in brightness.
TEST_F(FilterPromises, ChromaNoiseIsSmoothedByItself) {
  constexpr int side = 192;
  const std::string source = std::string(GPUFILTER_SOURCE) + "/samples/landscape.jpg";
  const std::string clean = folder_ / "clean.png";
  filter_quietly({source, clean, "--crop", "192x192+40+20"});
  std::mt19937 random(5);
  const std::vector<double> red = blotches(side, 12, random);
  const std::vector<double> blue = blotches(side, 12, random);
  Image noisy = copy_of(read_picture(clean));
  for (const auto [x, y] : each_pixel({side, side})) {
    const auto at = static_cast<std::size_t>(y * side + x);
    const double luma = static_cast<double>(random() % 21) - 10;
    const std::array noise{luma + 1.402 * red[at], luma - 0.714 * red[at] - 0.344 * blue[at],
                           luma + 1.772 * blue[at]};
    for (int c = 0; c < 3; ++c) {
      const double sample = sample_at(noisy, x, y, c) + noise.at(static_cast<std::size_t>(c));
      set_sample(noisy, x, y, c, static_cast<std::uint32_t>(std::clamp(sample, 0.0, 255.0)));
    }
  }
  const std::string jpeg = folder_ / "noisy.jpg";
  filter_quietly({stored(noisy, "noisy.png"), jpeg, "--quality", "85"});
  const auto denoised = [&](const Words& stage) {
    filter_quietly(Words{jpeg, out_} + stage);
    return psnr_of(read_picture(out_), read_picture(clean));
  };
  const double before = denoised({});
  const double by_color = denoised({"--denoise", "6"});
  const double by_chroma = denoised({"--denoise", "6", "--chroma", "12"});
  EXPECT_LT(by_color, before + 2);
  EXPECT_GT(by_chroma, before + 4);
  EXPECT_GT(by_chroma, by_color + 2.5);
}

// --fast-shrink as users run it.

struct FastShrink : ProgramTest {
  // Smooth, so that ways to shrink it differ little.
  void SetUp() override {
    Raster raster{1003, 701, 3, {}};
    for (const auto [x, y] : each_pixel({raster.width, raster.height})) {
      raster.samples.push_back(static_cast<std::uint8_t>(x / 4));
      raster.samples.push_back(static_cast<std::uint8_t>(y / 3));
      raster.samples.push_back(static_cast<std::uint8_t>((x + y) / 7));
    }
    const Bytes file = encode_with_libjpeg(raster);
    write_file(in_, std::string(file.begin(), file.end()));
  }

  [[nodiscard]] Image result(Words words, bool fast) const {
    words.insert(words.begin(), {in_, out_, "--device", "cpu", "--on-exists", "overwrite"});
    if (fast) words.emplace_back("--fast-shrink");
    filter_quietly(words);
    return read_picture(out_);
  }

  const std::string in_ = folder_ / "in.jpg";
};

TEST_F(FastShrink, GivesTheSameSizeAndNearlyTheSamePixels) {
  for (const Words& words : {Words{"--resize", "100x"},
                             {"--resize", "12.5%"},
                             {"--resize", "60x60"},
                             {"--resize", "60x60", "--fit", "cover"},
                             {"--resize", "60x60", "--fit", "contain"},
                             {"--rotate", "90", "--resize", "x110"},
                             {"--flop", "--resize", "70x33", "--fit", "fill"},
                             {"--crop", "1003x701+0+0", "--resize", "100x"},
                             {"--rotate", "90", "--crop", "701x1003+0+0", "--resize", "1003x",
                              "--only", "shrink", "--resize", "60x"}}) {
    SCOPED_TRACE(::testing::PrintToString(words));
    const Image slow = result(words, false);
    const Image fast = result(words, true);
    ASSERT_EQ(fast.size(), slow.size());
    EXPECT_FALSE(same_pixels(fast, slow)) << "nothing was decoded smaller";
    int largest = 0;
    for (const auto [x, y, c] : each_sample(slow.size(), 3)) {
      largest = std::max(largest, std::abs(static_cast<int>(sample_at(fast, x, y, c)) -
                                           static_cast<int>(sample_at(slow, x, y, c))));
    }
    // A pixel of the source is a third of a level; one of the result that lay elsewhere by half of
    // its width would differ more.
    EXPECT_LE(largest, 2);
  }
}

TEST_F(FastShrink, SaysByHowMuch) {
  const auto divisor = [this](const Words& words) {
    const Json json = Json::parse(
        filter(Words{in_, folder_ / "out.jpg", "--json", "-q", "--device", "cpu"} + words).out);
    return json.value("decoding_divisor", 1);
  };
  EXPECT_EQ(divisor({"--resize", "251x", "--fast-shrink"}), 1);
  EXPECT_EQ(divisor({"--resize", "250x", "--fast-shrink"}), 2);
  EXPECT_EQ(divisor({"--fast-shrink", "--resize", "125x"}), 4) << "as a default of all stages";
  EXPECT_EQ(divisor({"--resize", "62x", "--fast-shrink", "--dry-run"}), 8);
  EXPECT_EQ(divisor({"--resize", "10x", "--fast-shrink"}), 8);
  EXPECT_EQ(divisor({"--resize", "62x"}), 1);
  EXPECT_EQ(divisor({"--blur", "auto", "--resize", "62x", "--fast-shrink"}), 1);
  EXPECT_EQ(divisor({"--resize", "62x", "--only", "enlarge", "--fast-shrink"}), 1);
  // An output before it needs all pixels, unless it is not decoded at all.
  EXPECT_EQ(divisor({"--output", folder_ / "all.png", "--resize", "62x", "--fast-shrink"}), 1);
  EXPECT_EQ(divisor({"--output", folder_ / "all.jpg", "--resize", "62x", "--fast-shrink"}), 8);
  const std::string said =
      filter({in_, out_, "--resize", "62x", "--fast-shrink", "--device", "cpu"}).err;
  EXPECT_TRUE(contains(said, ": 1003x701 -> 62x43, decoded at 1/8, RGB, 8-bit; "));
  filter_quietly({in_, folder_ / "copy.png"});
  EXPECT_FALSE(contains(filter({folder_ / "copy.png", out_, "--resize", "62x", "--fast-shrink",
                                "--json", "-q", "--on-exists", "overwrite"})
                            .out,
                        "decoding_divisor"));
}

}  // namespace
}  // namespace gpufilter::test
