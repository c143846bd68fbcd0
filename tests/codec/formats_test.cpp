// What every format of the table has to do: round trips, limits, files that are cut off, and files
// changed at random.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/coding.hpp"
#include "support/failing_streams.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

class Formats : public ::testing::TestWithParam<const Codec*> {
 protected:
  [[nodiscard]] static const Codec& codec() { return *GetParam(); }

  [[nodiscard]] static std::vector<PixelFormat> pixel_formats() {
    std::vector<PixelFormat> formats;
    for (const int depth : {8, 16}) {
      for (int channels = 1; channels <= 4; ++channels)
        formats.push_back({channels, depth});
    }
    return formats;
  }

  [[nodiscard]] static std::vector<PixelFormat> held_formats() {
    std::vector<PixelFormat> formats = pixel_formats();
    std::erase_if(formats, [](const auto& f) {
      return format_in_file(codec(), f) != f || f.depth > codec().max_depth;
    });
    return formats;
  }

  // A PNM is written as a PGM or PPM.
  static void expect_codec(const Codec* found) {
    if (codec().name != "PNM") {
      EXPECT_EQ(found, &codec());
    }
  }

  // The options that keep every sample, if there are such.
  [[nodiscard]] static std::optional<WriteOptions> lossless() {
    if (codec().name == "JPEG") return std::nullopt;  // only a JPEG's own coefficients are kept
    WriteOptions options;
    for (const WriteOption* option : codec().options) {
      if (option->name == "lossless") return options.set(*option, "always");
    }
    return options;
  }
};

TEST_P(Formats, KeepEverySampleThatTheyHold) {
  if (!lossless()) GTEST_SKIP() << "skipped: there is no lossless " << codec().name;
  for (const PixelFormat& format : held_formats()) {
    for (const ImageSize size : {ImageSize{1, 1}, {1, 40}, {41, 1}, {15, 17}, {257, 129}}) {
      SCOPED_TRACE(to_string(format) + " " + std::to_string(size.width));
      const Image image = random_image(size, format, 5);
      const Bytes file = encode(codec(), image, *lossless()).file;
      expect_codec(codec_of_content(file));
      EXPECT_TRUE(same_pixels(decode(file).image, image));
      EXPECT_TRUE(same_pixels(decode(file, {}, 1).image, image));
      EXPECT_TRUE(same_pixels(decode(file, {}, 7).image, image));
      for (const int rows : {1, 7})
        EXPECT_EQ(encode(codec(), image, *lossless(), {}, rows).file, file) << rows;
    }
  }
}

TEST_P(Formats, TakePicturesOfEveryFormat) {
  for (const PixelFormat& format : pixel_formats()) {
    SCOPED_TRACE(to_string(format));
    const Decoded decoded =
        decode(encode(codec(), mixed_alpha_image({21, 11}, {4, format.depth}, 1)).file);
    EXPECT_EQ(decoded.image.size(), (ImageSize{21, 11}));
    const Decoded plain = decode(encode(codec(), random_image({21, 11}, format, 1)).file);
    EXPECT_EQ(plain.image.format(), format_in_file(codec(), format));
    expect_codec(plain.header.file_format);
  }
}

TEST_P(Formats, RefuseTooManyPixelsBeforeReadingThem) {
  const Bytes file = encode(codec(), random_image({31, 10}, {3, 8}, 1)).file;
  EXPECT_EQ(why_refused(file, {.max_pixels = 310}), "");
  EXPECT_EQ(why_refused(file, {.max_pixels = 309}),
            "in: 31 x 10 pixels are more than the limit of 309: raise it with --max-pixels");
}

// The last bytes may be filling, or say that nothing follows.
TEST_P(Formats, RefuseFilesThatAreCutOff) {
  for (const PixelFormat& format : held_formats()) {
    const Bytes whole = encode(codec(), random_image({13, 9}, format, 1)).file;
    const Image image = decode(whole).image;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string refusal = why_refused(file);
      if (refusal.empty() && whole.size() - size <= 4) {
        EXPECT_TRUE(same_pixels(decode(file).image, image));
        continue;
      }
      ASSERT_TRUE(refusal.starts_with("in: ")) << to_string(format) << ", " << size << " bytes";
      ASSERT_EQ(refusal.find('\n'), std::string::npos) << refusal;
    }
  }
}

Bytes changed(Bytes file, std::mt19937& random) {
  for (auto left = 1 + random() % 4; left > 0 && !file.empty(); --left) {
    const std::size_t at =
        random() % (random() % 2 == 0 ? std::min<std::size_t>(file.size(), 80) : file.size());
    const auto place = file.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 6) {
      case 0:
        file.resize(at);
        break;
      case 1:
        file.erase(place, place + std::min<std::ptrdiff_t>(file.end() - place, 1 + random() % 9));
        break;
      case 2:
        file.insert(place, 1 + random() % 9, static_cast<std::uint8_t>(random()));
        break;
      case 3:
        *place ^= static_cast<std::uint8_t>(1U << random() % 8);
        break;
      default:
        *place = random() % 3 == 0 ? 255 : static_cast<std::uint8_t>(random());
    }
  }
  return file;
}

// One line for a refusal; samples do not depend on how the rows are asked for.
TEST_P(Formats, SurviveFilesChangedAtRandom) {
  const ReadLimits limits{.max_pixels = 20'000, .max_memory = 1U << 20U, .warn = false};
  std::vector<Bytes> seeds;
  for (const PixelFormat& format : held_formats())
    seeds.push_back(encode(codec(), random_image({23, 12}, format, 1)).file);
  // Decoders of HEIC and AVIF start threads for each picture.
  const int rounds = codec().name == "HEIC" || codec().name == "AVIF" ? 500 : 4000;
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    const Bytes file = changed(seeds.at(random() % seeds.size()), random);
    const std::string refusal = why_refused(file, limits);
    ASSERT_EQ(refusal.find('\n'), std::string::npos) << refusal;
    // libde265, which decodes HEIC, leaves samples of damaged slices as memory was.
    if (refusal.empty() && codec().name != "HEIC") {
      ASSERT_TRUE(same_pixels(decode(file, limits, 1).image, decode(file, limits, 5).image))
          << "round " << round;
    }
  }
}

TEST_P(Formats, PassOnWhatTheSinkThrows) {
  const Image image = random_image({200, 200}, {3, 8}, 4);
  const std::uint64_t size = encode(codec(), image).file.size();
  for (std::uint64_t space = 0; space < size; space += size / 5 + 1) {
    FullSink sink(space);
    PictureHeader header = header_of(image);
    const auto write = [&] {
      const auto writer = create_picture(codec(), sink, header);
      writer->write(image.rows());
      writer->finish({});
    };
    EXPECT_THROW(write(), std::runtime_error) << space;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Formats, ::testing::ValuesIn(codecs()), [](const auto& codec) {
  std::string name = codec.param->name;
  std::erase(name, ' ');  // "JPEG XL"
  return name;
});

}  // namespace
}  // namespace gpufilter::test
