// WebP: settings, metadata, and what libwebp's own functions make of our files.

#include <webp/decode.h>
#include <webp/encode.h>

#include "codec/formats.hpp"
#include "codec/whole_picture.hpp"
#include "support/coding.hpp"

namespace gpufilter::test {
namespace {

bool is_lossless(const Bytes& file) {
  WebPBitstreamFeatures features{};
  EXPECT_EQ(WebPGetFeatures(file.data(), file.size(), &features), VP8_STATUS_OK);
  return features.format == 2;
}

// A slope, which a lossy file hardly changes.
Image slope(int channels) {
  Image image({61, 43}, {channels, 8});
  for (const auto [x, y, c] : each_sample({61, 43}, channels))
    set_sample(image, x, y, c, static_cast<std::uint32_t>(3 * x + y + 20 * c) & 255U);
  return image;
}

TEST(WebpWriter, DecodesToTheSameSamplesByLibwebpItself) {
  const Bytes file = encode(webp_codec(), slope(3)).file;
  int width = 0;
  int height = 0;
  std::uint8_t* pixels = WebPDecodeRGB(file.data(), file.size(), &width, &height);
  ASSERT_NE(pixels, nullptr);
  const Image ours = decode(file).image;
  ASSERT_EQ(ours.size(), (ImageSize{width, height}));
  for (int y = 0; y < height; ++y) {
    for (int i = 0; i < 3 * width; ++i)
      ASSERT_EQ(ours.rows().row(y)[i], pixels[y * 3 * width + i]);
  }
  WebPFree(pixels);
}

TEST(WebpWriter, TakesQuality75UnlessAnotherIsGiven) {
  const Image image = slope(3);
  const Bytes file = encode(webp_codec(), image).file;
  EXPECT_FALSE(is_lossless(file));
  EXPECT_EQ(encode(webp_codec(), image, with_option(quality_option(), "75")).file, file);
  EXPECT_LT(encode(webp_codec(), image, with_option(quality_option(), "20")).file.size(),
            file.size());
}

// Colours under transparent pixels are kept too.
TEST(WebpWriter, KeepsEverySampleOfALosslessFile) {
  const Image image = mixed_alpha_image({61, 43}, {4, 8}, 3);
  const Bytes file = encode(webp_codec(), image, with_option(lossless_option(), "always")).file;
  EXPECT_TRUE(is_lossless(file));
  EXPECT_TRUE(same_pixels(decode(file).image, image));
}

TEST(WebpWriter, KeepsTheQualityOfItsInput) {
  for (const auto& [quality, format] :
       each_of(std::array{10, 50, 75, 80, 90, 100}, Formats{{3, 8}, {4, 8}})) {
    Image image = random_image({160, 120}, format, 1);
    for (int y = 0; y < 60; ++y)  // half of it smooth, so that there are several segments
      std::memset(image.rows().row(y), y, image.rows().row_bytes());
    const auto given = with_option(quality_option(), std::to_string(quality));
    Bytes file = encode(webp_codec(), image, given).file;
    std::string before;
    for (int i = 0; i < 3; ++i) {
      const auto reader = open_picture(memory_source(file, "in"));
      const auto sink = memory_sink(file, "out");
      const auto writer = create_picture(webp_codec(), *sink, reader->header());
      const std::string text = writer->notes()->text;
      const auto* stored = dynamic_cast<const StoredFidelity*>(reader->header().stored.get());
      ASSERT_TRUE(stored->quality());
      EXPECT_NEAR(*stored->quality(), quality, 4);
      EXPECT_EQ(text, "quality about " + std::to_string(*stored->quality()) +
                          " (estimated from the input)");
      if (i > 0) {
        EXPECT_EQ(text, before);
      }
      before = text;
      file.clear();
      writer->write(image.rows());
      writer->finish({});
    }
  }
}

TEST(WebpWriter, WritesGreyAsColoursAnd16BitsAs8) {
  const Image image = random_image({9, 7}, {1, 16}, 1);
  const Image read =
      decode(encode(webp_codec(), image, with_option(lossless_option(), "always")).file).image;
  ASSERT_EQ(read.format(), (PixelFormat{3, 8}));
  for (const auto [x, y, c] : each_sample({9, 7}, 3))
    ASSERT_EQ(sample_at(read, x, y, c), (sample_at(image, x, y, 0) * 255 + 32767) / 65535);
}

TEST(WebpMetadata, IsKeptInItsChunks) {
  const Metadata metadata = metadata_of_every_kind(6);
  const Encoded encoded = encode(webp_codec(), slope(4), {}, metadata);
  EXPECT_EQ(encoded.left_out, (std::vector<std::string>{"density", "IPTC"}));
  const Decoded decoded = decode(encoded.file);
  EXPECT_EQ(decoded.header.metadata.exif, metadata.exif);
  EXPECT_EQ(decoded.header.metadata.xmp, metadata.xmp);
  ASSERT_TRUE(decoded.header.metadata.icc_profile);
  EXPECT_EQ(decoded.header.metadata.icc_profile->data, metadata.icc_profile->data);
  EXPECT_EQ(decoded.image.format(), (PixelFormat{4, 8}));
}

TEST(WebpReader, LimitsItsMemory) {
  const Bytes file = encode(webp_codec(), random_image({1000, 700}, {3, 8}, 1)).file;
  const std::string refusal = why_refused(file, {.max_memory = 2'000'000});
  EXPECT_EQ(refusal.find("in: a WebP is held in memory as a whole, and its 3 MiB are more than the "
                         "limit of 1 MiB: make it smaller, or filter it with --max-memory 3M"),
            0U)
      << refusal;
}

TEST(WebpWriter, RefusesSidesThatWebpCannotHold) {
  Bytes file;
  const auto sink = memory_sink(file, "out");
  PictureHeader header;
  header.size = {16384, 1};
  EXPECT_THROW(static_cast<void>(create_picture(webp_codec(), *sink, header)), std::runtime_error);
}

// An animation of 61x43 pixels: frames as they are in `stills`, at (x, y).
std::string little(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> 8 * i & 255U);
  return text;
}
std::string riff_chunk(const std::string& name, const std::string& data) {
  return name + little(static_cast<std::uint32_t>(data.size()), 4) + data +
         std::string(data.size() % 2, '\0');
}
Bytes animation(const std::vector<Bytes>& stills, ImageSize size, std::uint32_t x,
                std::uint32_t y) {
  std::string chunks = riff_chunk("VP8X", little(0x12, 4) + little(60, 3) + little(42, 3)) +
                       riff_chunk("ANIM", little(0, 4) + little(0, 2));
  for (const Bytes& still : stills) {
    const std::string picture(still.begin() + 12, still.end());  // behind "RIFF", size, "WEBP"
    chunks += riff_chunk("ANMF", little(x / 2, 3) + little(y / 2, 3) +
                                     little(static_cast<std::uint32_t>(size.width - 1), 3) +
                                     little(static_cast<std::uint32_t>(size.height - 1), 3) +
                                     little(100, 3) + little(0, 1) + picture);
  }
  const std::string file =
      "RIFF" + little(static_cast<std::uint32_t>(chunks.size() + 4), 4) + "WEBP" + chunks;
  return {file.begin(), file.end()};
}

TEST(WebpReader, ReadsTheFirstFrameOfAnAnimation) {
  const WriteOptions lossless = with_option(lossless_option(), "always");
  const Image first = mixed_alpha_image({61, 43}, {4, 8}, 1);
  const Bytes other = encode(webp_codec(), mixed_alpha_image({61, 43}, {4, 8}, 2), lossless).file;
  const Bytes still = encode(webp_codec(), first, lossless).file;
  const Decoded decoded = decode(animation({still, other, other}, {61, 43}, 0, 0));
  EXPECT_TRUE(same_pixels(decoded.image, first));
  EXPECT_EQ(decoded.header.unread, std::vector<std::string>{"2 more frames"});
}

// Pixels outside a frame are transparent.
TEST(WebpReader, PlacesAFrameThatIsSmaller) {
  const Image part = mixed_alpha_image({20, 11}, {4, 8}, 1);
  const Bytes still = encode(webp_codec(), part, with_option(lossless_option(), "always")).file;
  const Decoded decoded = decode(animation({still}, {20, 11}, 6, 4));
  EXPECT_EQ(decoded.header.unread, std::vector<std::string>{});
  ASSERT_EQ(decoded.image.size(), (ImageSize{61, 43}));
  for (const auto [x, y] : each_pixel({61, 43})) {
    const bool covered = x >= 6 && x < 26 && y >= 4 && y < 15;
    for (int c = 0; c < 4; ++c)
      ASSERT_EQ(sample_at(decoded.image, x, y, c), covered ? sample_at(part, x - 6, y - 4, c) : 0U);
  }
}

TEST(WebpReader, RefusesAFrameOutsideOfThePicture) {
  const Bytes still = encode(webp_codec(), mixed_alpha_image({20, 11}, {4, 8}, 1)).file;
  EXPECT_NE(why_refused(animation({still}, {20, 11}, 50, 4)), "");
}

}  // namespace
}  // namespace gpufilter::test
