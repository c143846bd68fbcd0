#include "compute/jpeg_encoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "image/jpeg_coding.hpp"

namespace gpufilter {
namespace {

constexpr std::int32_t encoding_group_size = 128;  // of encode_blocks; a work-item codes a block
constexpr std::int32_t blocks_a_group = 96;
constexpr std::int32_t join_size = 256;
constexpr std::int32_t join_bytes = join_size * 4;
// No block of 64 samples has more bits: 22 for DC, 26 for each other coefficient.
constexpr std::uint64_t max_block_bits = 22 + 63 * 26;

bool is_grey(const JpegCoding& coding) {
  return coding.picture.format.channels == 1;
}

std::int32_t blocks_an_mcu(const JpegCoding& coding) {
  return is_grey(coding) ? 1 : coding.horizontal * coding.vertical + 2;
}

std::int32_t mcus_a_group(const JpegCoding& coding) {
  return blocks_a_group / blocks_an_mcu(coding);
}

std::int32_t mcu_columns(const JpegCoding& coding) {
  return divided_up(coding.picture.size.width, 8 * coding.horizontal);
}

std::int32_t groups_a_row(const JpegCoding& coding) {
  return divided_up(mcu_columns(coding), mcus_a_group(coding));
}

std::int32_t interval_rows(const JpegCoding& coding) {
  return coding.interval_rows > 0 ? coding.interval_rows
                                  : divided_up(coding.picture.size.height, coding.mcu_height());
}

// The words that the kernels have for each symbol.
void append_codes(std::vector<std::uint32_t>& words, const JpegHuffmanTable& table,
                  std::size_t symbols) {
  const std::size_t first = words.size();
  words.resize(first + symbols);
  std::uint32_t code = 0;
  std::size_t next = 0;
  for (std::uint32_t length = 1; length <= 16; ++length, code *= 2) {
    for (int i = 0; i < table.counts.at(length); ++i, ++next, ++code) {
      const std::uint8_t symbol = table.symbols.at(next);
      if (symbol < symbols) words[first + symbol] = code << 5U | length;
    }
  }
}

// See kernels/compute/jpeg_encode.cl.
std::vector<std::uint32_t> words_of_tables(const JpegCoding& coding) {
  std::vector<std::uint32_t> words;
  // The DCT's results are 8 times too large.
  for (const auto& table : coding.divisors) {
    for (const std::uint32_t divisor : table)
      words.push_back(
          static_cast<std::uint32_t>((std::uint64_t{1} << 32U) / (std::uint64_t{8} * divisor) + 1));
  }
  for (const auto& table : coding.divisors) {
    for (const std::uint32_t divisor : table)
      words.push_back(4 * divisor);
  }
  for (const JpegHuffmanTable& table : coding.dc)
    append_codes(words, table, 16);
  for (const JpegHuffmanTable& table : coding.ac)
    append_codes(words, table, 256);
  std::array<std::uint8_t, 128> orders{};
  for (std::size_t i = 0; i < 64; ++i) {
    orders.at(jpeg_zigzag.at(i)) = static_cast<std::uint8_t>(i);
    orders.at(64 + i) = jpeg_zigzag.at(i);
  }
  words.resize(words.size() + orders.size() / 4);
  std::memcpy(&*words.end() - orders.size() / 4, orders.data(), orders.size());
  return words;
}

KernelRequest encode_request(const JpegCoding& coding) {
  // Whole samples of chroma, and whole words.
  const int pixels = coding.horizontal == 3 ? 12 : 4;
  return {"jpeg_encode.cl", "encode_blocks",
          formatted("{} -D PIXELS={} -D HORIZONTAL={} -D VERTICAL={} -D MCUS={} -D GROUP_SIZE={}",
                    format_macros(coding.picture.format), pixels, coding.horizontal,
                    coding.vertical, mcus_a_group(coding), encoding_group_size)};
}

KernelRequest join_request(const std::string& function) {
  return {"jpeg_join.cl", function, formatted("-D GROUP_SIZE={}", join_size)};
}

}  // namespace

// The layout of a band.
struct JpegEncoder::Layout {
  std::int32_t mcu_rows;
  std::int32_t groups;  // fragments
  std::int32_t groups_an_interval;
  std::int32_t intervals;
};

JpegEncoder::Layout JpegEncoder::layout_of(const RowRange& rows) const {
  const std::int32_t mcu_rows = divided_up(rows.count(), coding_.mcu_height());
  const std::int32_t a_row = groups_a_row(coding_);
  return {mcu_rows, mcu_rows * a_row, interval_rows(coding_) * a_row,
          divided_up(mcu_rows, interval_rows(coding_))};
}

// Photographs of the highest quality take one byte a pixel, noise up to five.
std::uint64_t JpegEncoder::suitable_bytes(const JpegCoding& coding, int rows) {
  constexpr std::uint64_t slack = 1024;  // for small pictures
  return ImageSize{coding.picture.size.width, rows}.pixels() * 3 / 2 + slack;
}

int JpegEncoder::suitable_rows(const JpegCoding& coding, int rows) {
  const int height = coding.picture.size.height;
  const int interval = coding.rows_an_interval();
  const int suitable = rows >= height ? height : rows / interval * interval;
  // Bits are counted in words of 32 bits.
  const std::uint64_t blocks =
      static_cast<std::uint64_t>(mcu_columns(coding)) *
      static_cast<unsigned>(divided_up(suitable, coding.mcu_height()) * blocks_an_mcu(coding));
  return blocks * max_block_bits > UINT32_MAX ? 0 : suitable;
}

JpegEncoder::JpegEncoder(Session& session, const JpegCoding& coding, int max_rows,
                         std::uint64_t max_bytes)
    : session_(session),
      coding_(coding),
      capacity_(
          static_cast<std::int32_t>(std::min<std::uint64_t>(max_bytes, INT32_MAX - join_bytes))),
      groups_(static_cast<std::int32_t>(
          std::clamp<std::uint64_t>(8 * std::uint64_t{session.device().compute_units}, 1, 4096))),
      kernels_{session.make_kernel(encode_request(coding)),
               session.make_kernel(join_request("place_fragments")),
               session.make_kernel(join_request("measure_chunks")),
               session.make_kernel(join_request("place_chunks")),
               session.make_kernel(join_request("stuff_bytes"))},
      table_words_(words_of_tables(coding)) {
  const Layout layout = layout_of({0, max_rows});
  const auto words = [&](std::int64_t count) {
    return session.allocate(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  };
  buffers_.tables = words(static_cast<std::int64_t>(table_words_.size()));
  buffers_.fragments =
      session.allocate(static_cast<std::size_t>(capacity_) + sizeof(std::uint32_t));
  buffers_.fragment_table = words(2 * std::int64_t{layout.groups});
  buffers_.starts = words(std::int64_t{layout.groups} + 1);
  buffers_.chunks = words(std::int64_t{layout.intervals} + 1);
  buffers_.sizes = words(std::int64_t{capacity_} / join_bytes + layout.intervals + 1);
  counted_.resize(2 + static_cast<std::size_t>(layout.intervals));
  buffers_.counters = words(static_cast<std::int64_t>(counted_.size()));
  buffers_.data = session.allocate(static_cast<std::size_t>(capacity_));
  const std::string reason = "the bytes that the processor would write";
  descriptions_[0] = {"with Huffman codes", reason, kernels_.encode.origin(),
                      kernels_.encode.source()};
  descriptions_[1] = {"joined by bits", reason, kernels_.stuff_bytes.origin(),
                      kernels_.stuff_bytes.source()};
}

void JpegEncoder::enqueue(Queue& queue, const DeviceRows& rows, const Layout& layout,
                          Commands& commands) {
  const PictureShape& picture = coding_.picture;
  const auto& [tables, fragments, fragment_table, starts, chunks, sizes, counters, data] = buffers_;
  const auto capacity_in_words =
      static_cast<std::int32_t>(static_cast<unsigned>(capacity_) / sizeof(std::uint32_t));
  const auto size = static_cast<std::size_t>(encoding_group_size);
  const WorkRange blocks{static_cast<std::size_t>(groups_a_row(coding_)) * size,
                         static_cast<std::size_t>(layout.mcu_rows), size, 1};
  commands.blocks.push_back(queue.launch(
      kernels_.encode, blocks,
      {*rows.buffer, pitch_in_samples(picture.size.width, picture.format), rows.rows.begin,
       picture.size.width, picture.size.height, interval_rows(coding_), tables, fragments,
       capacity_in_words, fragment_table, counters}));
  const WorkRange one{join_size, 1, join_size, 1};
  const WorkRange all{static_cast<std::size_t>(groups_) * join_size, 1, join_size, 1};
  const auto join = [&](const Kernel& kernel, const WorkRange& range,
                        std::initializer_list<KernelArgument> arguments) {
    commands.joining.push_back(queue.launch(kernel, range, arguments));
  };
  join(kernels_.place_fragments, one,
       {fragment_table, layout.groups, layout.groups_an_interval, layout.intervals, starts, chunks,
        counters, capacity_in_words});
  join(kernels_.measure_chunks, all,
       {fragment_table, layout.groups, layout.groups_an_interval, layout.intervals, starts, chunks,
        fragments, sizes});
  join(kernels_.place_chunks, one, {layout.intervals, chunks, sizes, counters});
  join(kernels_.stuff_bytes, all,
       {fragment_table, layout.groups, layout.groups_an_interval, layout.intervals, starts, chunks,
        fragments, sizes, data, capacity_});
}

std::optional<CodedRows> JpegEncoder::encode(Queue& queue, const DeviceRows& rows,
                                             Commands& commands) {
  const Layout layout = layout_of(rows.rows);
  if (!table_words_.empty())
    queue.upload(buffers_.tables, table_words_.data(), table_words_.size() * sizeof(std::uint32_t));
  counted_[0] = 0;
  queue.upload(buffers_.counters, counted_.data(), sizeof(std::uint32_t));
  enqueue(queue, rows, layout, commands);
  const auto counters = 2 + static_cast<std::size_t>(layout.intervals);
  commands.downloads.push_back(
      queue.download(buffers_.counters, counted_.data(), counters * sizeof(std::uint32_t)));
  queue.finish();
  table_words_.clear();
  const std::size_t bytes = counted_[1];
  const bool fits = counted_[0] <= static_cast<std::uint32_t>(capacity_) / sizeof(std::uint32_t) &&
                    bytes <= static_cast<std::uint32_t>(capacity_);
  if (!fits) return std::nullopt;
  // Buffers have few sizes, so that the next band finds one in the pool.
  const auto memory = session_.allocate_pinned(std::bit_ceil(bytes));
  queue.keep(memory);
  commands.downloads.push_back(queue.download(buffers_.data, memory.get(), bytes));
  queue.finish();
  return CodedRows{memory,
                   {memory.get(), bytes},
                   {counted_.begin() + 2, counted_.begin() + 2 + layout.intervals},
                   rows.rows};
}

}  // namespace gpufilter
