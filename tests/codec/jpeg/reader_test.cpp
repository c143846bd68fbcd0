#include <numbers>

#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "support/coding.hpp"
#include "support/jpeg_parts.hpp"

namespace gpufilter::test {
namespace {

// A colour space, a colour stored in it, and its RGB value, worked out by hand.
struct FlatCase {
  const char* name;
  J_COLOR_SPACE raster_colors;
  J_COLOR_SPACE stored_colors;
  bool adobe_marker;
  Bytes color;
  Bytes expected;
  int tolerance;
};

// The transform between RGB and YCbCr rounds in both directions, so JPEG is lossy even for a flat
// colour at quality 100. Without a transform nothing is lost: the only nonzero coefficient is a
// whole number of steps.
const std::array flat_cases{
    FlatCase{"grey", JCS_GRAYSCALE, JCS_GRAYSCALE, true, {200}, {200}, 0},
    FlatCase{"YCbCr", JCS_RGB, JCS_YCbCr, true, {10, 120, 240}, {10, 120, 240}, 2},
    FlatCase{"RGB", JCS_RGB, JCS_RGB, true, {10, 120, 240}, {10, 120, 240}, 0},
    // Inverted ink: 255 is none. 51 / 255 is a fifth: 200 / 5 = 40, 100 / 5 = 20.
    FlatCase{"CMYK, Adobe", JCS_CMYK, JCS_CMYK, true, {200, 100, 255, 51}, {40, 20, 51}, 0},
    FlatCase{"CMYK", JCS_CMYK, JCS_CMYK, false, {200, 100, 255, 51}, {40, 20, 51}, 0},
    FlatCase{"YCCK", JCS_CMYK, JCS_YCCK, true, {200, 100, 250, 255}, {200, 100, 250}, 2},
    FlatCase{"YCCK, dark", JCS_CMYK, JCS_YCCK, true, {200, 100, 255, 51}, {40, 20, 51}, 1}};

void expect_flat(const Raster& raster, const FlatCase& flat) {
  ASSERT_EQ(raster.channels, static_cast<int>(flat.expected.size()));
  for (std::size_t i = 0; i < raster.samples.size(); ++i) {
    const int expected = flat.expected[i % flat.expected.size()];
    ASSERT_LE(std::abs(int{raster.samples[i]} - expected), flat.tolerance)
        << "sample " << i << " is " << int{raster.samples[i]} << ", not " << expected;
  }
}

TEST(JpegReader, YieldsTheKnownColorInEveryColorSpace) {
  for (const auto& [flat, progressive] : each_of(flat_cases, std::array{false, true})) {
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{17, 33}}) {
      SCOPED_TRACE(testing::Message() << flat.name << ", progressive " << progressive << ", "
                                      << width << " x " << height);
      const JpegRecipe recipe{.raster_colors = flat.raster_colors,
                              .stored_colors = flat.stored_colors,
                              .quality = 100,
                              .progressive = progressive,
                              .adobe_marker = flat.adobe_marker};
      const auto jpeg = encode_with_libjpeg(flat_raster(width, height, flat.color), recipe);
      const Raster raster = decode_with_codec(jpeg);
      EXPECT_EQ(raster.width, width);
      EXPECT_EQ(raster.height, height);
      expect_flat(raster, flat);
    }
  }
}

TEST(JpegReader, DescribesThePicture) {
  const auto reader =
      open_jpeg(memory_source(encode_with_libjpeg(textured_raster(31, 7, 3)), "some.jpg"), {});
  EXPECT_EQ(reader->header().file_format, &jpeg_codec());
  EXPECT_EQ(reader->header().size, (ImageSize{31, 7}));
  EXPECT_EQ(reader->header().format, (PixelFormat{3, 8}));
}

TEST(JpegReader, DecodesAsLibjpegDoes) {
  for (const auto& [progressive, restart_rows] :
       each_of(std::array{false, true}, std::array{0, 1})) {
    JpegRecipe recipe{.progressive = progressive, .restart_rows = restart_rows};
    const auto color = encode_with_libjpeg(textured_raster(203, 101, 3), recipe);
    EXPECT_TRUE(decode_with_codec(color).samples == decode_with_libjpeg(color).samples);
    recipe.raster_colors = JCS_GRAYSCALE;
    recipe.stored_colors = JCS_GRAYSCALE;
    const auto grey = encode_with_libjpeg(textured_raster(203, 101, 1), recipe);
    EXPECT_TRUE(decode_with_codec(grey).samples == decode_with_libjpeg(grey).samples);
  }
  const auto arithmetic = encode_with_libjpeg(textured_raster(203, 101, 3), {.arithmetic = true});
  EXPECT_TRUE(decode_with_codec(arithmetic).samples == decode_with_libjpeg(arithmetic).samples);
}

TEST(JpegReader, DecodesPhotographsAsLibjpegDoes) {
  for (const char* name : {"photos/canyon-3072x2048.jpg", "photos/launch-3000x1688.jpg",
                           "photos/pier-5470x3646.jpg", "corpora/jpeg/testorig.jpg",
                           "corpora/jpeg/testimgint.jpg", "corpora/jpeg/testimgari.jpg"}) {
    GPUFILTER_REQUIRE_SHARED(name);
    const auto jpeg = shared_file(name);
    EXPECT_TRUE(decode_with_codec(jpeg).samples == decode_with_libjpeg(jpeg).samples) << name;
  }
}

TEST(JpegReader, MultipliesInkByKeyAsStored) {
  const JpegRecipe recipe{.raster_colors = JCS_CMYK, .stored_colors = JCS_YCCK};
  const auto jpeg = encode_with_libjpeg(textured_raster(67, 45, 4), recipe);
  const Raster cmyk = decode_with_libjpeg(jpeg);
  ASSERT_EQ(cmyk.channels, 4);
  const Raster rgb = decode_with_codec(jpeg);
  ASSERT_EQ(rgb.samples.size(), 67U * 45U * 3U);
  for (std::size_t i = 0; i < rgb.samples.size(); ++i) {
    const int color = cmyk.samples[i / 3 * 4 + i % 3];
    const int key = cmyk.samples[i / 3 * 4 + 3];
    ASSERT_EQ(rgb.samples[i], (color * key + 127) / 255) << i;
  }
}

TEST(JpegReader, RefusesTwelveBits) {
  GPUFILTER_REQUIRE_SHARED("corpora/jpeg/monkey12.jpg");
  EXPECT_EQ(refusal_of(shared_file("corpora/jpeg/monkey12.jpg")),
            "some.jpg: this JPEG has 12-bit samples: only 8-bit JPEG can be read");
}

TEST(JpegReader, RefusesComponentsOfUnknownMeaning) {
  const JpegRecipe recipe{.raster_colors = JCS_UNKNOWN, .stored_colors = JCS_UNKNOWN};
  const auto jpeg = encode_with_libjpeg(flat_raster(8, 8, {1, 2}), recipe);
  EXPECT_EQ(refusal_of(jpeg), "some.jpg: unsupported JPEG: 2 colour components of unknown meaning");
}

// A header that claims `width` x `height` grey pixels, and nothing after it.
Bytes frame_alone(int width, int height, std::uint8_t frame_marker) {
  Bytes jpeg{0xFF, 0xD8, 0xFF, frame_marker, 0, 11, 8, 0, 0, 0, 0,  1, 1,
             0x11, 0,    0xFF, 0xDA,         0, 8,  1, 1, 0, 0, 63, 0};
  for (const auto& [at, side] : {std::pair{std::size_t{7}, height}, {9, width}}) {
    jpeg[at] = static_cast<std::uint8_t>(side >> 8);
    jpeg[at + 1] = static_cast<std::uint8_t>(side & 0xFF);
  }
  return jpeg;
}

TEST(JpegReader, KeepsToTheLimitBeforeAnythingElse) {
  for (const std::uint8_t frame_marker : {std::uint8_t{0xC0}, std::uint8_t{0xC2}}) {
    EXPECT_EQ(refusal_of(frame_alone(65500, 65500, frame_marker)),
              "some.jpg: 65500 x 65500 pixels are more than the limit of 500000000: "
              "raise it with --max-pixels");
  }
  const auto jpeg = encode_with_libjpeg(flat_raster(10, 10, {1, 2, 3}));
  EXPECT_EQ(refusal_of(jpeg, {99}),
            "some.jpg: 10 x 10 pixels are more than the limit of 99: raise it with --max-pixels");
  EXPECT_EQ(refusal_of(jpeg, {100}), "");
  // Opening a picture reads only the header.
  const auto reader = open_jpeg(memory_source(frame_alone(65500, 65500, 0xC0), "some.jpg"),
                                {std::uint64_t{65500} * 65500});
  EXPECT_EQ(reader->header().size, (ImageSize{65500, 65500}));
}

TEST(JpegReader, RefusesNoWidthAndNoHeight) {
  EXPECT_NE(refusal_of(frame_alone(0, 8, 0xC0)), "");
  EXPECT_NE(refusal_of(frame_alone(8, 0, 0xC0)), "");
}

// A picture with one scan per component, the last of them `times` times.
Bytes with_repeated_scan(int times) {
  const JpegRecipe recipe{.one_scan_a_component = true};
  const Bytes jpeg = encode_with_libjpeg(textured_raster(16, 16, 3), recipe);
  std::size_t scan = jpeg.size() - 2;
  while (jpeg[scan] != 0xFF || jpeg[scan + 1] != 0xDA)
    --scan;
  Bytes repeated(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(scan));
  for (int i = 0; i < times; ++i) {
    repeated.insert(repeated.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(scan),
                    jpeg.end() - 2);
  }
  repeated.insert(repeated.end(), {0xFF, 0xD9});
  return repeated;
}

TEST(JpegReader, RefusesEndlessScans) {
  const auto once = with_repeated_scan(1);
  EXPECT_TRUE(decode_with_codec(once).samples == decode_with_libjpeg(once).samples);
  EXPECT_EQ(refusal_of(with_repeated_scan(400)), "");
  EXPECT_EQ(refusal_of(with_repeated_scan(600)), "some.jpg: damaged JPEG: more than 500 scans");
}

TEST(JpegReader, IgnoresPaddingBetweenSegmentsAndWhatFollowsTheEnd) {
  const auto jpeg = encode_with_libjpeg(textured_raster(50, 50, 3));
  const auto expected = decode_with_libjpeg(jpeg).samples;
  auto longer = jpeg;
  longer.insert(longer.end(), 100000, 0xFF);
  EXPECT_TRUE(decode_with_codec(longer).samples == expected);
  auto padded = jpeg;
  padded.insert(padded.end() - 2, 7, 0x00);
  padded.insert(padded.begin() + 20, 3, 0x00);  // after JFIF's segment
  EXPECT_TRUE(decode_with_codec(padded).samples == expected);
}

// JPEGs that are decoded smaller give the pixels of libjpeg, whatever their coding.

Raster smaller_by_codec(const Bytes& data, int divisor) {
  const auto reader = open_picture(memory_source(data, "in.jpg"));
  EXPECT_EQ(reader->decode_smaller(divisor), divisor);
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  static_cast<void>(reader->finish());
  return raster_of(image);
}

TEST(JpegSmaller, GivesThePixelsOfLibjpeg) {
  JpegRecipe grey{.raster_colors = JCS_GRAYSCALE, .stored_colors = JCS_GRAYSCALE};
  JpegRecipe half{.horizontal_subsampling = 2, .vertical_subsampling = 1};
  JpegRecipe rows{.horizontal_subsampling = 1, .vertical_subsampling = 2};
  JpegRecipe full{.horizontal_subsampling = 1, .vertical_subsampling = 1};
  const JpegRecipe progressive{.progressive = true};
  const JpegRecipe restarts{.restart_rows = 1};
  int number = 0;
  for (const JpegRecipe& recipe : {JpegRecipe{}, grey, half, rows, full, progressive, restarts}) {
    const Raster picture = textured_raster(709, 603, recipe.raster_colors == JCS_GRAYSCALE ? 1 : 3);
    const Bytes data = encode_with_libjpeg(picture, recipe);
    for (const int divisor : {2, 4, 8}) {
      const Raster expected = decode_with_libjpeg(data, divisor);
      const Raster found = smaller_by_codec(data, divisor);
      EXPECT_EQ(found.width, (709 + divisor - 1) / divisor);
      EXPECT_EQ(found.height, (603 + divisor - 1) / divisor);
      EXPECT_TRUE(found.samples == expected.samples) << number << ", " << divisor;
    }
    ++number;
  }
}

TEST(JpegSmaller, ConvertsInkInRowsOfTheirLength) {
  JpegRecipe recipe{.raster_colors = JCS_CMYK, .stored_colors = JCS_CMYK};
  const Bytes data = encode_with_libjpeg(flat_raster(33, 17, {0, 255, 255, 255}), recipe);
  const Raster found = smaller_by_codec(data, 4);
  EXPECT_EQ(found.samples, flat_raster(9, 5, {0, 255, 255}).samples);
}

// JPEGs that are cropped and turned without being decoded.

constexpr std::array either{false, true};

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

// Expects that each pixel of the result has the samples of the source's pixel.
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
    for (const auto& [swaps, mirrors_x, mirrors_y] : each_of(either, either, either)) {
      const Turn turn{.swaps = swaps, .mirrors_x = mirrors_x, .mirrors_y = mirrors_y};
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
  const JpegRecipe progressive{.progressive = true};
  const JpegRecipe scans{.one_scan_a_component = true};
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
              "--" + option->name + " needs other coefficients");
  }
  ReadLimits limits;
  limits.max_memory = 10'000;
  const auto reader = open_picture(memory_source(jpeg, "in.jpg"), limits);
  EXPECT_EQ(reader->stored_picture()->objection({{}, size, {}}, {}),
            "its coefficients take 0 MB, more than allowed; raise --max-memory");
}

// A grey block of 8x8 whose only coefficient is 2047, written by hand. Its data: code 0 for 11
// bits, these, code 0 for the end of the block.
Bytes jpeg_with_a_large_coefficient() {
  Bytes jpeg{0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0};
  jpeg.insert(jpeg.end(), 64, 1);
  const Bytes rest{
      0xFF, 0xC0, 0,  11,   8,    0, 8, 0, 8, 1, 1, 0x11, 0, 0xFF, 0xC4, 0,    20,  0x00,
      1,    0,    0,  0,    0,    0, 0, 0, 0, 0, 0, 0,    0, 0,    0,    0,    11,  0xFF,
      0xC4, 0,    20, 0x10, 1,    0, 0, 0, 0, 0, 0, 0,    0, 0,    0,    0,    0,   0,
      0,    0,    0,  0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63,   0, 0x7F, 0xF7, 0xFF, 0xD9};
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
