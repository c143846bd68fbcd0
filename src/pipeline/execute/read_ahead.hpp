// Decodes rows before they can be used.
#pragma once

#include <deque>
#include <exception>
#include <memory>

#include "codec/codec.hpp"
#include "image/image.hpp"

namespace gpufilter {

// A reader that can read on while the rows cannot be taken yet.
class ReadAhead final : public RowReader {
 public:
  explicit ReadAhead(std::unique_ptr<RowReader> reader);

  // Decodes a few more rows and keeps them. False if there is nothing more to decode, or `maximum`
  // bytes are already kept. Errors in the file are thrown when those rows are read.
  [[nodiscard]] bool read_on(std::uint64_t maximum);

  [[nodiscard]] int rows_decoded() const { return decoded_; }

  void read(const MutableRows& rows) override;
  [[nodiscard]] int decode_smaller(int largest) override;
  Metadata finish() override;
  [[nodiscard]] std::optional<JpegScan> jpeg_scan() override { return reader_->jpeg_scan(); }
  [[nodiscard]] StoredPicture* stored_picture() override { return reader_->stored_picture(); }

 private:
  void take_kept(const MutableRows& rows, int& next);

  std::unique_ptr<RowReader> reader_;
  std::deque<Image> kept_;  // rows that follow one another
  std::uint64_t kept_bytes_ = 0;
  int decoded_ = 0;  // rows
  int taken_ = 0;    // rows
  std::exception_ptr failure_;
};

}  // namespace gpufilter
