// Colours: profiles and light.

#include "cli/program_fixture.hpp"
#include "codec/byte_sink.hpp"
#include "codec/codec_table.hpp"
#include "stages/colour/color_profile.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

// --to-srgb and --profile on the command line: the pixels of Little CMS's own programs, the
// profiles of the results, and profiles that do not fit.

const std::string display_p3 = GPUFILTER_SOURCE "/samples/profiles/display-p3.icc";
const std::string system_profiles = "/usr/share/color/icc/ghostscript/";

IccProfile profile_in(const std::string& path) {
  const std::string bytes = read_file(path);
  return {"icc", {bytes.begin(), bytes.end()}};
}

// A profile with a gamma of 1.8 and wide primaries; or of grey.
IccProfile made_profile(const PixelFormat& format) {
  Metadata metadata;
  metadata.gamma = 55'556;
  metadata.chromaticity = {34'567, 35'850, 73'470, 26'530, 15'960, 84'040, 3'660, 10};
  return *profile_of(metadata, format);
}

struct Profiles : ProgramTest {
  std::string store(const Image& image, const std::optional<IccProfile>& profile,
                    const std::string& name) const {
    const std::string path = folder_ / name;
    const auto sink = open_sink(path);
    PictureHeader header = header_of(image);
    header.metadata.icc_profile = profile;
    const auto writer = create_picture(codec_for_output(path), *sink, header);
    writer->write(image.rows());
    writer->finish({});
    sink->commit();
    return path;
  }

  [[nodiscard]] static std::optional<IccProfile> profile_of_file(const std::string& path) {
    return open_picture(open_source(path))->header().metadata.icc_profile;
  }

  // Expects that our result equals tificc's.
  void expect_same_as_tificc(const std::string& in, const Words& ours, const Words& theirs) const {
    SCOPED_TRACE(in + ::testing::PrintToString(ours));
    const std::string out = folder_ / "ours.tif";
    const std::string other = folder_ / "theirs.tif";
    filter_quietly(Words{in, out, "--device", "cpu", "--on-exists", "overwrite"} + ours);
    const int depth = open_picture(open_source(in))->header().format.depth;
    const Words command = Words{"tificc", "-w" + std::to_string(depth)} + theirs;
    ended(0, run_process(command + Words{in, other}));
    EXPECT_TRUE(same_pixels(read_picture(out), read_picture(other)));
  }
};

TEST_F(Profiles, GiveThePixelsOfTificc) {
  if (!has_program("tificc") || codec_of_name("a.tif") == nullptr)
    GTEST_SKIP() << "skipped: liblcms2-utils is not installed";
  for (const auto& [depth, channels] : each_of(std::array{8, 16}, std::array{1, 3, 4})) {
    const PixelFormat format{channels, depth};
    const std::string in =
        store(random_image({131, 47}, format, 1), made_profile(format), "in.tif");
    expect_same_as_tificc(in, {"--to-srgb"}, {"-t1", "-b"});
    expect_same_as_tificc(in, {"--profile", display_p3}, {"-t1", "-b", "-o" + display_p3});
  }
  const std::string in =
      store(random_image({131, 47}, {3, 8}, 2), profile_in(display_p3), "p3.tif");
  const Words intents{"perceptual", "relative", "saturation", "absolute"};
  for (std::size_t i = 0; i < intents.size(); ++i) {
    const std::string intent = "-t" + std::to_string(i);
    expect_same_as_tificc(
        in, {"--to-srgb", "--intent", intents[i], "--black-point-compensation", "off"}, {intent});
  }
}

// Tables of profiles for print, in TIFF and JPEG.
TEST_F(Profiles, ConvertCmykByItsProfile) {
  const std::string inks = system_profiles + "default_cmyk.icc";
  if (!has_program("tificc") || codec_of_name("a.tif") == nullptr || !fs::exists(inks) ||
      run_process({"/usr/bin/python3", "-c", "import PIL"}).exit_code != 0)
    GTEST_SKIP() << "skipped: liblcms2-utils, libgs-common or python3-pil is not installed";
  const std::string tiff = folder_ / "in.tif";
  const std::string jpeg = folder_ / "in.jpg";
  const std::string from_jpeg = folder_ / "from-jpeg.tif";
  // The pixels of the JPEG, as libjpeg decodes them, are in from-jpeg.tif.
  const ProcessResult made = run_process(
      {"/usr/bin/python3", "-c",
       "import sys, random; from PIL import Image; random.seed(1); "
       "p = open(sys.argv[1], 'rb').read(); w, h = 61, 43; "
       "i = Image.frombytes('CMYK', (w, h), random.randbytes(4 * w * h)); "
       "i.save(sys.argv[2], icc_profile=p); i.save(sys.argv[3], icc_profile=p, quality=95); "
       "Image.open(sys.argv[3]).save(sys.argv[4], icc_profile=p)",
       inks, tiff, jpeg, from_jpeg});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  for (const std::string& in : {tiff, from_jpeg}) {
    expect_same_as_tificc(in, {"--to-srgb"}, {"-t1", "-b"});
    expect_same_as_tificc(
        in,
        {"--profile", display_p3, "--intent", "perceptual", "--black-point-compensation", "off"},
        {"-t0", "-o" + display_p3});
  }
  filter_quietly({jpeg, folder_ / "a.png", "--to-srgb"});
  filter_quietly({from_jpeg, folder_ / "b.png", "--to-srgb"});
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "a.png"), read_picture(folder_ / "b.png")));
  EXPECT_EQ(profile_of_file(folder_ / "a.png")->data, srgb_profile().data);
  // Without the stage, the inks are only inverted, as before.
  filter_quietly({jpeg, folder_ / "plain.png"});
  EXPECT_FALSE(same_pixels(read_picture(folder_ / "a.png"), read_picture(folder_ / "plain.png")));
  // The stages before the conversion already see its colours.
  filter_quietly({jpeg, folder_ / "crop.png", "--crop", "10x10+3+4", "--to-srgb"});
  filter_quietly({folder_ / "a.png", folder_ / "later.png", "--crop", "10x10+3+4"});
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "crop.png"), read_picture(folder_ / "later.png")));
}

TEST_F(Profiles, GiveThePixelsOfJpgicc) {
  if (!has_program("jpgicc")) GTEST_SKIP() << "skipped: liblcms2-utils is not installed";
  const std::string in = store(random_image({64, 48}, {3, 8}, 3), profile_in(display_p3), "in.jpg");
  const std::string ours = folder_ / "ours.jpg";
  const std::string theirs = folder_ / "theirs.jpg";
  filter_quietly({in, ours, "--to-srgb", "--quality", "80", "--subsampling", "444"});
  ASSERT_EQ(run_process({"jpgicc", "-t1", "-b", "-q80", in, theirs}).exit_code, 0);
  EXPECT_TRUE(same_pixels(read_picture(ours), read_picture(theirs)));
}

TEST_F(Profiles, ResultsHaveTheProfileOfTheirPixels) {
  const Image image = random_image({40, 30}, {3, 8}, 4);
  const IccProfile wide = made_profile({3, 8});
  for (const std::string extension : {"png", "jpg", "tif", "webp"}) {
    if (codec_of_name("a." + extension) == nullptr) continue;
    SCOPED_TRACE(extension);
    const std::string in = store(image, wide, "in." + extension);
    const auto profile_with = [&](const Words& stages) {
      Words words = Words{in, folder_ / ("out." + extension), "--on-exists", "overwrite"} + stages;
      filter_quietly(words);
      const auto profile = profile_of_file(words[1]);
      return profile ? profile->data : Bytes{};
    };
    EXPECT_EQ(profile_with({"--blur", "auto"}), wide.data);
    EXPECT_EQ(profile_with({"--to-srgb"}), srgb_profile().data);
    EXPECT_EQ(profile_with({"--to-srgb", "--strip"}), srgb_profile().data);
    EXPECT_EQ(profile_with({"--to-srgb", "--keep", "none"}), Bytes{});
    EXPECT_EQ(profile_with({"--profile", display_p3}), profile_in(display_p3).data);
    EXPECT_EQ(profile_with({"--to-srgb", "--profile", display_p3}), profile_in(display_p3).data);
  }
}

// Each output has the profile of its place in the chain; the file is decoded once.
TEST_F(Profiles, OutputsBetweenStagesHaveTheirOwn) {
  const IccProfile wide = made_profile({3, 8});
  const std::string in = store(random_image({40, 30}, {3, 8}, 5), wide, "in.png");
  filter_quietly({in, folder_ / "last.png", "--output", folder_ / "first.png", "--to-srgb",
                  "--output", folder_ / "middle.png", "--rotate", "90", "--profile", display_p3});
  EXPECT_EQ(profile_of_file(folder_ / "first.png")->data, wide.data);
  EXPECT_EQ(profile_of_file(folder_ / "middle.png")->data, srgb_profile().data);
  EXPECT_EQ(profile_of_file(folder_ / "last.png")->data, profile_in(display_p3).data);
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "first.png"), read_picture(in)));
}

TEST_F(Profiles, PicturesWithoutOneDoNotChange) {
  const std::string in = store(random_image({40, 30}, {3, 8}, 6), std::nullopt, "in.png");
  filter_quietly({in, out_, "--to-srgb"});
  EXPECT_EQ(read_file(out_), read_file(in)) << "a copy";
  const std::string grey = store(random_image({40, 30}, {1, 8}, 7), std::nullopt, "grey.png");
  filter_quietly({grey, folder_ / "still-grey.png", "--to-srgb"});
  EXPECT_EQ(read_picture(folder_ / "still-grey.png").format(), (PixelFormat{1, 8}));
  EXPECT_FALSE(profile_of_file(folder_ / "still-grey.png").has_value());
}

TEST_F(Profiles, ThatDoNotFitAreNamed) {
  IccProfile damaged = profile_in(display_p3);
  damaged.data.resize(200);
  const std::string broken = store(random_image({40, 30}, {3, 8}, 9), damaged, "broken.png");
  const std::string warning = "the ICC profile is damaged; its colours count as sRGB";
  expect_one_line(ended(0, filter({broken, out_, "--to-srgb", "--timing", "off"})).err,
                  {"warning: " + broken + ": --to-srgb: " + warning});
  EXPECT_TRUE(same_pixels(read_picture(out_), read_picture(broken)));
  fs::remove(out_);
  fs::create_directory(folder_.path() / "all");
  fs::rename(broken, folder_.path() / "all/broken.png");
  store(random_image({40, 30}, {3, 8}, 9), std::nullopt, "all/good.png");
  EXPECT_TRUE(contains(ended(0, filter({folder_ / "all", folder_ / "done", "--to-srgb"})).err,
                       "1 picture: --to-srgb: " + warning));

  const std::string good = folder_ / "all/good.png";
  const std::string text = folder_ / "text.icc";
  write_file(text, "no profile");
  expect_failure(2, {good, out_, "--profile", text}, {text + ": not an ICC profile"});
  expect_failure(2, {good, out_, "--profile", folder_ / "none.icc"},
                 {folder_ / "none.icc" + std::string(": no such file")});
  std::string inks = read_file(display_p3);
  inks.replace(16, 4, "CMYK");
  write_file(folder_ / "cmyk.icc", inks);
  expect_failure(2, {good, out_, "--profile", folder_ / "cmyk.icc"},
                 {"the ICC profile is for CMYK; results are grey or RGB"});
  expect_failure(2, {good, out_, "--linear", "--to-srgb"}, {"--to-srgb: the stages here work"});
}

// --linear on the command line: the picture's own curve, warnings, and uses out of place.

struct LinearTest : ProgramTest {
  // Two pixels, black and white, as in.png.
  void save_black_and_white(const Metadata& metadata) const {
    Image image({2, 1}, {1, 8});
    set_sample(image, 0, 0, 0, 0);
    set_sample(image, 1, 0, 0, 255);
    PngSettings settings;
    settings.metadata = metadata;
    const Bytes file = encode_png(image, settings);
    write_file(folder_ / "in.png", std::string(file.begin(), file.end()));
  }

  // The mean of both.
  [[nodiscard]] std::uint32_t mixed(const Words& stages) const {
    filter_quietly(Words{folder_ / "in.png", folder_ / "out.png", "--on-exists", "overwrite"} +
                   stages);
    return sample_at(read_picture(folder_ / "out.png"), 0, 0, 0);
  }
};

// Half of white's light is 1.055 * 0.5^(1 / 2.4) - 0.055 = 0.7354 by sRGB's curve, 0.5^(1 / 2) =
// 0.7071 by a power of 2.
TEST_F(LinearTest, MixesLightByThePicturesCurve) {
  const Words plain{"--resize", "1x1", "--kernel", "area"};
  Words linear = plain;
  linear.insert(linear.begin(), "--linear");
  Words both = linear;
  both.emplace_back("--encoded");
  save_black_and_white({});
  EXPECT_EQ(mixed(plain), 128U);
  EXPECT_EQ(mixed(both), 188U);
  EXPECT_EQ(mixed(linear), 188U);
  Metadata metadata;
  metadata.gamma = 50000;
  save_black_and_white(metadata);
  EXPECT_EQ(mixed(both), 180U);
}

TEST_F(LinearTest, WarnsAboutACurveThatItCannotUse) {
  Metadata metadata;
  metadata.gamma = 5000;
  save_black_and_white(metadata);
  EXPECT_EQ(
      ended(0, filter({folder_ / "in.png", out_, "--linear", "--encoded", "--timing", "off"})).err,
      "gpufilter: warning: " + (folder_ / "in.png") +
          ": --linear: the picture's gamma, 20, is out of range; sRGB's curve is used "
          "instead\n");
  save_black_and_white({});
  const auto refusal = [&](const Words& stages) {
    return ended(2, filter(Words{folder_ / "in.png", out_} + stages)).err;
  };
  EXPECT_EQ(refusal({"--encoded"}),
            "gpufilter: --encoded: there is no --linear before it to end\n");
  EXPECT_EQ(refusal({"--linear", "--invert", "--linear"}),
            "gpufilter: --linear: the stages here already work in linear light; put --encoded "
            "before it\n");
}

}  // namespace
}  // namespace gpufilter::test
