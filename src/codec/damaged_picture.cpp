#include "codec/damaged_picture.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "image/luma.hpp"

namespace gpufilter {
namespace {

// A row of that colour, opaque.
Bytes row_of(const Color& color, int width, const PixelFormat& format) {
  std::array<std::uint32_t, 4> samples{color[0], color[1], color[2], 255};
  if (format.color_channels() == 1) samples = {luma_bt601(color[0], color[1], color[2]), 255};
  Bytes row;
  for (int i = 0; i < width * format.channels; ++i) {
    const auto sample = static_cast<std::uint8_t>(samples.at(i % format.channels));
    row.insert(row.end(), format.bytes_per_sample(), sample);  // 16 bits: times 257
  }
  return row;
}

class DamagedPictureReader final : public RowReader {
 public:
  DamagedPictureReader(std::unique_ptr<RowReader> reader, const ReadLimits& limits)
      : reader_(std::move(reader)), missing_(limits.missing), warns_(limits.warn) {
    header_ = reader_->header();
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      read_row(rows.part({y, y + 1}));
  }

  Metadata finish() override {
    Metadata late;
    if (!failure_ || reader_->can_go_on()) late = finish_reader();
    header_.unread = reader_->header().unread;
    if (failure_ && rows_ > 0 && read_ == 0) std::rethrow_exception(failure_);
    if (failure_ && warns_) log::warn_of_fallback(account());
    return late;
  }

  [[nodiscard]] std::optional<JpegScan> jpeg_scan() override { return reader_->jpeg_scan(); }
  [[nodiscard]] StoredPicture* stored_picture() override { return reader_->stored_picture(); }
  [[nodiscard]] int decode_smaller(int largest) override {
    const int divisor = reader_->decode_smaller(largest);
    header_ = reader_->header();
    return divisor;
  }

 private:
  void read_row(const MutableRows& row) {
    ++rows_;
    if (!failure_ || reader_->can_go_on()) {
      try {
        reader_->read(row);
        ++read_;
        return;
      } catch (const PictureError& error) {
        note(error);
        if (read_ == 0 && !reader_->can_go_on()) throw;
      }
    }
    if (row_.empty()) row_ = row_of(missing_, row.width, row.format);
    std::memcpy(row.data, row_.data(), row_.size());
  }

  Metadata finish_reader() {
    try {
      return reader_->finish();
    } catch (const PictureError& error) {
      note(error);
      return {};
    }
  }

  // The first failure is what the reader would be refused for.
  void note(const PictureError& error) {
    if (failure_) return;
    failure_ = std::current_exception();
    reason_ = error.what();
  }

  [[nodiscard]] std::string account() const {
    if (read_ == rows_) return reason_ + ": all of its rows are read, but some may be wrong";
    return formatted("{}: {} % of its rows are read, the others have the background's colour",
                     reason_, read_ * 100 / rows_);
  }

  std::unique_ptr<RowReader> reader_;
  Color missing_;
  bool warns_;
  std::int64_t rows_ = 0;  // that were asked for
  std::int64_t read_ = 0;
  Bytes row_;  // of missing_
  std::exception_ptr failure_;
  std::string reason_;
};

}  // namespace

std::unique_ptr<RowReader> kept_when_damaged(std::unique_ptr<RowReader> reader,
                                             const ReadLimits& limits) {
  return std::make_unique<DamagedPictureReader>(std::move(reader), limits);
}

}  // namespace gpufilter
