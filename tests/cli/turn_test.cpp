// Pictures that are turned: by stages, by their orientation, without being decoded.

#include "cli/batch_fixture.hpp"
#include "codec/byte_source.hpp"
#include "support/document_checks.hpp"
#include "support/jpeg_parts.hpp"
#include "support/oriented_files.hpp"

namespace gpufilter::test {
namespace {

// --flip, --flop, --rotate and --auto-orient as users run them.

struct TurnCommand : ProgramTest {
  // A file of `image` with this EXIF orientation.
  [[nodiscard]] std::string oriented(const Image& image, const std::string& name,
                                     int orientation) const {
    std::string path = folder_ / name;
    write_oriented(image, path, orientation);
    return path;
  }

  const Image image_ = random_image(size_, format_, 1);
};

TEST_F(TurnCommand, TurnsThePicture) {
  const std::string in = stored(image_, "in.png");
  const std::vector<std::pair<Words, Turn>> cases{
      {{"--flip"}, upside_down},
      {{"--flop"}, left_right},
      {{"--rotate", "90"}, quarter_clockwise},
      {{"--rotate", "180"}, half_a_turn},
      {{"--rotate", "270"}, quarter_counterclockwise},
      {{"--rotate", "90", "--flip", "--flop"}, quarter_counterclockwise},
      {{"--flip", "--flip"}, {}}};
  for (const auto& [words, turn] : cases) {
    filter_quietly(Words{in, out_, "--device", "cpu"} + words);
    EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(image_, turn)))
        << ::testing::PrintToString(words);
  }
}

TEST_F(TurnCommand, SaysWhatItDid) {
  const std::string in = stored(image_, "in.png");
  const std::string said = filter({in, out_, "--rotate", "90", "-v"}).err;
  expect_parts(said,
               {"device: processor (only it turns and trims pictures)\n",
                "(the processor, whole picture in memory)\n",
                ": 67x45 -> 45x67, RGB, 8-bit; processor (only it turns and trims pictures)\n",
                " | second pass: read back "});
  expect_parts(filter({in, out_, "--rotate", "90", "--dry-run"}).out,
               {"67x45 -> 45x67", "device: processor (only it turns and trims pictures)\n"});
}

TEST_F(TurnCommand, KeepsAPictureInAFileWhereMemoryIsShort) {
  const Image large = random_image({700, 600}, {3, 8}, 2);
  const std::string in = stored(large, "in.png");
  fs::create_directory(folder_ / "temporary");
  const ProcessOptions there{.environment = {{"TMPDIR", folder_ / "temporary"}}};
  const std::string said =
      filter({in, out_, "--rotate", "270", "-v", "--max-memory", "1M"}, there).err;
  EXPECT_TRUE(contains(said, "(the processor, whole picture in a temporary file)\n"));
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(large, quarter_counterclockwise)));
  EXPECT_TRUE(names_in(folder_ / "temporary").empty());
  const ProcessOptions nowhere{.environment = {{"TMPDIR", folder_ / "missing"}}};
  fs::remove(out_);
  expect_failure(1, {in, out_, "--flip", "--max-memory", "1M"},
                 {in + ": it has to be kept whole, 1 MB in a temporary file, which fails in ",
                  "; raise --max-memory or set TMPDIR to another folder"},
                 nowhere);
}

TEST_F(TurnCommand, AutoOrientTurnsEveryOrientationUpright) {
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string in = oriented(image_, "in.png", orientation);
    const std::string said = filter({in, out_, "--auto-orient", "--device", "cpu"}).err;
    EXPECT_TRUE(contains(said, "EXIF orientation " + std::to_string(orientation) + " applied; "));
    EXPECT_TRUE(
        same_pixels(read_picture(out_), naive_turn(image_, turn_for_orientation(orientation))))
        << orientation;
    EXPECT_EQ(metadata_of(out_).exif, exif_of_orientation(1)) << orientation;
    EXPECT_EQ(metadata_of(out_).xmp, xmp_of_orientation(1)) << orientation;
  }
}

TEST_F(TurnCommand, AutoOrientReadsEveryFormat) {
  for (const std::string name : {"in.png", "in.tif", "in.webp", "in.jxl", "in.jpg"}) {
    if (codec_of_name(name) == nullptr) continue;
    SCOPED_TRACE(name);
    const std::string in = oriented(image_, name, 6);
    const Image stored_pixels = read_picture(in);
    filter_quietly({in, out_, "--auto-orient", "--device", "cpu"});
    EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(stored_pixels, quarter_clockwise)));
    EXPECT_EQ(exif_orientation(metadata_of(out_).exif), 1);
    // The JPEG is written to each format.
    const std::string same = folder_ / ("out-" + name);
    filter_quietly({in, same, "--auto-orient", "--device", "cpu"});
    EXPECT_EQ(read_picture(same).size(), (ImageSize{45, 67}));
    EXPECT_EQ(exif_orientation(metadata_of(same).exif), 1);
  }
}

// The chunk eXIf may follow the pixels. In a pipe, the file is read twice from a copy.
TEST_F(TurnCommand, AutoOrientFindsAnOrientationBehindThePixels) {
  std::string png = read_file(oriented(image_, "in.png", 6));
  const std::size_t begin = png.find("eXIf") - 4;
  const std::string chunk = png.substr(begin, 12 + exif_of_orientation(6).size());
  png.erase(begin, chunk.size());
  png.insert(png.find("IEND") - 4, chunk);
  const std::string late = folder_ / "late.png";
  write_file(late, png);
  filter_quietly({late, out_, "--auto-orient"});
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(image_, quarter_clockwise)));
  EXPECT_EQ(metadata_of(out_).exif, exif_of_orientation(1));
  ProcessOptions piped;
  piped.input = png;
  filter_quietly({"-", out_, "--auto-orient"}, piped);
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(image_, quarter_clockwise)));
}

TEST_F(TurnCommand, AutoOrientLeavesUprightPicturesAlone) {
  const std::string said = filter({stored(image_, "in.png"), out_, "--auto-orient", "-v"}).err;
  EXPECT_TRUE(contains(said, "plan: 1 stage; nothing to change"));
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  // The second has nothing to do.
  filter_quietly({oriented(image_, "turned.png", 8), out_, "--auto-orient", "--auto-orient"});
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(image_, quarter_counterclockwise)));
}

TEST_F(TurnCommand, AFolderInPlace) {
  fs::create_directory(folder_ / "photos");
  static_cast<void>(oriented(image_, "photos/a.png", 6));
  static_cast<void>(oriented(image_, "photos/b.png", 3));
  static_cast<void>(oriented(image_, "photos/c.png", 1));
  static_cast<void>(filter_quietly(
      {folder_ / "photos", "--in-place", "--auto-orient", "--blur", "auto", "--device", "cpu"}));
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "photos/a.png"),
                          blurred(naive_turn(image_, quarter_clockwise))));
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "photos/b.png"),
                          blurred(naive_turn(image_, half_a_turn))));
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "photos/c.png"), blurred(image_)));
}

TEST_F(TurnCommand, LimitsHoldForWhatComesOfIt) {
  const std::string in = oriented(random_image({300, 20}, format_, 3), "in.png", 6);
  expect_failure(1, {in, out_, "--auto-orient", "--crop", "30x10+0+0"},
                 {in + ": --crop 30x10+0+0 reaches beyond its 20x300 pixels"});
  expect_failure(2, {in, out_, "--rotate", "1e9"}, {"--rotate 1e9: a number from -36000 to 36000"});
}

// Stages that have an up get pictures upright: --orientation.

struct Upright : BatchTest {
  [[nodiscard]] std::string oriented(const std::string& name, int orientation) const {
    std::string path = folder_ / name;
    write_oriented(stored_as(upright_, orientation), path, orientation);
    return path;
  }

  [[nodiscard]] Image result_of(const std::string& in, const Words& words) const {
    filter_quietly(Words{in, result_, "--device", "cpu", "--on-exists", "overwrite"} + words);
    return read_picture(result_);
  }

  [[nodiscard]] int orientation_of_result() const {
    return exif_orientation(metadata_of(result_).exif);
  }

  const Image upright_ = random_image({67, 45}, {3, 8}, 1);
  const std::string plain_ = stored(upright_, "plain.png");
  const std::string result_ = folder_ / "result.png";
};

TEST_F(Upright, EveryOrientationOfEveryFormat) {
  const Image expected = result_of(plain_, {"--resize", "x20"});
  EXPECT_EQ(expected.size().height, 20);
  for (const std::string extension : {"png", "tif", "webp", "jxl", "jpg"}) {
    if (codec_of_name("a." + extension) == nullptr) continue;
    for (int orientation = 1; orientation <= 8; ++orientation) {
      SCOPED_TRACE(extension + " " + std::to_string(orientation));
      const Image result = result_of(oriented("in." + extension, orientation), {"--resize", "x20"});
      EXPECT_EQ(result.size(), expected.size());
      EXPECT_TRUE(extension == "jpg" || same_pixels(result, expected));
      EXPECT_EQ(orientation_of_result(), 1);
    }
  }
}

TEST_F(Upright, EveryStageThatHasAnUp) {
  const std::string mark = stored(random_image({9, 5}, {4, 8}, 2), "mark.png");
  const std::vector<Words> chains{{"--overlay", mark, "--at", "southeast+2+3"},
                                  {"--crop", "30x10+5+6"},
                                  {"--crop", "50%x20", "--gravity", "north"},
                                  {"--resize", "30x"},
                                  {"--resize", "20x20", "--fit", "cover"},
                                  {"--resize", "30x20", "--fit", "fill"},
                                  {"--pad", "1,2,3,4"},
                                  {"--pad", "80x50", "--gravity", "west"},
                                  {"--flip"},
                                  {"--flop"},
                                  {"--rotate", "90"},
                                  {"--trim", "--fuzz", "40"},
                                  {"--convolve", "-1 0 1; -2 0 2; -1 0 1", "--offset", "50%"},
                                  {"--gray", "--crop", "30x10+5+6", "--rotate", "90"}};
  for (const Words& words : chains) {
    const Image expected = result_of(plain_, words);
    for (const int orientation : {6, 7, 2}) {
      SCOPED_TRACE(::testing::PrintToString(words) + " " + std::to_string(orientation));
      EXPECT_TRUE(same_pixels(result_of(oriented("in.png", orientation), words), expected));
      const Metadata metadata = metadata_of(result_);
      EXPECT_EQ(metadata.exif, exif_of_orientation(1));
      EXPECT_EQ(metadata.xmp, xmp_of_orientation(1));
    }
  }
}

TEST_F(Upright, OtherStagesCarryTheOrientationOver) {
  const std::string in = oriented("in.png", 6);
  for (const Words& words : {Words{"--blur", "auto"},
                             {"--resize", "50%"},
                             {"--convolve", "1 2 1; 2 4 2; 1 2 1"},
                             {"--gray"},
                             {}}) {
    SCOPED_TRACE(::testing::PrintToString(words));
    const Image expected = result_of(stored(stored_as(upright_, 6), "stored.png"), words);
    EXPECT_TRUE(same_pixels(result_of(in, words), expected));
    EXPECT_EQ(orientation_of_result(), 6);
  }
}

TEST_F(Upright, TheOptionDecides) {
  const std::string in = oriented("in.png", 8);
  const std::string as_stored = stored(stored_as(upright_, 8), "stored.png");
  const Words crop{"--crop", "30x10+5+6"};
  const Words keep = crop + Words{"--orientation", "keep"};
  const Image cut = result_of(as_stored, crop);
  EXPECT_TRUE(same_pixels(result_of(in, keep), cut));
  EXPECT_EQ(orientation_of_result(), 8);
  EXPECT_TRUE(same_pixels(result_of(in, keep + Words{"--auto-orient"}),
                          naive_turn(cut, quarter_counterclockwise)));
  EXPECT_EQ(orientation_of_result(), 1);
  EXPECT_TRUE(same_pixels(result_of(in, {"--orientation", "apply"}), upright_));
  EXPECT_EQ(orientation_of_result(), 1);
  EXPECT_TRUE(
      same_pixels(result_of(in, {"--blur", "auto", "--orientation", "apply"}), blurred(upright_)));
  expect_failure(2, {in, result_, "--orientation", "turn"}, {"auto", "apply", "keep"});
}

TEST_F(Upright, IsSaidOnce) {
  const std::string in = oriented("in.png", 6);
  const std::string said = filter({in, result_, "--resize", "30x", "--device", "cpu"}).err;
  EXPECT_EQ(count_of(said, ": 45x67 -> 30x20, RGB, 8-bit, EXIF orientation 6 applied; "), 1U)
      << said;
  EXPECT_EQ(count_of(said, "EXIF orientation"), 1U) << said;
  const std::string planned = filter({in, result_, "--resize", "30x", "--dry-run"}).out;
  EXPECT_TRUE(contains(planned, "45x67 -> 30x20, RGB, 8-bit, EXIF orientation 6 applied"));
  EXPECT_TRUE(contains(filter({plain_, result_, "--resize", "30x", "-v"}).err, "plan: 1 stage"));
}

TEST_F(Upright, AnOverlayHasAnOrientationOfItsOwn) {
  const Image mark = random_image({9, 5}, {4, 8}, 2);
  const Words place{"--at", "northeast"};
  const auto with = [&](const std::string& file) {
    return result_of(plain_, Words{"--overlay", file} + place);
  };
  const Image expected = with(stored(mark, "mark.png"));
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string file = folder_ / "turned-mark.png";
    write_oriented(stored_as(mark, orientation), file, orientation);
    EXPECT_TRUE(same_pixels(with(file), expected)) << orientation;
  }
}

// The turn comes right before the first stage that depends on the orientation.
TEST_F(Upright, OutputsBeforeItAreAsStored) {
  const std::string in = oriented("in.png", 6);
  const std::string before = folder_ / "before.png";
  const std::string after = folder_ / "after.png";
  EXPECT_EQ(result_of(in, {"--gray", "--output", before, "--crop", "60x40+1+2", "--output", after,
                           "--resize", "x20"})
                .size()
                .height,
            20);
  EXPECT_EQ(read_picture(before).size(), (ImageSize{45, 67}));
  EXPECT_EQ(exif_orientation(metadata_of(before).exif), 6);
  EXPECT_EQ(read_picture(after).size(), (ImageSize{60, 40}));
  EXPECT_EQ(exif_orientation(metadata_of(after).exif), 1);
}

TEST_F(Upright, FromAPipe) {
  write_oriented(stored_as(random_image({700, 500}, {3, 8}, 5), 6), folder_ / "large.png", 6);
  ProcessOptions many_bytes;
  many_bytes.input = read_file(folder_ / "large.png");
  filter_quietly({"-", result_, "--crop", "700x499+0+0"}, many_bytes);
  EXPECT_EQ(read_picture(result_).size(), (ImageSize{700, 499}));
  for (const std::string name : {"in.png", "in.jpg"}) {
    ProcessOptions piped;
    piped.input = read_file(oriented(name, 6));
    filter_quietly({"-", result_, "--resize", "x20"}, piped);
    EXPECT_EQ(read_picture(result_).size(), (ImageSize{30, 20}));
    EXPECT_EQ(orientation_of_result(), 1);
  }
}

TEST_F(Upright, JpegsAreCutWithoutDecodingAndDecodedSmaller) {
  const Image large = random_image({640, 480}, {3, 8}, 3);
  const std::string in = folder_ / "in.jpg";
  write_oriented(stored_as(large, 6), in, 6);
  const std::string out = folder_ / "out.jpg";
  const std::string cut = filter({in, out, "--crop", "64x48+32+16", "--lossless", "always"}).err;
  EXPECT_TRUE(contains(cut, "without decoding"));
  EXPECT_EQ(read_picture(out).size(), (ImageSize{64, 48}));
  const std::string same = folder_ / "same.jpg";
  filter_quietly({in, same, "--auto-orient", "--crop", "64x48+32+16"});
  EXPECT_EQ(read_file(out), read_file(same));
  filter_quietly({in, out, "--resize", "9000x", "--only", "shrink", "--lossless", "always",
                  "--on-exists", "overwrite"});
  filter_quietly({in, same, "--auto-orient", "--on-exists", "overwrite"});
  EXPECT_EQ(read_file(out), read_file(same)) << "nothing to resize";
  const std::string small = filter({in, result_, "--resize", "80x", "--fast-shrink"}).err;
  EXPECT_TRUE(contains(small, "480x640 -> 80x60, decoded at 1/4"));
}

TEST_F(Upright, FoldersSayWhatSinglePicturesSay) {
  const std::string thumbs = folder_ / "thumbs/";
  write_oriented(stored_as(upright_, 6), in_ + "/a.png", 6);
  write_oriented(upright_, in_ + "/b.png", 1);
  const Words words{in_,      out_,       "--resize", "x20",    "--output",    thumbs,
                    "--flop", "--device", "cpu",      "--json", "--on-exists", "overwrite"};
  EXPECT_TRUE(contains(filter(words).err, ": 2 pictures done (1 turned upright)\n" + out_ + ": "));
  const ProcessResult second = filter(words);
  EXPECT_TRUE(contains(second.err, ": 2 pictures done (1 turned upright, 4 files replaced)\n"));
  const Json json = Json::parse(second.out);
  EXPECT_EQ(json["pictures"][0]["exif_orientation"], 6);
  EXPECT_EQ(json["pictures"][0]["orientation_applied"], true);
  EXPECT_EQ(json["pictures"][1]["exif_orientation"], 1);
  EXPECT_EQ(json["summary"]["turned_upright"], 1);
  EXPECT_EQ(json["summary"]["replaced"], 4);
  EXPECT_EQ(json["summary"]["output_bytes"],
            fs::file_size(out_ + "/a.png") + fs::file_size(out_ + "/b.png"));
  EXPECT_EQ(json["summary"]["other_output_bytes"],
            Json::array({fs::file_size(thumbs + "a.png") + fs::file_size(thumbs + "b.png")}));
}

// 30 by 20 cm at 300 dots per inch, whatever way a picture was taken.
TEST_F(Upright, PrintsFillThePaper) {
  const std::string recipe = "@" GPUFILTER_SOURCE "/samples/recipes/print.recipe";
  const auto printed = [&](ImageSize size, int orientation) {
    write_oriented(random_image(size, {1, 8}, 4), folder_ / "in.png", orientation);
    const Json json = Json::parse(
        filter({folder_ / "in.png", folder_ / "print.tif", recipe, "--dry-run", "--json"}).out);
    return ImageSize{json["output_width"], json["output_height"]};
  };
  EXPECT_EQ(printed({60, 40}, 1), (ImageSize{3543, 2362}));
  EXPECT_EQ(printed({40, 60}, 1), (ImageSize{2362, 3543}));
  EXPECT_EQ(printed({60, 40}, 6), (ImageSize{2362, 3543}));
  EXPECT_EQ(printed({80, 60}, 8), (ImageSize{2362, 3149}));
  EXPECT_EQ(printed({50, 50}, 1), (ImageSize{2362, 2362}));
}

// JPEGs that are cropped and turned without being decoded, as users run it.

struct Lossless : ProgramTest {
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
      std::string segment(
          "Exif\0\0MM\0\x2a\0\0\0\x08"                 // the first directory
          "\0\1\1\x12\0\3\0\0\0\1\0?\0\0\0\0\0\x1a"    // an orientation
          "\0\2\2\1\0\4\0\0\0\1\0\0\0\x38"             // a thumbnail's offset
          "\2\2\0\4\0\0\0\1\0\0\0\2\0\0\0\0\xff\xd8",  // its length, and itself
          6 + 58);
      segment[25] = static_cast<char>(orientation);
      jpeg_write_marker(&compressor, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(segment.data()),
                        static_cast<unsigned>(segment.size()));
    };
    return recipe;
  }

  static Bytes exif_of(const std::string& path) {
    return open_picture(open_source(path))->header().metadata.exif;
  }

  void expect_like_jpegtran(const std::string& in, const Words& ours, const Words& theirs) const {
    SCOPED_TRACE(::testing::PrintToString(ours) + " " + in);
    const std::string expected = folder_ / "expected.jpg";
    const Words& command =
        Words{"jpegtran", "-copy", "none", "-perfect", "-outfile", expected} + theirs;
    ASSERT_EQ(run_process(command + Words{in}).exit_code, 0);
    filter_quietly(Words{in, out_, "--lossless", "always", "--on-exists", "overwrite"} + ours);
    const Bytes result = file_bytes(out_);
    EXPECT_EQ(coefficients_of(result), coefficients_of(file_bytes(expected)));
    EXPECT_EQ(decode_with_libjpeg(result).samples,
              decode_with_libjpeg(file_bytes(expected)).samples);
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
  EXPECT_TRUE(
      contains(said.err, ": 96x64 -> 64x96, RGB, 8-bit; processor (turned without decoding)\n"));
  expect_parts(said.err, {"plan: 1 stage; turned without decoding\n",
                          "rotate: 90 (without decoding)\n", "read undecoded "});
  for (const bool dry : {true, false}) {
    Words words{in, out_, "--crop", "32x32+16+0", "--json", "-q"};
    if (dry) words.emplace_back("--dry-run");
    const Json json = Json::parse(filter(words).out);
    EXPECT_EQ(json["jpeg"]["lossless"], true);
    EXPECT_EQ(json["jpeg"]["subsampling"], "4:2:0");
    EXPECT_EQ(json["output_width"], 32);
  }
  EXPECT_TRUE(contains(filter({in, out_, "--crop", "32x32+16+0", "--dry-run"}).out,
                       "cropped without decoding"));
}

TEST_F(Lossless, DecodesWhereBitsWouldBeLost) {
  const std::string in = jpeg("in.jpg", {93, 64});
  const std::string reason =
      "its edge at column 93 does not lie between blocks, which are 16 pixels wide";
  const std::string said = filter({in, out_, "--flop", "-v"}).err;
  EXPECT_TRUE(contains(said, in + ": decoded, because " + reason));
  EXPECT_FALSE(contains(said, "without decoding"));
  expect_failure(1, {in, out_, "--flop", "--lossless", "always"},
                 {in + ": --lossless always: " + reason +
                  "; with --lossless auto, it is decoded and encoded again\n"});
  expect_failure(1, {in, out_, "--flip", "--gray", "--lossless", "always"},
                 {": --lossless always: --gray computes pixels; "});
  expect_failure(1, {in, out_, "--flip", "--quality", "80", "--lossless"},
                 {": --lossless always: --quality needs other coefficients; "});
  const std::string png = stored(random_image({32, 32}, format_, 1), "in.png");
  expect_failure(1, {png, out_, "--flip", "--lossless=always"}, {"its format is PNG; "});
  expect_failure(2, {in, folder_ / "out.png", "--lossless", "always"},
                 {"--lossless: PNG output does not take it"});
  filter_quietly({in, folder_ / "never.jpg", "--flip", "--lossless", "never"});
  filter_quietly({in, folder_ / "auto.jpg", "--lossless", "auto", "--flip"});
  EXPECT_NE(coefficients_of(file_bytes(folder_ / "never.jpg")),
            coefficients_of(file_bytes(folder_ / "auto.jpg")));
}

TEST_F(Lossless, TreatsMetadataAsOtherwise) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string in = jpeg("in.jpg", {96, 64}, oriented(orientation));
    Words words{in, folder_ / "decoded.jpg", "--auto-orient", "--lossless", "never"};
    filter_quietly(words);
    words = {in, out_, "--auto-orient", "--lossless", "always"};
    filter_quietly(words);
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
  filter_quietly(words);
  EXPECT_EQ(read_picture(out_).size(), (ImageSize{32, 48}));
  filter_quietly({in, folder_ / "alone.jpg", "--auto-orient"});
  EXPECT_EQ(read_file(upright), read_file(folder_ / "alone.jpg"));
  const std::string resized = read_file(out_);
  filter_quietly(words + Words{"--lossless", "never"});
  EXPECT_EQ(read_file(out_), resized) << "what follows works on the decoded pixels";
  EXPECT_NE(read_file(upright), read_file(folder_ / "alone.jpg"));
}

TEST_F(Lossless, FoldersInPlaceAndTheirJournal) {
  const std::string photos = folder_ / "photos";
  fs::create_directory(photos);
  static_cast<void>(jpeg("photos/a.jpg", {96, 64}, oriented(8)));
  static_cast<void>(jpeg("photos/b.jpg", {80, 64}, oriented(3)));
  const std::string before = read_file(photos + "/a.jpg");
  const std::string results = folder_ / "results";
  const auto counts = [&](const Words& more) {
    const Words words = Words{photos, results, "--auto-orient", "--json", "-q", "--resume"} + more;
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
  filter_quietly({photos, "--in-place", "--auto-orient"});
  filter_quietly({photos + "/a.jpg", out_, "--rotate", "90", "--lossless"});
  EXPECT_EQ(coefficients_of(file_bytes(out_)), coefficients_of(Bytes(before.begin(), before.end())))
      << "turned there and back";
}

}  // namespace
}  // namespace gpufilter::test
