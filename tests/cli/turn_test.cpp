// --flip, --flop, --rotate and --auto-orient as users run them.
#include <filesystem>

#include "cli/filter_fixture.hpp"
#include "support/oriented_files.hpp"

namespace gpufilter::test {
namespace {

class TurnCommand : public FilterTest {
 protected:
  // A file of `image` with this EXIF orientation.
  [[nodiscard]] std::string oriented(const Image& image, const std::string& name,
                                     int orientation) const {
    std::string path = folder_ / name;
    write_oriented(image, path, orientation);
    return path;
  }

  const Image image_ = random_image(size_, format_, 1);
  const std::string out_ = folder_ / "out.png";
};

TEST_F(TurnCommand, TurnsThePicture) {
  const std::string in = stored(image_, "in.png");
  const std::vector<std::pair<std::vector<std::string>, Turn>> cases{
      {{"--flip"}, upside_down},
      {{"--flop"}, left_right},
      {{"--rotate", "90"}, quarter_clockwise},
      {{"--rotate", "180"}, half_a_turn},
      {{"--rotate", "270"}, quarter_counterclockwise},
      {{"--rotate", "90", "--flip", "--flop"}, quarter_counterclockwise},
      {{"--flip", "--flip"}, {}}};
  for (const auto& [words, turn] : cases) {
    std::vector<std::string> arguments{in, out_, "--device", "cpu"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    static_cast<void>(filter_quietly(arguments));
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
  const std::string planned = filter({in, out_, "--rotate", "90", "--dry-run"}).out;
  expect_parts(planned,
               {"67x45 -> 45x67", "device: processor (only it turns and trims pictures)\n"});
}

TEST_F(TurnCommand, KeepsAPictureInAFileWhereMemoryIsShort) {
  const Image large = random_image({700, 600}, {3, 8}, 2);
  const std::string in = stored(large, "in.png");
  std::filesystem::create_directory(folder_ / "temporary");
  const ProcessOptions there{.environment = {{"TMPDIR", folder_ / "temporary"}}};
  const std::string said =
      filter({in, out_, "--rotate", "270", "-v", "--max-memory", "1M"}, there).err;
  EXPECT_TRUE(contains(said, "(the processor, whole picture in a temporary file)\n"));
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(large, quarter_counterclockwise)));
  EXPECT_TRUE(names_in(folder_ / "temporary").empty());
  const ProcessOptions nowhere{.environment = {{"TMPDIR", folder_ / "missing"}}};
  std::filesystem::remove(out_);
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
    static_cast<void>(filter_quietly({in, out_, "--auto-orient", "--device", "cpu"}));
    EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(stored_pixels, quarter_clockwise)));
    EXPECT_EQ(exif_orientation(metadata_of(out_).exif), 1);
    // And written to each.
    const std::string same = folder_ / ("out-" + name);
    static_cast<void>(filter_quietly({in, same, "--auto-orient", "--device", "cpu"}));
    EXPECT_EQ(read_picture(same).size(), (ImageSize{45, 67}));
    EXPECT_EQ(exif_orientation(metadata_of(same).exif), 1);
  }
}

// The chunk eXIf may follow the pixels. In a pipe, the file is read twice from a copy.
TEST_F(TurnCommand, AutoOrientFindsAnOrientationBehindThePixels) {
  const std::string in = oriented(image_, "in.png", 6);
  std::string png = read_file(in);
  const std::size_t begin = png.find("eXIf") - 4;
  const std::string chunk = png.substr(begin, 12 + exif_of_orientation(6).size());
  png.erase(begin, chunk.size());
  png.insert(png.find("IEND") - 4, chunk);
  const std::string late = folder_ / "late.png";
  write_file(late, png);
  static_cast<void>(filter_quietly({late, out_, "--auto-orient"}));
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(image_, quarter_clockwise)));
  EXPECT_EQ(metadata_of(out_).exif, exif_of_orientation(1));
  ProcessOptions piped;
  piped.input = png;
  static_cast<void>(filter_quietly({"-", out_, "--auto-orient"}, piped));
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(image_, quarter_clockwise)));
}

TEST_F(TurnCommand, AutoOrientLeavesUprightPicturesAlone) {
  const std::string in = stored(image_, "in.png");
  const std::string said = filter({in, out_, "--auto-orient", "-v"}).err;
  EXPECT_TRUE(contains(said, "plan: 1 stage; nothing to change"));
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  // The second has nothing to do.
  const std::string turned = oriented(image_, "turned.png", 8);
  static_cast<void>(filter_quietly({turned, out_, "--auto-orient", "--auto-orient"}));
  EXPECT_TRUE(same_pixels(read_picture(out_), naive_turn(image_, quarter_counterclockwise)));
}

TEST_F(TurnCommand, AFolderInPlace) {
  std::filesystem::create_directory(folder_ / "photos");
  static_cast<void>(oriented(image_, "photos/a.png", 6));
  static_cast<void>(oriented(image_, "photos/b.png", 3));
  static_cast<void>(oriented(image_, "photos/c.png", 1));
  const std::string photos = folder_ / "photos";
  static_cast<void>(
      filter_quietly({photos, "--in-place", "--auto-orient", "--blur", "auto", "--device", "cpu"}));
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
  expect_failure(2, {in, out_, "--rotate", "45"}, {"--rotate 45: choose 90, 180, 270 or 0"});
}

}  // namespace
}  // namespace gpufilter::test
