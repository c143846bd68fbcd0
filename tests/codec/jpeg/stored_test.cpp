// JPEGs that are cropped and turned without being decoded.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/thread_limit.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/stored_picture.hpp"
#include "support/coding.hpp"
#include "support/jpeg_parts.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

const std::vector<Turn> all_turns{{},
                                  left_right,
                                  upside_down,
                                  half_a_turn,
                                  {.swaps = true},
                                  quarter_clockwise,
                                  quarter_counterclockwise,
                                  {.swaps = true, .mirrors_x = true, .mirrors_y = true}};

std::unique_ptr<RowReader> open(const Bytes& jpeg) {
  return open_picture(memory_source(jpeg, "in.jpg"));
}

std::string objection(const Bytes& jpeg, const Placement& placement,
                      const WriteOptions& options = {}) {
  return open(jpeg)->stored_picture()->objection(placement, options);
}

Bytes moved(const Bytes& jpeg, const Placement& placement, const WriteOptions& options = {}) {
  const auto reader = open(jpeg);
  StoredPicture& picture = *reader->stored_picture();
  EXPECT_EQ(picture.objection(placement, options), "");
  EXPECT_EQ(picture.load(), "");
  PictureHeader header = reader->header();
  header.size = placement.result_size();
  Bytes file;
  const auto sink = memory_sink(file, "out.jpg");
  const auto writer = picture.create(*sink, header, options, placement);
  writer->finish({});
  static_cast<void>(reader->finish());
  sink->commit();
  return file;
}

// The samples of a component, before they are rounded.
struct Plane {
  int width = 0;
  std::vector<double> samples;

  [[nodiscard]] double at(int x, int y) const {
    return samples[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(x)];
  }
};

// By the definition of the transform.
Plane plane_of(const StoredComponent& component) {
  std::array<std::array<double, 8>, 8> wave{};
  for (int x = 0; x < 8; ++x) {
    for (int u = 0; u < 8; ++u)
      wave[x][u] = std::cos((2 * x + 1) * u * std::numbers::pi / 16) * (u == 0 ? M_SQRT1_2 : 1) / 2;
  }
  Plane plane{component.width * 8, {}};
  plane.samples.resize(component.blocks.size() * 64);
  for (std::size_t i = 0; i < component.blocks.size(); ++i) {
    const auto& block = component.blocks[i];
    const std::size_t left = i % static_cast<std::size_t>(component.width) * 8;
    const std::size_t top = i / static_cast<std::size_t>(component.width) * 8;
    for (std::size_t y = 0; y < 8; ++y) {
      for (std::size_t x = 0; x < 8; ++x) {
        double sum = 0;
        for (std::size_t k = 0; k < 64; ++k)
          sum += block[k] * component.divisors[k] * wave[y][k / 8] * wave[x][k % 8];
        plane.samples[(top + y) * static_cast<std::size_t>(plane.width) + left + x] = sum;
      }
    }
  }
  return plane;
}

// Whether all samples that a pixel of the result shows are those of the source's pixel.
void expect_moved(const Bytes& source, const Bytes& result, const Placement& placement) {
  const auto before = coefficients_of(source);
  const auto after = coefficients_of(result);
  ASSERT_EQ(before.size(), after.size());
  int horizontal = 1;
  int vertical = 1;
  for (const StoredComponent& component : before) {
    horizontal = std::max(horizontal, component.horizontal);
    vertical = std::max(vertical, component.vertical);
  }
  const auto& [corner, size, turn] = placement;
  for (std::size_t c = 0; c < before.size(); ++c) {
    const StoredComponent& from = before[c];
    EXPECT_EQ(after[c].horizontal, turn.swaps ? from.vertical : from.horizontal);
    EXPECT_EQ(after[c].vertical, turn.swaps ? from.horizontal : from.vertical);
    const Plane source_plane = plane_of(from);
    const Plane result_plane = plane_of(after[c]);
    const ImageSize result_size = placement.result_size();
    double largest = 0;
    for (const auto [x, y] : each_pixel(result_size)) {
      int u = turn.swaps ? y : x;
      int v = turn.swaps ? x : y;
      if (turn.mirrors_x) u = size.width - 1 - u;
      if (turn.mirrors_y) v = size.height - 1 - v;
      const double expected = source_plane.at((corner.x + u) * from.horizontal / horizontal,
                                              (corner.y + v) * from.vertical / vertical);
      const double found =
          result_plane.at(x * after[c].horizontal / (turn.swaps ? vertical : horizontal),
                          y * after[c].vertical / (turn.swaps ? horizontal : vertical));
      largest = std::max(largest, std::abs(expected - found));
    }
    EXPECT_LT(largest, 1e-6) << c;
  }
}

struct Sampling {
  int channels;
  int horizontal;
  int vertical;
};
const std::vector<Sampling> samplings{{1, 2, 2}, {3, 1, 1}, {3, 2, 1},
                                      {3, 1, 2}, {3, 2, 2}, {3, 4, 1}};

JpegRecipe sampled_recipe(const Sampling& sampling) {
  JpegRecipe recipe{.horizontal_subsampling = sampling.horizontal,
                    .vertical_subsampling = sampling.vertical};
  if (sampling.channels == 1) {
    recipe.raster_colors = recipe.stored_colors = JCS_GRAYSCALE;
    recipe.before_start = [&sampling](jpeg_compress_struct& jpeg) {
      jpeg.comp_info[0].h_samp_factor = sampling.horizontal;
      jpeg.comp_info[0].v_samp_factor = sampling.vertical;
    };
  }
  return recipe;
}

TEST(JpegStored, MovesTheSamplesOfEveryTurnAndSampling) {
  for (const Sampling& sampling : samplings) {
    const ImageSize mcu{8 * (sampling.channels == 1 ? 1 : sampling.horizontal),
                        8 * (sampling.channels == 1 ? 1 : sampling.vertical)};
    // A part of an MCU at the edges that are not mirrored.
    for (const Turn& turn : all_turns) {
      SCOPED_TRACE(::testing::Message()
                   << sampling.channels << " " << sampling.horizontal << "x" << sampling.vertical
                   << " " << turn.swaps << turn.mirrors_x << turn.mirrors_y);
      const ImageSize size{3 * mcu.width + (turn.mirrors_x ? 0 : 5),
                           2 * mcu.height + (turn.mirrors_y ? 0 : 3)};
      const Bytes source = encode_with_libjpeg(
          textured_raster(size.width, size.height, sampling.channels), sampled_recipe(sampling));
      const Placement whole{{}, size, turn};
      expect_moved(source, moved(source, whole), whole);
      // A mirrored part may begin anywhere, another may end anywhere.
      const PixelPosition corner{turn.mirrors_x ? 3 : mcu.width, turn.mirrors_y ? 1 : mcu.height};
      const PixelPosition end{2 * mcu.width - (turn.mirrors_x ? 0 : 3),
                              2 * mcu.height - (turn.mirrors_y ? 0 : 5)};
      const Placement part{corner, {end.x - corner.x, end.y - corner.y}, turn};
      expect_moved(source, moved(source, part), part);
    }
  }
}

TEST(JpegStored, TurnsAndTurnsBack) {
  const Bytes source = encode_with_libjpeg(textured_raster(64, 48, 3));
  const Bytes turned = moved(source, {{}, {64, 48}, quarter_clockwise});
  EXPECT_NE(coefficients_of(turned), coefficients_of(source));
  const Bytes back = moved(turned, {{}, {48, 64}, quarter_counterclockwise});
  EXPECT_EQ(coefficients_of(back), coefficients_of(source));
  EXPECT_EQ(decode_with_libjpeg(back).samples, decode_with_libjpeg(source).samples);
}

TEST(JpegStored, ReadsAndWritesFilesOfSeveralScans) {
  const Raster raster = textured_raster(80, 48, 3);
  const Placement placement{{}, {80, 48}, quarter_clockwise};
  const Bytes expected = moved(encode_with_libjpeg(raster), placement);
  JpegRecipe progressive;
  progressive.progressive = true;
  JpegRecipe scans;
  scans.one_scan_a_component = true;
  for (const JpegRecipe& recipe : {progressive, scans})
    EXPECT_EQ(moved(encode_with_libjpeg(raster, recipe), placement), expected);
  const Bytes written =
      moved(encode_with_libjpeg(raster), placement, with_option(jpeg_progressive_option(), "on"));
  EXPECT_EQ(coefficients_of(written), coefficients_of(expected));
  EXPECT_LT(written.size(), expected.size());
}

TEST(JpegStored, WritesStripsThatAreOneStream) {
  for (const Turn& turn : {Turn{}, quarter_clockwise}) {
    const ImageSize size{1007, 1152};
    const Bytes source =
        encode_with_libjpeg(textured_raster(size.width, size.height, 3), {.restart_rows = 5});
    const Placement placement{{}, size, turn};
    const Bytes strips = moved(source, placement);
    const Bytes stream = moved(source, placement, with_option(jpeg_restart_option(), "off"));
    const Bytes interval{0xFF, 0xDD};
    EXPECT_NE(std::search(strips.begin(), strips.end(), interval.begin(), interval.end()),
              strips.end());
    EXPECT_EQ(std::search(stream.begin(), stream.end(), interval.begin(), interval.end()),
              stream.end());
    EXPECT_EQ(coefficients_of(strips), coefficients_of(stream));
    EXPECT_EQ(decode_with_codec(strips).samples, decode_with_libjpeg(stream).samples);
    const ThreadLimit one(1);
    EXPECT_EQ(moved(source, placement), strips);
  }
}

TEST(JpegStored, KeepsInkAsItIsStored) {
  for (const bool adobe : {true, false}) {
    JpegRecipe recipe{.raster_colors = JCS_CMYK, .stored_colors = JCS_CMYK};
    recipe.adobe_marker = adobe;
    const Bytes source = encode_with_libjpeg(textured_raster(24, 16, 4), recipe);
    const Placement placement{{}, {24, 16}, {}};
    const Bytes copy = moved(source, placement);
    EXPECT_EQ(decode_with_codec(copy).samples, decode_with_codec(source).samples);
    expect_moved(source, copy, placement);
  }
}

TEST(JpegStored, SaysWhyItCannot) {
  const Bytes jpeg = encode_with_libjpeg(textured_raster(67, 45, 3));
  const ImageSize size{67, 45};
  EXPECT_EQ(objection(jpeg, {{}, size, {}}), "");
  EXPECT_EQ(objection(jpeg, {{}, size, {.swaps = true}}), "");
  EXPECT_EQ(objection(jpeg, {{}, size, left_right}),
            "its edge at column 67 does not lie between blocks, which are 16 pixels wide");
  EXPECT_EQ(objection(jpeg, {{}, size, quarter_clockwise}),
            "its edge at row 45 does not lie between blocks, which are 16 pixels high");
  EXPECT_EQ(objection(jpeg, {{16, 8}, {20, 20}, {}}),
            "its edge at row 8 does not lie between blocks, which are 16 pixels high");
  EXPECT_EQ(objection(jpeg, {{3, 0}, {61, 20}, left_right}), "");
  for (const auto* option : {&quality_option(), &jpeg_subsampling_option()}) {
    EXPECT_EQ(objection(jpeg, {{}, size, {}},
                        with_option(*option, option == &quality_option() ? "80" : "420")),
              "--" + option->name + " asks for other coefficients");
  }
  ReadLimits limits;
  limits.max_memory = 10'000;
  const auto reader = open_picture(memory_source(jpeg, "in.jpg"), limits);
  EXPECT_EQ(reader->stored_picture()->objection({{}, size, {}}, {}),
            "its coefficients take 0 MB, more than allowed; raise --max-memory");
}

// A grey block whose only coefficient is 2047, written by hand.
Bytes jpeg_with_a_large_coefficient() {
  Bytes jpeg{0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0};
  jpeg.insert(jpeg.end(), 64, 1);
  const Bytes rest{0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0,  // a frame of
                                                                     // 8x8
                   0xFF, 0xC4, 0, 20, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11,
                   0xFF, 0xC4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF,
                   0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x7F, 0xF7,  // code 0 for 11 bits,
                                                               // these, code 0 for the
                                                               // end of the block
                   0xFF, 0xD9};
  jpeg.insert(jpeg.end(), rest.begin(), rest.end());
  return jpeg;
}

TEST(JpegStored, FindsCoefficientsThatHuffmanCodesCannotHold) {
  const Bytes jpeg = jpeg_with_a_large_coefficient();
  EXPECT_EQ(coefficients_of(jpeg)[0].blocks[0][0], 2047);
  EXPECT_EQ(objection(jpeg, {{}, {8, 8}, {}}), "");
  EXPECT_EQ(open(jpeg)->stored_picture()->load(),
            "its coefficients are too large for 8-bit samples");
}

TEST(JpegStored, RefusesDamageAsTheDecoderDoes) {
  Bytes jpeg = encode_with_libjpeg(textured_raster(64, 48, 3));
  jpeg.resize(jpeg.size() / 2);
  const auto reader = open(jpeg);
  EXPECT_EQ(objection_to<PictureError>([&] { return reader->stored_picture()->load(); }),
            "in.jpg: " + std::string("the file ends too early"));
}

}  // namespace
}  // namespace gpufilter::test
