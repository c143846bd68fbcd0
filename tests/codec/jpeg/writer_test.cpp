#include "base/log.hpp"
#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "support/coding.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

// Written in bands of 1, 2, 3, ... rows.
Bytes encode_bands(const Image& image, const WriteOptions& options = {}) {
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer = create_jpeg(*sink, header_of(image), options);
  int begin = 0;
  for (int band = 1; begin < image.size().height; ++band) {
    const int end = std::min(begin + band, image.size().height);
    writer->write(image.rows().part({begin, end}));
    begin = end;
  }
  writer->finish({});
  return jpeg;
}

// The file that libjpeg writes for the same pixels with its plain calls. Chroma has half the rows
// and columns below quality 90, all of them from 90 on.
Bytes encode_plainly(const Raster& raster, int quality) {
  const int factor = quality < 90 ? 2 : 1;
  JpegRecipe recipe{
      .quality = quality, .horizontal_subsampling = factor, .vertical_subsampling = factor};
  if (raster.channels == 1) {
    recipe.raster_colors = JCS_GRAYSCALE;
    recipe.stored_colors = JCS_GRAYSCALE;
  }
  return encode_with_libjpeg(raster, recipe);
}

TEST(JpegWriter, WritesWhatLibjpegDoesAndIsOfQuality90ByDefault) {
  for (const auto& [channels, size] : each_of(std::array{1, 3}, Sizes{{1, 1}, {203, 101}})) {
    const Image image = random_image(size, {channels, 8}, 1);
    for (const int quality : {1, 50, 89, 90, 100}) {
      WriteOptions options;
      options.set(quality_option(), std::to_string(quality));
      EXPECT_TRUE(encode_bands(image, options) == encode_plainly(raster_of(image), quality))
          << channels << " channels, quality " << quality;
    }
  }
  const Image image = random_image({40, 40}, {3, 8}, 1);
  EXPECT_TRUE(encode_bands(image) == encode_plainly(raster_of(image), 90));
}

// The pixels of `image` over `background`, 8 bits and no alpha, by the contract's formulas in 64
// bits.
Raster reduced(const Image& image, const Color& background) {
  const PixelFormat format = image.format();
  const std::uint64_t max = format.max_sample();
  const std::uint64_t grey =
      (299U * background[0] + 587U * background[1] + 114U * background[2] + 500U) / 1000U;
  Raster raster{image.width(), image.size().height, format.color_channels(), {}};
  for (const auto [x, y, c] : each_sample({raster.width, raster.height}, raster.channels)) {
    std::uint64_t value = sample_at(image, x, y, c);
    if (format.has_alpha()) {
      const std::uint64_t alpha = sample_at(image, x, y, format.channels - 1);
      const std::uint64_t below =
          (raster.channels == 1 ? grey : background.at(static_cast<std::size_t>(c))) * (max / 255);
      value = (value * alpha + below * (max - alpha) + max / 2) / max;
    }
    if (format.depth == 16) value = (value * 255 + 32767) / 65535;
    raster.samples.push_back(static_cast<std::uint8_t>(value));
  }
  return raster;
}

TEST(JpegWriter, ReducesDepthAndAlpha) {
  for (const Color& background : {Color{255, 255, 255}, Color{12, 200, 99}}) {
    WriteOptions options;
    options.set(background_option(), to_string(OptionValue(background)));
    for (const PixelFormat format : {PixelFormat{1, 16}, PixelFormat{3, 16}, PixelFormat{2, 8},
                                     PixelFormat{4, 8}, PixelFormat{2, 16}, PixelFormat{4, 16}}) {
      const Image image = format.has_alpha() ? mixed_alpha_image({77, 31}, format, 1)
                                             : random_image({77, 31}, format, 1);
      const Bytes jpeg = encode_bands(image, options);
      EXPECT_TRUE(jpeg == encode_plainly(reduced(image, background), 90)) << to_string(format);
    }
  }
}

TEST(JpegWriter, RefusesMoreThanJpegHolds) {
  for (const ImageSize size : {ImageSize{65501, 1}, ImageSize{1, 65501}}) {
    Bytes jpeg;
    const auto sink = memory_sink(jpeg, "out.jpg");
    PictureHeader header;
    header.size = size;
    EXPECT_EQ(
        objection_to<PictureError>([&] { return create_jpeg(*sink, header, {}); }),
        formatted("out.jpg: {} x {} pixels: JPEG holds at most 65500 a side: write PNG instead",
                  size.width, size.height));
    EXPECT_EQ(sink->bytes_written(), 0U);
  }
  const Image widest = random_image({65500, 1}, {1, 8}, 1);
  EXPECT_EQ(decode_with_codec(encode_bands(widest)).width, 65500);
}

TEST(JpegWriter, RefusesToEndEarly) {
  const Image image = random_image({30, 30}, {3, 8}, 1);
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer = create_jpeg(*sink, header_of(image), {});
  writer->write(image.rows().part({0, 29}));
  EXPECT_THROW(writer->finish({}), PictureError);
}

// JPEG files encoded strip by strip: the bytes that libjpeg alone writes with restart markers at
// the same positions, for any number of threads and rows per call.

constexpr ChromaSubsampling full_chroma{1, 1};
constexpr ChromaSubsampling subsamplings[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};

// A header that keeps this subsampling, as that of a JPEG input does.
PictureHeader subsampled_header(const Image& image,
                                const ChromaSubsampling& subsampling = full_chroma) {
  PictureHeader header = header_of(image);
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

// The file that libjpeg alone writes for these pixels.
Bytes encode_subsampled(const Image& image, const ChromaSubsampling& subsampling,
                        int restart_rows) {
  const Raster raster = raster_of(image);
  JpegRecipe recipe{.horizontal_subsampling = subsampling.horizontal,
                    .vertical_subsampling = subsampling.vertical,
                    .restart_rows = restart_rows};
  if (raster.channels == 1) {
    recipe.raster_colors = JCS_GRAYSCALE;
    recipe.stored_colors = JCS_GRAYSCALE;
  }
  return encode_with_libjpeg(raster, recipe);
}

int rows_a_strip(ImageSize size, const ChromaSubsampling& subsampling, bool is_grey = false) {
  JpegPicture picture{size, {is_grey ? 1 : 3, 8}, {}, {}};
  if (!is_grey) picture.settings.subsampling = subsampling;
  return mcu_rows_a_strip(mcu_grid(picture));
}

// Gradients with a little noise, which compress as photographs do.
Image smooth_image(ImageSize size, const PixelFormat& format) {
  Image image = random_image(size, format, 3);
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const auto noise = sample_at(image, x, y, c) % 8;
    const auto slope = static_cast<std::uint32_t>((x * (c + 1) + y * (3 - c)) / 16);
    set_sample(image, x, y, c, (slope + noise) & format.max_sample());
  }
  return image;
}

TEST(JpegStrips, AreWhatLibjpegWritesBetweenRestartMarkers) {
  for (const auto& [subsampling, size] : each_of(subsamplings, Sizes{{1031, 1019}, {513, 2049}})) {
    SCOPED_TRACE(chroma_notation(subsampling));
    const Image image = smooth_image(size, {3, 8});
    const int rows = rows_a_strip(size, subsampling);
    ASSERT_GT(rows, 0);
    const Bytes ours = encode_strips(image, subsampled_header(image, subsampling));
    EXPECT_TRUE(ours == encode_subsampled(image, subsampling, rows));
    EXPECT_TRUE(decode_with_libjpeg(ours).samples ==
                decode_with_libjpeg(encode_subsampled(image, subsampling, 0)).samples);
  }
  const Image grey = smooth_image({1001, 1111}, {1, 8});
  EXPECT_TRUE(encode_strips(grey, subsampled_header(grey)) ==
              encode_subsampled(grey, {}, rows_a_strip(grey.size(), {}, true)));
}

// More than eight strips: the markers' numbers wrap around.
TEST(JpegStrips, CountRestartMarkersModuloEight) {
  const Image image = smooth_image({8200, 330}, {1, 8});
  const int rows = rows_a_strip(image.size(), {}, true);
  ASSERT_GT(image.size().height, 8 * rows * 9);
  EXPECT_TRUE(encode_strips(image, subsampled_header(image)) == encode_subsampled(image, {}, rows));
}

TEST(JpegStrips, ConvertDepthAndAlphaAsOneStripDoes) {
  for (const PixelFormat format : {PixelFormat{4, 16}, PixelFormat{2, 8}, PixelFormat{3, 16}}) {
    const Image image = format.has_alpha() ? mixed_alpha_image({811, 907}, format, 1)
                                           : random_image({811, 907}, format, 1);
    const Bytes strips = encode_strips(image, subsampled_header(image));
    const Bytes one =
        encode_strips(image, subsampled_header(image), with_option(jpeg_restart_option(), "off"));
    EXPECT_NE(strips.size(), one.size());
    EXPECT_TRUE(decode_with_libjpeg(strips).samples == decode_with_libjpeg(one).samples)
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
  for (std::size_t i = scan_data_begin(jpeg); i + 1 < jpeg.size(); ++i) {
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

TEST(JpegStrips, AreNotWorthItInSmallPicturesAndFitTheRestartInterval) {
  const Image image = smooth_image({640, 480}, {3, 8});
  EXPECT_EQ(rows_a_strip(image.size(), full_chroma), 0);
  EXPECT_TRUE(encode_strips(image, subsampled_header(image)) ==
              encode_subsampled(image, full_chroma, 0));
  // The interval between two markers is a number of 16 bits.
  for (const auto& [subsampling, size] :
       each_of(subsamplings,
               Sizes{{65500, 65500}, {8, 65500}, {1, 65500}, {65500, 64}, {4000, 3000}})) {
    const int rows = rows_a_strip(size, subsampling);
    const McuGrid grid(size, {8 * subsampling.horizontal, 8 * subsampling.vertical}, 3);
    EXPECT_LE(std::int64_t{rows} * grid.count.width, 65535);
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
    for (const auto& [subsampling, height] : each_of(subsamplings, std::array{800, 1541}))
      expect_small(flat_image({1031, height}, {255, 255, 0}), subsampling, quality);
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
    FullSink sink(room);
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
    const Image image = random_image({203, 101}, format, 1);
    const Bytes baseline = encode_strips(image, subsampled_header(image, {2, 2}));
    const Bytes progressive = encode_strips(image, subsampled_header(image, {2, 2}),
                                            with_option(jpeg_progressive_option(), "on"));
    EXPECT_EQ(frame_marker(baseline), 0xC0);
    EXPECT_EQ(frame_marker(progressive), 0xC2);
    EXPECT_TRUE(decode_with_libjpeg(progressive).samples == decode_with_libjpeg(baseline).samples);
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
    return objection_to<PictureError>(
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

// Quality and chroma subsampling: found in files, chosen, written.

const std::vector<ChromaSubsampling> kept_subsamplings{{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};

WriteOptions asking_for(const char* quality, const char* subsampling = "auto") {
  WriteOptions options;
  options.set(jpeg_subsampling_option(), subsampling);
  return *quality == '\0' ? options : options.set(quality_option(), quality);
}

PictureHeader header_of(const Bytes& jpeg) {
  return open_jpeg(memory_source(jpeg, "in.jpg"), {})->header();
}

std::optional<JpegQuantization> quantization_in(const Bytes& jpeg) {
  return stored_jpeg_encoding(header_of(jpeg))->quantization;
}

std::optional<ChromaSubsampling> subsampling_in(const Bytes& jpeg) {
  return stored_jpeg_encoding(header_of(jpeg))->subsampling;
}

Bytes colors(const JpegRecipe& recipe = {}) {
  return encode_with_libjpeg(textured_raster(33, 17, 3), recipe);
}

Bytes grey(int quality) {
  return encode_with_libjpeg(
      textured_raster(33, 17, 1),
      {.raster_colors = JCS_GRAYSCALE, .stored_colors = JCS_GRAYSCALE, .quality = quality});
}

Bytes cmyk(J_COLOR_SPACE stored, int quality) {
  return encode_with_libjpeg(
      textured_raster(33, 17, 4),
      {.raster_colors = JCS_CMYK, .stored_colors = stored, .quality = quality});
}

// Tables that no quality of libjpeg produces, one for each component.
Bytes colors_with_own_tables() {
  return colors({.before_start = [](jpeg_compress_struct& jpeg) {
    for (int component = 0; component < 3; ++component) {
      std::array<unsigned, 64> divisors{};
      for (std::size_t i = 0; i < divisors.size(); ++i)
        divisors.at(i) = static_cast<unsigned>(3 + component + static_cast<int>(i) / 8);
      jpeg_add_quant_table(&jpeg, component, divisors.data(), 100, TRUE);
      jpeg.comp_info[component].quant_tbl_no = component;
    }
  }});
}

// A picture of `format`, written as if it had been read from a file with the header `input`.
Bytes rewritten(const PictureHeader& input, const WriteOptions& options = {},
                std::optional<PixelFormat> format = std::nullopt) {
  PictureHeader header = input;
  header.format = format.value_or(input.format);
  const Image image = random_image(header.size, header.format, 1);
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer = create_jpeg(*sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  static_cast<void>(decode_with_libjpeg(jpeg));  // which throws where it is not intact
  return jpeg;
}

std::string settings_of(const PictureHeader& input, const WriteOptions& options = {},
                        std::optional<PixelFormat> format = std::nullopt) {
  PictureHeader header = input;
  header.format = format.value_or(input.format);
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  return create_jpeg(*sink, header, options)->notes()->text;
}

TEST(JpegSettings, EveryQualityIsFoundAndLargeDivisorsAreThoseOfTheQualityToo) {
  for (int quality = 1; quality <= 100; ++quality) {
    for (const Bytes& jpeg :
         {colors({.quality = quality}), grey(quality), cmyk(JCS_CMYK, quality),
          cmyk(JCS_YCCK, quality),
          colors({.stored_colors = JCS_RGB, .quality = quality, .progressive = true})}) {
      const auto found = quantization_in(jpeg);
      ASSERT_TRUE(found) << quality;
      EXPECT_EQ(found->quality, quality);
      EXPECT_TRUE(found->standard) << quality;
    }
  }
  // Beyond baseline, where divisors may be larger than 255.
  const auto extended = [](jpeg_compress_struct& jpeg) {
    jpeg.err->trace_level = -1;  // or libjpeg prints that it is beyond baseline
    jpeg_set_quality(&jpeg, 3, FALSE);
  };
  const Bytes jpeg = colors({.before_start = extended});
  ASSERT_GT(components_of(jpeg)[0].divisors[63], 255);
  EXPECT_EQ(settings_of(header_of(jpeg)),
            "quality 3 (kept from the input), 4:2:0 (kept from the input)");
}

TEST(JpegSettings, SubsamplingIsARatio) {
  for (const ChromaSubsampling& subsampling : kept_subsamplings) {
    const Bytes jpeg = colors({.horizontal_subsampling = subsampling.horizontal,
                               .vertical_subsampling = subsampling.vertical});
    EXPECT_EQ(subsampling_in(jpeg), subsampling);
  }
  const auto both_doubled = [](jpeg_compress_struct& jpeg) {
    for (int i = 0; i < 3; ++i)
      jpeg.comp_info[i].v_samp_factor = 2;
  };
  const Bytes jpeg = colors({.vertical_subsampling = 1, .before_start = both_doubled});
  EXPECT_EQ(subsampling_in(jpeg), (ChromaSubsampling{2, 1}));
}

TEST(JpegSettings, SomeSubsamplingsCannotBeToldAndHaveTheUsualNames) {
  const auto unlike = [](jpeg_compress_struct& jpeg) { jpeg.comp_info[2].h_samp_factor = 2; };
  EXPECT_FALSE(subsampling_in(colors({.before_start = unlike})));
  // Three samples of luma beside two of chroma: libjpeg reads that, but cannot write it.
  Bytes uneven = colors();
  const Bytes frame{0xFF, 0xC0};
  const auto begin = std::search(uneven.begin(), uneven.end(), frame.begin(), frame.end());
  ASSERT_EQ(*(begin + 11), 0x22) << "the sampling factors of luma";
  *(begin + 11) = 0x31;
  *(begin + 14) = 0x21;
  *(begin + 17) = 0x21;
  EXPECT_FALSE(subsampling_in(uneven));
  EXPECT_FALSE(subsampling_in(grey(50)));
  EXPECT_EQ(chroma_notation(ChromaSubsampling{1, 1}), "4:4:4");
  EXPECT_EQ(chroma_notation(ChromaSubsampling{2, 1}), "4:2:2");
  EXPECT_EQ(chroma_notation(ChromaSubsampling{2, 2}), "4:2:0");
  EXPECT_EQ(chroma_notation(ChromaSubsampling{1, 2}), "4:4:0");
  EXPECT_EQ(chroma_notation(ChromaSubsampling{4, 1}), "4:1:1");
  EXPECT_EQ(chroma_notation(ChromaSubsampling{4, 2}), "4:1:0");
  EXPECT_EQ(chroma_notation(ChromaSubsampling{3, 1}), "3x1");
  EXPECT_EQ(chroma_notation(ChromaSubsampling{1, 4}), "1x4");
}

TEST(JpegSettings, AreKept) {
  for (const int quality : {1, 50, 75, 90, 95, 100}) {
    for (const auto& [subsampling, progressive] :
         each_of(kept_subsamplings, std::array{false, true})) {
      const Bytes jpeg = colors({.quality = quality,
                                 .horizontal_subsampling = subsampling.horizontal,
                                 .vertical_subsampling = subsampling.vertical,
                                 .progressive = progressive});
      EXPECT_EQ(components_of(rewritten(header_of(jpeg))), components_of(jpeg))
          << quality << " " << chroma_notation(subsampling);
    }
    const Bytes jpeg = grey(quality);
    EXPECT_EQ(components_of(rewritten(header_of(jpeg))), components_of(jpeg)) << quality;
  }
}

TEST(JpegSettings, OwnTablesAreKeptAsTheyAre) {
  const Bytes jpeg = colors_with_own_tables();
  const PictureHeader header = header_of(jpeg);
  EXPECT_FALSE(stored_jpeg_encoding(header)->quantization->standard);
  EXPECT_EQ(components_of(rewritten(header)), components_of(jpeg));
  EXPECT_EQ(settings_of(header),
            "own tables, about quality 95 (kept from the input), 4:2:0 (kept from the input)");
}

TEST(JpegSettings, ChromaOfAnotherQualityMakesTablesOnesOwn) {
  const auto finer_chroma = [](jpeg_compress_struct& jpeg) {
    const JQUANT_TBL before = *jpeg.quant_tbl_ptrs[0];
    jpeg_set_quality(&jpeg, 85, TRUE);
    *jpeg.quant_tbl_ptrs[0] = before;
  };
  const Bytes jpeg = colors({.quality = 60, .before_start = finer_chroma});
  const PictureHeader header = header_of(jpeg);
  EXPECT_EQ(stored_jpeg_encoding(header)->quantization->quality, 60);
  EXPECT_FALSE(stored_jpeg_encoding(header)->quantization->standard);
  EXPECT_EQ(components_of(rewritten(header)), components_of(jpeg));
}

TEST(JpegSettings, TheNearestQualityIsThatOfNearlyTheSameLuma) {
  const auto one_off = [](jpeg_compress_struct& jpeg) { ++jpeg.quant_tbl_ptrs[0]->quantval[20]; };
  for (const int quality : {10, 50, 75, 92}) {
    const auto found = quantization_in(colors({.quality = quality, .before_start = one_off}));
    EXPECT_EQ(found->quality, quality);
    EXPECT_FALSE(found->standard);
  }
}

TEST(JpegSettings, WhatIsAskedForIsDone) {
  const PictureHeader own = header_of(colors_with_own_tables());
  const PictureHeader kept =
      header_of(colors({.quality = 50, .horizontal_subsampling = 1, .vertical_subsampling = 2}));
  for (const PictureHeader& input : {own, kept}) {
    const auto expected = [](const ChromaSubsampling& subsampling) {
      return components_of(colors({.quality = 77,
                                   .horizontal_subsampling = subsampling.horizontal,
                                   .vertical_subsampling = subsampling.vertical}));
    };
    // The quality alone keeps the subsampling of the input.
    EXPECT_EQ(components_of(rewritten(input, asking_for("77"))),
              expected(*stored_jpeg_encoding(input)->subsampling));
    const std::vector<std::pair<const char*, ChromaSubsampling>> chroma{
        {"444", {1, 1}}, {"422", {2, 1}}, {"420", {2, 2}}};
    for (const auto& [name, subsampling] : chroma)
      EXPECT_EQ(components_of(rewritten(input, asking_for("77", name))), expected(subsampling));
  }
  EXPECT_EQ(settings_of(kept, asking_for("77")),
            "quality 77 (requested), 4:4:0 (kept from the input)");
  EXPECT_EQ(settings_of(kept, asking_for("", "422")),
            "quality 50 (kept from the input), 4:2:2 (requested)");
}

TEST(JpegSettings, OtherInputsHaveDefaultsAndGreyThatBecomesColoursHasTheDefaultSubsampling) {
  PictureHeader png;
  png.size = {33, 17};
  png.format = {3, 8};
  EXPECT_EQ(settings_of(png), "quality 90 (the default), 4:4:4 (the default from quality 90)");
  EXPECT_EQ(settings_of(png, asking_for("89")),
            "quality 89 (requested), 4:2:0 (the default below quality 90)");
  EXPECT_EQ(settings_of(png, {}, PixelFormat{1, 16}), "quality 90 (the default)");
  const auto plain = components_of(
      colors({.quality = 90, .horizontal_subsampling = 1, .vertical_subsampling = 1}));
  EXPECT_EQ(components_of(rewritten(png)), plain);
  const PixelFormat rgb{3, 8};
  EXPECT_EQ(settings_of(header_of(grey(95)), {}, rgb),
            "quality 95 (kept from the input), 4:4:4 (the default from quality 90)");
  EXPECT_EQ(components_of(rewritten(header_of(grey(80)), {}, rgb)),
            components_of(colors({.quality = 80})));
}

TEST(JpegSettings, InksBecomeColoursOfTheirQuality) {
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    // libjpeg subsamples the chroma of YCCK like that of YCbCr; CMYK inks are not subsampled.
    const int factor = stored == JCS_CMYK ? 1 : 2;
    const auto expected = components_of(
        colors({.quality = 63, .horizontal_subsampling = factor, .vertical_subsampling = factor}));
    EXPECT_EQ(components_of(rewritten(header_of(cmyk(stored, 63)))), expected);
  }
}

TEST(JpegSettings, AreToldInTheLog) {
  PictureHeader png;
  png.size = {33, 17};
  png.format = {1, 8};
  const log::Level before = log::level();
  log::set_level(log::Level::info);
  ::testing::internal::CaptureStderr();
  static_cast<void>(rewritten(png));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "gpufilter: out.jpg: quality 90 (the default)\n");
  log::set_level(before);
}

}  // namespace
}  // namespace gpufilter::test
