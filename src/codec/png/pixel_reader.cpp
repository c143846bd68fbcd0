#include "codec/png/pixel_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <isa-l/igzip_lib.h>

#include "base/error.hpp"
#include "codec/png/unfilter.hpp"

namespace gpufilter {
namespace {

// Compressed bytes read at a time. More are read from the file's own buffer anyway.
constexpr std::size_t input_size = std::size_t{16} << 10U;

// Filtered bytes inflated at a time: small enough for the caches, large beside what ISA-L does at
// each call.
constexpr std::size_t output_size = std::size_t{256} << 10U;

constexpr std::size_t most_at_a_time = std::size_t{1} << 30U;  // ISA-L counts in 32 bits

void copy_from_big_endian(std::span<const std::uint8_t> packed, std::uint8_t* row, int depth) {
  std::memcpy(row, packed.data(), packed.size());
  if (depth == 8 || std::endian::native == std::endian::big) return;
  for (std::size_t i = 0; i + 1 < packed.size(); i += 2)
    std::swap(row[i], row[i + 1]);
}

}  // namespace

struct PngPixelReader::Inflater {
  explicit Inflater(PngStream& from) : stream(from) {
    isal_inflate_init(&state);
    state.crc_flag = ISAL_ZLIB;
  }

  // Fills `output`; throws where the data end before.
  void inflate(std::span<std::uint8_t> output) {
    while (!output.empty()) {
      const std::size_t count = step(output.first(std::min(output.size(), most_at_a_time)));
      if (count == 0 && is_out_of_data()) refuse("Not enough image data");
      output = output.subspan(count);
    }
  }

  // Throws unless the data end here, with the right checksum.
  void expect_end() {
    while (state.block_state != ISAL_BLOCK_FINISH) {
      std::array<std::uint8_t, 1> excess{};
      if (step(excess) != 0) refuse("IDAT: Too much image data");
      if (is_out_of_data()) refuse("Not enough image data");
    }
  }

 private:
  [[nodiscard]] bool is_out_of_data() const {
    return state.block_state == ISAL_BLOCK_FINISH || (input_ended && state.avail_in == 0);
  }

  // Inflates some bytes into `output`, perhaps none.
  std::size_t step(std::span<std::uint8_t> output) {
    if (state.block_state == ISAL_BLOCK_FINISH) return 0;
    if (state.avail_in == 0) {
      const std::size_t count = stream.read_idat(input);
      input_ended = count < input.size();
      state.next_in = input.data();
      state.avail_in = static_cast<std::uint32_t>(count);
    }
    state.next_out = output.data();
    state.avail_out = static_cast<std::uint32_t>(output.size());
    const int result = isal_inflate(&state);
    if (result == ISAL_INCORRECT_CHECKSUM) refuse("IDAT: incorrect data check");
    if (result != ISAL_DECOMP_OK) refuse("IDAT: invalid compressed data");
    return output.size() - state.avail_out;
  }

  [[noreturn]] void refuse(const char* why) const {
    throw PictureError(stream.name(), std::string("damaged PNG: ") + why);
  }

  PngStream& stream;
  std::array<std::uint8_t, input_size> input{};
  bool input_ended = false;
  inflate_state state{};
};

PngPixelReader::PngPixelReader(PngStream& stream, ImageSize size, const PixelFormat& format)
    : stream_(stream),
      format_(format),
      row_bytes_(static_cast<std::size_t>(size.width) * format.bytes_per_pixel()),
      rows_left_(size.height),
      rows_at_a_time_(static_cast<int>(std::clamp<std::size_t>(
          output_size / (row_bytes_ + 1), 1, static_cast<std::size_t>(size.height)))) {}

PngPixelReader::~PngPixelReader() = default;

void PngPixelReader::read(const MutableRows& rows) {
  if (!inflater_) {
    inflater_ = std::make_unique<Inflater>(stream_);
    filtered_.resize(static_cast<std::size_t>(rows_at_a_time_) * (row_bytes_ + 1) + unfilter_slack);
    above_.resize(row_bytes_ + unfilter_slack);
    current_.resize(row_bytes_ + unfilter_slack);
  }
  for (int y = rows.rows.begin; y < rows.rows.end;) {
    const int count = std::min(rows_at_a_time_, rows.rows.end - y);
    const std::size_t stride = row_bytes_ + 1;
    inflater_->inflate(std::span(filtered_).first(static_cast<std::size_t>(count) * stride));
    for (int i = 0; i < count; ++i, ++y)
      read_row(filtered_.data() + static_cast<std::size_t>(i) * stride, rows.row(y));
    rows_left_ -= count;
  }
  if (rows_left_ > 0) return;
  inflater_->expect_end();
  stream_.leave_idat();
}

void PngPixelReader::read_row(const std::uint8_t* filtered, std::uint8_t* row) {
  if (!png_unfilter_row(filtered[0], filtered + 1, above_.data(), current_.data(), row_bytes_,
                        format_.bytes_per_pixel())) {
    throw PictureError(stream_.name(), "damaged PNG: bad adaptive filter value");
  }
  copy_from_big_endian(std::span(current_).first(row_bytes_), row, format_.depth);
  std::swap(above_, current_);
}

}  // namespace gpufilter
