// ITU-T H.265, section 7.3.
#include <algorithm>
#include <cstdint>

#include "codec/heif/bit_reader.hpp"
#include "codec/heif/coded_header.hpp"
#include "image/metadata.hpp"

namespace gpufilter {
namespace {

constexpr unsigned sequence_unit = 33;
constexpr unsigned picture_unit = 34;
constexpr std::size_t unit_head = 2;

struct SequenceSet {
  CodedHeader picture;
  bool has_planes_apart = false;
  std::optional<bool> has_sample_offsets;  // nothing: its place is not known
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

// `size` less what the window leaves out, if it is more.
ImageSize windowed(BitReader& in, ImageSize size, unsigned chroma) {
  const int horizontal = chroma == 1 || chroma == 2 ? 2 : 1;
  const int vertical = chroma == 1 ? 2 : 1;
  const auto side = [&in] { return static_cast<int>(std::min(in.exp_golomb(), 65535U)); };
  const int columns = horizontal * (side() + side());
  const int rows = vertical * (side() + side());
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
  const auto side = [&in] { return static_cast<int>(std::min(in.exp_golomb(), 65535U)); };
  set.picture.size.width = side();
  set.picture.size.height = side();
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

// Of a picture's first slice.
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

  // Returns whether it is a slice, which comes after them.
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
