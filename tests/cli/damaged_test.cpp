// Files that are damaged, hostile, or hold more than is read.

#include <sys/resource.h>

#include "cli/batch_fixture.hpp"
#include "support/jpeg_parts.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {
namespace {

// --damaged keep, and a JPEG that lacks only its end marker.

struct DamagedTest : ProgramTest {
  void SetUp() override {
    const std::string whole = read_file(stored(image_, "whole.png"));
    write_file(cut_, whole.substr(0, whole.size() / 2));
  }

  const Image image_ = random_image({64, 100}, {3, 8}, 3);
  const std::string cut_ = folder_ / "cut.png";
};

TEST_F(DamagedTest, PicturesAreRefusedByDefaultAndNeverReplacedByAPartOfThem) {
  expect_failure(1, {cut_, out_}, {cut_ + ": the file ends too early"});
  expect_failure(1, {cut_, out_, "--damaged", "fail"}, {cut_ + ": the file ends too early"},
                 {.environment = {{"GPUFILTER_DAMAGED", "keep"}}});
  expect_failure(2, {cut_, out_, "--damaged", "maybe"}, {"--damaged: 'maybe'"});
  expect_failure(2, {cut_, out_}, {"GPUFILTER_DAMAGED: 'maybe' is not one of fail, keep"},
                 {.environment = {{"GPUFILTER_DAMAGED", "maybe"}}});
  expect_failure(2, {cut_, "--in-place", "--damaged", "keep"},
                 {"--damaged keep with --in-place would replace damaged pictures"});
  expect_failure(1, {cut_, "--in-place"}, {cut_ + ": the file ends too early"},
                 {.environment = {{"GPUFILTER_DAMAGED", "keep"}}});
  // Stages that need the whole picture first read it twice, and warn once.
  expect_one_line(ended(0, filter({cut_, out_, "--levels", "auto", "-q"},
                                  {.environment = {{"GPUFILTER_DAMAGED", "keep"}}}))
                      .err,
                  {cut_ + ": the file ends too early: 49 %"});
}

TEST_F(DamagedTest, RowsThatAreMissingGetTheBackground) {
  expect_one_line(
      ended(0, filter({cut_, out_, "--damaged", "keep", "--background", "#ff0000", "-q"})).err,
      {"gpufilter: warning: " + cut_ +
       ": the file ends too early: 49 % of its rows are read, the others "
       "have the background's colour\n"});
  const Image kept = read_picture(out_);
  for (int x = 0; x < 64; ++x) {
    for (int c = 0; c < 3; ++c) {
      EXPECT_EQ(sample_at(kept, x, 40, c), sample_at(image_, x, 40, c));
      EXPECT_EQ(sample_at(kept, x, 60, c), c == 0 ? 255U : 0U);
    }
  }
}

TEST_F(DamagedTest, PicturesOfAFolderAreKeptToo) {
  fs::create_directory(folder_.path() / "in");
  fs::rename(cut_, folder_.path() / "in/cut.png");
  fs::copy_file(folder_.path() / "whole.png", folder_.path() / "in/whole.png");
  write_file(folder_ / "in/none.png", read_file(folder_ / "whole.png").substr(0, 60));
  const ProcessResult result =
      ended(1, filter({folder_ / "in", folder_ / "out", "--damaged", "keep"}));
  EXPECT_TRUE(
      contains(result.err, "in/cut.png: the file ends too early: 49 % of its rows are read"));
  EXPECT_TRUE(contains(result.err, "in/none.png: the file ends too early"));
  EXPECT_TRUE(fs::exists(folder_.path() / "out/cut.png"));
  EXPECT_TRUE(fs::exists(folder_.path() / "out/whole.png"));
  EXPECT_FALSE(fs::exists(folder_.path() / "out/none.png"));
}

TEST_F(DamagedTest, JpegsThatCouldBeCopiedAreDecoded) {
  const std::string jpeg = folder_ / "whole.jpg";
  filter_quietly({folder_ / "whole.png", jpeg});
  const std::string cut = folder_ / "cut.jpg";
  const std::string bytes = read_file(jpeg);
  write_file(cut, bytes.substr(0, bytes.size() / 2));
  const std::string out = folder_ / "out.jpg";
  expect_one_line(ended(0, filter({cut, out, "--damaged", "keep", "-q"})).err,
                  {cut + ": the file ends too early: 4"});
  EXPECT_EQ(read_picture(out).size(), image_.size());
}

TEST_F(DamagedTest, AJpegThatLacksOnlyItsEndMarkerIsWhole) {
  const std::string in = GPUFILTER_SOURCE "/tests/cases/jpeg-without-eoi.jpg";
  const std::string warning =
      "gpufilter: warning: " + in + ": its end marker is missing; the picture is complete\n";
  write_file(folder_ / "with-eoi.jpg", read_file(in) + "\xff\xd9");
  filter_quietly({folder_ / "with-eoi.jpg", out_});
  const Image whole = read_picture(out_);
  for (const char* device : {"cpu", "opencl"}) {
    if (std::string(device) == "opencl" && !has_device()) continue;
    for (const char* name : {"a.png", "a.jpg"}) {
      EXPECT_EQ(ended(0, filter({in, folder_ / name, "--device", device, "--timing", "off",
                                 "--on-exists", "overwrite"}))
                    .err,
                warning);
    }
    EXPECT_TRUE(same_pixels(read_picture(folder_ / "a.png"), whole));
    EXPECT_EQ(read_file(folder_ / "a.jpg"), read_file(in)) << "a copy, as it is";
  }
}

// Files that hold more than is read: a warning says so, and --in-place does not replace them.

struct Unread : BatchTest {
  // A file of tests/cases in the input folder, under its own name.
  std::string put_case(const std::string& name) const {
    const std::string path = in_ + "/" + name;
    write_file(path, read_file(case_path(name)));
    return path;
  }

  // Expects the same name for unread parts everywhere, and that no byte of the file changes.
  void expect_kept(const std::string& path, const std::string& parts) const {
    const std::string before = read_file(path);
    EXPECT_EQ(ended(0, filter({path, folder_ / "copy.ppm", "-q"})).err,
              "gpufilter: warning: " + path + ": not read: " + parts + "\n");
    const std::string refusal =
        "gpufilter: " + path + ": holds " + parts +
        ", which the result would not have; --pages first replaces the file anyway\n";
    // The warning also comes if there is nothing to do. A dry run knows only the header.
    const bool is_late = parts == "data behind the picture";
    for (const Words& more :
         {Words{}, Words{"--blur", "auto"}, Words{"--blur", "auto", "--dry-run"}}) {
      if (is_late && more.size() == 3) continue;
      EXPECT_EQ(ended(2, filter(Words{path, "--in-place", "-q", "--device", "cpu"} + more)).err,
                refusal);
    }
    EXPECT_EQ(ended(1, filter({in_, "--in-place", "-q", "--device", "cpu", "--blur", "auto"})).err,
              refusal);
    EXPECT_EQ(read_file(path), before);
  }

  // --pages first says that the rest is not wanted.
  void expect_replaced(const std::string& path, const std::string& parts) const {
    EXPECT_EQ(ended(0, filter({path, "--in-place", "--pages", "first", "-q", "--device", "cpu",
                               "--blur", "auto"}))
                  .err,
              "gpufilter: warning: " + path + ": not read: " + parts + "\n");
    EXPECT_EQ(filter({path, "--in-place", "-q", "--device", "cpu", "--blur", "auto"}).err, "");
  }
};

TEST_F(Unread, PagesOfATiffAndFramesOfAnAnimatedPng) {
  for (const auto& [name, parts] : {std::pair{"tiff-3-pages.tif", "2 more pages"},
                                    {"png-animated-3-frames.png", "2 more frames"}}) {
    const std::string path = put_case(name);
    expect_kept(path, parts);
    expect_replaced(path, parts);
    fs::remove(path);
  }
}

TEST_F(Unread, TheFilmBehindAMotionPhoto) {
  const std::string path = put_case("jpeg-motion-photo-trailer.jpg");
  expect_kept(path, "a film");
  // The warning also comes if the part is found only after the picture, or the picture is not
  // decoded.
  const std::string copy = folder_ / "copy.jpg";
  EXPECT_EQ(
      filter({"-", copy, "-q", "--blur", "auto", "--device", "cpu"}, {.input = read_file(path)})
          .err,
      "gpufilter: warning: standard input: not read: a film\n");
  EXPECT_EQ(filter({path, copy, "-q", "--strip"}).err,
            "gpufilter: warning: " + path + ": not read: a film\n");
  expect_replaced(path, "a film");
}

// As it was before another program replaced the picture, or as a camera pads its files.
TEST_F(Unread, BytesBehindThePicture) {
  for (const char* name : {"a.png", "a.jpg"}) {
    put(name);
    const std::string path = in_ + "/" + name;
    const std::string bytes = read_file(path);
    write_file(path, bytes + "something else");
    expect_kept(path, "data behind the picture");
    write_file(path, bytes + std::string(1000, '\0') + "\n");
    EXPECT_EQ(filter({path, folder_ / "copy.ppm", "-q"}).err, "");
    fs::remove(path);
  }
}

TEST_F(Unread, PicturesOfAPortablePixmap) {
  put("a.ppm");
  const std::string path = in_ + "/a.ppm";
  write_file(path, read_file(path) + read_file(path));
  const std::string bytes = read_file(path);
  ended(2, filter({path, "--in-place", "--blur", "auto", "--device", "cpu", "-q"}));
  EXPECT_EQ(read_file(path), bytes);
}

// The other pictures of a folder are filtered, and one line counts.
TEST_F(Unread, InFoldersTheWarningsAreGathered) {
  put("a.png");
  const std::string bytes = read_file(put_case("tiff-3-pages.tif"));
  write_file(in_ + "/twice.tif", bytes);
  EXPECT_EQ(good_batch({"-q"}).err, "gpufilter: warning: not read: 2 more pages (2 pictures)\n");
  const Json pictures = json_batch({"--on-exists", "overwrite"})["pictures"];
  EXPECT_FALSE(pictures[0].contains("not_read"));
  EXPECT_EQ(pictures[1]["not_read"], Json({"2 more pages"}));
  out_ = in_;
  EXPECT_EQ(statuses(json_batch({"--in-place"}, 1)), (Words{"done", "failed", "failed"}));
  EXPECT_EQ(read_file(in_ + "/twice.tif"), bytes);
}

// The picture alone, also where the stages change nothing.
TEST_F(Unread, PagesFirstLeavesTheRestOut) {
  const std::string path = put_case("tiff-3-pages.tif");
  const std::string all = folder_ / "all.tif";
  const std::string first = folder_ / "first.tif";
  EXPECT_EQ(filter({path, all, "-q"}).err, "");
  EXPECT_EQ(read_file(all), read_file(path));
  EXPECT_EQ(filter({path, first, "--pages", "first", "-q"}).err,
            "gpufilter: warning: " + path + ": not read: 2 more pages\n");
  ended(0, filter({first, "--in-place", "-q"}));
}

// TIFF files as users of science, maps and print shops have them.

struct TiffFiles : ProgramTest {
  // The messages of a run about the picture.
  std::string account(const std::string& name, const std::string& output, Words words = {}) {
    words.insert(words.begin(), {case_path(name), folder_ / output});
    return ended(0, filter(words + Words{"--timing", "off"})).err;
  }
};

TEST_F(TiffFiles, KeepGeoTagsWhileTheGeometryStays) {
  EXPECT_EQ(account("tiff-geotags.tif", "blurred.tif", {"--blur", "auto"}), "");
  EXPECT_TRUE(
      contains(read_file(folder_ / "blurred.tif"),
               std::string("\x00\x00\x00\x00\x00\x00\x24\x40", 8)));  // the scale of the model, 10
  for (const Words& words : std::vector<Words>{
           {"--crop", "20x20+1+1"}, {"--flip"}, {"--rotate", "180"}, {"--resize", "50%"}}) {
    const std::string text = account("tiff-geotags.tif", words[0].substr(2) + ".tif", words);
    EXPECT_TRUE(contains(text, "GeoTIFF")) << words[0] << text;
    EXPECT_TRUE(contains(text, "GDAL no-data value")) << words[0] << text;
  }
  EXPECT_TRUE(contains(account("tiff-geotags.tif", "a.png"), "GeoTIFF"));
}

TEST_F(TiffFiles, AreRefusedRatherThanReadWronglyAndHaveARange) {
  expect_failure(1, {case_path("hostile-tiff-deflate-one-bit-flipped.tif"), folder_ / "a.png"},
                 {"damaged TIFF: "});
  expect_failure(1, {case_path("hostile-tiff-jpeg-strip-cut-in-half.tif"), folder_ / "a.png"},
                 {"damaged TIFF: "});
  const std::string command = "--range";
  expect_failure(2, {case_path("tiff-geotags.tif"), folder_ / "a.png", command, "1"},
                 {"--range 1: write LOW,HIGH"});
  expect_failure(2, {case_path("tiff-geotags.tif"), folder_ / "a.png", command, "2,2"},
                 {"--range 2,2: LOW must be below HIGH"});
  EXPECT_EQ(account("tiff-signed-16bit.tif", "a.png", {command, "-1000,1000"}),
            "gpufilter: warning: " + case_path("tiff-signed-16bit.tif") +
                ": its 16-bit samples with a sign become samples of 16 bits, -1000 to 1000 the "
                "whole range\n");
  const Image image = read_picture(folder_ / "a.png");
  EXPECT_EQ(sample_at(image, 0, 0, 0), 0U);
  EXPECT_EQ(sample_at(image, 1, 0, 0), 32768U);
  EXPECT_EQ(sample_at(image, 2, 0, 0), 65535U);
}

// Files made to cost more than they should, given to the whole program: refused at once, with one
// line, or read with a warning.

struct HostileFiles : ProgramTest {
  // A PNG of these chunks in the test's folder, and its path.
  [[nodiscard]] std::string stored_png(const std::string& name,
                                       const std::vector<PngPart>& parts) const {
    return stored_bytes(name, join_png(parts));
  }

  [[nodiscard]] std::string stored_bytes(const std::string& name, const Bytes& bytes) const {
    std::string path = folder_ / name;
    write_file(path, {bytes.begin(), bytes.end()});
    return path;
  }

  // Expects that `program` refuses a file of a few bytes within the time and memory that
  // docs/engineering/limits.md gives. Sanitizers need more.
  void expect_cheap_refusal(int exit_code, const Words& arguments, const Words& parts) const {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const double start = seconds_of_children();
    const ProcessResult result = filter(arguments);
    EXPECT_LT(seconds_of_children() - start, 1);
    EXPECT_EQ(result.exit_code, exit_code);
    expect_one_line(result.err, parts);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(result.peak_memory, std::uint64_t{60} << 20U);
#endif
  }

  // Seconds of the processor, whatever else the machine does.
  static double seconds_of_children() {
    rusage usage{};
    EXPECT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

  void expect_cheap_refusals(const std::string& file, const Words& parts) const {
    const std::string sound = stored(random_image(size_, format_, 1), "sound.png");
    expect_cheap_refusal(1, {file, folder_ / "out.png", "--device", "cpu"}, parts);
    expect_cheap_refusal(1, {"stats", file}, parts);
    expect_cheap_refusal(4, {"compare", sound, file}, parts);
  }

  [[nodiscard]] static PngPart header(std::uint32_t width, std::uint32_t height, int depth,
                                      int color_type, int interlacing = 0) {
    return {"IHDR", png_header(width, height, depth, color_type, interlacing)};
  }

  const std::vector<PngPart> pixels_{{"IDAT", deflated(Bytes{0, 0})}, {"IEND", {}}};

  [[nodiscard]] std::vector<PngPart> followed_by_pixels(std::vector<PngPart> parts) const {
    parts.insert(parts.end(), pixels_.begin(), pixels_.end());
    return parts;
  }
};

TEST_F(HostileFiles, AHeaderInTheWrongPlace) {
  const PngPart text{"tEXt", Bytes(20, 'x')};
  const auto file =
      stored_png("in.png", followed_by_pixels({text, header(200'000, 200'000, 16, 6, 1)}));
  expect_cheap_refusals(file, {file + ": damaged PNG: IHDR is not the first chunk"});
}

TEST_F(HostileFiles, AHeaderWithAWrongChecksum) {
  PngPart damaged = header(4'000'000, 3'000'000, 8, 0);
  damaged.damaged = true;
  const auto file = stored_png("in.png", followed_by_pixels({damaged}));
  expect_cheap_refusals(file, {file + ": damaged PNG: IHDR: CRC error\n"});
}

TEST_F(HostileFiles, RowsWithoutEnd) {
  for (const auto& [width, height] : {std::pair{60'000'000U, 8U}, {500'000'000U, 1U}}) {
    const auto file = stored_png("in.png", followed_by_pixels({header(width, height, 8, 0)}));
    expect_cheap_refusals(file, {file + ": ", "narrower"});
  }
}

// Files within the limits are refused because their data is missing.
TEST_F(HostileFiles, SizesWithoutPixels) {
  for (const auto& [width, height] : {std::pair{1U << 20U, 400U}, {1U, 500'000'000U}}) {
    const auto file = stored_png("in.png", followed_by_pixels({header(width, height, 16, 6)}));
    const std::string reason = file + ": damaged PNG: Not enough image data";
    expect_cheap_refusal(1, {file, out_, "--device", "cpu"}, {reason});
    expect_cheap_refusal(1, {"stats", file}, {reason});
  }
}

TEST_F(HostileFiles, InterlacedPicturesThatDoNotFit) {
  const auto file = stored_png("in.png", followed_by_pixels({header(25'000, 20'000, 16, 6, 1)}));
  expect_cheap_refusals(file, {file + ": ", "without interlacing", "--max-memory 3815M"});
  // The advice in the message works: then the pixels are missing.
  expect_failure(1, {file, out_, "--device", "cpu", "--max-memory", "3815M"},
                 {file + ": damaged PNG: Not enough image data"});
}

// Arithmetic decoding reads the zeros after the end as data: 100 bytes are 500 megapixels.
TEST_F(HostileFiles, CoefficientsThatDoNotFit) {
  const Bytes jpeg = tiny_jpeg({progressive_arithmetic, 65500, 7600, {0x11, 0x11, 0x11, 0x11}}, 4);
  const auto file = stored_bytes("in.jpg", jpeg);
  expect_cheap_refusals(file, {file + ": ", "baseline JPEG", "--max-memory 3799M"});
}

TEST_F(HostileFiles, ABorderThatWrapsHoldsThePictureWhole) {
  const auto file = stored_png("in.png", followed_by_pixels({header(25'000, 20'000, 16, 6)}));
  expect_failure(1, {file, out_, "--device", "cpu", "--blur", "auto", "--border", "wrap"},
                 {file + ": ", "wraps", "--max-memory 3815M"});
  expect_failure(1, {file, out_, "--device", "cpu", "--blur", "auto"},
                 {file + ": damaged PNG: Not enough image data"});
}

TEST_F(HostileFiles, OverlaysAndHaldClutsThatDoNotFit) {
  const std::string sound = stored(random_image(size_, format_, 1), "sound.png");
  const auto file = stored_png("big.png", followed_by_pixels({header(20'000, 20'000, 8, 2)}));
  Words command{sound, out_, "--device", "cpu", "--overlay", file};
  expect_cheap_refusal(2, command, {file + ": an overlay ", "--max-memory 3434M"});
  command.insert(command.end(), {"--max-pixels", "399999999"});
  expect_cheap_refusal(2, command, {file + ": ", "raise it with --max-pixels"});
  // The advice in the message works: then the pixels are missing.
  command.resize(6);
  expect_failure(2, command + Words{"--max-memory", "3434M"},
                 {file + ": damaged PNG: Not enough image data"});
  expect_cheap_refusal(2, {sound, out_, "--device", "cpu", "--lut", file},
                       {file + ": a HaldCLUT is a square of ", "20000x20000"});
}

TEST_F(HostileFiles, DevicesWithoutAnEnd) {
  const std::string sound = stored(random_image(size_, format_, 1), "sound.png");
  for (const std::string device : {"/dev/zero", "/dev/urandom"}) {
    for (const char* option :
         {"--lut", "--overlay", "--color", "--convolve", "--mlp", "--net", "--profile"})
      expect_cheap_refusal(2, {sound, out_, "--device", "cpu", option, device}, {device + ":"});
    expect_cheap_refusal(2, {sound, out_, "@" + device}, {device + ": "});
    expect_cheap_refusal(1, {folder_.path(), folder_ / "out", "--list", device}, {device + ": "});
    expect_cheap_refusal(1, {device, out_, "--device", "cpu", "--levels", "auto"}, {device + ": "});
  }
}

struct DamagedMetadata : HostileFiles {
  const Image image_ = random_image(size_, format_, 2);
  const std::string sound_ = stored(image_, "sound.png");
  const std::string damaged_ = with_damaged_text("damaged.png");
  const std::string warning_ = "skipped damaged metadata: tEXt (CRC error)";

 private:
  [[nodiscard]] std::string with_damaged_text(const std::string& name) const {
    const std::string content = read_file(sound_);
    std::vector<PngPart> parts = split_png(Bytes(content.begin(), content.end()));
    parts.insert(parts.begin() + 1, {"tEXt", {'a', 0, 'b'}, 0, true});
    return stored_png(name, parts);
  }
};

// The warning comes once, although --levels auto reads the file twice.
TEST_F(DamagedMetadata, IsSkippedWithAWarningByEveryCommand) {
  expect_one_line(
      ended(0, filter({damaged_, out_, "--device", "cpu", "--levels", "auto", "--timing", "off"}))
          .err,
      {damaged_ + ": " + warning_ + "\n"});
  filter_quietly({damaged_, out_, "--device", "cpu"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  expect_one_line(ended(0, filter({"compare", sound_, damaged_})).err,
                  {damaged_ + ": " + warning_});
  expect_one_line(ended(0, filter({"stats", damaged_})).err, {damaged_ + ": " + warning_});
}

TEST_F(DamagedMetadata, IsSkippedInFolders) {
  const std::string in = folder_ / "in";
  const std::string out = folder_ / "out";
  fs::create_directory(in);
  fs::rename(damaged_, in + "/a.png");
  EXPECT_TRUE(contains(ended(0, filter({in, out, "--device", "cpu", "--timing", "off"})).err,
                       "a.png: " + warning_ + "\n"));
  EXPECT_TRUE(same_pixels(read_picture(out + "/a.png"), image_));
}

}  // namespace
}  // namespace gpufilter::test
