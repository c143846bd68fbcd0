// The PNG reader against an independently written decoder, and its use of the source.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "base/error.hpp"
#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"
#include "support/png_pieces.hpp"

namespace gpufilter::test {
namespace {

// PngSuite's files; the corrupt ones have names that begin with x.
std::vector<std::string> suite(bool corrupt) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(shared_path("corpora/pngsuite"))) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() == ".png" && (name[0] == 'x') == corrupt) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

::testing::AssertionResult same_samples(const DecodedPng& expected, const Image& image) {
  if (ImageSize{expected.width, expected.height} != image.size() ||
      PixelFormat{expected.channels, expected.depth} != image.format()) {
    return ::testing::AssertionFailure()
           << "expected " << expected.width << "x" << expected.height << " of "
           << to_string(PixelFormat{expected.channels, expected.depth}) << ", got "
           << image.size().width << "x" << image.size().height << " of "
           << to_string(image.format());
  }
  std::size_t i = 0;
  for (const auto [x, y, c] : each_sample({expected.width, expected.height}, expected.channels)) {
    const std::uint32_t sample = sample_at(image, x, y, c);
    if (sample != expected.samples[i]) {
      return ::testing::AssertionFailure()
             << "at x " << x << ", y " << y << ", channel " << c << ": expected "
             << expected.samples[i] << ", got " << sample;
    }
    ++i;
  }
  return ::testing::AssertionSuccess();
}

bool is_one_line_about(const std::string& message, const std::string& name) {
  return message.starts_with(name + ": ") && message.size() > name.size() + 2 &&
         message.find('\n') == std::string::npos;
}

TEST(PngReader, DecodesEveryValidPictureOfPngSuite) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  const auto paths = suite(false);
  ASSERT_EQ(paths.size(), 161U);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const Bytes file = file_bytes(path);
    const ReadPng picture = read_png(file);
    EXPECT_EQ(picture.header.file_format, &png_codec());
    EXPECT_TRUE(same_samples(decode_png(file), picture.image));
  }
}

TEST(PngReader, RefusesEveryCorruptPictureOfPngSuite) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  const auto paths = suite(true);
  ASSERT_EQ(paths.size(), 14U);
  for (const std::string& path : paths) {
    const std::string message = refusal(file_bytes(path));
    EXPECT_TRUE(is_one_line_about(message, "in.png")) << path << ": \"" << message << "\"";
  }
}

TEST(PngReader, DecodesPhotographs) {
  GPUFILTER_REQUIRE_SHARED("photos");
  for (const char* name : {"kodak-03.png", "kodak-07.png", "kodak-19.png", "kodak-23.png"}) {
    SCOPED_TRACE(name);
    const Bytes file = file_bytes(shared_path("photos") / name);
    EXPECT_TRUE(same_samples(decode_png(file), read_png(file).image));
  }
}

TEST(PngReader, MakesTransparencyAlphaInEveryColorType) {
  const PngPart palette{"PLTE", {1, 2, 3, 40, 50, 60, 70, 80, 90}};
  const std::vector<Bytes> files{
      file_of_rows(png_header(8, 1, 1, 0), {{"tRNS", {0, 1}}}, {0, 0xa6}),
      file_of_rows(png_header(4, 1, 2, 0), {{"tRNS", {0, 2}}}, {0, 0x1b}),
      file_of_rows(png_header(3, 1, 8, 0), {{"tRNS", {0, 7}}}, {0, 7, 8, 7}),
      file_of_rows(png_header(2, 1, 16, 0), {{"tRNS", {1, 2}}}, {0, 1, 2, 1, 3}),
      file_of_rows(png_header(2, 1, 8, 2), {{"tRNS", {0, 1, 0, 2, 0, 3}}}, {0, 1, 2, 3, 1, 2, 4}),
      file_of_rows(png_header(2, 1, 16, 2), {{"tRNS", {9, 1, 0, 2, 0, 3}}},
                   {0, 9, 1, 0, 2, 0, 3, 8, 1, 0, 2, 0, 3}),
      file_of_rows(png_header(3, 1, 8, 3), {palette, {"tRNS", {5, 128}}}, {0, 0, 1, 2}),
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    SCOPED_TRACE(i);
    const ReadPng picture = read_png(files[i]);
    EXPECT_TRUE(picture.header.format.has_alpha());
    EXPECT_TRUE(same_samples(decode_png(files[i]), picture.image));
  }
}

TEST(PngReader, IgnoresWhatFollowsTheEnd) {
  Bytes file = file_of_rows(png_header(1, 1, 8, 0), {}, {0, 77});
  file.insert(file.end(), {'m', 'o', 'r', 'e'});
  EXPECT_EQ(sample_at(read_png(file).image, 0, 0, 0), 77U);
}

// Counts the bytes read from it, and fails at a given place.
class WatchedSource final : public ByteSource {
 public:
  WatchedSource(Bytes data, std::size_t& read, std::size_t fails_at)
      : source_(memory_source(std::move(data), "in.png")), read_(read), fails_at_(fails_at) {}
  [[nodiscard]] const std::string& name() const override { return source_->name(); }
  std::size_t read(std::span<std::uint8_t> buffer) override {
    if (read_ + buffer.size() > fails_at_) throw PictureError("in.png", "the disk is on fire");
    const std::size_t count = source_->read(buffer);
    read_ += count;
    return count;
  }
  std::span<const std::uint8_t> peek(std::size_t count) override { return source_->peek(count); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t& read_;
  std::size_t fails_at_;
};

// Reads `file`, of `image`, `step` rows at a time; never more than `ahead` bytes ahead of them.
void expect_streamed(const Bytes& file, const Image& image, int step, std::size_t ahead) {
  std::size_t read = 0;
  const auto reader = open_picture(std::make_unique<WatchedSource>(file, read, file.size()), {});
  const int height = image.size().height;
  Image result = poisoned_image(image.size(), image.format());
  std::size_t farthest = 0;
  for (int y = 0; y < height; y += step) {
    const int end = std::min(y + step, height);
    reader->read(result.rows().part({y, end}));
    const std::size_t decoded =
        static_cast<std::size_t>(end) * file.size() / static_cast<std::size_t>(height);
    farthest = std::max(farthest, std::max(read, decoded) - decoded);
  }
  EXPECT_LE(farthest, ahead) << step << " rows a time";
  (void)reader->finish();
  EXPECT_EQ(read, file.size());
  EXPECT_TRUE(same_pixels(result, image)) << step << " rows a time";
}

TEST(PngReader, StreamsAndReadsInAnyBands) {
  constexpr std::size_t kibibyte = 1024;
  // What is inflated at a time, what ISA-L inflates ahead, and 16 KiB of input.
  constexpr std::size_t ahead = (256 + 64 + 16 + 4) * kibibyte;
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
  const Image small = random_image({301, 1000}, {3, 8}, 1);
  const Bytes small_file = without_index(encode_png(small, {}));
  const Image large = random_image({601, 6000}, {3, 8}, 1);
  const Bytes large_file = encode_png(large, {});
  for (const int step : {1, 7, 1000}) {
    expect_streamed(small_file, small, step, ahead);
    // Another thread inflates the next rows.
    expect_streamed(without_index(large_file), large, step, ahead + 256 * kibibyte);
    // Four pieces and one a thread, of 512 KiB, behind the one that is read.
    expect_streamed(large_file, large, step, 7 * 512 * kibibyte);
  }
}

TEST(PngReader, ReadsInterlacedPicturesInAnyBands) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  const Bytes file = file_bytes(shared_path("corpora/pngsuite/basi6a16.png"));
  const ReadPng whole = read_png(file);
  for (const int step : {1, 7}) {
    const auto reader = open_picture(memory_source(file, "in.png"));
    Image result = poisoned_image(whole.image.size(), whole.image.format());
    for (int y = 0; y < 32; y += step) {
      reader->read(result.rows().part({y, std::min(y + step, 32)}));
    }
    (void)reader->finish();
    EXPECT_TRUE(same_pixels(result, whole.image)) << step << " rows a time";
  }
}

TEST(PngReader, PassesOnWhatTheSourceThrows) {
  const Bytes file = encode_png(random_image({100, 100}, {4, 16}, 2), {});
  for (std::size_t fails_at = 0; fails_at < file.size(); fails_at += 997) {
    std::size_t read = 0;
    try {
      const auto reader = open_picture(std::make_unique<WatchedSource>(file, read, fails_at), {});
      Image result(reader->header().size, reader->header().format);
      reader->read(result.rows());
      (void)reader->finish();
      FAIL() << "no exception at byte " << fails_at;
    } catch (const PictureError& error) {
      EXPECT_STREQ(error.what(), "in.png: the disk is on fire");
    }
  }
}

}  // namespace
}  // namespace gpufilter::test
