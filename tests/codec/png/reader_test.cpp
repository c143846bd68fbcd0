// The PNG reader against an independently written decoder, and its use of the source.

#include <tbb/global_control.h>

#include "support/png_in_memory.hpp"
#include "support/png_pieces.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

// PngSuite's files; the corrupt ones have names that begin with x.
std::vector<std::string> suite(bool corrupt) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(shared_path("corpora/pngsuite"))) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() == ".png" && (name[0] == 'x') == corrupt) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

::testing::AssertionResult same_samples(const DecodedPng& expected, const Image& image) {
  if (ImageSize{expected.width, expected.height} != image.size() ||
      PixelFormat{expected.channels, expected.depth} != image.format()) {
    return ::testing::AssertionFailure()
           << "expected " << expected.width << "x" << expected.height << " of "
           << to_string(PixelFormat{expected.channels, expected.depth}) << ", got "
           << image.size().width << "x" << image.size().height << " of "
           << to_string(image.format());
  }
  std::size_t i = 0;
  for (const auto [x, y, c] : each_sample({expected.width, expected.height}, expected.channels)) {
    const std::uint32_t sample = sample_at(image, x, y, c);
    if (sample != expected.samples[i]) {
      return ::testing::AssertionFailure()
             << "at x " << x << ", y " << y << ", channel " << c << ": expected "
             << expected.samples[i] << ", got " << sample;
    }
    ++i;
  }
  return ::testing::AssertionSuccess();
}

bool is_one_line_about(const std::string& message, const std::string& name) {
  return message.starts_with(name + ": ") && message.size() > name.size() + 2 &&
         message.find('\n') == std::string::npos;
}

TEST(PngReader, DecodesEveryValidPictureOfPngSuite) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  const auto paths = suite(false);
  ASSERT_EQ(paths.size(), 161U);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const Bytes file = file_bytes(path);
    const ReadPng picture = read_png(file);
    EXPECT_EQ(picture.header.file_format, &png_codec());
    EXPECT_TRUE(same_samples(decode_png(file), picture.image));
  }
}

TEST(PngReader, RefusesEveryCorruptPictureOfPngSuite) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  const auto paths = suite(true);
  ASSERT_EQ(paths.size(), 14U);
  for (const std::string& path : paths) {
    const std::string message = refusal(file_bytes(path));
    EXPECT_TRUE(is_one_line_about(message, "in.png")) << path << ": \"" << message << "\"";
  }
}

TEST(PngReader, DecodesPhotographs) {
  GPUFILTER_REQUIRE_SHARED("photos");
  for (const char* name : {"kodak-03.png", "kodak-07.png", "kodak-19.png", "kodak-23.png"}) {
    SCOPED_TRACE(name);
    const Bytes file = file_bytes(shared_path("photos") / name);
    EXPECT_TRUE(same_samples(decode_png(file), read_png(file).image));
  }
}

TEST(PngReader, MakesTransparencyAlphaInEveryColorType) {
  const PngPart palette{"PLTE", {1, 2, 3, 40, 50, 60, 70, 80, 90}};
  const std::vector<Bytes> files{
      file_of_rows(png_header(8, 1, 1, 0), {{"tRNS", {0, 1}}}, {0, 0xa6}),
      file_of_rows(png_header(4, 1, 2, 0), {{"tRNS", {0, 2}}}, {0, 0x1b}),
      file_of_rows(png_header(3, 1, 8, 0), {{"tRNS", {0, 7}}}, {0, 7, 8, 7}),
      file_of_rows(png_header(2, 1, 16, 0), {{"tRNS", {1, 2}}}, {0, 1, 2, 1, 3}),
      file_of_rows(png_header(2, 1, 8, 2), {{"tRNS", {0, 1, 0, 2, 0, 3}}}, {0, 1, 2, 3, 1, 2, 4}),
      file_of_rows(png_header(2, 1, 16, 2), {{"tRNS", {9, 1, 0, 2, 0, 3}}},
                   {0, 9, 1, 0, 2, 0, 3, 8, 1, 0, 2, 0, 3}),
      file_of_rows(png_header(3, 1, 8, 3), {palette, {"tRNS", {5, 128}}}, {0, 0, 1, 2})};
  for (std::size_t i = 0; i < files.size(); ++i) {
    SCOPED_TRACE(i);
    const ReadPng picture = read_png(files[i]);
    EXPECT_TRUE(picture.header.format.has_alpha());
    EXPECT_TRUE(same_samples(decode_png(files[i]), picture.image));
  }
}

TEST(PngReader, IgnoresWhatFollowsTheEnd) {
  Bytes file = file_of_rows(png_header(1, 1, 8, 0), {}, {0, 77});
  file.insert(file.end(), {'m', 'o', 'r', 'e'});
  EXPECT_EQ(sample_at(read_png(file).image, 0, 0, 0), 77U);
}

// Counts the bytes read from it, and fails at a given position.
class WatchedSource final : public ByteSource {
 public:
  WatchedSource(Bytes data, std::size_t& read, std::size_t fails_at)
      : source_(memory_source(std::move(data), "in.png")), read_(read), fails_at_(fails_at) {}
  [[nodiscard]] const std::string& name() const override { return source_->name(); }
  std::size_t read(std::span<std::uint8_t> buffer) override {
    if (read_ + buffer.size() > fails_at_) throw PictureError("in.png", "the disk is on fire");
    const std::size_t count = source_->read(buffer);
    read_ += count;
    return count;
  }
  std::span<const std::uint8_t> peek(std::size_t count) override { return source_->peek(count); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t& read_;
  std::size_t fails_at_;
};

// Reads `file`, of `image`, `step` rows at a time; never more than `ahead` bytes ahead of them.
void expect_streamed(const Bytes& file, const Image& image, int step, std::size_t ahead) {
  std::size_t read = 0;
  const auto reader = open_picture(std::make_unique<WatchedSource>(file, read, file.size()), {});
  const int height = image.size().height;
  Image result = poisoned_image(image.size(), image.format());
  std::size_t farthest = 0;
  for (int y = 0; y < height; y += step) {
    const int end = std::min(y + step, height);
    reader->read(result.rows().part({y, end}));
    const std::size_t decoded =
        static_cast<std::size_t>(end) * file.size() / static_cast<std::size_t>(height);
    farthest = std::max(farthest, std::max(read, decoded) - decoded);
  }
  EXPECT_LE(farthest, ahead) << step << " rows a time";
  (void)reader->finish();
  EXPECT_EQ(read, file.size());
  EXPECT_TRUE(same_pixels(result, image)) << step << " rows a time";
}

TEST(PngReader, StreamsAndReadsInAnyBands) {
  constexpr std::size_t kibibyte = 1024;
  // The bytes inflated at a time, ISA-L's look-ahead, and 16 KiB of input.
  constexpr std::size_t ahead = (256 + 64 + 16 + 4) * kibibyte;
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
  const Image small = random_image({301, 1000}, {3, 8}, 1);
  const Bytes small_file = without_index(encode_png(small, {}));
  const Image large = random_image({601, 6000}, {3, 8}, 1);
  const Bytes large_file = encode_png(large, {});
  for (const int step : {1, 7, 1000}) {
    expect_streamed(small_file, small, step, ahead);
    // Another thread inflates the next rows.
    expect_streamed(without_index(large_file), large, step, ahead + 256 * kibibyte);
    // Four pieces and one a thread, of 512 KiB, behind the one that is read.
    expect_streamed(large_file, large, step, 7 * 512 * kibibyte);
  }
}

TEST(PngReader, ReadsInterlacedPicturesInAnyBands) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  const Bytes file = file_bytes(shared_path("corpora/pngsuite/basi6a16.png"));
  const ReadPng whole = read_png(file);
  for (const int step : {1, 7}) {
    const auto reader = open_picture(memory_source(file, "in.png"));
    Image result = poisoned_image(whole.image.size(), whole.image.format());
    for (int y = 0; y < 32; y += step)
      reader->read(result.rows().part({y, std::min(y + step, 32)}));
    (void)reader->finish();
    EXPECT_TRUE(same_pixels(result, whole.image)) << step << " rows a time";
  }
}

TEST(PngReader, PassesOnWhatTheSourceThrows) {
  const Bytes file = encode_png(random_image({100, 100}, {4, 16}, 2), {});
  for (std::size_t fails_at = 0; fails_at < file.size(); fails_at += 997) {
    std::size_t read = 0;
    const auto decode = [&] {
      const auto reader = open_picture(std::make_unique<WatchedSource>(file, read, fails_at), {});
      Image result(reader->header().size, reader->header().format);
      reader->read(result.rows());
      return reader->finish();
    };
    EXPECT_EQ(objection_to<PictureError>(decode), "in.png: the disk is on fire") << fails_at;
  }
}

// The two decoders of PNG pixels, compared with libpng.

TEST(PngDecoders, AgreeOnPngSuite) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared_path("corpora/pngsuite"))) {
    if (entry.path().extension() != ".png") continue;
    EXPECT_TRUE(both_agree(file_bytes(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 175);
}

TEST(PngDecoders, AgreeOnPhotographs) {
  GPUFILTER_REQUIRE_SHARED("photos");
  for (const char* name : {"kodak-03.png", "kodak-07.png", "kodak-19.png", "kodak-23.png"})
    EXPECT_TRUE(both_agree(file_bytes(shared_path("photos") / name))) << name;
}

// A picture that we write in every format, with every filter among its rows.
Bytes picture_file(const PixelFormat& format, ImageSize size = {61, 43}) {
  Image image = random_image(size, format, 5);
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const int slope = y % 4 == 0 ? x : y % 4 == 1 ? y : x * y / 16;
    const auto noise = sample_at(image, x, y, c) % 5;
    set_sample(image, x, y, c,
               (static_cast<std::uint32_t>(slope + 40 * c) + noise) & format.max_sample());
  }
  PngSettings settings;
  settings.options.set(png_level_option(), "4");
  return encode_png(image, settings);
}

TEST(PngDecoders, AgreeOnEveryFormatAndAgreeOnEveryPrefix) {
  for (const PixelFormat& format : all_formats()) {
    const Bytes file = picture_file(format);
    EXPECT_TRUE(is_accepted(file)) << to_string(format);
    EXPECT_TRUE(both_agree(file)) << to_string(format);
    // Three pieces, which ours reads side by side.
    const ImageSize larger{1201 / static_cast<int>(format.bytes_per_pixel()), 1000};
    EXPECT_TRUE(both_agree(picture_file(format, larger))) << to_string(format);
  }
  const Bytes file = picture_file({3, 8});
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Bytes prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_TRUE(both_agree(prefix)) << size << " bytes";
    ASSERT_FALSE(is_accepted(prefix)) << size << " bytes";
  }
}

TEST(PngDecoders, AgreeOnEveryFlippedByteAndAgreeOnDamagedCompressedData) {
  const Bytes file = picture_file({2, 16}, {31, 17});
  for (std::size_t i = 0; i < file.size(); ++i) {
    Bytes damaged = file;
    damaged[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
    ASSERT_TRUE(both_agree(damaged)) << "byte " << i;
  }
  // The chunks' checksums are corrected, so that only the compressed data shows the damage.
  std::mt19937 random(3);
  for (const PixelFormat& format : all_formats()) {
    const std::vector<PngPart> parts = split_png(picture_file(format));
    for (int round = 0; round < 200; ++round) {
      std::vector<PngPart> damaged = parts;
      Bytes& data = damaged.at(1).data;
      for (int i = 0; i <= round % 3; ++i)
        data.at(random() % data.size()) = static_cast<std::uint8_t>(random());
      ASSERT_TRUE(both_agree(join_png(damaged))) << to_string(format) << ", round " << round;
    }
  }
}

TEST(PngDecoders, AgreeHoweverTheDataAreCutIntoChunks) {
  const Bytes data = deflated(filtered_rows());
  for (std::size_t cut = 0; cut <= data.size(); ++cut) {
    const auto middle = data.begin() + static_cast<std::ptrdiff_t>(cut);
    const Bytes file = file_of({{data.begin(), middle}, {}, {middle, data.end()}, {}});
    ASSERT_TRUE(is_accepted(file)) << cut;
    ASSERT_TRUE(both_agree(file)) << cut;
  }
  std::vector<Bytes> single_bytes;
  for (const std::uint8_t byte : data)
    single_bytes.push_back({byte});
  EXPECT_TRUE(both_agree(file_of(single_bytes)));
  EXPECT_TRUE(is_accepted(file_of(single_bytes)));
}

TEST(PngDecoders, AgreeOnTooMuchAndTooLittle) {
  const Bytes data = deflated(filtered_rows());
  const Bytes longer = deflated(filtered_rows(7));
  Bytes one_more = filtered_rows();
  one_more.push_back(0);
  const std::vector<std::vector<Bytes>> refused{{},
                                                {{}},
                                                {deflated(filtered_rows(5))},
                                                {longer},
                                                {deflated(one_more)},
                                                {{data.begin(), data.end() - 1}},
                                                {{data.begin(), data.end() - 4}},
                                                {{data.begin(), data.end() - 5}},
                                                {{data.begin(), data.begin() + 1}},
                                                {{data.begin(), data.begin() + 2}}};
  for (std::size_t i = 0; i < refused.size(); ++i) {
    EXPECT_TRUE(both_agree(file_of(refused[i]))) << i;
    EXPECT_FALSE(is_accepted(file_of(refused[i]))) << i;
  }
  Bytes extra = data;
  extra.insert(extra.end(), 40'000, 7);
  EXPECT_TRUE(is_accepted(file_of({extra})));
  EXPECT_TRUE(both_agree(file_of({extra})));
  EXPECT_TRUE(both_agree(file_of({data, extra})));
}

TEST(PngDecoders, AgreeOnChunksBetweenAndBehind) {
  const Bytes data = deflated(filtered_rows());
  const Bytes begin(data.begin(), data.begin() + 5);
  const Bytes end(data.begin() + 5, data.end());
  const PngPart text{"tEXt", {'a', 0, 'b'}};
  const PngPart critical{"ABCD", {1}};
  EXPECT_TRUE(both_agree(file_of({begin}, {text, {"IDAT", end}})));
  EXPECT_FALSE(is_accepted(file_of({begin}, {text, {"IDAT", end}})));
  for (const PngPart& part : {text, critical, PngPart{"PLTE", {1, 2, 3}}, PngPart{"IDAT", data},
                              PngPart{"tRNS", {0, 1}}, PngPart{"IHDR", png_header(5, 6, 8, 0)}}) {
    EXPECT_TRUE(both_agree(file_of({data}, {part}))) << part.type;
    EXPECT_TRUE(both_agree(file_of({data}, {text, part}))) << part.type;
  }
  EXPECT_TRUE(is_accepted(file_of({data}, {text})));
  EXPECT_FALSE(is_accepted(file_of({data}, {critical})));
}

TEST(PngDecoders, AgreeOnFiltersThatAreNoneAndAgreeOnEveryHeaderOfTheCompressedData) {
  for (const int filter : {5, 6, 128, 255}) {
    Bytes rows = filtered_rows();
    rows.at(12) = static_cast<std::uint8_t>(filter);
    EXPECT_TRUE(both_agree(file_of({deflated(rows)}))) << filter;
    EXPECT_FALSE(is_accepted(file_of({deflated(rows)}))) << filter;
  }
  // Other windows, methods, dictionaries and checks of zlib's header.
  const Bytes data = deflated(filtered_rows());
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; second += first % 16 == 8 ? 1 : 51) {
      Bytes changed = data;
      changed[0] = static_cast<std::uint8_t>(first);
      changed[1] = static_cast<std::uint8_t>(second);
      ASSERT_TRUE(both_agree(file_of({changed}))) << first << " " << second;
    }
  }
}

// Rows of random residues with every filter in turn, deflated by one of zlib's methods.
Bytes random_stream(int width, int height, const PixelFormat& format, std::mt19937& random) {
  const std::size_t row_bytes = static_cast<std::size_t>(width) * format.bytes_per_pixel();
  Bytes plain;
  for (int y = 0; y < height; ++y) {
    plain.push_back(static_cast<std::uint8_t>(random() % 5));
    const auto range = std::array<unsigned, 3>{2, 9, 256}.at(random() % 3);
    for (std::size_t i = 0; i < row_bytes; ++i)
      plain.push_back(static_cast<std::uint8_t>(random() % range + 255));
  }
  return deflated(plain, static_cast<int>(random() % 10));
}

Bytes file_of_stream(ImageSize size, const PixelFormat& format, const Bytes& stream,
                     std::size_t longest_idat, std::mt19937& random) {
  const int color_type = (format.channels >= 3 ? 2 : 0) + (format.channels % 2 == 0 ? 4 : 0);
  std::vector<PngPart> parts{
      {"IHDR", png_header(static_cast<std::uint32_t>(size.width),
                          static_cast<std::uint32_t>(size.height), format.depth, color_type)},
      {"tEXt", {'a', 0, 'b'}}};
  for (std::size_t begin = 0; begin < stream.size();) {
    const std::size_t count = std::min(random() % (longest_idat + 1), stream.size() - begin);
    const auto first = stream.begin() + static_cast<std::ptrdiff_t>(begin);
    parts.push_back({"IDAT", {first, first + static_cast<std::ptrdiff_t>(count)}});
    begin += count;
  }
  parts.push_back({"IEND", {}});
  return join_png(parts);
}

TEST(PngDecoders, AgreeOnEveryWidthFilterAndCut) {
  std::mt19937 random(4);
  for (const PixelFormat& format : all_formats()) {
    for (int width = 1; width <= 20; ++width) {
      for (const int height : {1, 2, 7}) {
        const Bytes stream = random_stream(width, height, format, random);
        const Bytes file =
            file_of_stream({width, height}, format, stream, 1 + random() % 40, random);
        ASSERT_TRUE(is_accepted(file)) << to_string(format) << ", " << width << "x" << height;
        ASSERT_TRUE(both_agree(file)) << to_string(format) << ", " << width << "x" << height;
      }
    }
  }
}

// Longer than the reader's buffers, split, damaged and truncated anywhere, with checksums that hide
// it.
TEST(PngDecoders, AgreeOnLongStreamsWholeAndDamaged) {
  std::mt19937 random(5);
  for (const PixelFormat& format : all_formats()) {
    const ImageSize size{120'000 / static_cast<int>(format.bytes_per_pixel()), 5};
    const Bytes stream = random_stream(size.width, size.height, format, random);
    for (const std::size_t longest : {std::size_t{50}, std::size_t{20'000}, stream.size()}) {
      const Bytes file = file_of_stream(size, format, stream, longest, random);
      ASSERT_TRUE(is_accepted(file)) << to_string(format) << ", IDATs of " << longest;
      ASSERT_TRUE(both_agree(file)) << to_string(format) << ", IDATs of " << longest;
    }
    for (int round = 0; round < 25; ++round) {
      Bytes damaged = stream;
      if (round % 5 == 0) {
        damaged.resize(2 + random() % (stream.size() - 2));
      } else {
        damaged.at(2 + random() % (stream.size() - 2)) ^=
            static_cast<std::uint8_t>(1U << random() % 8);
      }
      const Bytes file = file_of_stream(size, format, damaged, 30'000, random);
      ASSERT_TRUE(both_agree(file)) << to_string(format) << ", round " << round;
    }
  }
}

// The reader takes 16 KiB at a time; the end of the compressed data, their checksum above all, may
// lie on both sides of that.
TEST(PngDecoders, AgreeWhereverTheReadersInputEnds) {
  constexpr std::size_t input = 16384;
  std::mt19937 random(8);
  Bytes noise(18'000);
  for (std::uint8_t& byte : noise)
    byte = static_cast<std::uint8_t>(random() % 200);
  noise[0] = 0;  // the filter
  for (const int level : {0, 6}) {
    std::vector<bool> seen(input);
    for (std::size_t size = 16'300; size < noise.size(); ++size) {
      const Bytes data = deflated(std::span(noise).first(size), level);
      const std::size_t behind = data.size() % input;
      if (data.size() < input - 8 || (behind > 8 && behind < input - 8)) continue;
      seen.at(behind) = true;
      const auto file = [&](const Bytes& stream) {
        return join_png(std::vector<PngPart>{
            {"IHDR", png_header(static_cast<std::uint32_t>(size - 1), 1, 8, 0)},
            {"IDAT", stream},
            {"IEND", {}}});
      };
      EXPECT_TRUE(is_accepted(file(data))) << behind;
      EXPECT_TRUE(both_agree(file(data))) << behind;
      Bytes wrong = data;
      wrong.back() ^= 1U;
      EXPECT_FALSE(is_accepted(file(wrong))) << behind;
      EXPECT_TRUE(both_agree(file(wrong))) << behind;
    }
    EXPECT_GE(std::count(seen.begin(), seen.end(), true), 12) << level;
  }
}

// A match that reaches back behind the beginning: fixed codes, length 3, distance 2 after one byte.
TEST(PngDecoders, AgreeOnMatchesBeforeTheBeginning) {
  for (const int second : {0x04, 0x06, 0x44, 0x84}) {
    const Bytes data{0x78, 0x9c, 0x63, static_cast<std::uint8_t>(second), 0x22, 0, 0, 0, 0, 1};
    EXPECT_TRUE(both_agree(file_of({data})));
    EXPECT_FALSE(is_accepted(file_of({data})));
  }
}

TEST(PngDecoders, AgreeOnStoredBlocksAndEveryLevelOfZlib) {
  const Image image = random_image({300, 200}, {3, 8}, 6);
  Bytes plain;
  for (int y = 0; y < 200; ++y) {
    plain.push_back(static_cast<std::uint8_t>(y % 5));
    const std::uint8_t* row = image.rows().row(y);
    std::transform(row, row + 900, std::back_inserter(plain), [y](std::uint8_t byte) {
      return static_cast<std::uint8_t>(byte % (y / 2 + 1));
    });
  }
  for (int level = 0; level <= 9; ++level) {
    const Bytes file = join_png(std::vector<PngPart>{
        {"IHDR", png_header(300, 200, 8, 2)}, {"IDAT", deflated(plain, level)}, {"IEND", {}}});
    EXPECT_TRUE(is_accepted(file)) << level;
    EXPECT_TRUE(both_agree(file)) << level;
  }
}

// Files on which our decoder of PNG pixels and libpng differ: all that are known.

// Bits as deflate packs them.
class BitWriter {
 public:
  void put(unsigned value, int count) {
    for (int i = 0; i < count; ++i, ++used_) {
      if (used_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | ((value >> i & 1U) << used_ % 8));
    }
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  unsigned used_ = 0;
};

// A known difference: once libpng has all pixels, it looks at one more IDAT chunk for the checksum
// of the pixels and does not check one that is still incomplete then. Nor does it see excess data
// that begin later.
TEST(PngDecoders, DifferInChecksumsThatTakeThreeChunks) {
  Bytes data = deflated(filtered_rows());
  data.back() ^= 1U;
  const auto first = data.end() - 2;
  const auto second = data.end() - 1;
  const Bytes in_three = file_of({{data.begin(), first}, {first, second}, {second, data.end()}});
  for (const Bytes& file :
       {file_of({data}), file_of({{data.begin(), second}, {second, data.end()}})}) {
    EXPECT_TRUE(both_agree(file));
    EXPECT_FALSE(is_accepted(file));
  }
  EXPECT_EQ(decode(in_three, PngDecoder::pieces).refusal,
            "in.png: damaged PNG: IDAT: incorrect data check");
  EXPECT_EQ(decode(in_three, PngDecoder::libpng).refusal, "");
  const Bytes too_short = file_of({{data.begin(), first}, {first, second}});
  EXPECT_EQ(decode(too_short, PngDecoder::pieces).refusal,
            "in.png: damaged PNG: Not enough image data");
  EXPECT_EQ(decode(too_short, PngDecoder::libpng).refusal, "");
  const Bytes too_long =
      file_bytes(GPUFILTER_SOURCE "/tests/fuzz/corpus/png/excess-in-a-later-chunk");
  EXPECT_EQ(decode(too_long, PngDecoder::pieces).refusal,
            "in.png: damaged PNG: IDAT: Too much image data");
  EXPECT_EQ(decode(too_long, PngDecoder::libpng).refusal, "");
}

// The other known difference: an incomplete Huffman code, which leaves bit patterns without
// meaning. No encoder makes such a code. zlib refuses it at once, ISA-L only if such a pattern
// occurs.
TEST(PngDecoders, DifferInIncompleteCodes) {
  BitWriter bits;
  bits.put(1, 1);   // the last block
  bits.put(2, 2);   // with codes of its own:
  bits.put(0, 5);   // 257 of literals and lengths,
  bits.put(0, 5);   // one of distances,
  bits.put(14, 4);  // 18 code lengths in the order 16, 17, 18, 0, 8, 7, 9, 6, 10, ..., 2, 14, 1
  for (const unsigned length :
       {0U, 0U, 2U, 2U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 2U, 0U, 2U}) {
    bits.put(length, 3);
  }
  // Symbols 0, 1, 2 and 18 have the codes 00, 01, 10 and 11, most significant bit first.
  bits.put(2, 2), bits.put(3, 2), bits.put(127, 7);  // 1 bit for byte 0, none for 1 to 138
  bits.put(3, 2), bits.put(106, 7);                  // nor for 139 to 255,
  bits.put(1, 2);                                    // 2 bits for the end of the block,
  bits.put(0, 2);                                    // none for the distance: 11 means nothing
  for (std::size_t i = 0; i < filtered_rows().size(); ++i)
    bits.put(0, 1);
  bits.put(1, 2);  // the end: 10
  Bytes data{0x78, 0x9c};
  data.insert(data.end(), bits.bytes().begin(), bits.bytes().end());
  data.insert(data.end(), {0, 36, 0, 1});
  EXPECT_EQ(decode(file_of({data}), PngDecoder::libpng).refusal,
            "in.png: damaged PNG: IDAT: invalid literal/lengths set");
  const PngOutcome ours = decode(file_of({data}), PngDecoder::automatic);
  ASSERT_TRUE(ours.image) << ours.refusal;
  EXPECT_EQ(sample_at(*ours.image, 4, 5, 0), 0U);
}

}  // namespace
}  // namespace gpufilter::test
