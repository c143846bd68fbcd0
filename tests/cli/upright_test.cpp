// Stages that have an up get pictures upright: --orientation.
#include <algorithm>
#include <filesystem>

#include "cli/batch_fixture.hpp"
#include "support/oriented_files.hpp"
#include "support/svg.hpp"

namespace gpufilter::test {
namespace {

using Words = std::vector<std::string>;

class Upright : public BatchTest {
 protected:
  [[nodiscard]] std::string oriented(const std::string& name, int orientation) const {
    std::string path = folder_ / name;
    write_oriented(stored_as(upright_, orientation), path, orientation);
    return path;
  }

  [[nodiscard]] Image result_of(const std::string& in, const Words& words) const {
    Words all{in, result_, "--device", "cpu", "--on-exists", "overwrite"};
    all.insert(all.end(), words.begin(), words.end());
    static_cast<void>(filter_quietly(all));
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
      const std::string in = oriented("in." + extension, orientation);
      const Image result = result_of(in, {"--resize", "x20"});
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
      const Image result = result_of(oriented("in.png", orientation), words);
      EXPECT_TRUE(same_pixels(result, expected));
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
    const std::string as_stored = stored(stored_as(upright_, 6), "stored.png");
    const Image expected = result_of(as_stored, words);
    EXPECT_TRUE(same_pixels(result_of(in, words), expected));
    EXPECT_EQ(orientation_of_result(), 6);
  }
}

TEST_F(Upright, TheOptionDecides) {
  const std::string in = oriented("in.png", 8);
  const std::string as_stored = stored(stored_as(upright_, 8), "stored.png");
  const Words crop{"--crop", "30x10+5+6"};
  Words keep = crop;
  keep.insert(keep.end(), {"--orientation", "keep"});
  const Image cut = result_of(as_stored, crop);
  EXPECT_TRUE(same_pixels(result_of(in, keep), cut));
  EXPECT_EQ(orientation_of_result(), 8);
  keep.emplace_back("--auto-orient");
  EXPECT_TRUE(same_pixels(result_of(in, keep), naive_turn(cut, quarter_counterclockwise)));
  EXPECT_EQ(orientation_of_result(), 1);
  EXPECT_TRUE(same_pixels(result_of(in, {"--orientation", "apply"}), upright_));
  EXPECT_EQ(orientation_of_result(), 1);
  const Image blurred_upright = blurred(upright_);
  EXPECT_TRUE(
      same_pixels(result_of(in, {"--blur", "auto", "--orientation", "apply"}), blurred_upright));
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
    Words words{"--overlay", file};
    words.insert(words.end(), place.begin(), place.end());
    return result_of(plain_, words);
  };
  const Image expected = with(stored(mark, "mark.png"));
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string file = folder_ / "turned-mark.png";
    write_oriented(stored_as(mark, orientation), file, orientation);
    EXPECT_TRUE(same_pixels(with(file), expected)) << orientation;
  }
}

// The turn stands right before the first stage that has an up.
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
  const Image large = random_image({700, 500}, {3, 8}, 5);
  write_oriented(stored_as(large, 6), folder_ / "large.png", 6);
  ProcessOptions many_bytes;
  many_bytes.input = read_file(folder_ / "large.png");
  static_cast<void>(filter_quietly({"-", result_, "--crop", "700x499+0+0"}, many_bytes));
  EXPECT_EQ(read_picture(result_).size(), (ImageSize{700, 499}));
  for (const std::string name : {"in.png", "in.jpg"}) {
    ProcessOptions piped;
    piped.input = read_file(oriented(name, 6));
    static_cast<void>(filter_quietly({"-", result_, "--resize", "x20"}, piped));
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
  static_cast<void>(filter_quietly({in, same, "--auto-orient", "--crop", "64x48+32+16"}));
  EXPECT_EQ(read_file(out), read_file(same));
  static_cast<void>(filter_quietly({in, out, "--resize", "9000x", "--only", "shrink", "--lossless",
                                    "always", "--on-exists", "overwrite"}));
  static_cast<void>(filter_quietly({in, same, "--auto-orient", "--on-exists", "overwrite"}));
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
  namespace fs = std::filesystem;
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

}  // namespace
}  // namespace gpufilter::test
