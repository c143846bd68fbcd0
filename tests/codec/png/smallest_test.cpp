// Level 9 stores pixels in the fewest bits, and palettes and grey of few bits stay what they are.
// All files are read by an independently written decoder.

#include <tbb/global_control.h>

#include "codec/png/read/rows.hpp"
#include "codec/png/write/compression.hpp"
#include "support/instruction_sets.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

using Drawn = std::function<std::uint32_t(int x, int y, int channel)>;
using Row = std::vector<std::uint8_t>;

PngSettings settings_of_level(int level) {
  PngSettings settings;
  settings.options.set(png_level_option(), std::to_string(level));
  return settings;
}

// A sample of each channel by place.

Image drawn_image(ImageSize size, const PixelFormat& format, const Drawn& drawn) {
  Image image = random_image(size, format, 1);
  for (const auto [x, y, c] : each_sample(size, format.channels))
    set_sample(image, x, y, c, drawn(x, y, c));
  return image;
}

// The samples as the decoder would have them.
std::vector<std::uint16_t> rgba_of(const Image& image) {
  DecodedPng plain{
      image.width(), image.size().height, image.format().channels, image.format().depth, {}};
  for (const auto [x, y, c] : each_sample({plain.width, plain.height}, plain.channels))
    plain.samples.push_back(static_cast<std::uint16_t>(sample_at(image, x, y, c)));
  return as_rgba(plain);
}

// Depth and colour type of the file: "8 bits, type 2".
std::string stored_as(const Bytes& file) {
  const PngPart header = split_png(file).front();
  std::string text =
      std::to_string(header.data.at(8)) + " bits, type " + std::to_string(header.data.at(9));
  for (const PngPart& part : split_png(file)) {
    if (part.type == "tRNS") text += ", tRNS";
  }
  return text;
}

// Numbers without a pattern.
std::uint32_t scattered(int x, int y) {
  std::uint64_t mixed = static_cast<std::uint64_t>(y) * 100'003U + static_cast<std::uint64_t>(x);
  for (int i = 0; i < 2; ++i) {
    mixed = (mixed ^ mixed >> 29U) * 0xBF58476D1CE4E5B9U;
    mixed ^= mixed >> 32U;
  }
  return static_cast<std::uint32_t>(mixed >> 8U) & 65535U;
}

struct Stored {
  const char* name;
  PixelFormat format;
  Drawn drawn;
  const char* as;
};

const std::vector<Stored>& stored_pictures() {
  static const std::vector<Stored> pictures{
      {"black and white",
       {3, 8},
       [](int x, int y, int) { return scattered(x, y) % 2 * 255; },
       "1 bits, type 0"},
      {"two colours",
       {3, 8},
       [](int x, int y, int c) { return scattered(x, y) % 2 != 0 && c == 0 ? 255U : 7U; },
       "1 bits, type 3"},
      {"four colours",
       {3, 8},
       [](int x, int y, int c) { return c == 1 ? 3U : scattered(x, y) % 4 * 20; },
       "2 bits, type 3"},
      {"sixteen colours",
       {3, 8},
       [](int x, int y, int c) { return c == 1 ? 3U : scattered(x, y) % 16 * 9; },
       "4 bits, type 3"},
      {"256 colours",
       {3, 8},
       [](int x, int y, int c) { return c == 1 ? 3U : scattered(x, y) % 256; },
       "8 bits, type 3"},
      {"257 colours",
       {3, 8},
       [](int x, int y, int c) {
         return x == 96 && y == 66 ? 77U : c == 1 ? 3U : scattered(x, y) % 256;
       },
       "8 bits, type 2"},
      {"grey in colour",
       {3, 8},
       [](int x, int y, int) { return scattered(x, y) % 256; },
       "8 bits, type 0"},
      {"four grey values",
       {3, 8},
       [](int x, int y, int) { return scattered(x, y) % 4 * 85; },
       "2 bits, type 0"},
      {"sixteen grey values",
       {1, 8},
       [](int x, int y, int) { return scattered(x, y) % 16 * 17; },
       "4 bits, type 0"},
      {"odd grey values",
       {1, 8},
       [](int x, int y, int) { return 100 + scattered(x, y) % 2; },
       "1 bits, type 3"},
      {"grey until the last pixel",
       {3, 8},
       [](int x, int y, int c) {
         return x == 96 && y == 66 ? static_cast<std::uint32_t>(c) : scattered(x, y + c / 9) % 256;
       },
       "8 bits, type 2"},
      {"opaque",
       {4, 8},
       [](int x, int y, int c) { return c == 3 ? 255U : scattered(x + 97 * c, y) % 256; },
       "8 bits, type 2"},
      {"opaque grey",
       {2, 8},
       [](int x, int y, int c) { return c == 1 ? 255U : scattered(x, y) % 256; },
       "8 bits, type 0"},
      {"cut out",
       {4, 8},
       [](int x, int y, int c) {
         const bool clear = scattered(x, y) % 2 == 0;
         return c == 3 ? (clear ? 0U : 255U) : clear ? 0U : scattered(x + 97 * c, y) % 255 + 1;
       },
       "8 bits, type 2, tRNS"},
      {"cut out, with an opaque pixel of the hidden colour",
       {4, 8},
       [](int x, int y, int c) {
         const bool clear = scattered(x, y) % 2 == 0;
         if (x == 96 && y == 66) return c == 3 ? 255U : 0U;
         return c == 3 ? (clear ? 0U : 255U) : clear ? 0U : scattered(x + 97 * c, y) % 255 + 1;
       },
       "8 bits, type 6"},
      {"hidden colours differ",
       {4, 8},
       [](int x, int y, int c) {
         return c == 3 ? scattered(x, y) % 2 * 255 : scattered(x + 97 * c, y) % 256;
       },
       "8 bits, type 6"},
      {"few translucent colours",
       {4, 8},
       [](int x, int y, int c) { return scattered(x, y) % 3 * static_cast<unsigned>(40 + c); },
       "2 bits, type 3, tRNS"},
      {"translucent",
       {2, 8},
       [](int x, int y, int c) { return scattered(x + 97 * c, y) % 256; },
       "8 bits, type 4"},
      {"16 bits, grey and opaque",
       {4, 16},
       [](int x, int y, int c) { return c == 3 ? 65535U : scattered(x, y); },
       "16 bits, type 0"},
      {"16 bits, equal bytes",
       {3, 16},
       [](int x, int y, int c) { return scattered(x + 97 * c, y) % 256 * 257; },
       "16 bits, type 2"},
      {"16 bits, cut out",
       {4, 16},
       [](int x, int y, int c) {
         const bool clear = scattered(x, y) % 2 == 0;
         return c == 3 ? (clear ? 0U : 65535U) : clear ? 258U : scattered(x + 97 * c, y) | 1U;
       },
       "16 bits, type 2, tRNS"}};
  return pictures;
}

TEST(PngSmallest, StoresPixelsInTheFewestBitsAndKeepsPixelsOfEverySize) {
  for (const Stored& picture : stored_pictures()) {
    SCOPED_TRACE(picture.name);
    const Image image = drawn_image({98, 67}, picture.format, picture.drawn);
    const Bytes file = encode_png(image, settings_of_level(9));
    EXPECT_EQ(stored_as(file), picture.as);
    EXPECT_TRUE(as_rgba(decode_png(file)) == rgba_of(image));
    EXPECT_LE(file.size(), encode_png(image, settings_of_level(8)).size());
    PngSettings by_row = settings_of_level(9);
    by_row.rows_a_time = 1;
    EXPECT_TRUE(encode_png(image, by_row) == file);
  }
  // Awkward widths, whose last byte is not full, and the smallest pictures.
  for (const auto& [picture, size] :
       each_of(stored_pictures(), Sizes{{1, 1}, {1, 50}, {50, 1}, {7, 3}, {9, 8}})) {
    SCOPED_TRACE(picture.name);
    const Image image = drawn_image(size, picture.format, picture.drawn);
    const Bytes file = encode_png(image, settings_of_level(9));
    EXPECT_TRUE(as_rgba(decode_png(file)) == rgba_of(image));
    EXPECT_TRUE(as_rgba(decode_png(file)).size() == size.pixels() * 4);
  }
}

TEST(PngSmallest, KeepsColoursThatAProfileDescribes) {
  const auto with_profile = [](const char* space) {
    PngSettings settings = settings_of_level(9);
    settings.metadata.icc_profile = IccProfile{"a profile", Bytes(300, 7)};
    const std::string name = space;
    std::copy(name.begin(), name.end(), settings.metadata.icc_profile->data.begin() + 16);
    return settings;
  };
  const Image grey_rgb = drawn_image({97, 67}, {3, 8}, stored_pictures()[6].drawn);
  const Bytes colored = encode_png(grey_rgb, with_profile("RGB "));
  EXPECT_NE(stored_as(colored), "8 bits, type 0");
  EXPECT_TRUE(as_rgba(decode_png(colored)) == rgba_of(grey_rgb));
  EXPECT_TRUE(read_png(colored).header.metadata.icc_profile);
  const Image grey = drawn_image({97, 67}, {1, 8}, stored_pictures()[9].drawn);
  const Bytes still_grey = encode_png(grey, with_profile("GRAY"));
  EXPECT_EQ(stored_as(still_grey), "8 bits, type 0");
  EXPECT_TRUE(read_png(still_grey).header.metadata.icc_profile);
}

TEST(PngSmallest, WritesTheSameWithAnyThreads) {
  const Image image = drawn_image({1000, 800}, {4, 8}, [](int x, int y, int c) {
    return c == 3 ? 255U : (static_cast<unsigned>(x * (c + 1)) / 16 + scattered(y / 40, 0)) & 255U;
  });
  Bytes expected;
  for (const std::size_t count : {1, 3}) {
    const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, count);
    const Bytes file = encode_png(image, settings_of_level(9));
    if (expected.empty()) expected = file;
    EXPECT_TRUE(file == expected);
  }
  EXPECT_EQ(stored_as(expected), "8 bits, type 2");
  EXPECT_TRUE(as_rgba(decode_png(expected)) == rgba_of(image));
}

TEST(PngSmallest, StreamsWhatDoesNotFitIntoMemory) {
  const Image image = drawn_image({97, 67}, {3, 8}, stored_pictures()[0].drawn);
  PngSettings settings = settings_of_level(9);
  settings.options.limit_memory(97 * 67 * 3 * 4 - 1);
  const Bytes file = encode_png(image, settings);
  EXPECT_EQ(stored_as(file), "8 bits, type 2");
  EXPECT_TRUE(as_rgba(decode_png(file)) == rgba_of(image));
}

Image case_image(const char* name) {
  return read_picture(std::string(GPUFILTER_SOURCE "/tests/cases/") + name);
}

// optipng -o2 writes 799, 575 and 86 bytes.
TEST(PngSmallest, MatchesOptimizersOnFewColours) {
  EXPECT_LE(encode_png(case_image("png-few-colours.png"), settings_of_level(9)).size(), 799U);
  EXPECT_LE(encode_png(case_image("png-chessboard.png"), settings_of_level(9)).size(), 575U);
  EXPECT_LE(encode_png(case_image("png-one-colour.png"), settings_of_level(9)).size(), 86U);
}

void expect_no_larger_at_higher_levels(const Image& image, const FilePixels& file_pixels) {
  std::size_t size = std::numeric_limits<std::size_t>::max();
  for (const int level : {6, 7, 8, 9}) {
    PngSettings settings = settings_of_level(level);
    settings.file_pixels = file_pixels;
    const Bytes file = encode_png(image, settings);
    EXPECT_LE(file.size(), size) << "level " << level;
    EXPECT_TRUE(as_rgba(decode_png(file)) == rgba_of(image)) << "level " << level;
    size = file.size();
  }
}

TEST(PngSmallest, IsNoLargerThanTheLevelsBelow) {
  for (const char* name : {"png-few-colours.png", "png-chessboard.png", "png-one-colour.png"})
    expect_no_larger_at_higher_levels(case_image(name), {});
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  for (const auto& entry : std::filesystem::directory_iterator(shared_path("corpora/pngsuite"))) {
    const std::string file_name = entry.path().filename().string();
    if (!file_name.ends_with(".png") || file_name.starts_with("x")) continue;  // x: damaged
    SCOPED_TRACE(file_name);
    const ReadPng read = read_png(file_bytes(entry.path().string()));
    expect_no_larger_at_higher_levels(read.image, read.header.file_pixels);
  }
}

TEST(PngStorage, APaletteStaysOneAtEveryLevel) {
  PngSettings settings;
  settings.file_pixels = {"palette", 1, 8};
  for (int level = 0; level <= 8; ++level) {
    SCOPED_TRACE(level);
    settings.options.set(png_level_option(), std::to_string(level));
    const auto drawn = [](int x, int y, int c) {
      return scattered(x, y) % 200 + (c == 2 ? 9U : 0);
    };
    const Image image = drawn_image({97, 67}, {3, 8}, drawn);
    const Bytes file = encode_png(image, settings);
    EXPECT_EQ(stored_as(file), "8 bits, type 3");
    EXPECT_TRUE(same_pixels(read_png(file).image, image));
    // Palettes keep alpha even if all of it is opaque.
    for (const unsigned alpha : {255U, 90U}) {
      const Image with_alpha = drawn_image({97, 67}, {4, 8}, [&](int x, int y, int c) {
        return c == 3 ? (x > 50 ? alpha : 255U) : drawn(x, y, c);
      });
      const Bytes second = encode_png(with_alpha, settings);
      EXPECT_TRUE(same_pixels(read_png(second).image, with_alpha));
      if (alpha == 255) {
        EXPECT_EQ(stored_as(second), "8 bits, type 3, tRNS");
      }
    }
  }
}

// A filter made more colours, at the beginning or at the very end.
TEST(PngStorage, APaletteThatIsTooSmallBecomesColours) {
  PngSettings settings;
  settings.file_pixels = {"palette", 1, 8};
  for (const int last : {0, 66}) {
    const Image image = drawn_image({97, 67}, {3, 8}, [last](int x, int y, int c) {
      return y == last && x == 96 ? 77U : c == 1 ? 3U : scattered(x, y) % 256;
    });
    const Bytes file = encode_png(image, settings);
    EXPECT_EQ(stored_as(file), "8 bits, type 2");
    EXPECT_TRUE(same_pixels(read_png(file).image, image));
  }
}

TEST(PngStorage, GreyDoesNotBecomeAPalette) {
  PngSettings settings;
  settings.file_pixels = {"palette", 1, 4};
  const Image image = drawn_image({97, 67}, {1, 8}, stored_pictures()[9].drawn);
  EXPECT_EQ(stored_as(encode_png(image, settings)), "8 bits, type 0");
}

TEST(PngStorage, GreyOfFewBitsStaysSo) {
  PngSettings settings;
  for (const int bits : {1, 2, 4}) {
    settings.file_pixels = {"grey", 1, bits};
    const unsigned most = (1U << static_cast<unsigned>(bits)) - 1;
    const Image image = drawn_image({97, 67}, {1, 8}, [most](int x, int y, int) {
      return scattered(x, y) % (most + 1) * (255 / most);
    });
    const Bytes file = encode_png(image, settings);
    EXPECT_EQ(stored_as(file), std::to_string(bits) + " bits, type 0");
    EXPECT_TRUE(same_pixels(read_png(file).image, image));
  }
  const Image image = drawn_image({97, 67}, {1, 8}, [](int x, int y, int) {
    return x == 96 && y == 66 ? 100U : scattered(x, y) % 2 * 255;
  });
  EXPECT_EQ(stored_as(encode_png(image, settings)), "8 bits, type 0");
  EXPECT_TRUE(same_pixels(read_png(encode_png(image, settings)).image, image));
}

// PNG's row filters in both directions, against the formulas of the PNG specification.

constexpr std::size_t distances[] = {1, 2, 3, 4, 6, 8};

enum class RowContent { random, smooth, extreme };

Row make_row(std::size_t size, RowContent content, std::mt19937& random) {
  Row row(size);
  int value = 128;
  for (std::uint8_t& byte : row) {
    const auto number = static_cast<int>(random() >> 8U);
    value = std::clamp(value + number % 7 - 3, 0, 255);
    byte = static_cast<std::uint8_t>(content == RowContent::random   ? number
                                     : content == RowContent::smooth ? value
                                                                     : number % 2 * 255);
  }
  return row;
}

// Section 9 of the specification, word by word.
int prediction(int filter, int left, int up, int corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) / 2;
    case 4: {
      const int estimate = left + up - corner;
      const int to_left = std::abs(estimate - left);
      const int to_up = std::abs(estimate - up);
      const int to_corner = std::abs(estimate - corner);
      if (to_left <= to_up && to_left <= to_corner) return left;
      return to_up <= to_corner ? up : corner;
    }
    default:
      return 0;
  }
}

Row expected_filtered(int filter, const Row& row, const Row& above, std::size_t distance) {
  Row filtered{static_cast<std::uint8_t>(filter)};
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < distance ? 0 : row[i - distance];
    const int corner = i < distance ? 0 : above[i - distance];
    filtered.push_back(
        static_cast<std::uint8_t>(row[i] - prediction(filter, left, above[i], corner)));
  }
  return filtered;
}

Row filtered_by(PngFilter filter, const Row& row, const Row& above, std::size_t distance) {
  Row filtered(row.size() + 1, 0xA5);
  png_filter_row(filter, row, above.data(), distance, filtered.data());
  return filtered;
}

PngRowShape shape_of(std::size_t row_bytes, std::size_t distance) {
  const std::size_t sample = distance > 4 ? 2 : 1;
  return {{static_cast<int>(row_bytes / distance), 1},
          {static_cast<int>(distance / sample), static_cast<int>(8 * sample)}};
}

Row unfiltered(const Row& filtered, const Row& above, std::size_t distance) {
  Row padded = filtered;
  Row padded_above = above;
  padded.resize(filtered.size() + unfilter_slack, 0x5A);
  padded_above.resize(above.size() + unfilter_slack, 0x5A);
  Row row(filtered.size() - 1 + unfilter_slack, 0xA5);
  EXPECT_TRUE(png_unfilter_rows(shape_of(filtered.size() - 1, distance), 1, padded.data(),
                                padded_above.data(), row.data()));
  row.resize(filtered.size() - 1);
  return row;
}

void expect_specified_filters_and_back() {
  std::mt19937 random(1);
  for (const auto& [distance, pixels, content] :
       each_of(distances, std::vector<std::size_t>{1, 2, 3, 15, 16, 17, 33, 1000},
               std::array{RowContent::random, RowContent::smooth, RowContent::extreme})) {
    const Row row = make_row(pixels * distance, content, random);
    const Row above = make_row(pixels * distance, content, random);
    for (int filter = 0; filter < 5; ++filter) {
      const Row filtered = filtered_by(PngFilter(filter), row, above, distance);
      ASSERT_EQ(filtered, expected_filtered(filter, row, above, distance))
          << "filter " << filter << ", " << pixels << " pixels of " << distance << " bytes";
      ASSERT_EQ(unfiltered(filtered, above, distance), row)
          << "filter " << filter << ", " << pixels << " pixels of " << distance << " bytes";
    }
  }
}

TEST(PngFilterTest, DoesWhatTheSpecificationSaysAndBack) {
  with_each_instruction_set(expect_specified_filters_and_back);
}

// Every difference of three neighbours that may decide, one triple per row.
TEST(PngFilterTest, PredictsPaethForEveryTriple) {
  for (int left = 0; left < 256; left += 3) {
    for (int up = 0; up < 256; ++up) {
      Row row;
      Row above;
      for (int corner = 0; corner < 256; ++corner) {
        row.insert(row.end(), {static_cast<std::uint8_t>(left), 77});
        above.insert(above.end(),
                     {static_cast<std::uint8_t>(corner), static_cast<std::uint8_t>(up)});
      }
      const Row filtered = filtered_by(PngFilter::paeth, row, above, 1);
      ASSERT_EQ(filtered, expected_filtered(4, row, above, 1)) << left << " " << up;
      ASSERT_EQ(unfiltered(filtered, above, 1), row) << left << " " << up;
    }
  }
}

// `count` rows filtered one after the other, a third of them at least by Paeth; `rows` are what
// they are made of, each behind the one above it.
Row filtered_one_by_one(std::vector<Row>& rows, std::size_t size, std::size_t count,
                        std::size_t distance, RowContent content, std::mt19937& random) {
  rows = {make_row(size, content, random)};
  Row filtered;
  for (std::size_t y = 0; y < count; ++y) {
    rows.push_back(make_row(size, content, random));
    const int filter = random() % 3 == 0 ? static_cast<int>(random() % 5) : 4;
    const Row row = expected_filtered(filter, rows[y + 1], rows[y], distance);
    filtered.insert(filtered.end(), row.begin(), row.end());
  }
  filtered.resize(filtered.size() + unfilter_slack, 0x5A);
  return filtered;
}

TEST(PngFilterTest, UndoesManyRowsAsOneByOne) {
  std::mt19937 random(3);
  for (const auto& [distance, pixels, count, content] :
       each_of(distances, std::vector<std::size_t>{1, 2, 3, 16, 33, 500},
               std::vector<std::size_t>{1, 2, 3, 4, 11},
               std::array{RowContent::random, RowContent::smooth, RowContent::extreme})) {
    const std::size_t size = pixels * distance;
    std::vector<Row> rows;
    const Row filtered = filtered_one_by_one(rows, size, count, distance, content, random);
    Row above = rows[0];
    above.resize(size + unfilter_slack, 0x5A);
    const std::size_t pitch = size + unfilter_slack;
    Row undone(count * pitch, 0xA5);
    ASSERT_TRUE(png_unfilter_rows(shape_of(size, distance), count, filtered.data(), above.data(),
                                  undone.data()));
    for (std::size_t y = 0; y < count; ++y) {
      ASSERT_TRUE(std::equal(rows[y + 1].begin(), rows[y + 1].end(),
                             undone.begin() + static_cast<std::ptrdiff_t>(y * pitch)))
          << "row " << y << " of " << count << ", " << pixels << " pixels of " << distance;
    }
  }
}

TEST(PngFilterTest, UndoesNoRowsWithAFilterThatIsNoneAndNeedsNoRowAboveForNoneAndSub) {
  constexpr std::size_t size = 9;
  const Row above(size + unfilter_slack, 1);
  for (std::size_t wrong = 0; wrong < 5; ++wrong) {
    Row filtered(5 * (size + 1) + unfilter_slack, 4);
    Row undone(5 * (size + unfilter_slack));
    filtered[wrong * (size + 1)] = 5;
    EXPECT_FALSE(
        png_unfilter_rows(shape_of(size, 3), 5, filtered.data(), above.data(), undone.data()))
        << wrong;
  }
  std::mt19937 random(4);
  const Row row = make_row(60, RowContent::random, random);
  for (const PngFilter filter : {PngFilter::none, PngFilter::sub}) {
    Row filtered(61, 0xA5);
    png_filter_row(filter, row, nullptr, 3, filtered.data());
    EXPECT_EQ(filtered, expected_filtered(static_cast<int>(filter), row, Row(60, 99), 3));
  }
}

std::uint64_t sum_of_residues(const Row& filtered, std::size_t distance) {
  std::uint64_t sum = 0;
  for (std::size_t i = 1 + distance; i < filtered.size(); ++i)
    sum += std::min<unsigned>(filtered[i], 256U - filtered[i]);
  return sum;
}

// Small differences, for which the residue is the difference and nothing wraps around.
TEST(PngFilterTest, TakesTheFilterThatLeavesLeast) {
  std::mt19937 random(2);
  const Row ramp_across = [] {
    Row row;
    for (int i = 0; i < 300; ++i)
      row.push_back(static_cast<std::uint8_t>(i * 200 / 300));
    return row;
  }();
  const Row smooth = make_row(300, RowContent::smooth, random);
  const Row other = make_row(300, RowContent::smooth, random);
  Row near_smooth = smooth;
  for (std::uint8_t& byte : near_smooth)
    byte = static_cast<std::uint8_t>(byte ^ (random() & 1U));
  EXPECT_EQ(filtered_by(PngFilter::best, ramp_across, Row(300, 0), 3)[0], 1);
  EXPECT_EQ(filtered_by(PngFilter::best, near_smooth, smooth, 3)[0], 2);
  for (const Row& above : {smooth, other, near_smooth, ramp_across}) {
    const Row best = filtered_by(PngFilter::best, smooth, above, 3);
    for (const int filter : {1, 2, 3, 4}) {
      EXPECT_LE(sum_of_residues(best, 3),
                sum_of_residues(filtered_by(PngFilter(filter), smooth, above, 3), 3));
    }
  }
}

TEST(PngFilterTest, TakesTheSameFilterWithEachInstructionSet) {
  std::mt19937 random(5);
  for (const auto& [distance, content] : each_of(
           distances, std::array{RowContent::random, RowContent::smooth, RowContent::extreme})) {
    const Row row = make_row(1001 * distance, content, random);
    const Row above = make_row(1001 * distance, content, random);
    std::vector<Row> results;
    with_each_instruction_set(
        [&] { results.push_back(filtered_by(PngFilter::best, row, above, distance)); });
    for (const Row& result : results)
      EXPECT_EQ(result, results.front());
  }
}

TEST(PngFilterTest, KnowsFiveFilters) {
  Row filtered(11 + unfilter_slack, 1);
  const Row above(10 + unfilter_slack, 1);
  Row row(10 + unfilter_slack);
  for (int filter = 5; filter < 256; ++filter) {
    filtered[0] = static_cast<std::uint8_t>(filter);
    EXPECT_FALSE(png_unfilter_rows(shape_of(10, 1), 1, filtered.data(), above.data(), row.data()));
  }
}

}  // namespace
}  // namespace gpufilter::test
