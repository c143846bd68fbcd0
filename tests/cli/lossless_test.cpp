// JPEGs that are cropped and turned without being decoded, as users run it.
#include <filesystem>

#include "cli/filter_fixture.hpp"
#include "codec/byte_source.hpp"
#include "image/exif.hpp"
#include "image/exif_orientation.hpp"
#include "image/turn.hpp"
#include "support/jpeg_coefficients.hpp"
#include "support/naive_turn.hpp"

namespace gpufilter::test {
namespace {

using Words = std::vector<std::string>;

class Lossless : public FilterTest {
 protected:
  static Bytes bytes_of(const std::string& path) {
    const std::string text = read_file(path);
    return {text.begin(), text.end()};
  }

  [[nodiscard]] std::string jpeg(const std::string& name, ImageSize size,
                                 const JpegRecipe& recipe = {}, int channels = 3) const {
    std::string path = folder_ / name;
    const Bytes file =
        encode_with_libjpeg(textured_raster(size.width, size.height, channels), recipe);
    write_file(path, std::string(file.begin(), file.end()));
    return path;
  }

  // Camera EXIF with this orientation and a thumbnail.
  static JpegRecipe oriented(int orientation) {
    JpegRecipe recipe;
    recipe.after_start = [orientation](jpeg_compress_struct& compressor) {
      const Bytes tiff{'M',
                       'M',
                       0,
                       42,
                       0,
                       0,
                       0,
                       8,  // the first directory
                       0,
                       1,
                       1,
                       0x12,
                       0,
                       3,
                       0,
                       0,
                       0,
                       1,
                       0,  // an orientation
                       static_cast<std::uint8_t>(orientation),
                       0,
                       0,
                       0,
                       0,
                       0,
                       26,
                       0,
                       2,
                       2,
                       1,
                       0,
                       4,
                       0,
                       0,
                       0,
                       1,
                       0,
                       0,
                       0,
                       56,  // a thumbnail: its offset
                       2,
                       2,
                       0,
                       4,
                       0,
                       0,
                       0,
                       1,
                       0,
                       0,
                       0,
                       2,
                       0,
                       0,
                       0,
                       0,  // and its length
                       0xFF,
                       0xD8};
      Bytes segment{'E', 'x', 'i', 'f', 0, 0};
      segment.insert(segment.end(), tiff.begin(), tiff.end());
      jpeg_write_marker(&compressor, JPEG_APP0 + 1, segment.data(),
                        static_cast<unsigned>(segment.size()));
    };
    return recipe;
  }

  static Bytes exif_of(const std::string& path) {
    return open_picture(open_source(path))->header().metadata.exif;
  }

  static bool has_program(const std::string& name) {
    return run_process({"sh", "-c", "command -v " + name}).exit_code == 0;
  }

  void expect_like_jpegtran(const std::string& in, const Words& ours, const Words& theirs) const {
    SCOPED_TRACE(::testing::PrintToString(ours) + " " + in);
    const std::string expected = folder_ / "expected.jpg";
    Words command{"jpegtran", "-copy", "none", "-perfect", "-outfile", expected};
    command.insert(command.end(), theirs.begin(), theirs.end());
    command.push_back(in);
    ASSERT_EQ(run_process(command).exit_code, 0);
    Words words{in, out_, "--lossless", "always", "--on-exists", "overwrite"};
    words.insert(words.end(), ours.begin(), ours.end());
    static_cast<void>(filter_quietly(words));
    const Bytes result = bytes_of(out_);
    EXPECT_EQ(coefficients_of(result), coefficients_of(bytes_of(expected)));
    EXPECT_EQ(decode_with_libjpeg(result).samples, decode_with_libjpeg(bytes_of(expected)).samples);
  }

  const std::string out_ = folder_ / "out.jpg";
};

TEST_F(Lossless, GivesTheCoefficientsOfJpegtran) {
  if (!has_program("jpegtran")) GTEST_SKIP() << "skipped: there is no jpegtran here";
  const std::vector<std::pair<Words, Words>> turns{
      {{"--flip"}, {"-flip", "vertical"}},
      {{"--flop"}, {"-flip", "horizontal"}},
      {{"--rotate", "90"}, {"-rotate", "90"}},
      {{"--rotate", "180"}, {"-rotate", "180"}},
      {{"--rotate", "270"}, {"-rotate", "270"}},
      {{"--rotate", "90", "--flop"}, {"-transpose"}},
      {{"--rotate", "270", "--flop"}, {"-transverse"}},
      {{"--rotate", "90", "--crop", "29x45+32+32"}, {"-rotate", "90", "-crop", "29x45+32+32"}}};
  int number = 0;
  for (const auto& [horizontal, vertical] :
       {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {0, 0}}) {
    JpegRecipe recipe{.horizontal_subsampling = horizontal, .vertical_subsampling = vertical};
    if (horizontal == 0) recipe.raster_colors = recipe.stored_colors = JCS_GRAYSCALE;
    recipe.progressive = ++number % 2 == 0;
    const std::string in = jpeg("in.jpg", {96, 64}, recipe, horizontal == 0 ? 1 : 3);
    for (const auto& [ours, theirs] : turns)
      expect_like_jpegtran(in, ours, theirs);
  }
  // Parts of blocks at the edges that stay where they are.
  const std::string odd = jpeg("odd.jpg", {93, 61});
  expect_like_jpegtran(odd, {"--rotate", "90", "--flop"}, {"-transpose"});
  expect_like_jpegtran(odd, {"--crop", "50x40+16+16"}, {"-crop", "50x40+16+16"});
  expect_like_jpegtran(jpeg("wide.jpg", {93, 64}), {"--flip"}, {"-flip", "vertical"});
  expect_like_jpegtran(jpeg("high.jpg", {96, 61}), {"--flop"}, {"-flip", "horizontal"});
}

TEST_F(Lossless, SaysSo) {
  const std::string in = jpeg("in.jpg", {96, 64});
  const ProcessResult said = filter({in, out_, "--rotate", "90", "-v"});
  EXPECT_NE(said.err.find(": 96x64 -> 64x96, RGB, 8-bit; processor (turned without decoding)\n"),
            std::string::npos)
      << said.err;
  EXPECT_NE(said.err.find("plan: 1 stage; turned without decoding\n"), std::string::npos)
      << said.err;
  EXPECT_NE(said.err.find("rotate: 90 (without decoding)\n"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("read undecoded "), std::string::npos) << said.err;
  for (const bool dry : {true, false}) {
    Words words{in, out_, "--crop", "32x32+16+0", "--json", "-q"};
    if (dry) words.emplace_back("--dry-run");
    const Json json = Json::parse(filter(words).out);
    EXPECT_EQ(json["jpeg"]["lossless"], true);
    EXPECT_EQ(json["jpeg"]["subsampling"], "4:2:0");
    EXPECT_EQ(json["output_width"], 32);
  }
  EXPECT_NE(
      filter({in, out_, "--crop", "32x32+16+0", "--dry-run"}).out.find("cropped without decoding"),
      std::string::npos);
}

TEST_F(Lossless, DecodesWhereBitsWouldBeLost) {
  const std::string in = jpeg("in.jpg", {93, 64});
  const std::string reason =
      "its edge at column 93 does not lie between blocks, which are 16 pixels wide";
  const std::string said = filter({in, out_, "--flop", "-v"}).err;
  EXPECT_NE(said.find(in + ": decoded, because " + reason), std::string::npos) << said;
  EXPECT_EQ(said.find("without decoding"), std::string::npos) << said;
  expect_failure(1, {in, out_, "--flop", "--lossless", "always"},
                 {in + ": --lossless always: " + reason +
                  "; with --lossless auto, it is decoded and encoded again\n"});
  expect_failure(1, {in, out_, "--flip", "--gray", "--lossless", "always"},
                 {": --lossless always: --gray computes pixels; "});
  expect_failure(1, {in, out_, "--flip", "--quality", "80", "--lossless"},
                 {": --lossless always: --quality asks for other coefficients; "});
  const std::string png = stored(random_image({32, 32}, format_, 1), "in.png");
  expect_failure(1, {png, out_, "--flip", "--lossless=always"}, {"its format is PNG; "});
  expect_failure(2, {in, folder_ / "out.png", "--lossless", "always"},
                 {"--lossless: PNG output does not take it"});
  static_cast<void>(filter_quietly({in, folder_ / "never.jpg", "--flip", "--lossless", "never"}));
  static_cast<void>(filter_quietly({in, folder_ / "auto.jpg", "--lossless", "auto", "--flip"}));
  EXPECT_NE(coefficients_of(bytes_of(folder_ / "never.jpg")),
            coefficients_of(bytes_of(folder_ / "auto.jpg")));
}

TEST_F(Lossless, TreatsMetadataAsOtherwise) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string in = jpeg("in.jpg", {96, 64}, oriented(orientation));
    Words words{in, folder_ / "decoded.jpg", "--auto-orient", "--lossless", "never"};
    static_cast<void>(filter_quietly(words));
    words = {in, out_, "--auto-orient", "--lossless", "always"};
    static_cast<void>(filter_quietly(words));
    EXPECT_EQ(exif_of(out_), exif_of(folder_ / "decoded.jpg"));
    EXPECT_EQ(exif_orientation(exif_of(out_)), 1);
    EXPECT_EQ(read_picture(out_).size(), read_picture(folder_ / "decoded.jpg").size());
    // From a pipe, which is read twice.
    ProcessOptions piped;
    piped.input = read_file(in);
    const std::string result = filter_quietly({"-", "-", "--auto-orient"}, piped).out;
    // The file of an upright picture is copied as it is, with its thumbnail.
    if (orientation > 1) {
      EXPECT_EQ(result, read_file(out_));
    }
  }
}

TEST_F(Lossless, AnOutputOfSeveral) {
  const std::string in = jpeg("in.jpg", {96, 64}, oriented(6));
  const std::string upright = folder_ / "upright.jpg";
  const Words words{in,         out_,  "--auto-orient", "--output", upright,
                    "--resize", "50%", "--device",      "cpu"};
  static_cast<void>(filter_quietly(words));
  EXPECT_EQ(read_picture(out_).size(), (ImageSize{32, 48}));
  static_cast<void>(filter_quietly({in, folder_ / "alone.jpg", "--auto-orient"}));
  EXPECT_EQ(read_file(upright), read_file(folder_ / "alone.jpg"));
  const std::string resized = read_file(out_);
  Words never = words;
  never.insert(never.end(), {"--lossless", "never"});
  static_cast<void>(filter_quietly(never));
  EXPECT_EQ(read_file(out_), resized) << "what follows works on the decoded pixels";
  EXPECT_NE(read_file(upright), read_file(folder_ / "alone.jpg"));
}

TEST_F(Lossless, FoldersInPlaceAndTheirJournal) {
  const std::string photos = folder_ / "photos";
  std::filesystem::create_directory(photos);
  static_cast<void>(jpeg("photos/a.jpg", {96, 64}, oriented(8)));
  static_cast<void>(jpeg("photos/b.jpg", {80, 64}, oriented(3)));
  const std::string before = read_file(photos + "/a.jpg");
  const std::string results = folder_ / "results";
  const auto counts = [&](const Words& more) {
    Words words{photos, results, "--auto-orient", "--json", "-q", "--resume"};
    words.insert(words.end(), more.begin(), more.end());
    int done = 0;
    const Json json = Json::parse(filter(words).out);
    for (const Json& picture : json["pictures"])
      done += picture["status"] == "done" ? 1 : 0;
    return done;
  };
  EXPECT_EQ(counts({}), 2);
  EXPECT_EQ(counts({}), 0);
  EXPECT_EQ(counts({"--lossless", "never", "--on-exists", "overwrite"}), 2)
      << "the journal knows the option";
  static_cast<void>(filter_quietly({photos, "--in-place", "--auto-orient"}));
  static_cast<void>(filter_quietly({photos + "/a.jpg", out_, "--rotate", "90", "--lossless"}));
  EXPECT_EQ(coefficients_of(bytes_of(out_)), coefficients_of(Bytes(before.begin(), before.end())))
      << "turned there and back";
}

}  // namespace
}  // namespace gpufilter::test
