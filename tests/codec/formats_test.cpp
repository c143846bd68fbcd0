// Requirements for every format of the table: round trips, limits, truncated files, and files
// changed at random.

#include "codec/formats.hpp"

#include <zlib.h>

#include "base/threads.hpp"
#include "codec/whole_picture.hpp"
#include "support/coding.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

class Formats : public ::testing::TestWithParam<const Codec*> {
 protected:
  [[nodiscard]] static const Codec& codec() { return *GetParam(); }

  [[nodiscard]] static std::vector<PixelFormat> pixel_formats() {
    std::vector<PixelFormat> formats;
    for (const int depth : {8, 16, float_depth}) {
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

  // Every sample as it is stored.
  const ReadLimits all_{.keeps_floats = true};

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
  for (const auto& [format, size] :
       each_of(held_formats(), Sizes{{1, 1}, {1, 40}, {41, 1}, {15, 17}, {257, 33}, {67, 131}})) {
    SCOPED_TRACE(to_string(format) + " " + std::to_string(size.width));
    const Image image = random_image(size, format, 5);
    const Bytes file = encode(codec(), image, *lossless()).file;
    expect_codec(codec_of_content(file));
    EXPECT_TRUE(same_pixels(decode(file, all_).image, image));
    EXPECT_TRUE(same_pixels(decode(file, all_, 1).image, image));
    EXPECT_TRUE(same_pixels(decode(file, all_, 7).image, image));
    for (const int rows : {1, 7})
      EXPECT_EQ(encode(codec(), image, *lossless(), {}, rows).file, file) << rows;
  }
}

TEST_P(Formats, StayLosslessUnlessAQualityIsGiven) {
  const auto has = [](const char* name) {
    return std::ranges::any_of(codec().options, [name](auto* each) { return each->name == name; });
  };
  if (!lossless() || !has("lossless") || !has("quality"))
    GTEST_SKIP() << "skipped: " << codec().name << " is always lossless, or never";
  const Image image = random_image({61, 43}, {3, 8}, 1);
  const Bytes input = encode(codec(), image, *lossless()).file;
  for (const bool has_quality : {false, true}) {
    const Bytes output = rewritten(
        codec(), input, image, has_quality ? with_option(quality_option(), "80") : WriteOptions());
    EXPECT_EQ(static_cast<bool>(same_pixels(decode(output).image, image)), !has_quality);
  }
}

TEST_P(Formats, TakePicturesOfEveryFormat) {
  for (const PixelFormat& format : pixel_formats()) {
    SCOPED_TRACE(to_string(format));
    const Decoded decoded =
        decode(encode(codec(), mixed_alpha_image({21, 11}, {4, format.depth}, 1)).file, all_);
    EXPECT_EQ(decoded.image.size(), (ImageSize{21, 11}));
    const Decoded plain = decode(encode(codec(), random_image({21, 11}, format, 1)).file, all_);
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
    const Image image = decode(whole, all_).image;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string refusal = why_refused(file, all_);
      if (refusal.empty() && whole.size() - size <= 4) {
        EXPECT_TRUE(same_pixels(decode(file, all_).image, image));
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

// One line for a refusal; samples do not depend on how rows are requested.
TEST_P(Formats, SurviveFilesChangedAtRandom) {
  const ReadLimits limits{
      .max_pixels = 20'000, .max_memory = 1U << 20U, .warn = false, .keeps_floats = true};
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
  for (const std::uint64_t space : {std::uint64_t{0}, size / 3, size / 3 * 2, size - 1}) {
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

// --damaged keep: every row that can be read of a damaged file, and none that cannot.

constexpr Color missing_color{255, 0, 0};

ReadLimits keeping() {
  ReadLimits limits;
  limits.warn = false;
  limits.damaged = Damaged::keep;
  limits.missing = missing_color;
  return limits;
}

Bytes beginning_of(const Bytes& file, std::size_t count) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool same_row(const Image& a, const Image& b, int y) {
  const std::size_t bytes = a.rows().row_bytes();
  return std::equal(a.rows().row(y), a.rows().row(y) + bytes, b.rows().row(y));
}

// Red, and grey of the same brightness, opaque.
bool is_missing(const Image& image, int y) {
  const PixelFormat format = image.format();
  std::vector<std::uint32_t> pixel{76};
  if (format.color_channels() == 3) pixel = {255, 0, 0};
  if (format.has_alpha()) pixel.push_back(255);
  const std::uint32_t scale = format.depth == 16 ? 257 : 1;
  for (int x = 0; x < image.width(); ++x) {
    for (int c = 0; c < format.channels; ++c) {
      if (sample_at(image, x, y, c) != scale * pixel[static_cast<std::size_t>(c)]) return false;
    }
  }
  return true;
}

// How many rows of the truncated file were read if they equal the whole file's and the rest is
// missing; otherwise -1.
int rows_kept(const Bytes& cut, const Image& whole, const ReadLimits& limits = keeping()) {
  if (why_refused(cut, limits) != "") return 0;
  const Image image = decode(cut, limits, 7).image;
  if (image.size() != whole.size() || image.format() != whole.format()) return -1;
  const int height = whole.size().height;
  int rows = 0;
  while (rows < height && same_row(image, whole, rows))
    ++rows;
  for (int y = rows; y < height; ++y) {
    if (!is_missing(image, y)) return -1;
  }
  return rows;
}

JpegRecipe recipe_with(bool progressive, int restart_rows) {
  JpegRecipe recipe;
  recipe.progressive = progressive;
  recipe.restart_rows = restart_rows;
  return recipe;
}

// libjpeg itself fills the rest with grey. Its first changed row is in the row of MCUs that is cut,
// or the last one above, whose chroma depends on it.
TEST(DamagedPictures, KeepTheRowsOfABaselineJpegBeforeTheCut) {
  for (const int restart_rows : {0, 1}) {
    const Bytes jpeg =
        encode_with_libjpeg(textured_raster(90, 70, 3), recipe_with(false, restart_rows));
    const Image whole = decode(jpeg).image;
    const Raster intact = decode_with_libjpeg(jpeg);
    const std::size_t begin = scan_data_begin(jpeg);
    for (std::size_t count = begin + 1; count < jpeg.size() - 2; count += 5) {
      const Bytes cut = beginning_of(jpeg, count);
      const int rows = rows_kept(cut, whole);
      const Raster libjpeg = decode_damaged_with_libjpeg(cut);
      const auto changed =
          std::mismatch(intact.samples.begin(), intact.samples.end(), libjpeg.samples.begin());
      const auto at = static_cast<int>(changed.first - intact.samples.begin()) / (90 * 3);
      ASSERT_LE(rows, at) << count;
      ASSERT_GT(rows, at - 17) << count;
    }
    EXPECT_EQ(rows_kept(beginning_of(jpeg, jpeg.size() - 2), whole), 70);
    EXPECT_EQ(why_refused(beginning_of(jpeg, jpeg.size() - 3)), "in: the file ends too early");
  }
}

TEST(DamagedPictures, AreTheSameByAnyNumberOfThreads) {
  const Bytes jpeg = encode_with_libjpeg(textured_raster(1200, 900, 3), recipe_with(false, 1));
  const Image whole = decode(jpeg).image;
  for (const auto& [count, changed] :
       each_of(std::vector<std::size_t>{jpeg.size() / 3, jpeg.size() - 100, jpeg.size() - 2},
               std::array{false, true})) {
    Bytes file = changed ? jpeg : beginning_of(jpeg, count);
    if (changed) std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(count) - 60, 8, 0xFF);
    std::vector<Image> images;
    for (const std::size_t threads : {1, 4}) {
      const ThreadLimit limit(threads);
      images.push_back(decode(file, keeping()).image);
    }
    EXPECT_TRUE(same_pixels(images[0], images[1])) << count << changed;
  }
}

// Begin and end of the data of each scan.
std::vector<std::pair<std::size_t, std::size_t>> scans_of(const Bytes& jpeg) {
  std::vector<std::pair<std::size_t, std::size_t>> scans;
  for (std::size_t at = 2; at + 3 < jpeg.size();) {
    const std::size_t length = jpeg[at + 2] * 256U + jpeg[at + 3];
    const bool is_scan = jpeg[at + 1] == 0xDA;
    at += 2 + length;
    if (!is_scan) continue;
    const std::size_t begin = at;
    while (jpeg[at] != 0xFF || jpeg[at + 1] == 0)
      ++at;
    scans.emplace_back(begin, at);
  }
  return scans;
}

// All rows, as coarse as libjpeg makes them, once the first scan is complete.
TEST(DamagedPictures, AreWhatLibjpegMakesOfTheScansOfAProgressiveJpeg) {
  const Bytes jpeg = encode_with_libjpeg(textured_raster(90, 70, 3), recipe_with(true, 0));
  const auto scans = scans_of(jpeg);
  ASSERT_GT(scans.size(), 4U);
  for (std::size_t i = 1; i < scans.size(); ++i) {
    const auto [begin, end] = scans[i];
    for (const std::size_t count : {begin - 3, begin, begin + 1, (begin + end) / 2, end - 1, end}) {
      const Bytes cut = beginning_of(jpeg, count);
      Bytes ended = count < begin ? beginning_of(jpeg, scans[i - 1].second) : cut;
      ended.insert(ended.end(), {0xFF, 0xD9});
      const Image image = decode(cut, keeping()).image;
      ASSERT_EQ(raster_of(image).samples, decode_damaged_with_libjpeg(ended).samples) << i << count;
      const bool is_whole = i + 1 == scans.size() && count == end;
      ASSERT_EQ(why_refused(cut), is_whole ? "" : "in: the file ends too early") << i << count;
    }
  }
  // Within the first scan, the rows for which it has data.
  const auto [begin, end] = scans[0];
  const Image half = decode(beginning_of(jpeg, (begin + end) / 2), keeping()).image;
  int rows = 0;
  while (rows < 70 && !is_missing(half, rows))
    ++rows;
  EXPECT_GT(rows, 15);
  EXPECT_LT(rows, 64);
  for (int y = rows; y < 70; ++y)
    EXPECT_TRUE(is_missing(half, y)) << y;
  EXPECT_EQ(why_refused(beginning_of(jpeg, begin + 1), keeping()), "in: the file ends too early");
}

// Bytes that zlib inflates of the IDAT chunks before the end of the file.
std::size_t inflated_bytes(const Bytes& png) {
  Bytes data;
  for (std::size_t at = 8; at + 8 < png.size();) {
    const std::size_t length =
        png[at] << 24U | png[at + 1] << 16U | png[at + 2] << 8U | png[at + 3];
    if (png[at + 4] == 'I' && png[at + 5] == 'D') {
      const std::size_t count = std::min(length, png.size() - at - 8);
      data.insert(data.end(), png.begin() + static_cast<std::ptrdiff_t>(at + 8),
                  png.begin() + static_cast<std::ptrdiff_t>(at + 8 + count));
    }
    at += length + 12;
  }
  Bytes output(std::size_t{1} << 20U);
  z_stream zlib{};
  inflateInit(&zlib);
  zlib.next_in = data.data();
  zlib.avail_in = static_cast<uInt>(data.size());
  zlib.next_out = output.data();
  zlib.avail_out = static_cast<uInt>(output.size());
  inflate(&zlib, Z_SYNC_FLUSH);
  const std::size_t count = zlib.total_out;
  inflateEnd(&zlib);
  return count;
}

// libpng asks for more input before it takes all output: `held_back` bytes at most.
void expect_rows_of_png(const Bytes& png, std::size_t row_bytes, std::size_t step,
                        std::size_t held_back = 0) {
  const Image whole = decode(png).image;
  for (std::size_t count = 60; count < png.size(); count += step) {
    const Bytes cut = beginning_of(png, count);
    const auto expected = std::min(inflated_bytes(cut) / (row_bytes + 1),
                                   static_cast<std::size_t>(whole.size().height));
    const int rows = rows_kept(cut, whole);
    ASSERT_LE(rows, static_cast<int>(expected)) << count;
    ASSERT_GE(rows + static_cast<int>((held_back + row_bytes) / (row_bytes + 1)),
              static_cast<int>(expected))
        << count;
  }
}

TEST(DamagedPictures, KeepEveryRowOfAPngBeforeTheCut) {
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{1, 8}, PixelFormat{4, 16}}) {
    const Image image = random_image({40, 50}, format, 5);
    expect_rows_of_png(encode(png_codec(), image).file, row_bytes(40, format), 37);
  }
}

TEST(DamagedPictures, KeepEveryRowThatLibpngDecodesBeforeTheCut) {
  for (const auto& [name, bytes] :
       {std::pair{"basn3p08", 32}, {"basn0g04", 16}, {"tbbn2c16", 192}}) {
    const std::string relative = std::string("corpora/pngsuite/") + name + ".png";
    GPUFILTER_REQUIRE_SHARED(relative);
    expect_rows_of_png(shared_file(relative), static_cast<std::size_t>(bytes), 3, 300);
  }
}

// Each pass shows the whole picture, more finely than the one before.
TEST(DamagedPictures, HaveAllRowsOnceAnInterlacedPngHasItsFirstPass) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite/basi2c08.png");
  const Bytes png = shared_file("corpora/pngsuite/basi2c08.png");
  const Image whole = decode(png).image;
  int last = 0;
  bool complete = false;
  for (std::size_t count = 60; count < png.size(); ++count) {
    const Bytes cut = beginning_of(png, count);
    if (why_refused(cut, keeping()) != "") continue;
    const Image image = decode(cut, keeping()).image;
    int rows = 0;
    while (rows < 32 && !is_missing(image, rows))
      ++rows;
    ASSERT_GE(rows, last) << count;
    ASSERT_EQ(rows % 8, 0) << count;
    last = rows;
    complete = complete || static_cast<bool>(same_pixels(image, whole));
  }
  EXPECT_EQ(last, 32);
  EXPECT_TRUE(complete);  // without IEND
}

TEST(DamagedPictures, KeepTheRowsOfAWebpBeforeTheCut) {
  const Codec* codec = codec_of_name("a.webp");
  if (codec == nullptr) GTEST_SKIP() << "built without WebP";
  for (const char* lossless : {"always", "never"}) {
    const Image image = opaque_image({64, 96}, {4, 8}, 7);
    const Bytes webp = encode(*codec, image, with_option(lossless_option(), lossless)).file;
    const Image whole = decode(webp).image;
    int last = 0;
    for (std::size_t count = 64; count < webp.size(); count += 61) {
      const int rows = rows_kept(beginning_of(webp, count), whole);
      ASSERT_GE(rows, last) << lossless << count;
      last = rows;
    }
    EXPECT_GT(last, 60) << lossless;
    EXPECT_EQ(why_refused(beginning_of(webp, webp.size() / 2)), "in: the file ends too early");
  }
}

TEST(DamagedPictures, KeepWhatComesBeforeThePixels) {
  const Codec* codec = codec_of_name("a.webp");
  if (codec == nullptr) GTEST_SKIP() << "built without WebP";
  Metadata metadata;
  metadata.xmp = Bytes(50, 'x');
  metadata.icc_profile.emplace().data = Bytes(200, 'p');
  const std::string space = "RGB ";
  std::copy(space.begin(), space.end(), metadata.icc_profile->data.begin() + 16);
  const Image image = random_image({64, 96}, {3, 8}, 7);
  const Bytes webp = encode(*codec, image, {}, metadata).file;
  const Decoded kept = decode(beginning_of(webp, webp.size() * 2 / 3), keeping());
  ASSERT_TRUE(kept.header.metadata.icc_profile.has_value());
  EXPECT_EQ(kept.header.metadata.icc_profile->data, metadata.icc_profile->data);
  EXPECT_EQ(decode(webp, keeping()).header.metadata.xmp, metadata.xmp);
}

}  // namespace
}  // namespace gpufilter::test
