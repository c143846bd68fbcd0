// The pixels that "gpufilter INPUT OUTPUT" writes.
#include <algorithm>
#include <tuple>

#include "cli/filter_fixture.hpp"
#include "codec/png/codec.hpp"
#include "stage/options/catalogue.hpp"
#include "support/jpeg.hpp"
#include "support/pictures.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {
namespace {

using FilterResult = FilterTest;

Bytes bytes_of(const std::string& path) {
  const std::string text = read_file(path);
  return {text.begin(), text.end()};
}

TEST_F(FilterResult, EveryVariantGivesTheReferencesPixels) {
  const std::vector<std::vector<std::string>> variants{{"--blur", "naive"},
                                                       {"--blur", "tiled"},
                                                       {"--blur", "auto"},
                                                       {"--blur", "tiled", "--tile", "8"},
                                                       {"--blur", "tiled", "--tile", "32"},
                                                       {"--blur", "tiled", "--device", "cpu"}};
  // The tests of kernels have every variant in every format.
  constexpr std::array formats{PixelFormat{1, 8}, PixelFormat{4, 8}, PixelFormat{3, 16}};
  const std::string out = folder_ / "out.png";
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Image image = random_image(size_, formats.at(i % formats.size()), 1);
    std::vector<std::string> arguments{stored(image, "in.png"), out};
    arguments.insert(arguments.end(), variants[i].begin(), variants[i].end());
    filter_quietly(arguments);
    EXPECT_TRUE(same_pixels(read_picture(out), blurred(image)))
        << ::testing::PrintToString(variants[i]);
    std::filesystem::remove(out);
  }
}

TEST_F(FilterResult, StagesRepeat) {
  const Image image = random_image(size_, format_, 2);
  const std::string in = stored(image, "in.png");
  const std::string out = folder_ / "out.png";
  filter_quietly({"--blur", "tiled", in, "--blur=naive", out});
  EXPECT_TRUE(same_pixels(read_picture(out), blurred(image, {}, 2)));
  EXPECT_FALSE(same_pixels(read_picture(out), blurred(image)));
  filter_quietly({in, out, "--blur", "naive", "--blur", "auto", "--blur", "tiled"});
  EXPECT_TRUE(same_pixels(read_picture(out), blurred(image, {}, 3)));
}

TEST_F(FilterResult, StagesRunInTheOrderWritten) {
  const Image image = random_image(size_, format_, 2);
  const std::string in = stored(image, "in.png");
  const std::string out = folder_ / "out.png";
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
  filter_quietly({in, out, "--blur", "naive", "--color", twice_as_bright});
  EXPECT_TRUE(same_pixels(read_picture(out), blurred_first));
  filter_quietly({"--color", twice_as_bright, in, "--blur", "naive", out});
  EXPECT_TRUE(same_pixels(read_picture(out), brighter_first));
}

TEST_F(FilterResult, BordersAndAlphaAreAsAskedFor) {
  const Image image = mixed_alpha_image(size_, {4, 8}, 3);
  const std::string in = stored(image, "in.png");
  const std::string out = folder_ / "out.png";
  for (const auto& [name, border] : {std::pair{"replicate", Border::replicate},
                                     {"mirror", Border::mirror},
                                     {"wrap", Border::wrap},
                                     {"constant", Border::constant}}) {
    for (const auto& [alpha_name, alpha] :
         {std::pair{"weighted", AlphaMode::weighted}, {"independent", AlphaMode::independent}}) {
      filter_quietly({in, out, "--border", name, "--alpha", alpha_name, "--blur", "auto", "--blur",
                      "auto", "--device", "cpu"});
      const Image expected = blurred(image, {.border = border, .alpha = alpha}, 2);
      EXPECT_TRUE(same_pixels(read_picture(out), expected)) << name << " " << alpha_name;
    }
  }
}

TEST_F(FilterResult, EachStageHasItsOwnParameters) {
  const Image image = mixed_alpha_image(size_, {4, 8}, 5);
  const std::string in = stored(image, "in.png");
  const std::string out = folder_ / "out.png";
  const BlurParameters mirrored{.border = Border::mirror, .alpha = AlphaMode::independent};
  const BlurParameters black{.border = Border::constant, .alpha = AlphaMode::weighted};
  const Image expected = blurred(blurred(image, mirrored), black);
  EXPECT_FALSE(same_pixels(expected, blurred(blurred(image, black), mirrored)))
      << "or the order could not be seen";
  for (const char* device : {"auto", "cpu"}) {
    filter_quietly({in, out, "--device", device, "--blur", "tiled", "--tile", "8", "--border",
                    "mirror", "--alpha", "independent", "--blur", "tiled", "--tile", "32",
                    "--border", "constant"});
    EXPECT_TRUE(same_pixels(read_picture(out), expected)) << device;
    filter_quietly({"--border", "constant", in, "--blur", "naive", "--alpha", "independent",
                    "--border", "mirror", out, "--blur", "auto", "--device", device});
    EXPECT_TRUE(same_pixels(read_picture(out), expected)) << device << ", by default";
  }
}

TEST_F(FilterResult, ThreadsMemoryAndBandsDoNotShow) {
  const std::string in = stored(random_image({517, 431}, format_, 11), "in.png");
  const std::vector<std::vector<std::string>> ways{
      {"--threads", "1"},
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
  for (const char* name : {"out.png", "out.jpg"}) {
    for (const char* device : {"opencl", "cpu"}) {
      const std::string out = folder_ / name;
      const std::vector<std::string> arguments{in,       out,    "--blur",   "tiled",
                                               "--blur", "auto", "--device", device};
      filter_quietly(arguments);
      const std::string expected = read_file(out);
      for (const auto& way : ways) {
        std::vector<std::string> more = arguments;
        more.insert(more.end(), way.begin(), way.end());
        filter_quietly(more);
        EXPECT_TRUE(read_file(out) == expected)
            << name << " " << device << ::testing::PrintToString(way);
      }
    }
  }
}

TEST_F(FilterResult, ASinglePixelIsAPicture) {
  const Image image = random_image({1, 1}, {4, 16}, 5);
  const std::string out = folder_ / "out.png";
  filter_quietly({stored(image, "in.png"), out, "--blur", "tiled", "--blur", "naive"});
  EXPECT_TRUE(same_pixels(read_picture(out), blurred(image, {}, 2)));
}

TEST_F(FilterResult, WithoutStagesPixelsAreCopied) {
  const std::string out = folder_ / "out.png";
  for (const int channels : {1, 2, 3, 4}) {
    for (const int depth : {8, 16}) {
      const Image image = random_image(size_, {channels, depth}, 6);
      filter_quietly({stored(image, "in.png"), out});
      EXPECT_TRUE(same_pixels(read_picture(out), image));
    }
  }
}

TEST_F(FilterResult, PngToJpegToPng) {
  const Image image = random_image(size_, format_, 7);
  const std::string jpeg = folder_ / "between.JPG";
  const std::string out = folder_ / "out.png";
  filter_quietly({stored(image, "in.png"), jpeg, "--quality", "95"});
  EXPECT_EQ(read_file(jpeg).substr(0, 3), "\xff\xd8\xff");
  filter_quietly({jpeg, out, "--blur", "tiled"});
  EXPECT_EQ(read_file(out).substr(1, 3), "PNG");
  EXPECT_TRUE(same_pixels(read_picture(out), blurred(read_picture(jpeg))));
}

TEST_F(FilterResult, ContentDecidesTheInputsFormat) {
  const Image image = random_image(size_, format_, 8);
  const std::string lying = stored(image, "really-a-png.jpg");
  const std::string out = folder_ / "out.png";
  filter_quietly({lying, out});
  EXPECT_TRUE(same_pixels(read_picture(out), image));
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
    return std::filesystem::file_size(out);
  };
  EXPECT_LT(size_with("out.jpg", "--quality", "10"), size_with("out.jpg", "--quality", "90"));
  EXPECT_LT(size_with("out.png", "--png-level", "9"), size_with("out.png", "--png-level", "0"));
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "out.png"), image));
}

TEST_F(FilterResult, JpegKeepsItsSettingsOrTakesThoseAskedFor) {
  const Raster raster = textured_raster(45, 67, 3);
  JpegRecipe recipe{.quality = 77, .horizontal_subsampling = 1, .vertical_subsampling = 2};
  const auto expected = [&] { return components_of(encode_with_libjpeg(raster, recipe)); };
  const Bytes jpeg = encode_with_libjpeg(raster, recipe);
  const std::string in = folder_ / "in.jpg";
  const std::string out = folder_ / "out.jpg";
  write_file(in, {jpeg.begin(), jpeg.end()});

  const ProcessResult result = filter({in, out, "--blur", "auto", "--timing", "table"});
  EXPECT_TRUE(
      contains(result.err, "quality 77 (kept from the input), 4:4:0 (kept from the input)\n"));
  EXPECT_EQ(components_of(bytes_of(out)), expected());
  filter_quietly({in, out, "--quality", "95", "--blur", "auto"});
  recipe.quality = 95;
  EXPECT_EQ(components_of(bytes_of(out)), expected());
  filter_quietly({in, out, "--subsampling", "422"});
  recipe = {.quality = 77, .vertical_subsampling = 1};
  EXPECT_EQ(components_of(bytes_of(out)), expected());
}

TEST_F(FilterResult, JpegOutputLaysAlphaOverTheBackground) {
  Image clear = poisoned_image(size_, {4, 8}, 200);
  for (const auto [x, y] : each_pixel(size_))
    set_sample(clear, x, y, 3, 0);
  const std::string in = stored(clear, "in.png");
  const std::string out = folder_ / "out.jpg";
  const std::vector<std::tuple<std::vector<std::string>, int, int, int>> cases{
      {{}, 255, 255, 255},
      {{"--background", "blue"}, 0, 0, 255},
      {{"--background", "#0F0"}, 0, 255, 0},
      {{"--background", "#102030"}, 16, 32, 48}};
  for (const auto& [option, red, green, blue] : cases) {
    std::vector<std::string> arguments{in, out, "--blur", "auto", "--timing", "off"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    const ProcessResult result = ended(0, filter(arguments));
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
  const std::string out = folder_ / "out.png";
  write_file(in, {file.begin(), file.end()});
  filter_quietly({in, out, "--blur", "tiled"});

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
  EXPECT_TRUE(same_pixels(read_picture(out), blurred(expanded)));
}

TEST_F(FilterResult, MetadataSurvivesABlur) {
  PictureHeader header;
  header.size = size_;
  header.format = format_;
  header.metadata.density = Density{Density::Unit::per_metre, 3937, 7874};
  header.metadata.icc_profile = IccProfile{"a profile", Bytes(300, 7)};
  const std::string color_space = "RGB ";  // where a profile names it
  std::copy(color_space.begin(), color_space.end(), header.metadata.icc_profile->data.begin() + 16);
  header.metadata.gamma = 45455;
  header.metadata.text.push_back({"Title", "A pier", {}, {}});
  const Image image = random_image(size_, format_, 10);
  const std::string in = folder_ / "in.png";
  const std::string out = folder_ / "out.png";
  {
    const auto sink = open_sink(in);
    const auto writer = create_picture(png_codec(), *sink, header);
    writer->write(image.rows());
    writer->finish({});
    sink->commit();
  }
  filter_quietly({in, out, "--blur", "tiled"});

  // Chunk by chunk, without the codec under test.
  const auto chunks = split_png(bytes_of(out));
  const auto originals = split_png(bytes_of(in));
  for (const char* type : {"pHYs", "gAMA", "tEXt", "iCCP"}) {
    const auto is_of_type = [&](const PngPart& part) { return part.type == type; };
    const auto found = std::find_if(chunks.begin(), chunks.end(), is_of_type);
    const auto original = std::find_if(originals.begin(), originals.end(), is_of_type);
    ASSERT_NE(original, originals.end()) << type;
    ASSERT_NE(found, chunks.end()) << type;
    EXPECT_EQ(found->data, original->data) << type;
  }
}

TEST_F(FilterResult, ACropHasItsOwnSize) {
  const Image image = random_image(size_, format_, 12);
  const std::string in = stored(image, "in.png");
  const std::string out = folder_ / "out.png";
  const ProcessResult result =
      ended(0, filter({in, out, "--blur", "auto", "--crop", "20x5+7+40", "--timing", "json"}));
  const Image all = blurred(image);
  Image part({20, 5}, format_);
  for (int y = 0; y < 5; ++y)
    std::copy_n(all.rows().row(40 + y) + 7 * 3, 20 * 3, part.rows().row(y));
  EXPECT_TRUE(same_pixels(read_picture(out), part));
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["width"], 67);
  EXPECT_EQ(json["height"], 45);
  EXPECT_EQ(json["output_width"], 20);
  EXPECT_EQ(json["output_height"], 5);
  EXPECT_EQ(json["band_rows"], 5);
  EXPECT_TRUE(contains(filter({in, out, "--crop", "20x5+7+40"}).err, "67x45 -> 20x5, RGB, 8-bit;"));
}

// One picture of a folder is too small; usage errors are found before any picture.
TEST_F(FilterResult, ACropBeyondThePictureFails) {
  const std::string in = stored(random_image(size_, format_, 13), "in.png");
  const std::string out = folder_ / "out.png";
  expect_failure(1, {in, out, "--crop", "60x40+8+5"},
                 {in + ": --crop 60x40+8+5 reaches beyond its 67x45 pixels\n"});
  expect_failure(
      2, {folder_ / "none.png", out, "--crop", "60x"},
      {"--crop 60x: write WIDTHxHEIGHT+X+Y or WIDTHxHEIGHT in whole pixels or percent, such as "
       "640x480+10+20 or 50%\n"});
  std::filesystem::create_directory(folder_ / "photos");
  write_png(random_image(size_, format_, 14), folder_ / "photos/large.png");
  write_png(random_image({50, 50}, format_, 15), folder_ / "photos/small.png");
  const ProcessResult result =
      ended(1, filter({folder_ / "photos", folder_ / "parts", "--crop", "60x40+7+5", "-q"}));
  expect_one_line(result.err, {"small.png: --crop 60x40+7+5 reaches beyond its 50x50 pixels"});
  EXPECT_EQ(names_in(folder_ / "parts"),
            (std::vector<std::string>{".gpufilter-journal", "large.png"}));
}

TEST_F(FilterResult, PicturesWithMorePixelsThanAllowedAreRefused) {
  const std::string in = stored(random_image(size_, format_, 11), "in.png");
  const std::string out = folder_ / "out.png";
  expect_failure(1, {in, out, "--max-pixels", "3014"}, {in + ": ", "67 x 45", "--max-pixels"});
  filter_quietly({in, out, "--max-pixels", "3015"});
}

}  // namespace
}  // namespace gpufilter::test
