// Truncated or changed files: refused in one line if pixels are lost, never a crash.
#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "support/failing_streams.hpp"
#include "support/jpeg.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::encode_with_libjpeg;
using test::JpegRecipe;
using test::refusal_of;

Bytes first_bytes(const Bytes& jpeg, std::size_t count) {
  return {jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(count)};
}

Bytes textured(bool progressive, bool arithmetic = false) {
  JpegRecipe recipe;
  recipe.progressive = progressive;
  recipe.arithmetic = arithmetic;
  return encode_with_libjpeg(test::textured_raster(150, 120, 3), recipe);
}

// But not where only the end marker is missing, unless its data are arithmetic, which have no other
// end.
void expect_refused_wherever_cut(const Bytes& jpeg, std::size_t step, bool arithmetic = false) {
  constexpr const char* reason = "some.jpg: the file ends too early";
  constexpr std::size_t end_marker = 2;
  const std::size_t data_end = jpeg.size() - end_marker;
  ASSERT_EQ(refusal_of(jpeg), "");
  for (std::size_t count = 0; count < data_end; count += step)
    ASSERT_EQ(refusal_of(first_bytes(jpeg, count)), reason) << count;
  ASSERT_EQ(refusal_of(first_bytes(jpeg, data_end - 1)), reason);
  for (const std::size_t count : {data_end, data_end + 1}) {
    const Bytes cut = first_bytes(jpeg, count);
    ASSERT_EQ(refusal_of(cut), arithmetic ? reason : "");
    if (arithmetic) continue;
    ASSERT_EQ(test::decode_with_codec(cut).samples, test::decode_with_codec(jpeg).samples);
  }
}

TEST(DamagedJpeg, IsRefusedWhereverItIsCut) {
  expect_refused_wherever_cut(textured(false), 97);
  expect_refused_wherever_cut(textured(true), 97);
  expect_refused_wherever_cut(textured(false, true), 97, true);
}

TEST(DamagedJpeg, PhotographsAreRefusedWhereverTheyAreCut) {
  for (const char* name : {"testorig.jpg", "testimgint.jpg", "testimgari.jpg"}) {
    const std::string relative = std::string("corpora/jpeg/") + name;
    GPUFILTER_REQUIRE_SHARED(relative);
    expect_refused_wherever_cut(test::shared_file(relative), 7,
                                std::string_view(name) == "testimgari.jpg");
  }
  GPUFILTER_REQUIRE_SHARED("photos/canyon-3072x2048.jpg");
  expect_refused_wherever_cut(test::shared_file("photos/canyon-3072x2048.jpg"), 59461);
}

// The end marker exists, but data before it is missing: libjpeg itself would fill the rest with
// grey.
TEST(DamagedJpeg, IsRefusedWhereDataIsMissingBeforeTheEnd) {
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = textured(progressive);
    const std::size_t begin = test::scan_data_begin(jpeg);
    Bytes cut = first_bytes(jpeg, begin + (progressive ? 200 : (jpeg.size() - begin) / 2));
    while (cut.back() == 0xFF)
      cut.pop_back();
    cut.insert(cut.end(), {0xFF, 0xD9});
    EXPECT_EQ(refusal_of(cut), "some.jpg: damaged JPEG: premature end of data segment");
  }
}

TEST(DamagedJpeg, IsRefusedWhereARestartIsMissing) {
  JpegRecipe recipe;
  recipe.restart_rows = 1;
  Bytes jpeg = encode_with_libjpeg(test::textured_raster(150, 120, 3), recipe);
  const auto marker = [&](std::uint8_t code) {
    std::size_t at = test::scan_data_begin(jpeg);
    while (jpeg[at] != 0xFF || jpeg[at + 1] != code)
      ++at;
    return static_cast<std::ptrdiff_t>(at);
  };
  const auto first = marker(0xD0);
  const auto second = marker(0xD1);
  jpeg.erase(jpeg.begin() + first, jpeg.begin() + second);
  EXPECT_TRUE(refusal_of(jpeg).starts_with("some.jpg: damaged JPEG: ")) << refusal_of(jpeg);
}

TEST(DamagedJpeg, IsRefusedWhereItIsNoJpeg) {
  EXPECT_EQ(refusal_of({}), "some.jpg: the file ends too early");
  EXPECT_EQ(refusal_of(Bytes(1000, 'x')),
            "some.jpg: damaged JPEG: Not a JPEG file: starts with 0x78 0x78");
}

// Sets each byte of the headers, and bytes throughout the data, to other values. The picture may
// change; every refusal has to be a PictureError on one line.
TEST(DamagedJpeg, NeverDoesMoreThanRefuse) {
  JpegRecipe ycck;
  ycck.raster_colors = JCS_CMYK;
  ycck.stored_colors = JCS_YCCK;
  ycck.progressive = true;
  JpegRecipe restarts;
  restarts.restart_rows = 1;
  int refused = 0;
  int decoded = 0;
  for (const Bytes& jpeg :
       {encode_with_libjpeg(test::textured_raster(60, 50, 3)),
        encode_with_libjpeg(test::textured_raster(60, 50, 3), restarts),
        encode_with_libjpeg(test::textured_raster(60, 50, 4), ycck), textured(true, true)}) {
    const std::size_t step = std::max<std::size_t>(1, jpeg.size() / 800);
    std::uint32_t state = 1;
    for (std::size_t at = 0; at < jpeg.size(); at += at < 700 ? 1 : step) {
      state = state * 1664525U + 1013904223U;
      Bytes changed = jpeg;
      changed[at] = static_cast<std::uint8_t>(changed[at] ^ (1U + (state >> 24U) % 255U));
      if (at % 3 == 0) changed[state % changed.size()] = static_cast<std::uint8_t>(state >> 16U);
      // The limit keeps a changed size from making the test slow.
      const std::string message = refusal_of(changed, {100'000});
      (message.empty() ? decoded : refused) += 1;
      ASSERT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(decoded, 100);
}

TEST(DamagedJpeg, PassesOnWhatTheSourceThrows) {
  const Bytes jpeg = textured(false);
  for (const std::size_t good :
       {std::size_t{0}, std::size_t{100}, jpeg.size() / 2, jpeg.size() - 1}) {
    EXPECT_THROW(
        {
          const auto reader = open_jpeg(std::make_unique<test::FailingSource>(jpeg, good), {});
          Image image(reader->header().size, reader->header().format);
          reader->read(image.rows());
          reader->finish();
        },
        std::runtime_error)
        << good;
  }
}

}  // namespace
}  // namespace gpufilter
