#include "app/filter/format_options.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"
#include "support/objection.hpp"

namespace gpufilter {
namespace {

using Lines = std::vector<std::string>;

constexpr PixelFormat rgb{3, 8};
constexpr PixelFormat rgba{4, 8};
constexpr PixelFormat grey{1, 16};

WriteOptions with(const WriteOption& option, const char* value) {
  return WriteOptions().set(option, value);
}

std::string objection(const WriteOptions& options, const CodecList& formats) {
  return test::objection_to([&] { refuse_unused_options(options, formats); }, "");
}

TEST(RefuseUnusedOptions, WhatNoOutputTakesIsRefused) {
  const WriteOptions quality = with(quality_option(), "80");
  EXPECT_EQ(objection(quality, {&png_codec()}), "--quality: PNG output does not take it; " +
                                                    names_of(codecs_with(quality_option())) +
                                                    " output does");
  EXPECT_EQ(objection(with(jpeg_subsampling_option(), "auto"), {&png_codec()}),
            "--subsampling: PNG output does not take it; JPEG output does");
  EXPECT_EQ(objection(with(background_option(), "white"), {&png_codec()}),
            "--background: PNG output does not take it; JPEG, PPM, PGM or PNM output does");
  EXPECT_EQ(objection(with(png_level_option(), "6"), {&jpeg_codec()}),
            "--png-level: JPEG output does not take it; PNG output does");
}

TEST(RefuseUnusedOptions, OneOutputThatTakesItIsEnough) {
  const WriteOptions quality = with(quality_option(), "80");
  EXPECT_EQ(objection(quality, {&jpeg_codec()}), "");
  EXPECT_EQ(objection(quality, {&png_codec(), &jpeg_codec()}), "");
  EXPECT_EQ(objection(WriteOptions(), {&png_codec()}), "");
}

TEST(RefuseUnusedOptions, WithoutAnOutputNothingIsKnown) {
  EXPECT_EQ(objection(with(quality_option(), "80"), {}), "");
}

RunReport written(const Codec& codec, const PixelFormat& pixel) {
  RunReport report;
  report.output_format = &codec;
  report.output_pixel = pixel;
  return report;
}

TEST(OptionUse, WarnsOfWhatMadeNoDifference) {
  const WriteOptions background = with(background_option(), "red");
  OptionUse opaque(background);
  opaque.add(written(jpeg_codec(), rgb));
  EXPECT_EQ(opaque.warnings(), Lines{"--background has no effect: the picture has no alpha"});
  OptionUse transparent(background);
  transparent.add(written(jpeg_codec(), rgba));
  EXPECT_EQ(transparent.warnings(), Lines{});

  const WriteOptions subsampling = with(jpeg_subsampling_option(), "420");
  OptionUse shades(subsampling);
  shades.add(written(jpeg_codec(), grey));
  EXPECT_EQ(shades.warnings(), Lines{"--subsampling has no effect: the picture is grey"});

  const WriteOptions quality = with(quality_option(), "80");
  OptionUse png(quality);
  png.add(written(png_codec(), rgb));
  EXPECT_EQ(png.warnings(), Lines{"--quality has no effect: the output is a PNG"});
}

TEST(OptionUse, OneOutputThatItConcernsIsEnough) {
  const auto options = WriteOptions().set(quality_option(), "50");
  OptionUse use(options);
  RunReport report = written(png_codec(), rgb);
  report.others = {written(png_codec(), rgb), written(jpeg_codec(), rgb)};
  use.add(report);
  EXPECT_EQ(use.warnings(), Lines{});
}

TEST(OptionUse, OnePictureThatItConcernsIsEnough) {
  const WriteOptions options = with(background_option(), "red").set(png_level_option(), "1");
  OptionUse use(options);
  EXPECT_EQ(use.warnings(), Lines{});
  use.add(written(jpeg_codec(), rgb));
  use.add(written(png_codec(), rgba));
  EXPECT_EQ(use.warnings(), Lines{"--background has no effect on any of the 2 pictures"});
  use.add(written(jpeg_codec(), rgba));
  EXPECT_EQ(use.warnings(), Lines{});
}

TEST(FormatNames, AreThoseOfTheirEndings) {
  const Lines names = format_names();
  const Lines always{"png", "jpg", "jpeg", "jpe", "jfif", "ppm", "pgm", "pnm", "pam"};
  ASSERT_GE(names.size(), always.size());
  EXPECT_EQ(Lines(names.begin(), names.begin() + 9), always);
  EXPECT_EQ(main_format_names().size(), codecs().size());
  EXPECT_EQ(main_format_names()[1], "jpg");
  EXPECT_EQ(&codec_named("jpeg"), &jpeg_codec());
}

}  // namespace
}  // namespace gpufilter
