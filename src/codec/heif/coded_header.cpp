// AV1 Bitstream & Decoding Process Specification, sections 5.5 and 5.9, and ITU-T H.265,
// section 7.3.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "codec/heif/tree.hpp"
#include "image/metadata.hpp"

namespace gpufilter {
namespace {

class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  // At most 32 bits; 0 past the end.
  std::uint32_t bits(unsigned count) {
    std::uint32_t value = 0;
    for (; count > 0; --count, ++position_) {
      const std::size_t byte = position_ / 8;
      const unsigned bit = byte < bytes_.size() ? bytes_[byte] >> (7U - position_ % 8U) & 1U : 0U;
      value = value << 1U | bit;
    }
    return value;
  }
  bool flag() { return bits(1) != 0; }
  void skip(std::size_t count) { position_ += count; }

  // Exp-Golomb codes: ue(v) and se(v) of HEVC, and uvlc() of AV1 like the first.
  std::uint32_t exp_golomb() {
    unsigned zeros = 0;
    while (zeros < 32 && !ended() && !flag())
      ++zeros;
    return zeros == 32 ? ~0U : (1U << zeros) - 1U + bits(zeros);
  }
  std::int32_t signed_exp_golomb() {
    constexpr std::uint32_t largest = 1U
                                      << 30U;  // beyond every valid value, and safe to add to one
    const std::uint32_t code = std::min(exp_golomb(), largest);
    const auto half = static_cast<std::int32_t>(code / 2);
    return (code & 1U) != 0 ? half + 1 : -half;
  }

  // Whether bits past the end were read, or none is left.
  [[nodiscard]] bool ended() const { return position_ >= bytes_.size() * 8; }

 private:
  ByteSpan bytes_;
  std::size_t position_ = 0;
};

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

// Skips to the size of a key frame; false for other frames and unsupported headers.
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
  // The first of several layers may be smaller than the picture.
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

namespace {

constexpr unsigned sequence_unit = 33;
constexpr unsigned picture_unit = 34;
constexpr std::size_t unit_head = 2;

struct SequenceSet {
  CodedHeader picture;
  bool has_planes_apart = false;
  std::optional<bool> has_sample_offsets;  // nothing: its position is unknown
};

struct PictureSet {
  bool has_output_flag = false;
  unsigned extra_bits = 0;
  int quantiser = 26;
  bool may_be_lossless = false;
};

// The first bytes of a unit without those that only keep start codes out of it.
Bytes payload(ByteSpan unit) {
  constexpr std::size_t most = 512;
  Bytes bytes;
  const auto part = unit.subspan(std::min(unit.size(), unit_head));
  for (std::size_t i = 0; i < std::min(part.size(), most); ++i) {
    const bool is_filler = part[i] == 3 && i >= 2 && part[i - 1] == 0 && part[i - 2] == 0;
    if (!is_filler) bytes.push_back(part[i]);
  }
  return bytes;
}

void skip_profile(BitReader& in, unsigned sub_layers) {
  in.skip(96);
  std::size_t bits = 0;
  for (unsigned i = 0; i < sub_layers; ++i) {
    if (in.flag()) bits += 88;
    if (in.flag()) bits += 8;
  }
  if (sub_layers > 0) in.skip(2 * std::size_t{8 - sub_layers});
  in.skip(bits);
}

int read_side(BitReader& in) {
  return static_cast<int>(std::min(in.exp_golomb(), 65535U));
}

// `size` less what the window leaves out, if it is more.
ImageSize windowed(BitReader& in, ImageSize size, unsigned chroma) {
  const int horizontal = chroma == 1 || chroma == 2 ? 2 : 1;
  const int vertical = chroma == 1 ? 2 : 1;
  const int columns = horizontal * (read_side(in) + read_side(in));
  const int rows = vertical * (read_side(in) + read_side(in));
  return {size.width - columns, size.height - rows};
}

SequenceSet read_sequence_set(ByteSpan unit) {
  const Bytes bytes = payload(unit);
  BitReader in(bytes);
  SequenceSet set;
  in.skip(4);
  const unsigned sub_layers = in.bits(3);
  in.skip(1);
  skip_profile(in, sub_layers);
  in.exp_golomb();
  const unsigned chroma = in.exp_golomb();
  set.picture.is_grey = chroma == 0;
  if (chroma == 3) set.has_planes_apart = in.flag();
  set.picture.size.width = read_side(in);
  set.picture.size.height = read_side(in);
  if (in.flag()) set.picture.size = windowed(in, set.picture.size, chroma);
  set.picture.depth = static_cast<int>(std::min(in.exp_golomb(), 8U)) + 8;
  in.exp_golomb();
  in.exp_golomb();
  for (unsigned i = in.flag() ? 0 : sub_layers; i <= sub_layers; ++i) {
    in.exp_golomb();
    in.exp_golomb();
    in.exp_golomb();
  }
  for (int i = 0; i < 6; ++i)
    in.exp_golomb();
  if (in.flag() && in.flag()) return set;  // lists of scales, of some length
  in.skip(1);
  set.has_sample_offsets = in.flag();
  return set;
}

PictureSet read_picture_set(ByteSpan unit) {
  const Bytes bytes = payload(unit);
  BitReader in(bytes);
  PictureSet set;
  in.exp_golomb();
  in.exp_golomb();
  in.skip(1);
  set.has_output_flag = in.flag();
  set.extra_bits = in.bits(3);
  in.skip(2);
  in.exp_golomb();
  in.exp_golomb();
  set.quantiser += in.signed_exp_golomb();
  in.skip(2);
  if (in.flag()) in.exp_golomb();
  in.exp_golomb();
  in.exp_golomb();
  in.skip(3);
  set.may_be_lossless = in.flag();
  return set;
}

// The quantiser of a picture's first slice.
std::optional<int> quantiser_of(ByteSpan unit, unsigned type, const SequenceSet& sequence,
                                const PictureSet& set) {
  constexpr unsigned independent_picture = 19;  // with or without pictures that follow: 20
  constexpr unsigned intra = 2;
  if (type != independent_picture && type != independent_picture + 1) return std::nullopt;
  const Bytes bytes = payload(unit);
  BitReader in(bytes);
  if (!in.flag() || !sequence.has_sample_offsets) return std::nullopt;
  in.skip(1);
  in.exp_golomb();
  in.skip(set.extra_bits);
  if (in.exp_golomb() != intra) return std::nullopt;
  if (set.has_output_flag) in.skip(1);
  if (sequence.has_planes_apart) in.skip(2);
  const bool has_chroma = !sequence.picture.is_grey && !sequence.has_planes_apart;
  if (*sequence.has_sample_offsets) in.skip(has_chroma ? 2 : 1);
  const int quantiser = set.quantiser + in.signed_exp_golomb();
  return in.ended() ? std::nullopt : std::optional(quantiser);
}

struct Sets {
  std::optional<SequenceSet> sequence;
  PictureSet picture;

  // Returns whether the unit is a slice, which follows the parameter sets.
  bool use(ByteSpan unit, std::optional<int>& quantiser) {
    if (unit.size() <= unit_head) return false;
    const unsigned type = unit[0] >> 1U & 63U;
    if (type == sequence_unit) sequence = read_sequence_set(unit);
    if (type == picture_unit) picture = read_picture_set(unit);
    constexpr unsigned slices = 32;  // types below
    if (type >= slices) return false;
    if (sequence) quantiser = quantiser_of(unit, type, *sequence, picture);
    return true;
  }
};

}  // namespace

std::optional<CodedHeader> hevc_header(ByteSpan configuration, ByteSpan data) {
  constexpr std::size_t flags = 22;  // of 'hvcC', before its arrays of units
  Sets sets;
  std::optional<int> quantiser;
  ByteCursor arrays(configuration);
  arrays.take(flags);
  for (auto array = arrays.number(1); array > 0 && !arrays.rest().empty(); --array) {
    arrays.number(1);
    for (auto left = arrays.number(2); left > 0 && !arrays.rest().empty(); --left)
      sets.use(arrays.take(static_cast<std::size_t>(arrays.number(2))), quantiser);
  }
  ByteCursor units(data);
  while (!units.rest().empty()) {
    if (sets.use(units.take(static_cast<std::size_t>(units.number(4))), quantiser)) break;
  }
  if (!sets.sequence) return std::nullopt;
  CodedHeader header = sets.sequence->picture;
  header.quantiser = quantiser;
  header.may_be_lossless = sets.picture.may_be_lossless;
  return header;
}

}  // namespace gpufilter
