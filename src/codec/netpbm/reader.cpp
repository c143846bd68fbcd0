#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "codec/netpbm/codec.hpp"
#include "codec/netpbm/header.hpp"

namespace gpufilter {
namespace {

const Codec& codec_of(const NetpbmHeader& header) {
  if (header.kind == '7') return pam_codec();
  if (header.is_bitmap()) return pnm_codec();
  return header.channels == 3 ? ppm_codec() : pgm_codec();
}

class NetpbmReader final : public RowReader {
 public:
  NetpbmReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : input_(std::move(source)), file_(read_netpbm_header(input_)) {
    const PixelFormat format{file_.channels, file_.maxval <= 255 ? 8 : 16};
    check_size(input_.name(), file_.width, file_.height, format, limits);
    header_.file_format = &codec_of(file_);
    header_.size = {static_cast<int>(file_.width), static_cast<int>(file_.height)};
    header_.format = format;
    header_.file_pixels = file_pixels(format);
    header_.file_pixels.depth = std::bit_width(file_.maxval);
    samples_ = static_cast<std::size_t>(file_.width) * static_cast<unsigned>(format.channels);
    if (file_.kind == '4') bits_.resize((samples_ + 7) / 8);
    if (file_.maxval != format.max_sample()) make_scale();
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      std::uint8_t* row = rows.row(y);
      if (file_.kind == '4') {
        read_bits(row);
      } else {
        file_.is_plain() ? read_plain(row) : read_binary(row);
        if (!scale_.empty()) scale(row);
      }
    }
  }

  Metadata finish() override {
    if (input_.begins_another()) header_.unread.emplace_back("more pictures");
    return {};
  }

 private:
  [[nodiscard]] bool is_wide() const { return header_.format.depth == 16; }

  void make_scale() {
    const std::uint32_t max = header_.format.max_sample();
    for (std::uint32_t v = 0; v <= file_.maxval; ++v)
      scale_.push_back(static_cast<std::uint16_t>((v * max + file_.maxval / 2) / file_.maxval));
  }

  // A set bit is black.
  void read_bits(std::uint8_t* row) {
    input_.read(bits_);
    for (std::size_t x = 0; x < samples_; ++x)
      row[x] = (bits_[x / 8] >> (7 - x % 8) & 1U) != 0 ? 0 : 255;
  }

  // Bits may follow each other without white space.
  std::uint32_t read_plain_bit() {
    for (;;) {
      const char c = input_.next_of_text();
      if (c == '0' || c == '1') return c == '0' ? 1 : 0;
      if (std::strchr(" \t\n\v\f\r", c) == nullptr || c == '\0')
        input_.refuse("a sample is neither 0 nor 1");
    }
  }

  void read_plain(std::uint8_t* row) {
    for (std::size_t i = 0; i < samples_; ++i) {
      const std::uint32_t value = file_.is_bitmap() ? read_plain_bit() : input_.number();
      check(value);
      store(row, i, static_cast<std::uint16_t>(value));
    }
  }

  // Samples of two bytes begin with the more significant one.
  void read_binary(std::uint8_t* row) {
    input_.read({row, samples_ * header_.format.bytes_per_sample()});
    if (!is_wide() || std::endian::native == std::endian::big) return;
    for (std::size_t i = 0; i < samples_; ++i)
      std::swap(row[2 * i], row[2 * i + 1]);
  }

  void scale(std::uint8_t* row) const {
    for (std::size_t i = 0; i < samples_; ++i) {
      const std::uint32_t value = load(row, i);
      check(value);
      store(row, i, scale_[value]);
    }
  }

  void check(std::uint32_t value) const {
    if (value <= file_.maxval) return;
    input_.refuse(formatted("a sample of {}, its largest is said to be {}", value, file_.maxval));
  }

  [[nodiscard]] std::uint16_t load(const std::uint8_t* row, std::size_t index) const {
    if (!is_wide()) return row[index];
    std::uint16_t sample = 0;
    std::memcpy(&sample, row + 2 * index, sizeof sample);
    return sample;
  }

  void store(std::uint8_t* row, std::size_t index, std::uint16_t sample) const {
    if (is_wide()) {
      std::memcpy(row + 2 * index, &sample, sizeof sample);
    } else {
      row[index] = static_cast<std::uint8_t>(sample);
    }
  }

  NetpbmInput input_;
  NetpbmHeader file_;
  std::size_t samples_ = 0;           // of a row
  std::vector<std::uint8_t> bits_;    // a row of a bitmap
  std::vector<std::uint16_t> scale_;  // empty: samples stay as they are
};

}  // namespace

std::unique_ptr<RowReader> open_netpbm(std::unique_ptr<ByteSource> source,
                                       const ReadLimits& limits) {
  return std::make_unique<NetpbmReader>(std::move(source), limits);
}

}  // namespace gpufilter
