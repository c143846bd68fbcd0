// HEIC and AVIF: settings, metadata, depths, and what libheif's own functions make of our files.

#include <libheif/heif.h>

#include "codec/formats.hpp"
#include "codec/whole_picture.hpp"
#include "image/exif.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/coding.hpp"
#include "support/heif_sketch.hpp"
#include "support/naive_stages.hpp"

namespace gpufilter::test {
namespace {

const WriteOptions heif_lossless = with_option(lossless_option(), "always");

bool can_write(const Codec& codec) {
  return heif_have_encoder_for_format(&codec == &avif_codec() ? heif_compression_AV1
                                                              : heif_compression_HEVC) != 0;
}

class Heif : public ::testing::TestWithParam<const Codec*> {
 protected:
  void SetUp() override {
    if (!can_write(codec())) GTEST_SKIP() << "skipped: libheif has no encoder for " << codec().name;
  }
  [[nodiscard]] static const Codec& codec() { return *GetParam(); }
};

// Written again, a picture of 10 bits keeps them, unless libheif cannot write them.
TEST_P(Heif, ScalesDeepSamplesExactly) {
  for (int channels = 1; channels <= 4; ++channels) {
    SCOPED_TRACE(channels);
    const PixelFormat format{channels, 16};
    const Image image = random_image({33, 21}, format, 1);
    PictureHeader header{&heic_codec(), image.size(), format, {}, {}, file_pixels(format)};
    for (const int bits : {10, codec().max_depth}) {
      header.file_pixels.depth = bits;
      Bytes file;
      const auto sink = memory_sink(file, "out");
      const auto writer = create_picture(codec(), *sink, header, heif_lossless);
      writer->write(image.rows());
      writer->finish({});
      const std::string text = writer->notes()->text;
      const Decoded decoded = decode(file);
      const int written = decoded.header.file_pixels.depth;
      EXPECT_TRUE(written == bits || written == codec().max_depth) << written;
      EXPECT_EQ(text, "lossless (requested), " + std::to_string(written) + " bits" +
                          (written == bits ? ""
                                           : " (this libheif writes no " + codec().name + " of " +
                                                 std::to_string(bits) + ")"));
      const std::uint32_t few = (1U << static_cast<unsigned>(written)) - 1U;
      for (const auto [x, y, c] : each_sample({33, 21}, channels)) {
        const std::uint32_t stored = scaled_sample(sample_at(image, x, y, c), 65535, few);
        ASSERT_EQ(sample_at(decoded.image, x, y, c), scaled_sample(stored, few, 65535))
            << bits << " bits, " << x << "," << y << "," << c;
      }
    }
  }
}

// Other programs turn the picture too; EXIF must not turn it again.
TEST_P(Heif, TurnsThePictureAsItsOrientationSays) {
  const Image image = random_image({13, 7}, {3, 8}, 1);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    Metadata metadata;
    set_orientation(metadata, orientation);
    const Decoded decoded = decode(encode(codec(), image, heif_lossless, metadata).file);
    EXPECT_EQ(exif_orientation(decoded.header.metadata.exif), 1);
    EXPECT_TRUE(same_pixels(decoded.image, naive_turn(image, turn_for_orientation(orientation))));
  }
}

// Other programs compare the stored size of each picture in the file with its data.
TEST_P(Heif, WritesTheStoredSizeBeforeWhatTurnsIt) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const ImageSize size : {ImageSize{70, 66}, ImageSize{71, 67}, ImageSize{33, 21}}) {
      SCOPED_TRACE(std::to_string(orientation) + ", " + std::to_string(size.width));
      Metadata metadata;
      set_orientation(metadata, orientation);
      const Bytes file = encode(codec(), random_image(size, {4, 8}, 1), {}, metadata).file;
      const HeifItems items = heif_items(file);
      int pictures = 0;
      bool any_is_turned = false;
      for (const auto& [id, item] : items.items) {
        if (!item.is_coded() && !item.is_derived()) continue;
        ++pictures;
        const Bytes data = items.data(item);
        ImageSize stored = size;
        if (item.type == "hvc1") stored = hevc_header(item.property("hvcC"), data)->size;
        ByteCursor ispe(item.property("ispe").subspan(4));
        EXPECT_EQ(ispe.number(4), static_cast<unsigned>(stored.width));
        EXPECT_EQ(ispe.number(4), static_cast<unsigned>(stored.height));
        bool is_turned = false;
        for (const Box& property : item.properties) {
          const bool turns = property.type == "irot" || property.type == "imir";
          EXPECT_TRUE(turns || !is_turned) << property.type;
          is_turned = is_turned || turns;
        }
        any_is_turned = any_is_turned || is_turned;
      }
      EXPECT_GE(pictures, 2);
      EXPECT_EQ(any_is_turned, orientation > 1);
    }
  }
}

TEST_P(Heif, HoldsMetadata) {
  using Points = std::array<std::uint8_t, 4>;
  const Metadata metadata = metadata_of_every_kind(1);
  const Image image = random_image({9, 5}, {4, 8}, 1);
  const Encoded encoded = encode(codec(), image, heif_lossless, metadata);
  EXPECT_EQ(encoded.left_out, (std::vector<std::string>{"density", "IPTC"}));
  const Decoded decoded = decode(encoded.file);
  EXPECT_TRUE(same_pixels(decoded.image, image));
  EXPECT_EQ(decoded.header.metadata.exif, metadata.exif);
  EXPECT_EQ(decoded.header.metadata.xmp, metadata.xmp);
  ASSERT_TRUE(decoded.header.metadata.icc_profile);
  EXPECT_EQ(decoded.header.metadata.icc_profile->data, metadata.icc_profile->data);
  EXPECT_FALSE(decoded.header.metadata.coding_points);
  for (const Points points : {Points{12, 13, 0, 1}, Points{9, 16, 0, 1}}) {
    Metadata colors;
    colors.coding_points = points;
    EXPECT_EQ(decode(encode(codec(), image, {}, colors).file).header.metadata.coding_points,
              points);
  }
}

TEST_P(Heif, TakesQuality50UnlessAnotherIsGiven) {
  const Image image = random_image({61, 43}, {3, 8}, 1);
  const Bytes file = encode(codec(), image).file;
  EXPECT_EQ(encode(codec(), image, with_option(quality_option(), "50")).file, file);
  EXPECT_LT(encode(codec(), image, with_option(quality_option(), "10")).file.size(), file.size());
  EXPECT_GT(encode(codec(), image, with_option(quality_option(), "95")).file.size(), file.size());
}

TEST_P(Heif, KeepsTheQualityOfItsInput) {
  const Image image = random_image({70, 66}, {3, 8}, 1);
  for (const int quality : {10, 50, 75, 90}) {
    const auto given = with_option(quality_option(), std::to_string(quality));
    const auto reader = open_picture(memory_source(encode(codec(), image, given).file, "in"));
    const auto* stored = dynamic_cast<const StoredFidelity*>(reader->header().stored.get());
    ASSERT_TRUE(stored != nullptr && stored->quality());
    EXPECT_NEAR(*stored->quality(), quality, 1);
    Bytes output;
    const auto sink = memory_sink(output, "out");
    const auto writer = create_picture(codec(), *sink, reader->header());
    ASSERT_TRUE(writer->notes());
    EXPECT_EQ(writer->notes()->text, "quality about " + std::to_string(*stored->quality()) +
                                         " (estimated from the input), 8 bits");
    writer->write(image.rows());
    writer->finish({});
    const auto again = open_picture(memory_source(output, "out"));
    const auto* kept = dynamic_cast<const StoredFidelity*>(again->header().stored.get());
    EXPECT_EQ(kept->quality(), stored->quality());
    EXPECT_EQ(create_picture(codec(), *sink, reader->header(), given)->notes()->text,
              "quality " + std::to_string(quality) + " (requested), 8 bits");
    const Codec& other = &codec() == &avif_codec() ? heic_codec() : avif_codec();
    EXPECT_EQ(create_picture(other, *sink, reader->header())->notes()->text,
              "quality 50 (the default), 8 bits");
  }
}

TEST_P(Heif, LimitsItsMemory) {
  const Bytes file = encode(codec(), random_image({150, 100}, {3, 8}, 1)).file;
  const std::string refusal = why_refused(file, {.max_memory = 100'000});
  EXPECT_EQ(refusal.find("in: a " + codec().name + " is held in memory as a whole, and its "), 0U)
      << refusal;
}

INSTANTIATE_TEST_SUITE_P(Both, Heif, ::testing::Values(&heic_codec(), &avif_codec()),
                         [](const auto& codec) { return codec.param->name; });

// A file of libheif with several pictures, of which the second is the primary one, or with
// premultiplied alpha.
Bytes written_by_libheif(heif_context* context) {
  Bytes file;
  heif_writer writer{};
  writer.writer_api_version = 1;
  writer.write = [](heif_context*, const void* data, std::size_t size, void* user) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    static_cast<Bytes*>(user)->assign(bytes, bytes + size);
    return heif_error{heif_error_Ok, heif_suberror_Unspecified, ""};
  };
  EXPECT_EQ(heif_context_write(context, &writer, &file).code, heif_error_Ok);
  return file;
}

// Adds a picture of one colour, and makes it the primary one.
void add_picture(heif_context* context, const std::array<std::uint8_t, 4>& color,
                 bool is_premultiplied) {
  heif_image* image = nullptr;
  heif_image_create(16, 16, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, &image);
  heif_image_add_plane(image, heif_channel_interleaved, 16, 16, 8);
  int stride = 0;
  std::uint8_t* rows = heif_image_get_plane(image, heif_channel_interleaved, &stride);
  for (const auto [x, y] : each_pixel({16, 16}))
    std::copy(color.begin(), color.end(), rows + y * stride + 4 * x);
  if (is_premultiplied) heif_image_set_premultiplied_alpha(image, 1);
  heif_color_profile_nclx* nclx = heif_nclx_color_profile_alloc();
  nclx->matrix_coefficients = heif_matrix_coefficients_RGB_GBR;
  heif_image_set_nclx_color_profile(image, nclx);
  heif_nclx_color_profile_free(nclx);
  heif_encoder* encoder = nullptr;
  EXPECT_EQ(heif_context_get_encoder_for_format(context, heif_compression_AV1, &encoder).code,
            heif_error_Ok);
  heif_encoder_set_lossless(encoder, 1);
  heif_encoder_set_parameter(encoder, "chroma", "444");
  heif_image_handle* handle = nullptr;
  EXPECT_EQ(heif_context_encode_image(context, image, encoder, nullptr, &handle).code,
            heif_error_Ok);
  heif_context_set_primary_image(context, handle);
  heif_image_handle_release(handle);
  heif_encoder_release(encoder);
  heif_image_release(image);
}

TEST(HeifReader, ReadsThePrimaryPictureOfSeveral) {
  if (!can_write(avif_codec())) GTEST_SKIP() << "skipped: libheif has no encoder for AVIF";
  heif_context* context = heif_context_alloc();
  add_picture(context, {200, 100, 50, 255}, false);
  add_picture(context, {10, 20, 30, 40}, false);
  const Bytes file = written_by_libheif(context);
  heif_context_free(context);
  const Decoded decoded = decode(file);
  const Image& image = decoded.image;
  EXPECT_EQ(decoded.header.unread, std::vector<std::string>{"1 more picture"});
  for (int c = 0; c < 4; ++c)
    EXPECT_EQ(sample_at(image, 15, 15, c), 10U * (c + 1U));
}

TEST(HeifReader, DividesPremultipliedColoursByTheirAlpha) {
  if (!can_write(avif_codec())) GTEST_SKIP() << "skipped: libheif has no encoder for AVIF";
  heif_context* context = heif_context_alloc();
  add_picture(context, {20, 40, 9, 51}, true);
  const Image image = decode(written_by_libheif(context)).image;
  heif_context_free(context);
  EXPECT_EQ(sample_at(image, 3, 4, 0), 100U);
  EXPECT_EQ(sample_at(image, 3, 4, 1), 200U);
  EXPECT_EQ(sample_at(image, 3, 4, 2), 45U);
  EXPECT_EQ(sample_at(image, 3, 4, 3), 51U);
}

// Derived pictures, turned and cropped ones, alpha, and samples of limited range.

class HeifPictures : public ::testing::TestWithParam<const Codec*> {
 protected:
  void SetUp() override {
    const bool is_avif = &codec() == &avif_codec();
    if (heif_have_encoder_for_format(is_avif ? heif_compression_AV1 : heif_compression_HEVC) == 0)
      GTEST_SKIP() << "skipped: libheif has no encoder for " << codec().name;
  }
  [[nodiscard]] static const Codec& codec() { return *GetParam(); }
  [[nodiscard]] static std::string brand() { return &codec() == &avif_codec() ? "avif" : "heic"; }

  [[nodiscard]] static SketchedItem item(std::uint16_t id, const Image& image) {
    return coded_item(id, encode(codec(), image, with_option(lossless_option(), "always")).file);
  }

  // As libheif writes them, with as many bits as it does.
  [[nodiscard]] static Image kept(const Image& image) {
    return decode(encode(codec(), image, with_option(lossless_option(), "always")).file).image;
  }

  // Expects a picture of this size whose samples `sample` gives.
  static void expect_picture(const Bytes& file, const ImageSize& size, const PixelFormat& format,
                             const std::function<std::uint32_t(int x, int y, int c)>& sample) {
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.header.size, size);
    ASSERT_EQ(decoded.header.format, format);
    for (const auto [x, y, c] : each_sample(size, format.channels))
      ASSERT_EQ(sample_at(decoded.image, x, y, c), sample(x, y, c)) << x << "," << y << "," << c;
  }
};

TEST_P(HeifPictures, AGridIsOnePictureOfItsTiles) {
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{1, 8}, PixelFormat{3, 16}}) {
    std::vector<Image> tiles;
    std::vector<SketchedItem> items{grid_item(1, 2, 3, 180, 120)};
    for (std::uint16_t i = 0; i < 6; ++i) {
      const Image tile = random_image({64, 66}, format, i);
      items.push_back(item(static_cast<std::uint16_t>(i + 2), tile));
      tiles.push_back(kept(tile));
    }
    const Bytes file = heif_file(brand(), 1, items, {{"dimg", 1, {2, 3, 4, 5, 6, 7}}});
    EXPECT_TRUE(decode(file).header.unread.empty());
    expect_picture(file, {180, 120}, format, [&](int x, int y, int c) {
      return sample_at(tiles[static_cast<std::size_t>(y / 66 * 3 + x / 64)], x % 64, y % 66, c);
    });
  }
}

TEST_P(HeifPictures, GreyPartsOfColouredPicturesHaveThreeEqualSamples) {
  const Image grey = random_image({64, 64}, {1, 8}, 1);
  const Image color = random_image({64, 64}, {3, 8}, 2);
  const auto sample = [&](int x, int y, int c) {
    return x < 64 ? sample_at(grey, x, y, 0) : sample_at(color, x - 64, y, c);
  };
  const std::vector<SketchedReference> references{{"dimg", 1, {2, 3}}};
  expect_picture(heif_file(brand(), 1, {grid_item(1, 1, 2, 128, 64), item(2, grey), item(3, color)},
                           references),
                 {128, 64}, {3, 8}, sample);
  expect_picture(heif_file(brand(), 1,
                           {overlay_item(1, {0, 0, 0}, 128, 64, {{0, 0}, {64, 0}}), item(2, grey),
                            item(3, color)},
                           references),
                 {128, 64}, {3, 8}, sample);
}

TEST_P(HeifPictures, AnOverlayShowsItsGroundAndWhatLiesWithinIt) {
  const Image grey = random_image({64, 64}, {1, 8}, 1);
  const auto file = [&](const std::vector<std::uint16_t>& ground) {
    return heif_file(
        brand(), 1,
        {overlay_item(1, ground, 100, 80, {{-7, 3}, {60, 40}, {-64, 0}, {100, 0}}), item(2, grey)},
        {{"dimg", 1, {2, 2, 2, 2}}});
  };
  const auto sample = [&](int x, int y, std::uint32_t ground) {
    if (x >= 60 && y >= 40) return sample_at(grey, x - 60, y - 40, 0);
    return x < 57 && y >= 3 && y < 67 ? sample_at(grey, x + 7, y - 3, 0) : ground;
  };
  expect_picture(file({0xFF00, 0x1234, 0}), {100, 80}, {3, 8}, [&](int x, int y, int c) {
    return sample(x, y, c == 0 ? 255 : c == 1 ? 0x12 : 0);
  });
  expect_picture(file({0x8000, 0x8000, 0x8000}), {100, 80}, {1, 8},
                 [&](int x, int y, int /*c*/) { return sample(x, y, 0x80); });
}

TEST_P(HeifPictures, AnOverlayMixesWhatIsTransparent) {
  const Image top = random_image({64, 64}, {3, 8}, 1);
  const Image alpha = random_image({64, 64}, {1, 8}, 2);
  SketchedItem alpha_item = item(3, alpha);
  alpha_item.properties.push_back(is_alpha());
  expect_picture(
      heif_file(brand(), 1,
                {overlay_item(1, {0xC000, 0x4000, 0}, 64, 64, {{0, 0}}), item(2, top), alpha_item},
                {{"dimg", 1, {2}}, {"auxl", 3, {2}}}),
      {64, 64}, {3, 8}, [&](int x, int y, int c) {
        const std::uint32_t ground = c == 0 ? 0xC0 : c == 1 ? 0x40 : 0;
        return flattened(sample_at(top, x, y, c), sample_at(alpha, x, y, 0), ground, 255);
      });
}

// The order of the properties alone decides the order of the operations.
TEST_P(HeifPictures, IsTurnedAndCroppedWhereverItsSizeStands) {
  const Image image = random_image({96, 64}, {3, 8}, 1);
  const Image turned = naive_turn(image, quarter_counterclockwise);
  for (const auto& [is_size_last, is_cropped_first] :
       each_of(std::array{false, true}, std::array{false, true})) {
    SketchedItem sketched = item(1, image);
    std::vector<Property> changes{turned_by(1)};
    changes.insert(is_cropped_first ? changes.begin() : changes.end(),
                   is_cropped_first ? cropped_to(80, 40) : cropped_to(40, 80));
    sketched.properties.insert(
        is_size_last ? sketched.properties.begin() : sketched.properties.end(), changes.begin(),
        changes.end());
    expect_picture(heif_file(brand(), 1, {sketched}), {40, 80}, {3, 8},
                   [&](int x, int y, int c) { return sample_at(turned, x + 12, y + 8, c); });
  }
}

TEST_P(HeifPictures, DeepPicturesAreMirrored) {
  const Image image = random_image({48, 32}, {4, 16}, 1);
  const Image expected = naive_turn(kept(image), left_right);
  Metadata metadata;
  metadata.exif = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
                   3,   0,   0, 0,  1, 0, 2, 0, 0, 0, 0,    0,    0};
  EXPECT_TRUE(same_pixels(
      decode(encode(codec(), image, with_option(lossless_option(), "always"), metadata).file).image,
      expected));
}

TEST_P(HeifPictures, AlphaMayHaveAnotherSizeAndColours) {
  const Image image = random_image({128, 64}, {3, 8}, 1);
  const Image alpha = random_image({64, 64}, {1, 8}, 2);
  SketchedItem small = item(2, alpha);
  small.properties.push_back(is_alpha());
  expect_picture(heif_file(brand(), 1, {item(1, image), small}, {{"auxl", 2, {1}}}), {128, 64},
                 {4, 8}, [&](int x, int y, int c) {
                   return c < 3 ? sample_at(image, x, y, c) : sample_at(alpha, x / 2, y, 0);
                 });
  // Stored as green, blue and red: its luma is the green.
  const Image colored = random_image({128, 64}, {3, 8}, 3);
  SketchedItem luma = item(2, colored);
  luma.properties.push_back(is_alpha());
  expect_picture(heif_file(brand(), 1, {item(1, image), luma}, {{"auxl", 2, {1}}}), {128, 64},
                 {4, 8}, [&](int x, int y, int c) {
                   return c < 3 ? sample_at(image, x, y, c) : sample_at(colored, x, y, 1);
                 });
}

TEST_P(HeifPictures, AlphaMayHaveColoursOfHalfTheResolution) {
  Image grey({128, 64}, {3, 8});
  for (const auto [x, y] : each_pixel({128, 64}))
    std::memset(grey.rows().row(y) + 3 * x, x + y, 3);
  SketchedItem luma =
      coded_item(2, encode(codec(), grey, with_option(quality_option(), "89")).file);
  luma.properties.push_back(is_alpha());
  const Image image = random_image({128, 64}, {3, 8}, 1);
  const Image result =
      decode(heif_file(brand(), 1, {item(1, image), luma}, {{"auxl", 2, {1}}})).image;
  for (const auto [x, y] : each_pixel({128, 64}))
    ASSERT_NEAR(sample_at(result, x, y, 3), static_cast<unsigned>(x + y), 4) << x << "," << y;
}

TEST_P(HeifPictures, GreyOfLimitedRangeIsSpreadToTheFullOne) {
  for (const int depth : {8, 16}) {
    const Image image = random_image({96, 64}, {1, depth}, 1);
    const Bytes file = encode(codec(), image, with_option(lossless_option(), "always")).file;
    const int bits = decode(file).header.file_pixels.depth;
    const std::uint32_t max = (1U << static_cast<unsigned>(bits)) - 1U;
    const std::uint32_t black = 16U << static_cast<unsigned>(bits - 8);
    const std::uint32_t range = 219U << static_cast<unsigned>(bits - 8);
    SketchedItem limited = coded_item(1, file);
    std::erase_if(limited.properties, [](const Property& known) { return known.first == "colr"; });
    limited.properties.push_back(code_points(1, 13, 6, false));
    expect_picture(heif_file(brand(), 1, {limited}), {96, 64}, {1, depth},
                   [&](int x, int y, int /*c*/) {
                     const std::uint32_t stored =
                         scaled_sample(sample_at(image, x, y, 0), depth == 8 ? 255 : 65535, max);
                     const std::uint32_t above = stored - std::min(stored, black);
                     const std::uint32_t full = (std::min(above, range) * max + range / 2) / range;
                     return scaled_sample(full, max, depth == 8 ? 255 : 65535);
                   });
  }
}

INSTANTIATE_TEST_SUITE_P(Both, HeifPictures, ::testing::Values(&heic_codec(), &avif_codec()),
                         [](const auto& codec) { return codec.param->name; });

std::string file_of_case(const std::string& name) {
  return read_file(shared_path("cases/" + name));
}

Decoded decoded_case(const std::string& name) {
  const std::string file = file_of_case(name);
  return decode({file.begin(), file.end()});
}

TEST(HeifCases, AreReadAsTheirMakersMeantThem) {
  GPUFILTER_REQUIRE_SHARED("cases/avif-grey-limited-range.avif");
  const Decoded turned = decoded_case("hostile-avif-irot-before-ispe.avif");
  EXPECT_EQ(turned.header.size, (ImageSize{32, 64}));
  const Decoded limited = decoded_case("avif-grey-limited-range.avif");
  std::uint32_t least = 255;
  std::uint32_t most = 0;
  for (const auto [x, y] : each_pixel({56, 40})) {
    least = std::min(least, sample_at(limited.image, x, y, 0));
    most = std::max(most, sample_at(limited.image, x, y, 0));
  }
  EXPECT_EQ(least, 0U);
  EXPECT_EQ(most, 255U);
  for (const char* name :
       {"hostile-heic-overlay-grey-then-colour.heic", "hostile-heic-overlay-grey-on-red.heic"}) {
    const Decoded overlay = decoded_case(name);
    EXPECT_EQ(overlay.header.format, (PixelFormat{3, 8}));
    EXPECT_NE(sample_at(overlay.image, 100, 32, 0), sample_at(overlay.image, 100, 32, 1));
    EXPECT_EQ(sample_at(overlay.image, 20, 32, 0), sample_at(overlay.image, 20, 32, 1));
  }
}

}  // namespace
}  // namespace gpufilter::test
