// AV1 Bitstream & Decoding Process Specification, sections 5.5 and 5.9.
#include <algorithm>
#include <cstdint>

#include "codec/heif/bit_reader.hpp"
#include "codec/heif/coded_header.hpp"

namespace gpufilter {
namespace {

constexpr unsigned select = 2;  // the frame says it

struct Sequence {
  CodedHeader picture;
  bool is_reduced = false;
  bool has_decoder_model = false;
  unsigned frame_id_bits = 0;  // 0: frames have none
  unsigned width_bits = 0;
  unsigned height_bits = 0;
  bool has_large_blocks = false;
  unsigned screen_tools = select;
  unsigned integer_motion = select;
  unsigned order_hint_bits = 0;
  bool has_scaling = false;
};

void skip_timing(BitReader& in, Sequence& sequence, unsigned& delay_bits) {
  if (!in.flag()) return;
  in.skip(64);
  if (in.flag()) in.exp_golomb();
  sequence.has_decoder_model = in.flag();
  if (!sequence.has_decoder_model) return;
  delay_bits = in.bits(5) + 1;
  in.skip(32 + 5 + 5);
}

void skip_operating_points(BitReader& in, Sequence& sequence) {
  unsigned delay_bits = 0;
  skip_timing(in, sequence, delay_bits);
  const bool has_delay = in.flag();
  for (auto left = in.bits(5) + 1; left > 0; --left) {
    in.skip(12);
    if (in.bits(5) > 7) in.skip(1);
    if (sequence.has_decoder_model && in.flag()) in.skip(2 * std::size_t{delay_bits} + 1);
    if (has_delay && in.flag()) in.skip(4);
  }
}

void read_tools(BitReader& in, Sequence& sequence) {
  in.skip(4);
  const bool has_order_hint = in.flag();
  if (has_order_hint) in.skip(2);
  if (!in.flag()) sequence.screen_tools = in.bits(1);
  if (sequence.screen_tools > 0 && !in.flag()) sequence.integer_motion = in.bits(1);
  if (has_order_hint) sequence.order_hint_bits = in.bits(3) + 1;
}

void read_colors(BitReader& in, unsigned profile, CodedHeader& picture) {
  const bool is_deep = in.flag();
  const bool is_deepest = profile == 2 && is_deep && in.flag();
  picture.depth = is_deepest ? 12 : is_deep ? 10 : 8;
  picture.is_grey = profile != 1 && in.flag();
}

Sequence read_sequence(ByteSpan bytes) {
  BitReader in(bytes);
  Sequence sequence;
  const unsigned profile = in.bits(3);
  in.skip(1);
  sequence.is_reduced = in.flag();
  if (sequence.is_reduced) {
    in.skip(5);
  } else {
    skip_operating_points(in, sequence);
  }
  sequence.width_bits = in.bits(4) + 1;
  sequence.height_bits = in.bits(4) + 1;
  const auto width = static_cast<int>(in.bits(sequence.width_bits)) + 1;
  sequence.picture.size = {width, static_cast<int>(in.bits(sequence.height_bits)) + 1};
  if (!sequence.is_reduced && in.flag()) {
    const unsigned difference = in.bits(4) + 2;
    sequence.frame_id_bits = difference + in.bits(3) + 1;
  }
  sequence.has_large_blocks = in.flag();
  in.skip(2);
  if (!sequence.is_reduced) read_tools(in, sequence);
  sequence.has_scaling = in.flag();
  in.skip(2);
  read_colors(in, profile, sequence.picture);
  return sequence;
}

unsigned log2_of_tiles(unsigned block, unsigned target) {
  unsigned log2 = 0;
  while (block << log2 < target)
    ++log2;
  return log2;
}

unsigned incremented(BitReader& in, unsigned value, unsigned max) {
  while (value < max && in.flag())
    ++value;
  return value;
}

// False for tiles of different sizes.
bool skip_tiles(BitReader& in, const Sequence& sequence, const ImageSize& size) {
  const unsigned shift = sequence.has_large_blocks ? 7 : 6;
  const auto blocks = [shift](int side) {
    const auto padded = (static_cast<unsigned>(side) + 7U) / 8U * 8U;
    return (padded + (1U << shift) - 1U) >> shift;
  };
  const unsigned columns = blocks(size.width);
  const unsigned rows = blocks(size.height);
  if (!in.flag()) return false;
  const unsigned least_columns = log2_of_tiles(4096U >> shift, columns);
  const unsigned log2_columns =
      incremented(in, least_columns, log2_of_tiles(1, std::min(columns, 64U)));
  const unsigned least =
      std::max(least_columns, log2_of_tiles(4096U * 2304U >> 2U * shift, columns * rows));
  const unsigned log2_rows =
      incremented(in, least - std::min(least, log2_columns), log2_of_tiles(1, std::min(rows, 64U)));
  if (log2_columns + log2_rows > 0) in.skip(log2_columns + log2_rows + 2);
  return true;
}

// Whether all is said that comes before the size of a key frame.
bool skip_to_size(BitReader& in, const Sequence& sequence, bool& has_own_size,
                  bool& keeps_statistics, bool& has_screen_tools) {
  constexpr unsigned key_frame = 0;
  if (!sequence.is_reduced) {
    if (in.flag()) return false;                              // an earlier frame
    if (in.bits(2) != key_frame || !in.flag()) return false;  // shown
  }
  if (sequence.has_decoder_model) return false;
  keeps_statistics = in.flag();
  has_screen_tools = sequence.screen_tools == select ? in.flag() : sequence.screen_tools != 0;
  if (has_screen_tools && sequence.integer_motion == select) in.skip(1);
  in.skip(sequence.frame_id_bits);
  has_own_size = !sequence.is_reduced && in.flag();
  in.skip(sequence.order_hint_bits);
  return true;
}

void read_frame(ByteSpan bytes, Sequence& sequence) {
  BitReader in(bytes);
  bool has_own_size = false;
  bool keeps_statistics = false;
  bool has_screen_tools = false;
  if (!skip_to_size(in, sequence, has_own_size, keeps_statistics, has_screen_tools)) return;
  // Of several layers, the first one may be smaller than the picture.
  ImageSize size = sequence.picture.size;
  if (has_own_size) {
    const auto width = static_cast<int>(in.bits(sequence.width_bits)) + 1;
    size = {width, static_cast<int>(in.bits(sequence.height_bits)) + 1};
  }
  if (sequence.has_scaling && in.flag()) return;
  if (in.flag()) in.skip(32);  // how large to show it
  if (has_screen_tools) in.skip(1);
  if (!sequence.is_reduced && !keeps_statistics) in.skip(1);
  if (!skip_tiles(in, sequence, size)) return;
  const auto quantiser = static_cast<int>(in.bits(8));
  const bool has_delta = in.flag();
  if (in.ended()) return;
  sequence.picture.quantiser = quantiser;
  sequence.picture.may_be_lossless = quantiser == 0 && !has_delta;
}

// Calls use(type, content) for each unit until it returns false.
template <typename Use>
void each_unit(ByteSpan data, const Use& use) {
  ByteCursor cursor(data);
  while (!cursor.rest().empty()) {
    const auto head = static_cast<unsigned>(cursor.number(1));
    if ((head & 4U) != 0) cursor.number(1);
    std::uint64_t size = cursor.rest().size();
    if ((head & 2U) != 0) {
      size = 0;
      for (unsigned shift = 0; shift < 56; shift += 7) {
        const std::uint64_t byte = cursor.number(1);
        size |= (byte & 127U) << shift;
        if ((byte & 128U) == 0) break;
      }
    }
    const std::size_t left = cursor.rest().size();
    if (!use(head >> 3U & 15U,
             cursor.take(static_cast<std::size_t>(std::min<std::uint64_t>(size, left)))))
      return;
  }
}

}  // namespace

std::optional<CodedHeader> av1_header(ByteSpan configuration, ByteSpan data) {
  constexpr unsigned sequence_unit = 1;
  constexpr unsigned frame_header_unit = 3;
  constexpr unsigned frame_unit = 6;
  constexpr std::size_t flags = 4;  // of 'av1C', before its units
  std::optional<Sequence> sequence;
  const auto use = [&sequence](unsigned type, ByteSpan content) {
    if (type == sequence_unit) sequence = read_sequence(content);
    const bool is_frame = type == frame_unit || type == frame_header_unit;
    if (is_frame && sequence) read_frame(content, *sequence);
    return !is_frame;
  };
  if (configuration.size() > flags) each_unit(configuration.subspan(flags), use);
  each_unit(data, use);
  return sequence ? std::optional(sequence->picture) : std::nullopt;
}

}  // namespace gpufilter
