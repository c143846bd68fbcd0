// Quality and chroma subsampling: found in files, chosen, written.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "support/jpeg.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::JpegRecipe;

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
  return test::encode_with_libjpeg(test::textured_raster(33, 17, 3), recipe);
}

Bytes grey(int quality) {
  return test::encode_with_libjpeg(
      test::textured_raster(33, 17, 1),
      {.raster_colors = JCS_GRAYSCALE, .stored_colors = JCS_GRAYSCALE, .quality = quality});
}

Bytes cmyk(J_COLOR_SPACE stored, int quality) {
  return test::encode_with_libjpeg(
      test::textured_raster(33, 17, 4),
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
  const Image image = test::random_image(header.size, header.format, 1);
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  const auto writer = create_jpeg(*sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  static_cast<void>(test::decode_with_libjpeg(jpeg));  // which throws where it is not intact
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

TEST(JpegSettings, EveryQualityIsFound) {
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
}

TEST(JpegSettings, LargeDivisorsAreThoseOfTheQualityToo) {
  // Beyond baseline, where divisors may be larger than 255.
  const auto extended = [](jpeg_compress_struct& jpeg) {
    jpeg.err->trace_level = -1;  // or libjpeg prints that it is beyond baseline
    jpeg_set_quality(&jpeg, 3, FALSE);
  };
  const Bytes jpeg = colors({.before_start = extended});
  ASSERT_GT(test::components_of(jpeg)[0].divisors[63], 255);
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

TEST(JpegSettings, SomeSubsamplingsCannotBeTold) {
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
}

TEST(JpegSettings, HaveTheUsualNames) {
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
    for (const ChromaSubsampling& subsampling : kept_subsamplings) {
      for (const bool progressive : {false, true}) {
        const Bytes jpeg = colors({.quality = quality,
                                   .horizontal_subsampling = subsampling.horizontal,
                                   .vertical_subsampling = subsampling.vertical,
                                   .progressive = progressive});
        EXPECT_EQ(test::components_of(rewritten(header_of(jpeg))), test::components_of(jpeg))
            << quality << " " << chroma_notation(subsampling);
      }
    }
    const Bytes jpeg = grey(quality);
    EXPECT_EQ(test::components_of(rewritten(header_of(jpeg))), test::components_of(jpeg))
        << quality;
  }
}

TEST(JpegSettings, OwnTablesAreKeptAsTheyAre) {
  const Bytes jpeg = colors_with_own_tables();
  const PictureHeader header = header_of(jpeg);
  EXPECT_FALSE(stored_jpeg_encoding(header)->quantization->standard);
  EXPECT_EQ(test::components_of(rewritten(header)), test::components_of(jpeg));
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
  EXPECT_EQ(test::components_of(rewritten(header)), test::components_of(jpeg));
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
      return test::components_of(colors({.quality = 77,
                                         .horizontal_subsampling = subsampling.horizontal,
                                         .vertical_subsampling = subsampling.vertical}));
    };
    // The quality alone keeps the subsampling of the input.
    EXPECT_EQ(test::components_of(rewritten(input, asking_for("77"))),
              expected(*stored_jpeg_encoding(input)->subsampling));
    const std::vector<std::pair<const char*, ChromaSubsampling>> chroma{
        {"444", {1, 1}}, {"422", {2, 1}}, {"420", {2, 2}}};
    for (const auto& [name, subsampling] : chroma) {
      EXPECT_EQ(test::components_of(rewritten(input, asking_for("77", name))),
                expected(subsampling));
    }
  }
  EXPECT_EQ(settings_of(kept, asking_for("77")),
            "quality 77 (requested), 4:4:0 (kept from the input)");
  EXPECT_EQ(settings_of(kept, asking_for("", "422")),
            "quality 50 (kept from the input), 4:2:2 (requested)");
}

TEST(JpegSettings, OtherInputsHaveDefaults) {
  PictureHeader png;
  png.size = {33, 17};
  png.format = {3, 8};
  EXPECT_EQ(settings_of(png), "quality 90 (the default), 4:4:4 (the default from quality 90)");
  EXPECT_EQ(settings_of(png, asking_for("89")),
            "quality 89 (requested), 4:2:0 (the default below quality 90)");
  EXPECT_EQ(settings_of(png, {}, PixelFormat{1, 16}), "quality 90 (the default)");
  const auto plain = test::components_of(
      colors({.quality = 90, .horizontal_subsampling = 1, .vertical_subsampling = 1}));
  EXPECT_EQ(test::components_of(rewritten(png)), plain);
}

TEST(JpegSettings, GreyThatBecomesColoursHasTheDefaultSubsampling) {
  const PixelFormat rgb{3, 8};
  EXPECT_EQ(settings_of(header_of(grey(95)), {}, rgb),
            "quality 95 (kept from the input), 4:4:4 (the default from quality 90)");
  EXPECT_EQ(test::components_of(rewritten(header_of(grey(80)), {}, rgb)),
            test::components_of(colors({.quality = 80})));
}

TEST(JpegSettings, InksBecomeColoursOfTheirQuality) {
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    // libjpeg subsamples the chroma of YCCK like that of YCbCr; CMYK inks are not subsampled.
    const int factor = stored == JCS_CMYK ? 1 : 2;
    const auto expected = test::components_of(
        colors({.quality = 63, .horizontal_subsampling = factor, .vertical_subsampling = factor}));
    EXPECT_EQ(test::components_of(rewritten(header_of(cmyk(stored, 63)))), expected);
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
}  // namespace gpufilter
