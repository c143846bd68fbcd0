// JPEG files encoded strip by strip: the bytes that libjpeg alone writes with restart markers at
// the same places, whatever the threads and however the rows come.
#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/thread_limit.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/write/strip_encoder.hpp"
#include "support/coding.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::JpegRecipe;
using test::Raster;
using test::raster_of;
using test::with_option;

constexpr ChromaSubsampling full_chroma{1, 1};
constexpr ChromaSubsampling subsamplings[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};

// A header that keeps this subsampling, as that of a JPEG input does.
PictureHeader subsampled_header(const Image& image,
                                const ChromaSubsampling& subsampling = full_chroma) {
  PictureHeader header = test::header_of(image);
  auto stored = std::make_shared<JpegEncoding>();
  stored->subsampling = subsampling;
  header.stored = stored;
  return header;
}

Bytes encode_strips(const Image& image, const PictureHeader& header,
                    const WriteOptions& options = {}, int band = 37) {
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer = create_jpeg(*sink, header, options);
  const int height = image.size().height;
  for (int y = 0; y < height; y += band)
    writer->write(image.rows().part({y, std::min(y + band, height)}));
  writer->finish({});
  return jpeg;
}

// What libjpeg writes of the same pixels by itself.
Bytes encode_subsampled(const Image& image, const ChromaSubsampling& subsampling,
                        int restart_rows) {
  const Raster raster = raster_of(image);
  JpegRecipe recipe;
  recipe.horizontal_subsampling = subsampling.horizontal;
  recipe.vertical_subsampling = subsampling.vertical;
  recipe.restart_rows = restart_rows;
  if (raster.channels == 1) {
    recipe.raster_colors = JCS_GRAYSCALE;
    recipe.stored_colors = JCS_GRAYSCALE;
  }
  return test::encode_with_libjpeg(raster, recipe);
}

int rows_a_strip(ImageSize size, const ChromaSubsampling& subsampling, bool is_grey = false) {
  JpegPicture picture{size, {is_grey ? 1 : 3, 8}, {}, {}};
  if (!is_grey) picture.settings.subsampling = subsampling;
  return mcu_rows_a_strip(mcu_grid(picture));
}

// Gradients with a little noise, which compress as photographs do.
Image smooth_image(ImageSize size, const PixelFormat& format) {
  Image image = test::random_image(size, format, 3);
  for (const auto [x, y, c] : test::each_sample(size, format.channels)) {
    const auto noise = test::sample_at(image, x, y, c) % 8;
    const auto slope = static_cast<std::uint32_t>((x * (c + 1) + y * (3 - c)) / 16);
    test::set_sample(image, x, y, c, (slope + noise) & format.max_sample());
  }
  return image;
}

TEST(JpegStrips, AreWhatLibjpegWritesBetweenRestartMarkers) {
  for (const ChromaSubsampling& subsampling : subsamplings) {
    for (const ImageSize size : {ImageSize{1031, 1019}, ImageSize{513, 2049}}) {
      SCOPED_TRACE(chroma_notation(subsampling));
      const Image image = smooth_image(size, {3, 8});
      const int rows = rows_a_strip(size, subsampling);
      ASSERT_GT(rows, 0);
      const Bytes ours = encode_strips(image, subsampled_header(image, subsampling));
      EXPECT_TRUE(ours == encode_subsampled(image, subsampling, rows));
      EXPECT_TRUE(test::decode_with_libjpeg(ours).samples ==
                  test::decode_with_libjpeg(encode_subsampled(image, subsampling, 0)).samples);
    }
  }
  const Image grey = smooth_image({1001, 1111}, {1, 8});
  EXPECT_TRUE(encode_strips(grey, subsampled_header(grey)) ==
              encode_subsampled(grey, {}, rows_a_strip(grey.size(), {}, true)));
}

// More than eight strips: the markers' numbers begin anew.
TEST(JpegStrips, CountRestartMarkersModuloEight) {
  const Image image = smooth_image({8200, 330}, {1, 8});
  const int rows = rows_a_strip(image.size(), {}, true);
  ASSERT_GT(image.size().height, 8 * rows * 9);
  EXPECT_TRUE(encode_strips(image, subsampled_header(image)) == encode_subsampled(image, {}, rows));
}

TEST(JpegStrips, ConvertDepthAndAlphaAsOneStripDoes) {
  for (const PixelFormat format : {PixelFormat{4, 16}, PixelFormat{2, 8}, PixelFormat{3, 16}}) {
    const Image image = format.has_alpha() ? test::mixed_alpha_image({811, 907}, format, 1)
                                           : test::random_image({811, 907}, format, 1);
    const Bytes strips = encode_strips(image, subsampled_header(image));
    const Bytes one =
        encode_strips(image, subsampled_header(image), with_option(jpeg_restart_option(), "off"));
    EXPECT_NE(strips.size(), one.size());
    EXPECT_TRUE(test::decode_with_libjpeg(strips).samples == test::decode_with_libjpeg(one).samples)
        << to_string(format);
  }
}

TEST(JpegStrips, DependOnThePictureAlone) {
  const Image image = smooth_image({1400, 1203}, {3, 8});
  const Bytes expected = encode_strips(image, subsampled_header(image, {2, 2}));
  for (const std::size_t threads : {1U, 2U, 3U, 4U}) {
    const ThreadLimit limit(threads);
    for (const int band : {1, 2, 16, 64, 191, 600, 1203}) {
      EXPECT_TRUE(encode_strips(image, subsampled_header(image, {2, 2}), {}, band) == expected)
          << threads << " threads, " << band << " rows";
    }
  }
}

bool has_restart_markers(const Bytes& jpeg) {
  for (std::size_t i = test::scan_data_begin(jpeg); i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] >= 0xD0 && jpeg[i + 1] <= 0xD7) return true;
  }
  return false;
}

TEST(JpegStrips, CanBeSwitchedOff) {
  const Image image = smooth_image({1031, 1019}, {3, 8});
  EXPECT_TRUE(has_restart_markers(encode_strips(image, subsampled_header(image))));
  const Bytes off =
      encode_strips(image, subsampled_header(image), with_option(jpeg_restart_option(), "off"));
  EXPECT_FALSE(has_restart_markers(off));
  EXPECT_TRUE(off == encode_subsampled(image, full_chroma, 0));
}

TEST(JpegStrips, AreNotWorthItInSmallPictures) {
  const Image image = smooth_image({640, 480}, {3, 8});
  EXPECT_EQ(rows_a_strip(image.size(), full_chroma), 0);
  EXPECT_TRUE(encode_strips(image, subsampled_header(image)) ==
              encode_subsampled(image, full_chroma, 0));
}

// The interval between two markers is a number of 16 bits.
TEST(JpegStrips, FitTheRestartInterval) {
  for (const ChromaSubsampling& subsampling : subsamplings) {
    for (const ImageSize size : {ImageSize{65500, 65500}, ImageSize{8, 65500}, ImageSize{1, 65500},
                                 ImageSize{65500, 64}, ImageSize{4000, 3000}}) {
      const int rows = rows_a_strip(size, subsampling);
      const McuGrid grid(size, {8 * subsampling.horizontal, 8 * subsampling.vertical}, 3);
      EXPECT_LE(std::int64_t{rows} * grid.count.width, 65535);
    }
  }
}

Image flat_image(ImageSize size, const std::vector<std::uint8_t>& pixel) {
  Image image(size, {static_cast<int>(pixel.size()), 8});
  for (int y = 0; y < size.height; ++y) {
    for (std::size_t i = 0; i < pixel.size() * static_cast<std::size_t>(size.width); ++i)
      image.rows().row(y)[i] = pixel[i % pixel.size()];
  }
  return image;
}

// In flat pictures an MCU takes the fewest bits, and the coefficients that refer to nothing the
// most.
TEST(JpegStrips, CostAtMostThreeInAThousand) {
  const auto expect_small = [](const Image& image, const ChromaSubsampling& subsampling,
                               const char* quality) {
    WriteOptions options = with_option(quality_option(), quality);
    const Bytes strips = encode_strips(image, subsampled_header(image, subsampling), options);
    const Bytes one = encode_strips(image, subsampled_header(image, subsampling),
                                    options.set(jpeg_restart_option(), "off"));
    EXPECT_FALSE(strips == one);
    EXPECT_LE(static_cast<double>(strips.size()), 1.003 * static_cast<double>(one.size()))
        << chroma_notation(subsampling) << ", quality " << quality;
  };
  for (const char* quality : {"1", "50", "100"}) {
    for (const ChromaSubsampling& subsampling : subsamplings) {
      for (const int height : {800, 1200, 1541}) {
        expect_small(flat_image({1031, height}, {255, 255, 0}), subsampling, quality);
      }
    }
    expect_small(flat_image({1031, 1541}, {0}), full_chroma, quality);
    expect_small(smooth_image({1031, 1541}, {3, 8}), full_chroma, quality);
  }
}

TEST(JpegStrips, RefuseToEndEarly) {
  const Image image = smooth_image({1031, 1019}, {3, 8});
  for (const int rows : {0, 1, 512, 1018}) {
    Bytes jpeg;
    const auto sink = memory_sink(jpeg, "out.jpg");
    const auto writer = create_jpeg(*sink, subsampled_header(image), {});
    writer->write(image.rows().part({0, rows}));
    EXPECT_THROW(writer->finish({}), PictureError) << rows;
  }
}

TEST(JpegStrips, PassOnWhatTheSinkThrows) {
  const Image image = smooth_image({1031, 1019}, {3, 8});
  const std::size_t size = encode_strips(image, subsampled_header(image)).size();
  for (const std::size_t room : {std::size_t{0}, std::size_t{1000}, size / 2, size - 1}) {
    test::FullSink sink(room);
    EXPECT_THROW(
        {
          const auto writer = create_jpeg(sink, subsampled_header(image), {});
          writer->write(image.rows());
          writer->finish({});
        },
        std::runtime_error)
        << room;
  }
}

std::uint8_t frame_marker(const Bytes& jpeg) {
  std::size_t at = 2;
  while (jpeg[at + 1] < 0xC0 || jpeg[at + 1] > 0xC2)
    at += 2 + (std::size_t{jpeg[at + 2]} << 8U) + jpeg[at + 3];
  return jpeg[at + 1];
}

TEST(ProgressiveJpeg, HasThePixelsOfABaselineOne) {
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{1, 8}, PixelFormat{4, 16}}) {
    const Image image = test::random_image({203, 101}, format, 1);
    const Bytes baseline = encode_strips(image, subsampled_header(image, {2, 2}));
    const Bytes progressive = encode_strips(image, subsampled_header(image, {2, 2}),
                                            with_option(jpeg_progressive_option(), "on"));
    EXPECT_EQ(frame_marker(baseline), 0xC0);
    EXPECT_EQ(frame_marker(progressive), 0xC2);
    EXPECT_TRUE(test::decode_with_libjpeg(progressive).samples ==
                test::decode_with_libjpeg(baseline).samples);
  }
  const Image large = smooth_image({1031, 1019}, {3, 8});
  EXPECT_FALSE(has_restart_markers(encode_strips(large, subsampled_header(large),
                                                 with_option(jpeg_progressive_option(), "on"))));
}

TEST(ProgressiveJpeg, KeepsToTheLimitOfMemory) {
  const Image image = smooth_image({100, 40}, {3, 8});
  const auto refusal = [&](std::uint64_t bytes) -> std::string {
    WriteOptions options = with_option(jpeg_progressive_option(), "on");
    options.limit_memory(bytes);
    return test::objection_to<PictureError>(
        [&] {
          return encode_strips(image, subsampled_header(image, {2, 2}), options);
        },
        "");
  };
  // 7 x 3 MCUs of six blocks, 2 bytes a coefficient.
  constexpr std::uint64_t bytes = 7 * 3 * 6 * 64 * 2;
  EXPECT_EQ(refusal(bytes), "");
  EXPECT_EQ(refusal(bytes - 1),
            "out.jpg: a progressive JPEG is held in memory as a whole, and its 1 MiB are more than "
            "the limit of 0 MiB: leave out --progressive, or filter it with --max-memory 1M");
}

TEST(ProgressiveJpeg, IsNotedInReports) {
  const Image image = smooth_image({20, 20}, {1, 8});
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer =
      create_jpeg(*sink, subsampled_header(image), with_option(jpeg_progressive_option(), "on"));
  ASSERT_TRUE(writer->notes());
  EXPECT_EQ(writer->notes()->text, "quality 90 (the default), progressive");
}

}  // namespace
}  // namespace gpufilter
