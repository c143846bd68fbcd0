// The public functions that read, write and measure files.

#include <gpufilter/gpufilter.hpp>

#include "support/testing.hpp"

namespace gpufilter {
namespace {

const std::string samples = GPUFILTER_SOURCE "/samples/";

struct FilesTest : ::testing::Test {
  test::TemporaryFolder folder_;
};

// Reading, filtering and writing in steps makes the file that a run from file to file makes.
TEST_F(FilesTest, StepsMakeTheFileOfOneRun) {
  struct Case {
    const char* input;
    const char* extension;
    std::vector<StageUse> stages;
    FormatOptions options;
  };
  const std::vector<Case> cases{
      {"landscape.jpg", ".jpg", {blur{}}, {}},
      {"landscape.jpg", ".jpg", {auto_orient{}, resize{"30%"}}, {{"quality", "80"}}},
      {"landscape.jpg", ".png", {linear{}, blur{}}, {{"png-level", "1"}}},
      {"badge-alpha.png", ".png", {blur{}}, {}},
      {"badge-alpha.png", ".jpg", {}, {{"background", "#336699"}}},
      {"gradient-16bit.png", ".png", {color{"sepia"}}, {{"strip", "on"}}},
      {"gradient-16bit.png", ".pam", {gray{}}, {}},
      {"grey.png", ".jpg", {}, {}}};
  for (const Case& known : cases) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                       known.input + std::string(known.extension));
    const std::string one = folder_ / ("one" + std::string(known.extension));
    const std::string steps = folder_ / ("steps" + std::string(known.extension));
    const PictureFilter filter(known.stages, "cpu");
    const FilterResult result = filter.run(samples + known.input, one, known.options);
    const Picture picture = filter.run(read(samples + known.input));
    EXPECT_EQ(write(steps, picture, known.options), result.output_bytes);
    EXPECT_EQ(test::read_file(steps), test::read_file(one));
    const auto bytes = encode(known.extension + 1, picture, known.options);
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), test::read_file(one));
    EXPECT_EQ(compare(decode(bytes.data(), bytes.size()), read(one)).verdict,
              Differences::Verdict::equal);
  }
}

TEST_F(FilesTest, PicturesKnowTheirFilesAndFormatsTheirOptions) {
  const Picture picture = read(samples + "landscape.jpg");
  EXPECT_EQ(picture.file_format(), "JPEG");
  EXPECT_EQ(picture.orientation(), 1);
  EXPECT_EQ(picture.channels(), 3);
  EXPECT_EQ(picture.pitch(), 3U * static_cast<unsigned>(picture.width()));
  EXPECT_EQ(Picture(picture.view()).file_format(), "");  // only its pixels
  EXPECT_EQ(picture.copy().file_format(), "JPEG");
  const auto all = formats();
  const auto png = std::find_if(
      all.begin(), all.end(), [](const FormatDescription& format) { return format.name == "PNG"; });
  ASSERT_NE(png, all.end());
  EXPECT_EQ(png->extensions, std::vector<std::string>{".png"});
  EXPECT_EQ(std::count(png->options.begin(), png->options.end(), "png-level"), 1);
  EXPECT_EQ(std::count(png->options.begin(), png->options.end(), "quality"), 0);
}

TEST_F(FilesTest, StatisticsAndDifferencesAreThoseOfMemory) {
  const std::string a = samples + "gradient-16bit.png";
  const std::string b = folder_ / "b.png";
  static_cast<void>(PictureFilter({blur{}}, "cpu").run(a, b));
  const Picture pixels = read(a);
  const Stats of_file = stats(a);
  const Stats of_memory = stats(pixels);
  ASSERT_EQ(of_file.channels.size(), 3U);
  EXPECT_EQ(of_file.shape, pixels.shape());
  for (std::size_t c = 0; c < 3; ++c) {
    const ChannelStats& channel = of_file.channels[c];
    EXPECT_EQ(channel.histogram, of_memory.channels[c].histogram);
    std::uint64_t sum = 0;
    std::uint32_t least = 65535;
    std::vector<std::uint32_t> sorted;
    for (const auto [x, y] : test::each_pixel({pixels.width(), pixels.height()})) {
      const auto sample = pixels.row<std::uint16_t>(y)[3 * static_cast<std::size_t>(x) + c];
      sum += sample;
      least = std::min<std::uint32_t>(least, sample);
      sorted.push_back(sample);
    }
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(channel.sum, sum);
    EXPECT_EQ(channel.minimum, least);
    EXPECT_EQ(channel.percentile(0), least);
    EXPECT_EQ(channel.percentile(50), sorted[(sorted.size() + 1) / 2 - 1]);
    EXPECT_EQ(channel.percentile(100), channel.maximum);
    EXPECT_THROW(static_cast<void>(channel.percentile(100.5)), UsageError);
  }
  const Differences of_files = compare(a, b, {.tolerance = 3});
  const Differences of_views = compare(pixels, read(b), {.tolerance = 3});
  EXPECT_EQ(of_files.verdict, Differences::Verdict::different);
  EXPECT_EQ(of_files.differing_pixels, of_views.differing_pixels);
  EXPECT_EQ(of_files.maximum, of_views.maximum);
  EXPECT_EQ(of_files.psnr, of_views.psnr);
  EXPECT_EQ(of_files.ssim, of_views.ssim);
  EXPECT_TRUE(of_files.ssim.has_value());
  EXPECT_FALSE(compare(a, b, {.similarity = false}).ssim.has_value());
  EXPECT_EQ(compare(a, samples + "grey.png").verdict, Differences::Verdict::other_shape);
}

TEST_F(FilesTest, FoldersAreFilteredPictureByPicture) {
  namespace fs = std::filesystem;
  const fs::path in = folder_ / "in";
  fs::create_directories(in / "sub");
  for (const char* name : {"a.png", "b.png", "sub/c.png"})
    test::write_png(test::random_image({40, 30}, {3, 8}, 1), in / name);
  test::write_file(in / "broken.png", "\x89PNG\r\n\x1a\nno more");
  const fs::path out = folder_ / "out";
  const PictureFilter filter({blur{}}, "cpu");
  std::vector<std::string> seen;
  double last = 0;
  const FolderResult result = filter.run_folder(
      in, out,
      {.recursive = true,
       .to = "jpg",
       .jobs = 2,
       .finished = [&](const FolderPicture& picture) { seen.push_back(picture.output); }},
      {.progress = [&](double done) {
        EXPECT_GE(done, last);
        last = done;
      }});
  EXPECT_EQ(result.done, 3U);
  ASSERT_EQ(result.failed.size(), 1U);
  EXPECT_EQ(result.failed[0].input, (in / "broken.png").string());
  EXPECT_NE(result.failed[0].reason, "");
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_DOUBLE_EQ(last, 1);
  EXPECT_EQ(read(out / "sub" / "c.jpg").file_format(), "JPEG");
  EXPECT_THROW(static_cast<void>(filter.run_folder(in, out, {.to = "jpg"})), UsageError);
  EXPECT_EQ(
      filter.run_folder(in, out, {.match = {"?.png"}, .to = "jpg", .existing = Existing::skip})
          .skipped,
      2U);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(static_cast<void>(filter.run_folder(in, out, {.existing = Existing::overwrite},
                                                   {.stop = stop.get_token()})),
               Stopped);
}

TEST_F(FilesTest, ErrorsNameTheFile) {
  EXPECT_THROW(static_cast<void>(read(folder_ / "none.png")), PictureError);
  EXPECT_THROW(static_cast<void>(read(samples + "grey.png", {.max_pixels = 10})), PictureError);
  EXPECT_THROW(static_cast<void>(decode("GIF89a", 6)), PictureError);
  const Picture picture(Shape{3, 3});
  EXPECT_THROW(write(folder_ / "out.gif", picture), UsageError);
  EXPECT_THROW(write(folder_ / "out.png", picture, {{"effort", "1"}}), UsageError);
  EXPECT_THROW(write(folder_ / "none/out.png", picture), PictureError);
  EXPECT_THROW(static_cast<void>(encode("gif", picture)), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.png"));
}

}  // namespace
}  // namespace gpufilter
