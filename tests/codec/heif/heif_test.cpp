// HEIC and AVIF: settings, metadata, depths, and what libheif's own functions make of our files.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <libheif/heif.h>

#include "codec/heif/codec.hpp"
#include "codec/heif/items.hpp"
#include "codec/heif/tree.hpp"
#include "codec/whole_picture.hpp"
#include "image/exif_orientation.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/coding.hpp"
#include "support/naive_stages.hpp"
#include "support/pictures.hpp"

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

// Of each picture in the file, which other programs compare with its data.
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

TEST_P(Heif, StaysLosslessUnlessAQualityIsGiven) {
  const Image image = random_image({61, 43}, {3, 8}, 1);
  const Bytes input = encode(codec(), image, heif_lossless).file;
  for (const bool has_quality : {false, true}) {
    const auto reader = open_picture(memory_source(input, "in"));
    Bytes output;
    const auto sink = memory_sink(output, "out");
    const auto writer =
        create_picture(codec(), *sink, reader->header(),
                       has_quality ? with_option(quality_option(), "80") : WriteOptions());
    writer->write(image.rows());
    writer->finish({});
    EXPECT_EQ(static_cast<bool>(same_pixels(decode(output).image, image)), !has_quality);
  }
}

// Written again and again, a picture keeps its quality.
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

}  // namespace
}  // namespace gpufilter::test
