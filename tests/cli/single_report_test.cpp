// What the program says about one picture: formats, --json, --dry-run, doubtful options.
#include <filesystem>

#include "cli/filter_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/jpeg.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class SingleReport : public FilterTest {
 protected:
  [[nodiscard]] std::string stored_bytes(const Bytes& bytes, const std::string& name) const {
    write_file(folder_ / name, {bytes.begin(), bytes.end()});
    return folder_ / name;
  }

  // The part of the first line from the size to the device.
  static std::string pixels_of(const std::string& in, const std::string& out, Words more = {}) {
    more.insert(more.begin(), {in, out, "--on-exists", "overwrite"});
    const ProcessResult result = ended(0, filter(more));
    const std::string line = result.err.substr(0, result.err.find('\n'));
    const std::size_t begin = line.find(": ") + 2;
    return line.substr(begin, line.find(';') - begin);
  }

  static Json json_of(Words words, int exit_code = 0) {
    words.insert(words.end(), {"--json", "-q"});
    const ProcessResult result = ended(exit_code, filter(words));
    EXPECT_EQ(result.err.empty(), exit_code == 0) << result.err;
    return Json::parse(result.out);
  }

  const std::string rgb_ = stored(random_image({30, 20}, {3, 8}, 1), "rgb.png");
  const std::string rgba16_ = stored(random_image({30, 20}, {4, 16}, 1), "rgba16.png");
  const std::string jpeg_ = folder_ / "out.jpg";
  const std::string png_ = folder_ / "out.png";
};

TEST_F(SingleReport, TheFirstLineNamesWhatTheFilesHold) {
  EXPECT_EQ(pixels_of(rgb_, png_), "30x20, RGB, 8-bit");
  EXPECT_EQ(pixels_of(rgb_, jpeg_), "30x20, RGB, 8-bit");
  EXPECT_EQ(pixels_of(rgba16_, png_), "30x20, RGBA, 16-bit");
  EXPECT_EQ(pixels_of(stored(random_image({8, 9}, {1, 16}, 1), "grey16.png"), jpeg_),
            "8x9, grey, 16-bit -> grey, 8-bit");
  EXPECT_EQ(pixels_of(stored(random_image({8, 9}, {2, 8}, 1), "alpha.png"), jpeg_,
                      {"--background", "#102030"}),
            "8x9, grey+alpha, 8-bit -> grey, 8-bit (alpha flattened onto #102030)");
  EXPECT_EQ(
      pixels_of(stored(random_image({8, 9}, {1, 8}, 1), "grey.png"), jpeg_, {"--color", "sepia"}),
      "8x9, grey, 8-bit -> RGB, 8-bit");
}

TEST_F(SingleReport, PalettesTransparencyAndInkAreNamed) {
  const PngPart palette{"PLTE", {1, 2, 3, 40, 50, 60, 70, 80, 90}};
  const std::string plain =
      stored_bytes(file_of_rows(png_header(4, 1, 2, 3), {palette}, {0, 0b00011000}), "palette.png");
  EXPECT_EQ(pixels_of(plain, png_), "4x1, palette, 2-bit");
  const std::string clear = stored_bytes(
      file_of_rows(png_header(3, 1, 8, 3), {palette, {"tRNS", {5, 128}}}, {0, 0, 1, 2}),
      "clear.png");
  EXPECT_EQ(pixels_of(clear, png_), "3x1, palette with transparency, 8-bit");
  const std::string bits =
      stored_bytes(file_of_rows(png_header(8, 1, 1, 0), {}, {0, 0b01010101}), "bits.png");
  EXPECT_EQ(pixels_of(bits, png_), "8x1, grey, 1-bit");
  JpegRecipe ink;
  ink.raster_colors = JCS_CMYK;
  ink.stored_colors = JCS_YCCK;
  const std::string cmyk =
      stored_bytes(encode_with_libjpeg(textured_raster(16, 8, 4), ink), "ink.jpg");
  EXPECT_EQ(pixels_of(cmyk, jpeg_), "16x8, CMYK, 8-bit") << "copied without decoding";
  EXPECT_EQ(pixels_of(cmyk, jpeg_, {"--lossless", "never"}), "16x8, CMYK, 8-bit -> RGB, 8-bit");
  const Json json = json_of({cmyk, png_});
  EXPECT_EQ(json["input_pixels"], (Json{{"color", "CMYK"}, {"channels", 4}, {"depth", 8}}));
  EXPECT_EQ(json["output_pixels"], (Json{{"color", "RGB"}, {"channels", 3}, {"depth", 8}}));
}

TEST_F(SingleReport, JsonIsTheObjectOfAFolder) {
  const Json json = json_of({rgba16_, jpeg_, "--blur", "auto", "--device", "cpu", "--verify=2"});
  EXPECT_EQ(json["schema"], "gpufilter-picture-1");
  EXPECT_EQ(json["input"], rgba16_);
  EXPECT_EQ(json["output"], jpeg_);
  EXPECT_EQ(json["status"], "done");
  EXPECT_EQ(json["input_bytes"], fs::file_size(rgba16_));
  EXPECT_EQ(json["output_bytes"], fs::file_size(jpeg_));
  EXPECT_EQ(json["input_format"], "PNG");
  EXPECT_EQ(json["output_format"], "JPEG");
  EXPECT_EQ(json["input_pixels"], (Json{{"color", "RGBA"}, {"channels", 4}, {"depth", 16}}));
  EXPECT_EQ(json["output_pixels"], (Json{{"color", "RGB"}, {"channels", 3}, {"depth", 8}}));
  EXPECT_EQ(json["alpha_laid_over"], "#ffffff");
  EXPECT_EQ(json["width"], 30);
  EXPECT_EQ(json["height"], 20);
  EXPECT_EQ(json["jpeg"]["quality"], 90);
  EXPECT_EQ(json["verified_blocks"], 2);
  EXPECT_EQ(json["device"], "processor");
  fs::create_directories(folder_ / "in");
  fs::copy(rgba16_, folder_ / "in/a.png");
  const ProcessResult folder = filter({folder_ / "in", folder_ / "results", "--to", "jpg", "--blur",
                                       "auto", "--device", "cpu", "--verify=2", "--json", "-q"});
  const Json picture = Json::parse(folder.out)["pictures"][0];
  for (const auto& [key, value] : picture.items()) {
    EXPECT_TRUE(json.contains(key)) << key;
    if (key == "input" || key == "output" || key.starts_with("m")) continue;
    EXPECT_EQ(json[key], value) << key;
  }
  EXPECT_EQ(json.size(), picture.size() + 1) << "the schema's name is the only difference";
}

TEST_F(SingleReport, JsonOfAPictureThatIsNotDone) {
  write_file(folder_ / "note.png", "text");
  const Json failed = json_of({folder_ / "note.png", png_}, 1);
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["error"], folder_ / "note.png: not a " + names_of(codecs()) + " picture");
  write_file(png_, "before");
  EXPECT_EQ(json_of({rgb_, png_, "--on-exists", "skip"})["status"], "exists");
  EXPECT_EQ(read_file(png_), "before");
  const ProcessResult piped = filter({rgb_, "-", "--json", "-q"});
  EXPECT_EQ(piped.out.substr(1, 3), "PNG");
  EXPECT_EQ(Json::parse(piped.err)["output"], "-");
  for (const Words& more : {Words{"--timing", "json"}, Words{"--trace", "-"}})
    expect_failure(2, {rgb_, jpeg_, "--json", more[0], more[1]},
                   {"--json: standard output has room for one document"});
}

TEST_F(SingleReport, ASkippedPictureIsReported) {
  write_file(png_, "before");
  const ProcessResult result = ended(0, filter({rgb_, png_, "--on-exists", "skip"}));
  EXPECT_EQ(result.err, rgb_ + " -> " + png_ + ": already exists, skipped\n");
}

TEST_F(SingleReport, DryRunSaysWhatWouldBeDone) {
  const ProcessResult result =
      ended(0, filter({rgba16_, jpeg_, "--blur", "auto", "--device", "cpu", "--quality", "80",
                       "--background", "red", "--dry-run"}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, rgba16_ + " -> " + jpeg_ +
                            ": would be done\n"
                            "30x20, RGBA, 16-bit -> RGB, 8-bit (alpha flattened onto #ff0000); "
                            "JPEG, quality 80 (requested), 4:2:0 (the default below quality 90)\n"
                            "device: processor (requested)\n");
  EXPECT_FALSE(fs::exists(jpeg_));
  write_file(png_, "before");
  const ProcessResult copy = filter({rgb_, png_, "--dry-run"});
  EXPECT_EQ(copy.out, rgb_ + " -> " + png_ +
                          ": would be copied unchanged; replaces the existing file\n"
                          "30x20, RGB, 8-bit; PNG\n"
                          "device: processor (nothing to change)\n");
  EXPECT_EQ(filter({rgb_, png_, "--dry-run", "--on-exists", "skip"}).out,
            rgb_ + " -> " + png_ + ": already exists, skipped\n");
  EXPECT_EQ(read_file(png_), "before");
  const Json json = json_of({rgba16_, jpeg_, "--dry-run"});
  EXPECT_EQ(json["status"], "planned");
  EXPECT_EQ(json["output_pixels"]["color"], "RGB");
  EXPECT_EQ(json["jpeg"]["quality"], 90);
  EXPECT_FALSE(json.contains("device"));
  EXPECT_FALSE(fs::exists(jpeg_));
}

// With the exit codes and the messages of the run itself.
TEST_F(SingleReport, DryRunRefusesWhatTheRunRefuses) {
  write_file(folder_ / "note.png", "text");
  write_file(folder_ / "old.png", "before");
  const std::string wide = stored(random_image({65536, 1}, {1, 8}, 1), "wide.png");
  for (const Words& words :
       {Words{folder_ / "missing.png", png_},
        {folder_ / "note.png", png_},
        {rgb_, folder_ / "nowhere/out.png"},
        {rgb_, png_, "--quality", "90"},
        {rgb_, folder_ / "old.png", "--on-exists", "fail"},
        {wide, jpeg_},
        {rgb_, rgb_},
        {rgb_, png_, "--blur", "auto", "--device", "no such device", "--require-device"}}) {
    const ProcessResult real = filter(words);
    EXPECT_NE(real.exit_code, 0) << words.front();
    Words planned = words;
    planned.emplace_back("--dry-run");
    expect_failure(real.exit_code, planned, {real.err});
  }
}

TEST_F(SingleReport, LevelsOfTheOtherDepthAreDoubted) {
  const auto warning_of = [](Words words) {
    words.insert(words.end(), {"--timing", "off"});
    return ended(0, filter(words)).err;
  };
  const std::string grey16 = stored(random_image({8, 9}, {1, 16}, 1), "grey16.png");
  EXPECT_EQ(warning_of({grey16, png_, "--levels", "16,235"}),
            "gpufilter: warning: " + grey16 +
                ": --levels 16,235 looks like values of 8 bits, but the picture has 16 bits, from "
                "0 to 65535; in 16 bits these values are 4112,60395\n");
  EXPECT_EQ(warning_of({rgb_, png_, "--levels", "0,65535"}),
            "gpufilter: warning: " + rgb_ +
                ": --levels 0,65535 looks like values of 16 bits, but the picture has 8 bits, from "
                "0 to 255; in 8 bits these values are 0,255\n");
  for (const char* levels : {"16,235", "0,300", "10%,90%", "auto"})
    EXPECT_EQ(warning_of({rgb_, png_, "--levels", levels}), "") << levels;
  for (const char* levels : {"0,256", "4112,60395", "1%,2%"})
    EXPECT_EQ(warning_of({grey16, png_, "--levels", levels}), "") << levels;
  fs::create_directories(folder_ / "in");
  fs::copy(grey16, folder_ / "in/a.png");
  fs::copy(grey16, folder_ / "in/b.png");
  fs::copy(rgb_, folder_ / "in/c.png");
  EXPECT_TRUE(
      contains(warning_of({folder_ / "in", folder_ / "results", "--levels", "16,235"}),
               "gpufilter: warning: 2 pictures: --levels 16,235 looks like values of 8 bits"));
}

}  // namespace
}  // namespace gpufilter::test
