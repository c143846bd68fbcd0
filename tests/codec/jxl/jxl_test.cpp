// JPEG XL: settings, metadata, depths, and what libjxl's own functions make of our files.

#include <jxl/decode.h>
#include <jxl/encode.h>

#include "codec/formats.hpp"
#include "codec/whole_picture.hpp"
#include "image/exif.hpp"
#include "image/icc.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/coding.hpp"

namespace gpufilter::test {
namespace {

const WriteOptions jxl_lossless = with_option(lossless_option(), "always");

// The content of a file by libjxl's own encoder; pixels are samples of `bits` in 16.
struct Sketch {
  ImageSize size{13, 7};
  std::uint32_t bits = 8;
  std::uint32_t exponent_bits = 0;
  int channels = 3;
  int frames = 1;
  JxlOrientation orientation = JXL_ORIENT_IDENTITY;
  JxlExtraChannelType extra = JXL_CHANNEL_ALPHA;  // the last of 4 channels
};

JxlPixelFormat pixels_of(const PixelFormat& format) {
  return {static_cast<std::uint32_t>(format.channels),
          format.depth == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16, JXL_NATIVE_ENDIAN, row_alignment};
}

Bytes output_of(JxlEncoder* encoder) {
  Bytes file(1U << 20U);
  std::uint8_t* next = file.data();
  std::size_t left = file.size();
  EXPECT_EQ(JxlEncoderProcessOutput(encoder, &next, &left), JXL_ENC_SUCCESS);
  file.resize(file.size() - left);
  return file;
}

Bytes sketched(const Sketch& sketch, const Image& image) {
  JxlEncoder* encoder = JxlEncoderCreate(nullptr);
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = static_cast<std::uint32_t>(sketch.size.width);
  info.ysize = static_cast<std::uint32_t>(sketch.size.height);
  info.bits_per_sample = sketch.bits;
  info.exponent_bits_per_sample = sketch.exponent_bits;
  info.orientation = sketch.orientation;
  info.uses_original_profile = JXL_TRUE;
  info.num_color_channels = sketch.channels < 3 ? 1 : 3;
  const bool has_extra = sketch.channels % 2 == 0;
  info.num_extra_channels = has_extra ? 1 : 0;
  info.alpha_bits = has_extra && sketch.extra == JXL_CHANNEL_ALPHA ? sketch.bits : 0;
  info.have_animation = sketch.frames > 1 ? JXL_TRUE : JXL_FALSE;
  info.animation.tps_numerator = 10;
  info.animation.tps_denominator = 1;
  EXPECT_EQ(JxlEncoderSetBasicInfo(encoder, &info), JXL_ENC_SUCCESS);
  if (has_extra && sketch.extra != JXL_CHANNEL_ALPHA) {
    JxlExtraChannelInfo extra;
    JxlEncoderInitExtraChannelInfo(sketch.extra, &extra);
    EXPECT_EQ(JxlEncoderSetExtraChannelInfo(encoder, 0, &extra), JXL_ENC_SUCCESS);
  }
  JxlColorEncoding colors;
  JxlColorEncodingSetToSRGB(&colors, sketch.channels < 3 ? JXL_TRUE : JXL_FALSE);
  EXPECT_EQ(JxlEncoderSetColorEncoding(encoder, &colors), JXL_ENC_SUCCESS);
  JxlEncoderFrameSettings* settings = JxlEncoderFrameSettingsCreate(encoder, nullptr);
  JxlEncoderSetFrameLossless(settings, JXL_TRUE);
  JxlFrameHeader frame;
  JxlEncoderInitFrameHeader(&frame);
  frame.duration = sketch.frames > 1 ? 1 : 0;
  EXPECT_EQ(JxlEncoderSetFrameHeader(settings, &frame), JXL_ENC_SUCCESS);
  for (int i = 0; i < sketch.frames; ++i) {
    JxlPixelFormat format = pixels_of(image.format());
    EXPECT_EQ(JxlEncoderAddImageFrame(settings, &format, image.rows().data, image.bytes()),
              JXL_ENC_SUCCESS);
    if (has_extra && sketch.extra != JXL_CHANNEL_ALPHA) {
      const Image plane = random_image(sketch.size, {1, image.format().depth}, 2);
      format = pixels_of(plane.format());
      EXPECT_EQ(
          JxlEncoderSetExtraChannelBuffer(settings, &format, plane.rows().data, plane.bytes(), 0),
          JXL_ENC_SUCCESS);
    }
  }
  JxlEncoderCloseInput(encoder);
  const Bytes file = output_of(encoder);
  JxlEncoderDestroy(encoder);
  return file;
}

// Random samples of `bits`, as samples of 16 or 8.
Image random_of_bits(ImageSize size, int channels, std::uint32_t bits) {
  Image image = random_image(size, {channels, bits > 8 ? 16 : 8}, 3);
  const std::uint32_t few = (1U << bits) - 1U;
  const std::uint32_t max = image.format().max_sample();
  for (const auto [x, y, c] : each_sample(size, channels))
    set_sample(image, x, y, c, scaled_sample(sample_at(image, x, y, c) & few, few, max));
  return image;
}

TEST(JxlReader, ScalesSamplesOfAnyDepthExactly) {
  for (const std::uint32_t bits : {1U, 5U, 8U, 9U, 10U, 12U, 14U, 15U, 16U}) {
    for (int channels = 1; channels <= 4; ++channels) {
      SCOPED_TRACE(std::to_string(bits) + " bits, " + std::to_string(channels) + " channels");
      const ImageSize size{97, 61};
      const Image image = random_of_bits(size, channels, bits);
      const Decoded decoded =
          decode(sketched({.size = size, .bits = bits, .channels = channels}, image));
      EXPECT_EQ(decoded.header.file_pixels.depth, static_cast<int>(bits));
      EXPECT_TRUE(same_pixels(decoded.image, image));
    }
  }
}

TEST(JxlReader, ReadsTheFirstFrameOfAnAnimation) {
  const Image image = random_image({13, 7}, {3, 8}, 1);
  const Bytes file = sketched({.frames = 3}, image);
  const Decoded decoded = decode(file);
  EXPECT_TRUE(same_pixels(decoded.image, image));
  EXPECT_EQ(decoded.header.unread, std::vector<std::string>{"2 more frames"});
}

TEST(JxlReader, LeavesOutChannelsThatAreNeitherColoursNorAlpha) {
  const Image image = random_image({13, 7}, {3, 8}, 1);
  const Bytes file = sketched({.channels = 4, .extra = JXL_CHANNEL_DEPTH}, image);
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(same_pixels(decode(file).image, image));
  EXPECT_TRUE(contains(::testing::internal::GetCapturedStderr(),
                       "1 channel left out, neither colour nor alpha"));
  EXPECT_EQ(why_refused(sketched({.channels = 4, .extra = JXL_CHANNEL_BLACK}, image)),
            "in: a JPEG XL of CMYK is not supported: convert it to RGB");
}

// Pixels stay as they are stored; EXIF gets the orientation that is valid.
TEST(JxlReader, TakesTheOrientationOfTheCodestream) {
  const Image image = random_image({13, 7}, {3, 8}, 1);
  for (const auto orientation :
       {JXL_ORIENT_IDENTITY, JXL_ORIENT_TRANSPOSE, JXL_ORIENT_ROTATE_90_CW}) {
    const Decoded decoded = decode(sketched({.orientation = orientation}, image));
    EXPECT_TRUE(same_pixels(decoded.image, image));
    EXPECT_EQ(exif_orientation(decoded.header.metadata.exif), orientation);
  }
}

TEST(JxlWriter, SetsTheOrientationForOtherDecoders) {
  const Image image = random_image({13, 7}, {3, 8}, 1);
  Metadata metadata;
  set_orientation(metadata, 6);
  const Bytes file = encode(jxl_codec(), image, jxl_lossless, metadata).file;
  JxlDecoder* decoder = JxlDecoderCreate(nullptr);
  JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO);
  JxlDecoderSetInput(decoder, file.data(), file.size());
  EXPECT_EQ(JxlDecoderProcessInput(decoder), JXL_DEC_BASIC_INFO);
  JxlBasicInfo info;
  EXPECT_EQ(JxlDecoderGetBasicInfo(decoder, &info), JXL_DEC_SUCCESS);
  EXPECT_EQ(info.xsize, 7U);
  EXPECT_EQ(info.ysize, 13U);
  JxlDecoderDestroy(decoder);
  EXPECT_EQ(exif_orientation(decode(file).header.metadata.exif), 6);
}

bool keeps_pixels(const Bytes& file, const Image& image) {
  return static_cast<bool>(same_pixels(decode(file).image, image));
}

TEST(JxlWriter, TakesQuality90UnlessAnotherIsGiven) {
  const Image image = random_image({61, 43}, {3, 8}, 1);
  const Bytes file = encode(jxl_codec(), image).file;
  EXPECT_FALSE(keeps_pixels(file, image));
  EXPECT_EQ(encode(jxl_codec(), image, with_option(quality_option(), "90")).file, file);
  std::size_t size = file.size();
  for (const std::string quality : {"60", "30", "20", "1"}) {
    const Bytes smaller = encode(jxl_codec(), image, with_option(quality_option(), quality)).file;
    EXPECT_LE(smaller.size(), size) << quality;
    size = smaller.size();
  }
  EXPECT_LT(size, file.size() / 2);
  EXPECT_TRUE(
      keeps_pixels(encode(jxl_codec(), image, with_option(quality_option(), "100")).file, image));
}

// Also in 16 bits, where libjxl's numbers have 32.
TEST(JxlWriter, KeepsColoursUnderTransparentPixels) {
  for (const int depth : {8, 16}) {
    const Image image = mixed_alpha_image({61, 43}, {4, depth}, 3);
    EXPECT_TRUE(keeps_pixels(encode(jxl_codec(), image, jxl_lossless).file, image));
  }
}

TEST(JxlMetadata, IsKeptInItsBoxes) {
  Metadata metadata;
  metadata.exif = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
                   3,   0,   0, 0,  1, 0, 6, 0, 0, 0, 0,    0,    0};
  metadata.xmp = Bytes(200'000, ' ');
  metadata.image_resources = {'8', 'B', 'I', 'M'};
  metadata.density = Density{Density::Unit::per_metre, 2835, 2835};
  metadata.gamma = 100'000;
  const Image image = random_image({9, 5}, {4, 8}, 1);
  const Encoded encoded = encode(jxl_codec(), image, jxl_lossless, metadata);
  EXPECT_EQ(encoded.left_out, (std::vector<std::string>{"gamma", "density", "IPTC"}));
  const Decoded decoded = decode(encoded.file);
  EXPECT_EQ(decoded.header.metadata.exif, metadata.exif);
  EXPECT_EQ(decoded.header.metadata.xmp, metadata.xmp);
  EXPECT_TRUE(decoded.header.metadata.srgb_intent);
  EXPECT_FALSE(decoded.header.metadata.icc_profile);
  for (std::size_t size = 0; size < encoded.file.size(); size += size < 300 ? 1 : 997) {
    const Bytes cut(encoded.file.begin(), encoded.file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(why_refused(cut).starts_with("in: ")) << size;
  }
}

TEST(JxlMetadata, HoldsColoursByTheirNamesOrByAProfile) {
  using Points = std::array<std::uint8_t, 4>;
  const Image image = random_image({9, 5}, {3, 16}, 1);
  for (const Points points : {Points{9, 16, 0, 1}, Points{1, 18, 0, 1}}) {
    Metadata metadata;
    metadata.coding_points = points;
    const Encoded encoded = encode(jxl_codec(), image, jxl_lossless, metadata);
    EXPECT_TRUE(encoded.left_out.empty());
    EXPECT_EQ(decode(encoded.file).header.metadata.coding_points, points);
  }
  // libjxl makes a profile of Display P3, and takes it back.
  Metadata metadata;
  metadata.coding_points = Points{12, 13, 0, 1};
  const Metadata p3 =
      decode(encode(jxl_codec(), image, jxl_lossless, metadata).file).header.metadata;
  ASSERT_TRUE(p3.icc_profile);
  const Encoded again = encode(jxl_codec(), image, jxl_lossless, p3);
  EXPECT_TRUE(again.left_out.empty());
  const Decoded decoded = decode(again.file);
  ASSERT_TRUE(decoded.header.metadata.icc_profile);
  EXPECT_EQ(decoded.header.metadata.icc_profile->data, p3.icc_profile->data);
  EXPECT_TRUE(same_pixels(decoded.image, image));
  // Rejected metadata are reported.
  Metadata damaged = p3;
  damaged.icc_profile->data.resize(200);
  EXPECT_EQ(encode(jxl_codec(), image, jxl_lossless, damaged).left_out,
            (std::vector<std::string>{"the ICC profile (libjxl does not accept it)"}));
}

// A profile that libjxl has no name for: Adobe RGB's primaries, relative to D50, and a gamma.
Bytes profile_with(double gamma) {
  Bytes profile(128, 0);
  const auto put = [&profile](std::size_t at, std::uint64_t value, std::size_t size) {
    profile.resize(std::max(profile.size(), at + size));
    for (std::size_t i = 0; i < size; ++i)
      profile.at(at + i) = static_cast<std::uint8_t>(value >> 8 * (size - 1 - i));
  };
  const auto word = [&put](std::size_t at, const std::string& text) {
    for (std::size_t i = 0; i < 4; ++i)
      put(at + i, static_cast<unsigned char>(text.at(i)), 1);
  };
  put(8, 0x02100000, 4);
  word(12, "mntr");
  word(16, "RGB ");
  word(20, "XYZ ");
  word(36, "acsp");
  const std::array<std::uint32_t, 3> d50{0xF6D6, 0x10000, 0xD32D};
  put(68, d50[0], 4);
  put(72, d50[1], 4);
  put(76, d50[2], 4);
  const std::vector<std::pair<std::string, std::array<std::uint32_t, 3>>> colors{
      {"wtpt", d50},
      {"rXYZ", {0x9C18, 0x4FA5, 0x04FC}},
      {"gXYZ", {0x348D, 0xA02C, 0x0F95}},
      {"bXYZ", {0x2631, 0x102F, 0xBE9C}}};
  const std::vector<std::string> curves{"rTRC", "gTRC", "bTRC"};
  put(128, colors.size() + curves.size(), 4);
  std::size_t entry = 132;
  std::size_t data = entry + 12 * (colors.size() + curves.size());
  for (const auto& [name, xyz] : colors) {
    word(entry, name);
    put(entry + 4, data, 4);
    put(entry + 8, 20, 4);
    word(data, "XYZ ");
    for (std::size_t i = 0; i < 3; ++i)
      put(data + 8 + 4 * i, xyz.at(i), 4);
    entry += 12;
    data += 20;
  }
  word(data, "curv");
  put(data + 8, 1, 4);
  put(data + 12, static_cast<std::uint64_t>(gamma * 256), 2);
  put(data + 14, 0, 2);
  for (const std::string& name : curves) {
    word(entry, name);
    put(entry + 4, data, 4);
    put(entry + 8, 14, 4);
    entry += 12;
  }
  put(0, profile.size(), 4);
  return profile;
}

// libjxl would return such colours without a curve.
TEST(JxlMetadata, LossyColoursKeepTheirPrimariesAndGetTheCurveOfSrgb) {
  constexpr double gamma = 1.75;
  Metadata metadata;
  metadata.icc_profile.emplace().data = profile_with(gamma);
  Image image({64, 64}, {3, 8});
  for (const auto [x, y] : each_pixel({64, 64})) {
    set_sample(image, x, y, 0, static_cast<std::uint32_t>(4 * x));
    set_sample(image, x, y, 1, 200);
    set_sample(image, x, y, 2, static_cast<std::uint32_t>(4 * y));
  }
  const Encoded encoded = encode(jxl_codec(), image, with_option(quality_option(), "99"), metadata);
  EXPECT_TRUE(encoded.left_out.empty());
  const Decoded decoded = decode(encoded.file);
  ASSERT_TRUE(decoded.header.metadata.icc_profile);
  const auto before = icc_primaries(metadata.icc_profile->data);
  const auto after = icc_primaries(decoded.header.metadata.icc_profile->data);
  ASSERT_TRUE(before && after);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(after->at(i), before->at(i), 2e-3) << i;
  for (const auto [x, y, c] : each_sample({64, 64}, 3)) {
    const double linear = std::pow(sample_at(image, x, y, c) / 255.0, gamma);
    const double encoded_sample =
        linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
    ASSERT_NEAR(sample_at(decoded.image, x, y, c), 255 * encoded_sample, 12)
        << x << "," << y << "," << c;
  }
  // A lossless file keeps the profile itself.
  const Decoded kept = decode(encode(jxl_codec(), image, jxl_lossless, metadata).file);
  ASSERT_TRUE(kept.header.metadata.icc_profile);
  EXPECT_EQ(kept.header.metadata.icc_profile->data, metadata.icc_profile->data);
  EXPECT_TRUE(same_pixels(kept.image, image));
}

TEST(JxlReader, LimitsItsMemory) {
  const Bytes file = encode(jxl_codec(), random_image({1000, 700}, {3, 8}, 1)).file;
  const std::string refusal = why_refused(file, {.max_memory = 2'000'000});
  EXPECT_EQ(refusal.find("in: a JPEG XL is held in memory as a whole, and its "), 0U) << refusal;
}

}  // namespace
}  // namespace gpufilter::test
