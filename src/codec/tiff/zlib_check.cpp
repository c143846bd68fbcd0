#include "codec/tiff/zlib_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include "base/format.hpp"
#include "codec/deflate/isal_state.hpp"

namespace gpufilter {

struct ZlibCheck::State {
  inflate_state inflater;
  std::array<std::uint8_t, std::size_t{64} << 10U> input;
  std::array<std::uint8_t, std::size_t{64} << 10U> output;
};

namespace {

template <typename Sample>
void take_differences(const std::uint8_t* row, std::size_t samples, std::size_t stride,
                      std::uint8_t* differences) {
  std::memcpy(differences, row, std::min(samples, stride) * sizeof(Sample));
  for (std::size_t i = stride; i < samples; ++i) {
    Sample before{};
    Sample sample{};
    std::memcpy(&before, row + (i - stride) * sizeof(Sample), sizeof before);
    std::memcpy(&sample, row + i * sizeof(Sample), sizeof sample);
    sample = static_cast<Sample>(sample - before);
    std::memcpy(differences + i * sizeof(Sample), &sample, sizeof sample);
  }
}

}  // namespace

ZlibCheck::ZlibCheck(const TiffFile& file, const TiffReadAt& read, std::size_t stride)
    : file_(file),
      read_(read),
      stride_(stride),
      is_reversed_(file.field<std::uint16_t>(TIFFTAG_FILLORDER) == FILLORDER_LSB2MSB),
      bits_(file.field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE)),
      state_(std::make_unique<State>()) {
  const auto predictor = file.field<std::uint16_t>(TIFFTAG_PREDICTOR);
  has_differences_ = predictor == PREDICTOR_HORIZONTAL;
  const bool is_swapped = libtiff().TIFFIsByteSwapped(file.get()) != 0 && bits_ > 8;
  const bool is_known = predictor == PREDICTOR_NONE || (has_differences_ && bits_ % 8 == 0);
  has_own_bytes_ = is_known && bits_ <= 16 && !is_swapped && !is_reversed_;
}

ZlibCheck::~ZlibCheck() = default;

void ZlibCheck::expect_end(std::uint32_t block, std::span<const std::uint8_t> bytes,
                           std::size_t row_bytes) {
  constexpr std::size_t checksum_size = 4;
  const std::uint64_t size = libtiff().TIFFGetStrileByteCount(file_.get(), block);
  std::array<std::uint8_t, checksum_size> end{};
  if (has_own_bytes_ && size > checksum_size) {
    static_cast<void>(
        read_(libtiff().TIFFGetStrileOffset(file_.get(), block) + size - checksum_size, end));
    std::uint32_t stored = 0;
    for (const std::uint8_t byte : end)
      stored = stored << 8U | byte;
    if (stored == checksum_of(bytes, row_bytes)) return;
  }
  expect_end(block);
}

std::uint32_t ZlibCheck::checksum_of(std::span<const std::uint8_t> bytes, std::size_t row_bytes) {
  if (!has_differences_) return libdeflate_adler32(1, bytes.data(), bytes.size());
  differences_.resize(row_bytes);
  const std::size_t samples = row_bytes * 8 / bits_;
  std::uint32_t checksum = 1;
  for (std::size_t at = 0; at + row_bytes <= bytes.size(); at += row_bytes) {
    const auto take = bits_ == 8 ? take_differences<std::uint8_t> : take_differences<std::uint16_t>;
    take(bytes.data() + at, samples, stride_, differences_.data());
    checksum = libdeflate_adler32(checksum, differences_.data(), row_bytes);
  }
  return checksum;
}

void ZlibCheck::expect_end(std::uint32_t block) {
  std::uint64_t at = libtiff().TIFFGetStrileOffset(file_.get(), block);
  std::uint64_t left = libtiff().TIFFGetStrileByteCount(file_.get(), block);
  inflate_state& inflater = state_->inflater;
  isal_inflate_init(&inflater);
  inflater.crc_flag = ISAL_ZLIB;
  while (!isal_has_ended(inflater)) {
    if (inflater.avail_in == 0 && left > 0) {
      const auto wanted = std::min<std::uint64_t>(left, state_->input.size());
      const std::size_t count = read_(at, std::span(state_->input).first(wanted));
      if (is_reversed_)
        libtiff().TIFFReverseBits(state_->input.data(), static_cast<tmsize_t>(count));
      at += count;
      left = count < wanted ? 0 : left - count;
      inflater.next_in = state_->input.data();
      inflater.avail_in = static_cast<std::uint32_t>(count);
    }
    inflater.next_out = state_->output.data();
    inflater.avail_out = static_cast<std::uint32_t>(state_->output.size());
    const int result = isal_inflate(&inflater);
    const bool has_stopped =
        inflater.avail_in == 0 && left == 0 && inflater.avail_out == state_->output.size();
    if (result == ISAL_INCORRECT_CHECKSUM)
      file_.refuse(formatted("the checksum of block {} is wrong", block));
    if (result != ISAL_DECOMP_OK || (has_stopped && !isal_has_ended(inflater)))
      file_.refuse(formatted("the data of block {} are damaged", block));
  }
}

}  // namespace gpufilter
