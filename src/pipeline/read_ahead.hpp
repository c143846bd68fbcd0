// Rows decoded before there is a place for them.
#pragma once

#include <deque>
#include <exception>
#include <memory>

#include "codec/codec.hpp"
#include "image/image.hpp"

namespace gpufilter {

// A reader that can be told to read on while nobody can take the rows yet.
class ReadAhead final : public RowReader {
 public:
  explicit ReadAhead(std::unique_ptr<RowReader> reader);

  // Decodes a few more rows and keeps them. False where there is nothing more to decode, or `most`
  // bytes are kept already. What the file has to complain about comes when those rows are read.
  [[nodiscard]] bool read_on(std::uint64_t most);

  void read(const MutableRows& rows) override;
  Metadata finish() override { return reader_->finish(); }

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
