// The PNG writer's output, read by an independently written decoder and by the reader.

#include <tbb/global_control.h>

#include "support/failing_streams.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

std::vector<std::uint16_t> all_samples(const Image& image) {
  std::vector<std::uint16_t> samples;
  for (const auto [x, y, c] : each_sample(image))
    samples.push_back(static_cast<std::uint16_t>(sample_at(image, x, y, c)));
  return samples;
}

class PngWriterRoundTrip : public ::testing::TestWithParam<int> {};

TEST_P(PngWriterRoundTrip, KeepsEverySample) {
  constexpr ImageSize sizes[] = {{1, 1}, {1, 40}, {40, 1}, {15, 17}, {257, 129}};
  for (const auto& [depth, channels, size] :
       each_of(std::array{8, 16}, std::array{1, 2, 3, 4}, sizes)) {
    SCOPED_TRACE(to_string(PixelFormat{channels, depth}) + " " + std::to_string(size.width) + "x" +
                 std::to_string(size.height));
    const Image image = random_image(size, {channels, depth}, 7);
    PngSettings settings;
    settings.options.set(png_level_option(), std::to_string(GetParam()));
    const Bytes file = encode_png(image, settings);
    const DecodedPng decoded = decode_png(file);
    ASSERT_EQ(decoded.depth, depth);
    ASSERT_EQ(decoded.channels, channels);
    ASSERT_EQ(decoded.samples, all_samples(image));
    ASSERT_TRUE(same_pixels(read_png(file).image, image));
    for (const int step : {1, 7}) {
      settings.rows_a_time = step;
      ASSERT_EQ(encode_png(image, settings), file) << step << " rows a time";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PngWriterRoundTrip, ::testing::Values(0, 6, 8));

// Without filters, as libvips writes by default.
std::size_t unfiltered_size(const Image& image) {
  const ConstRows rows = image.rows();
  const std::size_t bytes = static_cast<std::size_t>(rows.width) * rows.format.bytes_per_pixel();
  Bytes plain;
  for (int y = 0; y < rows.rows.end; ++y) {
    plain.push_back(0);
    plain.insert(plain.end(), rows.row(y), rows.row(y) + bytes);
  }
  return deflated(plain, 6).size();
}

TEST(PngWriter, FiltersByDefaultToGoodEffect) {
  GPUFILTER_REQUIRE_SHARED("photos");
  for (const char* name : {"kodak-03.png", "kodak-19.png"}) {
    const Image image = read_picture(shared_path("photos") / name);
    EXPECT_LT(encode_png(image, {}).size(), unfiltered_size(image)) << name;
  }
}

// A smooth picture with a little noise, which is the same in all channels or differs between them.
Image noisy_gradient(ImageSize size, bool grey) {
  Image image(size, {3, 8});
  std::mt19937 random(5);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = image.rows().row(y);
    for (int x = 0; x < size.width; ++x, row += 3) {
      const auto slope = static_cast<unsigned>(x + y) / 8;
      for (int c = 0; c < 3; ++c) {
        row[c] =
            grey && c > 0 ? row[0] : static_cast<std::uint8_t>(slope + random() % 2 + random() % 2);
      }
    }
  }
  return image;
}

TEST(PngWriter, FindsWhatTheChannelsOfGreyPhotographsHaveInCommon) {
  constexpr ImageSize size{1000, 900};
  const Image grey = noisy_gradient(size, true);
  const Bytes png = encode_png(grey, {});
  EXPECT_TRUE(same_pixels(read_png(png).image, grey));
  EXPECT_LT(png.size(), encode_png(noisy_gradient(size, false), {}).size() * 3 / 4);
}

TEST(PngWriter, WritesPicturesWiderThanLibpngsOwnLimit) {
  const Image image = random_image({1'000'001, 2}, {1, 8}, 3);
  EXPECT_TRUE(same_pixels(read_png(encode_png(image, {})).image, image));
}

TEST(PngWriter, RefusesSizesThatPngCannotHold) {
  Bytes file;
  const auto sink = memory_sink(file, "out.png");
  PictureHeader header;
  header.size = {0, 5};
  const std::string refusal =
      objection_to<PictureError>([&] { return create_picture(png_codec(), *sink, header); });
  EXPECT_TRUE(refusal.starts_with("out.png: cannot be encoded as PNG: ")) << refusal;
}

// What ends a file that is written by 100 rows at a time into a sink with this room.
std::string failure_with(std::uint64_t room, const Image& image) {
  return objection_to<std::runtime_error>([&] {
    FullSink sink(room);
    const auto writer = create_picture(png_codec(), sink, header_of(image));
    for (int y = 0; y < image.size().height; y += 100)
      writer->write(image.rows().part({y, y + 100}));
    writer->finish({});
    return 0;
  });
}

// The PNG writer's chunks: their borders, their threads, and their failures.

constexpr std::size_t chunk_size = std::size_t{512} << 10U;  // the writer's, of filtered bytes

PngSettings at_level(int level, int rows_a_time = 0) {
  PngSettings settings;
  settings.options.set(png_level_option(), std::to_string(level));
  settings.rows_a_time = rows_a_time;
  return settings;
}

// Noise that grows from row to row: some chunks compress well and some not at all.
Image mixed_image(ImageSize size, PixelFormat format) {
  Image image = random_image(size, format, 11);
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const std::uint32_t noise = sample_at(image, x, y, c) * static_cast<std::uint32_t>(y) /
                                static_cast<std::uint32_t>(size.height);
    set_sample(image, x, y, c, (noise + static_cast<std::uint32_t>(x / 8)) & format.max_sample());
  }
  return image;
}

std::vector<std::size_t> idat_sizes(const Bytes& file) {
  std::vector<std::size_t> sizes;
  for (const PngPart& part : split_png(file)) {
    if (part.type == "IDAT") sizes.push_back(part.data.size());
  }
  return sizes;
}

TEST(PngPixelWriter, WritesTheSameWithAnyThreadsAndBands) {
  const Image image = mixed_image({700, 400}, {3, 8});
  for (int level = 0; level <= 9; ++level) {
    SCOPED_TRACE(level);
    Bytes expected;
    for (const auto& [count, rows_a_time] : {std::pair{1, 0}, {7, 0}, {2, 1}, {7, 399}}) {
      const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, count);
      const Bytes file = encode_png(image, at_level(level, rows_a_time));
      if (expected.empty()) expected = file;
      EXPECT_TRUE(file == expected) << count << " threads, " << rows_a_time << " rows a time";
    }
  }
}

// Rows longer than a chunk, and a last chunk of a single row, among them.
TEST(PngPixelWriter, WritesTheSameWithAnyThreadsInEveryFormat) {
  for (const PixelFormat& format : {PixelFormat{1, 8}, {2, 8}, {3, 8}, {4, 16}}) {
    const auto pixel = static_cast<int>(format.bytes_per_pixel());
    const int rows_a_chunk = static_cast<int>(chunk_size) / (600 * pixel + 1);
    for (const ImageSize size :
         {ImageSize{600, 2 * rows_a_chunk + 1}, {static_cast<int>(chunk_size) / pixel + 1, 3}}) {
      const Image image = mixed_image(size, format);
      for (const int level : {1, 6}) {
        SCOPED_TRACE(to_string(format) + ", " + std::to_string(size.width) + "x" +
                     std::to_string(size.height) + ", level " + std::to_string(level));
        Bytes expected;
        for (const std::size_t count : {1, 2, 7}) {
          const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, count);
          const Bytes file = encode_png(image, at_level(level, count == 2 ? 1 : 0));
          if (expected.empty()) expected = file;
          EXPECT_TRUE(file == expected) << count << " threads";
        }
        EXPECT_EQ(idat_sizes(expected).size(), 3U);
        EXPECT_TRUE(same_pixels(read_png(expected).image, image));
      }
    }
  }
}

// At the highest level a chunk has the rows of four.
TEST(PngPixelWriter, WritesLongerChunksAtTheHighestLevel) {
  for (const int rows : {2048, 2049}) {
    const Image image = mixed_image({1023, rows}, {1, 8});
    const Bytes file = encode_png(image, at_level(9));
    EXPECT_EQ(idat_sizes(file).size(), rows == 2048 ? 1U : 2U);
    EXPECT_TRUE(same_pixels(read_png(file).image, image));
    EXPECT_LE(file.size(), encode_png(image, at_level(8)).size());
  }
}

// Buffers that other pictures have used do not change a chunk.
TEST(PngPixelWriter, WritesTheSameAfterOtherPictures) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 1);
  for (const int level : {1, 6, 8}) {
    const Image image = mixed_image({1023, 64}, {4, 8});
    const Bytes alone = encode_png(image, at_level(level));
    Image twice({1023, 64 * 40}, {4, 8});
    for (int y = 0; y < 64 * 40; ++y) {
      const std::uint8_t* row = image.rows().row((y * 7) % 64);
      std::copy(row, row + 1023 * 4, twice.rows().row(y));
    }
    ASSERT_TRUE(same_pixels(read_png(encode_png(twice, at_level(level))).image, twice));
    EXPECT_TRUE(encode_png(image, at_level(level)) == alone) << level;
  }
}

struct Border {
  ImageSize size;
  PixelFormat format;
  std::size_t idats;
};

class PngChunkBorders : public ::testing::TestWithParam<int> {};

TEST_P(PngChunkBorders, KeepEverySample) {
  const std::vector<Border> borders{
      {{1023, 511}, {1, 8}, 1},    // a row less than a chunk
      {{1023, 512}, {1, 8}, 1},    // exactly a chunk
      {{1023, 513}, {1, 8}, 2},    // a row more
      {{1023, 1024}, {1, 8}, 2},   // exactly two
      {{1, 300'000}, {1, 8}, 2},   // rows of one byte
      {{1, 1}, {4, 16}, 1},        //
      {{511, 600}, {1, 16}, 2},    // wide samples
      {{140'000, 3}, {4, 8}, 3},   // each row longer than a chunk
      {{600'000, 2}, {1, 16}, 2},  // and longer than a MiB
  };
  for (const Border& border : borders) {
    SCOPED_TRACE(std::to_string(border.size.width) + "x" + std::to_string(border.size.height) +
                 ", " + to_string(border.format));
    const Image image = random_image(border.size, border.format, 9);
    const Bytes file = encode_png(image, at_level(GetParam()));
    EXPECT_EQ(idat_sizes(file).size(), border.idats);
    ASSERT_TRUE(same_pixels(read_png(file).image, image));
    const DecodedPng decoded = decode_png(file);
    std::size_t i = 0;
    std::size_t wrong = 0;
    for (const auto [x, y, c] : each_sample(border.size, border.format.channels))
      wrong += decoded.samples.at(i++) == sample_at(image, x, y, c) ? 0 : 1;
    EXPECT_EQ(i, decoded.samples.size());
    EXPECT_EQ(wrong, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PngChunkBorders, ::testing::Values(0, 3, 6, 8));

// One colour, and incompressible noise: the extremes of a chunk's size.
TEST(PngPixelWriter, KeepsUniformAndIncompressiblePictures) {
  for (int level = 0; level <= 9; ++level) {
    SCOPED_TRACE(level);
    for (const int value : {0, 1, 255}) {
      Image uniform({500, 500}, {3, 8});
      for (int y = 0; y < 500; ++y)
        std::fill_n(uniform.rows().row(y), 1500, static_cast<std::uint8_t>(value));
      const Bytes file = encode_png(uniform, at_level(level));
      if (level < 9) {
        EXPECT_TRUE(same_pixels(read_png(file).image, uniform));
      }
      const auto samples = as_rgba(decode_png(file));
      EXPECT_EQ(std::count(samples.begin(), samples.end(), value) +
                    std::count(samples.begin(), samples.end(), 255),
                500 * 500 * (value == 255 ? 8 : 4));
      EXPECT_LT(file.size(), level == 0 ? 755'000U : 12'000U);
    }
    const Image noise = random_image({500, 500}, {3, 8}, 10);
    const Bytes file = encode_png(noise, at_level(level));
    EXPECT_TRUE(same_pixels(read_png(file).image, noise));
    EXPECT_LT(file.size(), 500U * 500U * 3U * 1001U / 1000U);
  }
}

enum class Drawing { tiles, dither, gradient, lines, text };

std::uint32_t drawn(Drawing what, int x, int y, int c, const Image& noise) {
  switch (what) {
    case Drawing::tiles:
      return sample_at(noise, (x + y / 9) % 40, y % 30, c);
    case Drawing::dither:
      return static_cast<std::uint32_t>(x * 3 + (x * 5 + y * 7) % 16 * 100) / 800 % 4 * 85;
    case Drawing::gradient:
      return static_cast<std::uint32_t>(c == 0 ? x * 255 / 800 : c == 1 ? y * 255 / 600 : 128);
    case Drawing::lines:
      return (x + y * (c + 1)) % 97 < 3 || x % 131 == 7 ? 20U : 240U;
    case Drawing::text:  // one of 30 x 40 glyphs, each with soft edges, at random places
    default:
      return y % 20 > 12 || sample_at(noise, x / 10 % 40, y / 20, 0) < 90
                 ? 255U
                 : 64 * (sample_at(noise, x % 10 + 10 * (x / 10 * 7 % 3), y % 20, 1) / 64);
  }
}

// A drawing, and what is deflated of it without filters.
std::pair<Image, Bytes> draw(Drawing what, ImageSize size, const PixelFormat& format) {
  const Image noise = random_image({40, 30}, {3, 8}, 12);
  Image drawing(size, format);
  Bytes plain;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      for (int c = 0; c < format.channels; ++c)
        set_sample(drawing, x, y, c, c == 3 ? 255 : drawn(what, x, y, c, noise));
    }
    const std::uint8_t* row = drawing.rows().row(y);
    plain.push_back(0);
    plain.insert(plain.end(), row,
                 row + static_cast<std::size_t>(size.width) * format.bytes_per_pixel());
  }
  return {std::move(drawing), std::move(plain)};
}

// As other programs write it: zlib's default, no filter. Both of small pictures, which are always
// searched, and of large ones.
TEST(PngPixelWriter, MakesNoLargerFilesThanZlibWithoutFilters) {
  for (const auto& [width, format, what] :
       each_of(std::array{800, 2500}, Formats{{1, 8}, {3, 8}, {4, 8}},
               std::array{Drawing::tiles, Drawing::dither, Drawing::gradient, Drawing::lines,
                          Drawing::text})) {
    if (width > 800 && format.channels != 3) continue;
    const auto [drawing, plain] = draw(what, {width, 600}, format);
    // Each chunk begins without the history of earlier chunks.
    const std::size_t chunks = plain.size() / chunk_size + 1;
    EXPECT_LT(encode_png(drawing, {}).size(), deflated(plain, 6).size() + chunks * 3000)
        << to_string(format) << ", drawing " << static_cast<int>(what) << ", " << width;
  }
}

// Drawings are searched at the fastest levels, too: Huffman codes alone make them many times as
// large.
TEST(PngPixelWriter, FindsTilesAtEveryLevel) {
  const auto [drawing, plain] = draw(Drawing::tiles, {1200, 600}, {4, 8});
  const std::size_t by_zlib = deflated(plain, 6).size();
  for (int level = 1; level <= 9; ++level)
    EXPECT_LT(encode_png(drawing, at_level(level)).size(), 2 * by_zlib) << level;
}

TEST(PngPixelWriter, NeverMakesLargerFilesAtHigherLevels) {
  GPUFILTER_REQUIRE_SHARED("photos");
  std::array<std::size_t, 10> sizes{};
  for (const char* name : {"kodak-03.png", "kodak-07.png", "kodak-19.png", "kodak-23.png"}) {
    const Image image = read_picture(shared_path("photos") / name);
    for (int level = 0; level <= 9; ++level)
      sizes.at(static_cast<std::size_t>(level)) += encode_png(image, at_level(level)).size();
  }
  for (std::size_t level = 1; level < sizes.size(); ++level)
    EXPECT_LE(sizes.at(level), sizes.at(level - 1)) << "level " << level;
  EXPECT_LT(sizes[1], sizes[0]);
  EXPECT_LT(sizes[9], sizes[6]);
}

// Sanitizers see anything that tasks still use after the writer is gone.
TEST(PngPixelWriter, StopsCleanlyIfTheSinkFails) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 4);
  const Image image = random_image({1000, 3000}, {3, 8}, 13);
  const std::uint64_t size = encode_png(image, {}).size();
  for (const std::uint64_t room :
       {std::uint64_t{99}, size / 7, size / 3, size / 2, size - 300'000, size - 1}) {
    EXPECT_EQ(failure_with(room, image), "the disk is on fire") << room;
  }
}

TEST(PngPixelWriter, MayBeAbandonedAtAnyRow) {
  const Image image = random_image({1000, 600}, {4, 8}, 14);
  for (const int rows : {0, 1, 131, 132, 300, 599, 600}) {
    Bytes file;
    const auto sink = memory_sink(file, "out.png");
    PictureHeader header = header_of(image);
    const auto writer = create_picture(png_codec(), *sink, header);
    writer->write(image.rows().part({0, rows}));
  }
}

}  // namespace
}  // namespace gpufilter::test
