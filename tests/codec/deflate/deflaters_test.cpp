// Deflated chunks that are joined to one stream; zlib checks the result.
#include "codec/deflate/deflaters.hpp"

#include <queue>

#include <isa-l.h>
#include <zlib.h>

#include "codec/deflate/format.hpp"
#include "codec/deflate/isal_state.hpp"
#include "support/instruction_sets.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

using Counts = std::vector<std::uint32_t>;
using Lengths = std::vector<std::uint8_t>;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;
constexpr std::size_t row = 997;  // of what a search is shown

enum class Content { noise, extreme, uniform, repeated, text, runs };
constexpr std::array contents{Content::noise,    Content::extreme, Content::uniform,
                              Content::repeated, Content::text,    Content::runs};

Bytes make_bytes(std::size_t size, Content content, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  std::size_t run = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto number = static_cast<std::uint8_t>(random() >> 11U);
    switch (content) {
      case Content::noise:
        bytes[i] = number;
        break;
      case Content::extreme:
        bytes[i] = number % 2 == 0 ? 0 : 255;
        break;
      case Content::uniform:
        bytes[i] = static_cast<std::uint8_t>(seed);
        break;
      case Content::repeated:
        bytes[i] = i < 1000 || number == 7 ? number : bytes[i - 997];
        break;
      case Content::text:
        bytes[i] = static_cast<std::uint8_t>("etaoin shrdlu"[number % 13]);
        break;
      case Content::runs:
        if (run == 0) run = random() % 700 + 1;
        --run;
        bytes[i] = static_cast<std::uint8_t>(run == 0 || i == 0 ? number : bytes[i - 1]);
        break;
    }
  }
  return bytes;
}

struct Way {
  std::string name;
  std::function<std::span<const std::uint8_t>(std::span<const std::uint8_t>, bool last)> deflate;
};

// Huffman codes only, a search, and every level of libdeflate.
class Ways {
 public:
  Ways() {
    all_.push_back(
        {"Huffman", [this](auto data, bool last) { return huffman_.deflate(data, last); }});
    all_.push_back(
        {"search", [this](auto data, bool last) { return match_.deflate(data, row, last); }});
    for (const std::size_t bytes :
         {row, row - 1, row - 2, std::size_t{1}, std::size_t{5}, mebibyte}) {
      all_.push_back(
          {"pixels in rows of " + std::to_string(bytes), [this, bytes](auto data, bool last) {
             return match_.deflate_pixels(data, bytes, last);
           }});
    }
    with_loops_ = all_.size();
    for (int level = 0; level <= 12; ++level) {
      all_.push_back({"libdeflate " + std::to_string(level), [this, level](auto data, bool last) {
                        return libdeflate_.deflate(data, level, last);
                      }});
    }
  }
  [[nodiscard]] const std::vector<Way>& all() const { return all_; }
  // The deflaters with loops for several instruction sets, which libdeflate's is not.
  [[nodiscard]] std::span<const Way> with_loops() const {
    return std::span(all_).first(with_loops_);
  }

 private:
  HuffmanDeflater huffman_;
  MatchDeflater match_;
  LibdeflateDeflater libdeflate_;
  std::vector<Way> all_;
  std::size_t with_loops_ = 0;
};

Bytes copy_of(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Returns how many blocks there are.
int expect_joinable(const Way& way, const Bytes& data) {
  const Inflated back = inflated(way.deflate(data, false), data.size());
  EXPECT_TRUE(back.bytes == data);
  EXPECT_FALSE(back.complete);
  EXPECT_TRUE(back.joinable);
  EXPECT_EQ(back.rest, 0U);
  return back.blocks;
}

void expect_complete(const Way& way, const Bytes& data) {
  const Inflated back = inflated(way.deflate(data, true), data.size());
  EXPECT_TRUE(back.bytes == data);
  EXPECT_TRUE(back.complete);
  EXPECT_EQ(back.rest, 0U);
}

TEST(Deflaters, WriteWhatZlibReadsBack) {
  const Ways ways;
  std::uint32_t seed = 0;
  for (const auto& [size, content] :
       each_of(std::vector<std::size_t>{0, 1, 2, 3, 8, 13, 255, 257, 258, 259, 997, 5000, 10'000,
                                        9'999, 16'383, 65'534, 65'535, 65'536, 90'001},
               contents)) {
    const Bytes data = make_bytes(size, content, ++seed);
    for (const Way& way : ways.all()) {
      SCOPED_TRACE(way.name + ", " + std::to_string(size) + " bytes, content " +
                   std::to_string(static_cast<int>(content)));
      expect_joinable(way, data);
      expect_complete(way, data);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// The end of a block falls on each of a byte's bits, which decides what is appended.
TEST(Deflaters, ReachAWholeByteFromEveryBit) {
  const Ways ways;
  for (std::size_t size = 20; size < 120; ++size) {
    const Bytes data = make_bytes(size, Content::text, static_cast<std::uint32_t>(size));
    for (const Way& way : ways.all())
      expect_joinable(way, data);
  }
}

// Changes of content start blocks; libdeflate also starts one after 300,000 bytes. Chunks longer
// than a MiB are deflated in pieces.
TEST(Deflaters, WriteManyBlocks) {
  const Ways ways;
  Bytes mixed;
  for (std::uint32_t i = 0; mixed.size() < 2 * mebibyte + 1; ++i) {
    const Bytes part = make_bytes(40'000 + 7919 * i, contents[i % contents.size()], i);
    mixed.insert(mixed.end(), part.begin(), part.end());
  }
  for (const std::size_t size : {300'001UL, 600'000UL, mebibyte, mebibyte + 1, 2 * mebibyte + 1}) {
    const Bytes data(mixed.begin(), mixed.begin() + static_cast<std::ptrdiff_t>(size));
    for (const Way& way : ways.all()) {
      SCOPED_TRACE(way.name + ", " + std::to_string(size) + " bytes");
      const int blocks = expect_joinable(way, data);
      if (way.name.starts_with("lib")) {
        EXPECT_GE(blocks, 4);
      }
      if (size == mebibyte + 1) expect_complete(way, data);
    }
  }
}

// Stored blocks of libdeflate's level 0 end on whole bytes, and noise is stored at every level.
TEST(Deflaters, StoreWhatCannotBeCompressed) {
  const Ways ways;
  for (const std::size_t size : {65'535UL, 65'536UL, 131'070UL, 131'071UL, 500'000UL}) {
    const Bytes noise = make_bytes(size, Content::noise, 4);
    for (const Way& way : ways.all()) {
      SCOPED_TRACE(way.name + ", " + std::to_string(size) + " bytes");
      expect_joinable(way, noise);
      EXPECT_LE(way.deflate(noise, false).size(), size + size / 1000 + 16);
    }
  }
}

// A code made from a sample does not suit different data: a few bytes with frequencies 1/2, 1/4,
// 1/8, ... leave the longest codes to all others.
TEST(Deflaters, StoreWhatASampleMisses) {
  HuffmanDeflater huffman;
  const Way way{"Huffman", [&](auto data, bool last) { return huffman.deflate(data, last); }};
  std::mt19937 random(7);
  for (const std::size_t size : {4095UL, 131'072UL, 131'073UL, 500'001UL}) {
    for (std::size_t place = 0; place < 4; ++place) {
      Bytes data = make_bytes(size, Content::noise, 4);
      for (std::size_t i = 0; i < size; ++i) {
        if (i % 2048 / 512 == place)
          data[i] = static_cast<std::uint8_t>(std::countr_zero(random() | 256U));
      }
      SCOPED_TRACE(std::to_string(size) + " bytes, few at " + std::to_string(place));
      expect_joinable(way, data);
      expect_complete(way, data);
      EXPECT_LE(way.deflate(data, false).size(), size + size / 1000 + 16);
    }
  }
}

// Residues of photographs: nearly as short as zlib's, without a search.
TEST(Deflaters, HuffmanCodesComeNearZlib) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 6);
  Bytes residues(400'000);
  for (std::uint8_t& residue : residues)
    residue = static_cast<std::uint8_t>(std::lround(noise(random)));
  HuffmanDeflater huffman;
  EXPECT_LT(huffman.deflate(residues, true).size(), deflated(residues, 6).size() * 101 / 100);
}

TEST(Deflaters, HuffmanCodesAreEstimated) {
  HuffmanDeflater huffman;
  for (const Content content : contents) {
    const Bytes data = make_bytes(300'000, content, 3);
    const std::size_t size = huffman.deflate(data, true).size();
    const std::size_t estimate = HuffmanDeflater::estimated_size(data);
    EXPECT_LE(estimate, size + size / 50 + 10) << static_cast<int>(content);
    EXPECT_GE(estimate + estimate / 4 + 300, size) << static_cast<int>(content);
  }
}

// Random bytes, and again after `distance` of them.
Bytes repeated_after(std::size_t distance) {
  const Bytes noise = make_bytes(distance, Content::noise, 8);
  Bytes bytes = noise;
  bytes.insert(bytes.end(), noise.begin(), noise.end());
  return bytes;
}

TEST(Deflaters, ASearchLooksBackAsFarAsDeflateCan) {
  MatchDeflater search;
  const Way way{"search", [&](auto data, bool last) { return search.deflate(data, row, last); }};
  for (const std::size_t distance : {1000UL, 32'767UL, 32'768UL}) {
    const Bytes data = repeated_after(distance);
    expect_joinable(way, data);
    EXPECT_LT(search.deflate(data, row, false).size(), distance * 11 / 10) << distance;
  }
  const Bytes too_far = repeated_after(32'769);
  expect_joinable(way, too_far);
  EXPECT_GT(search.deflate(too_far, row, false).size(), too_far.size());
}

// Repetitions at many distances and lengths between random bytes.
TEST(Deflaters, ASearchFindsWhatZlibFinds) {
  MatchDeflater search;
  const Bytes repeated = make_bytes(500'000, Content::repeated, 5);
  EXPECT_LT(search.deflate(repeated, row, true).size(), deflated(repeated, 6).size() * 21 / 20);
  std::mt19937 random(3);
  Bytes tiles(480'000);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::size_t far_back = 4 * (1 + random() % 2000);
    const bool copies = i >= 8000 && i % 4 == 0 && random() % 12 != 0;
    tiles[i] = static_cast<std::uint8_t>(random() % 256);
    if (!copies) continue;
    const std::size_t length = std::min<std::size_t>(4 + random() % 60, tiles.size() - i);
    for (std::size_t j = 0; j < length; ++j, ++i)
      tiles[i] = tiles[i - far_back];
    --i;
  }
  EXPECT_LT(search.deflate(tiles, row, true).size(), deflated(tiles, 6).size() * 9 / 8);
  EXPECT_GT(search.statistics().positions, tiles.size() / 100);
  EXPECT_LT(search.statistics().positions, tiles.size());
}

// Pixels of three equal bytes: Huffman codes take each byte for itself.
TEST(Deflaters, ASearchForPixelsSeesWhatChannelsHaveInCommon) {
  MatchDeflater search;
  HuffmanDeflater huffman;
  std::mt19937 random(4);
  Bytes grey;
  while (grey.size() < 100 * row) {
    if (grey.size() % row == 0) grey.push_back(0);
    const auto residue = static_cast<std::uint8_t>(random() % 2 + random() % 2 + random() % 2);
    grey.insert(grey.end(), MatchDeflater::pixel, residue);
  }
  const std::size_t size = search.deflate_pixels(grey, row, true).size();
  EXPECT_LT(size, huffman.deflate(grey, true).size() * 7 / 10);
  EXPECT_LT(search.statistics().positions, grey.size() / MatchDeflater::pixel);
  expect_joinable(
      {"pixels", [&](auto data, bool last) { return search.deflate_pixels(data, row, last); }},
      grey);
}

// Repetitions of whole pixels as far back as deflate reaches, up to the ends of rows and data.
TEST(Deflaters, ASearchForPixelsLooksBackAsFarAsDeflateCan) {
  MatchDeflater search;
  for (const std::size_t distance : {32'766UL, 32'769UL}) {
    Bytes data(1, 0);
    const Bytes repeated = repeated_after(distance);
    data.insert(data.end(), repeated.begin(), repeated.end());
    const Way way{"pixels", [&](auto bytes, bool last) {
                    return search.deflate_pixels(bytes, data.size(), last);
                  }};
    expect_joinable(way, data);
    const std::size_t size = search.deflate_pixels(data, data.size(), true).size();
    EXPECT_EQ(size < distance * 11 / 10, distance <= 32'768) << distance;
  }
}

// Chunks of all contents by all ways, in one stream.
TEST(Deflaters, WriteChunksThatCanBeJoined) {
  const Ways ways;
  Bytes all;
  Bytes stream;
  constexpr std::uint32_t count = 130;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Bytes data =
        make_bytes(i % 10 == 9 ? i / 10 : 1 + i * 1331, contents[i % contents.size()], i);
    all.insert(all.end(), data.begin(), data.end());
    const auto part = ways.all()[i % ways.all().size()].deflate(data, i + 1 == count);
    stream.insert(stream.end(), part.begin(), part.end());
  }
  const Inflated back = inflated(stream, all.size());
  EXPECT_TRUE(back.bytes == all);
  EXPECT_TRUE(back.complete);
  EXPECT_EQ(back.rest, 0U);
}

TEST(Deflaters, DependOnTheDataAlone) {
  const Bytes data = make_bytes(150'000, Content::repeated, 1);
  const Ways used;
  for (const auto& [way, content] : each_of(used.all(), contents))
    (void)way.deflate(make_bytes(90'000, content, 2), false);
  const Ways fresh;
  for (std::size_t i = 0; i < fresh.all().size(); ++i) {
    EXPECT_TRUE(copy_of(used.all()[i].deflate(data, false)) ==
                copy_of(fresh.all()[i].deflate(data, false)))
        << fresh.all()[i].name;
  }
}

// Sizes, compared with zlib's for the same bytes.
TEST(Deflaters, MakeTheSameWithEachInstructionSet) {
  for (const Content content : contents) {
    const Bytes data = make_bytes(mebibyte, content, 5);
    const Ways ways;
    std::vector<Bytes> results;
    with_each_instruction_set([&] {
      for (const Way& way : ways.with_loops())
        results.push_back(copy_of(way.deflate(data, true)));
    });
    const std::size_t count = ways.with_loops().size();
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(results[i] == results[i % count]) << ways.all()[i % count].name;
  }
}

TEST(Deflaters, FindWhatRepeatsItself) {
  LibdeflateDeflater deflater;
  const Bytes uniform = make_bytes(500'000, Content::uniform, 9);
  const Bytes repeated = make_bytes(500'000, Content::repeated, 5);
  EXPECT_GT(deflater.deflate(repeated, 0, true).size(), repeated.size());
  for (const int level : {1, 4, 6, 9, 12}) {
    EXPECT_LT(deflater.deflate(uniform, level, true).size(), 2000U) << level;
    EXPECT_LT(deflater.deflate(repeated, level, true).size(),
              deflated(repeated, 6).size() * 11 / 10)
        << level;
  }
}

// Huffman codes: complete, no longer than allowed, and as short as Huffman's algorithm makes them.

Lengths lengths_for(const Counts& counts, unsigned longest) {
  Lengths lengths(counts.size(), 77);
  make_code_lengths(counts, longest, lengths);
  return lengths;
}

std::uint64_t message_bits(const Counts& counts, const Lengths& lengths) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    bits += std::uint64_t{counts[i]} * lengths[i];
  return bits;
}

// The total bits of Huffman's algorithm without a limit: the sum of every node's count.
std::uint64_t fewest_bits(const Counts& counts) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> nodes;
  for (const std::uint32_t count : counts) {
    if (count > 0) nodes.push(count);
  }
  std::uint64_t bits = 0;
  while (nodes.size() > 1) {
    std::uint64_t both = nodes.top();
    nodes.pop();
    both += nodes.top();
    nodes.pop();
    bits += both;
    nodes.push(both);
  }
  return bits;
}

void expect_complete(const Counts& counts, const Lengths& lengths, unsigned longest) {
  std::uint64_t taken = 0;  // of the code space
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(lengths[i] > 0, counts[i] > 0) << i;
    EXPECT_LE(lengths[i], longest) << i;
    if (lengths[i] > 0) taken += std::uint64_t{1} << (longest - lengths[i]);
  }
  EXPECT_EQ(taken, std::uint64_t{1} << longest);
}

TEST(HuffmanCode, IsCompleteAndShort) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    Counts counts(2 + random() % (literal_symbols - 1));
    for (std::uint32_t& count : counts)
      count = random() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random() % (1U << random() % 20U));
    counts[0] = 1;
    counts[1] = 5;
    const Lengths lengths = lengths_for(counts, longest_code);
    expect_complete(counts, lengths, longest_code);
    if (*std::max_element(lengths.begin(), lengths.end()) < longest_code) {
      EXPECT_EQ(message_bits(counts, lengths), fewest_bits(counts));
    }
  }
}

// Counts like Fibonacci's numbers make the longest codes.
TEST(HuffmanCode, IsNotLongerThanAllowed) {
  Counts counts{1, 1};
  while (counts.size() < 30)
    counts.push_back(counts[counts.size() - 1] + counts[counts.size() - 2]);
  for (const unsigned longest : {5U, 7U, 15U}) {
    const Lengths lengths = lengths_for(counts, longest);
    expect_complete(counts, lengths, longest);
    EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), longest);
    EXPECT_TRUE(std::is_sorted(lengths.rbegin(), lengths.rend()));
  }
}

TEST(HuffmanCode, OfOneSymbolHasOneBitAndIsTheCanonicalOneWrittenBackwards) {
  EXPECT_EQ(lengths_for({0, 0, 9, 0}, 15), (Lengths{0, 0, 1, 0}));
  EXPECT_EQ(lengths_for({0, 0, 0}, 15), (Lengths{0, 0, 0}));
  // The example of RFC 1951, 3.2.2: codes of these lengths are 010 to 110, 00, 1110 and 1111.
  const Lengths lengths{3, 3, 3, 3, 3, 2, 4, 4};
  std::vector<std::uint16_t> codes(lengths.size());
  make_codes(lengths, codes);
  EXPECT_EQ(codes,
            (std::vector<std::uint16_t>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111}));
}

// The fields of ISA-L's decoder that codec/deflate/isal_state.hpp uses mean what it says they mean,
// for streams made by zlib.

// Text-like bytes: a block of them has codes of many lengths and matches.
Bytes make_data(std::size_t size) {
  Bytes data(size);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : data) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>("etaoin shrdlu"[(state >> 24U) % 13]);
  }
  return data;
}

// Raw deflate data of the parts, each of which ends as its flush says.
Bytes deflated_parts(const std::vector<std::pair<Bytes, int>>& parts) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes result(std::size_t{1} << 20U);
  stream.next_out = result.data();
  stream.avail_out = static_cast<uInt>(result.size());
  for (auto [data, flush] : parts) {
    stream.next_in = data.data();
    stream.avail_in = static_cast<uInt>(data.size());
    EXPECT_GE(deflate(&stream, flush), Z_OK);
    EXPECT_EQ(stream.avail_in, 0U);
  }
  result.resize(result.size() - stream.avail_out);
  deflateEnd(&stream);
  return result;
}

// Where blocks end, in bits, according to zlib.
std::vector<std::size_t> block_ends(Bytes stream_bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
  Bytes output(std::size_t{1} << 20U);
  stream.next_in = stream_bytes.data();
  stream.avail_in = static_cast<uInt>(stream_bytes.size());
  stream.next_out = output.data();
  stream.avail_out = static_cast<uInt>(output.size());
  std::vector<std::size_t> ends;
  for (int status = Z_OK; status == Z_OK;) {
    status = inflate(&stream, Z_BLOCK);
    if (status != Z_OK && status != Z_STREAM_END) break;
    if (status == Z_OK && (stream.data_type & 128) == 0) continue;
    ends.push_back(stream.total_in * 8 - static_cast<std::size_t>(stream.data_type & 7));
  }
  inflateEnd(&stream);
  return ends;
}

// Inflates `input` into `output`, and returns the decoder's state afterwards.
inflate_state state_after(Bytes& input, std::span<std::uint8_t> output) {
  inflate_state state{};
  isal_inflate_init(&state);
  state.next_in = input.data();
  state.avail_in = static_cast<std::uint32_t>(input.size());
  state.next_out = output.data();
  state.avail_out = static_cast<std::uint32_t>(output.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  return state;
}

TEST(IsalState, WasCheckedForTheseVersions) {
  static const std::vector<std::pair<int, int>> checked{{2, 30}, {2, 31}};
  const std::pair version{ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION};
  EXPECT_EQ(std::count(checked.begin(), checked.end(), version), 1)
      << "ISA-L " << version.first << "." << version.second
      << ": read how igzip_inflate.c uses the fields in codec/deflate/isal_state.hpp, run all "
         "tests "
         "of codec, and add the version here";
}

TEST(IsalState, KnowsTheEndAndWhatFollowsIt) {
  for (std::size_t size = 1; size < 60; ++size) {
    const Bytes data = make_data(size);
    const Bytes stream = deflated_parts({{data, Z_FINISH}});
    for (const std::size_t excess : {0, 1, 2, 7, 8, 9, 40}) {
      Bytes input = stream;
      input.resize(stream.size() + excess, 0xA5);
      Bytes output(size + 1);
      const inflate_state state = state_after(input, output);
      EXPECT_TRUE(isal_has_ended(state));
      EXPECT_FALSE(isal_is_between_blocks(state));
      EXPECT_EQ(isal_unread_bits(state) / 8, excess) << size;
    }
    Bytes cut(stream.begin(), stream.end() - 1);
    Bytes output(size + 1);
    EXPECT_FALSE(isal_has_ended(state_after(cut, output)));
  }
}

TEST(IsalState, KnowsPlacesBetweenBlocks) {
  for (std::size_t size = 1; size < 60; ++size) {
    const Bytes data = make_data(size);
    const Bytes stream = deflated_parts({{data, Z_FULL_FLUSH}});
    Bytes output(size + 1);
    Bytes whole = stream;
    EXPECT_TRUE(isal_is_between_blocks(state_after(whole, output))) << size;
    for (std::size_t missing = 1; missing <= std::size_t{4}; ++missing) {
      Bytes cut(stream.begin(), stream.end() - static_cast<std::ptrdiff_t>(missing));
      EXPECT_FALSE(isal_is_between_blocks(state_after(cut, output))) << size << ", " << missing;
    }
    Bytes more = stream;
    more.push_back(0x04);  // the beginning of a block with dynamic codes
    EXPECT_FALSE(isal_is_between_blocks(state_after(more, output))) << size;
  }
}

TEST(IsalState, ShowsWhatWasInflatedAhead) {
  const Bytes data = make_data(5000);
  Bytes input = deflated_parts({{data, Z_FINISH}});
  std::array<std::uint8_t, 1> output{};
  inflate_state state = state_after(input, output);
  const auto kept = isal_kept_output(state);
  ASSERT_GT(kept.size(), 1U);
  EXPECT_TRUE(std::equal(kept.begin(), kept.end(), data.begin() + 1));
  isal_drop_kept_output(state, 1);
  EXPECT_EQ(isal_kept_output(state).size(), kept.size() - 1);
  state.next_out = output.data();
  state.avail_out = 1;
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(output[0], data[2]) << "the byte after the one that was dropped";
}

TEST(IsalState, CanBeginWithABlockAtAnyBit) {
  std::array<bool, 8> seen{};
  for (std::size_t size = 40; size < 120; ++size) {
    Bytes first = make_data(size);
    const Bytes second = make_data(2 * size);
    Bytes stream = deflated_parts({{first, Z_BLOCK}, {second, Z_BLOCK}, {{}, Z_FINISH}});
    const auto ends = block_ends(stream);
    ASSERT_GE(ends.size(), 2U);
    seen.at(ends[0] % 8) = true;
    inflate_state state{};
    isal_inflate_init(&state);
    ASSERT_EQ(isal_inflate_set_dict(&state, first.data(), static_cast<std::uint32_t>(size)),
              COMP_OK);
    isal_set_single_block(state, stream, ends[0]);
    Bytes output(2 * size + 1);
    state.next_out = output.data();
    state.avail_out = static_cast<std::uint32_t>(output.size());
    ASSERT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
    EXPECT_TRUE(isal_has_ended(state));
    EXPECT_EQ(state.avail_out, 1U);
    EXPECT_TRUE(std::equal(second.begin(), second.end(), output.begin()));
    EXPECT_EQ(stream.size() * 8 - isal_unread_bits(state), ends[1]);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 8) << "every bit of a byte";
}

}  // namespace
}  // namespace gpufilter::test
