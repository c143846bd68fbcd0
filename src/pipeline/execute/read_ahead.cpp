#include "pipeline/execute/read_ahead.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace gpufilter {
namespace {

// Decoded at a time: few enough rows to notice soon that the rows can be taken.
constexpr std::size_t step_bytes = std::size_t{256} << 10U;

}  // namespace

ReadAhead::ReadAhead(std::unique_ptr<RowReader> reader) : reader_(std::move(reader)) {
  header_ = reader_->header();
}

int ReadAhead::decode_smaller(int largest) {
  const int divisor = reader_->decode_smaller(largest);
  header_ = reader_->header();
  return divisor;
}

Metadata ReadAhead::finish() {
  Metadata trailing = reader_->finish();
  header_.unread = reader_->header().unread;
  return trailing;
}

bool ReadAhead::read_on(std::uint64_t maximum) {
  const std::size_t pitch = row_pitch(header_.size.width, header_.format);
  const int rows = std::clamp(static_cast<int>(step_bytes / pitch), 1, header_.size.height);
  const int end = std::min(decoded_ + rows, header_.size.height);
  if (failure_ || end == decoded_ ||
      kept_bytes_ + pitch * static_cast<std::size_t>(rows) > maximum) {
    return false;
  }
  Image next(header_.size.width, {decoded_, end}, header_.format);
  try {
    reader_->read(next.rows());
  } catch (const PictureError&) {
    failure_ = std::current_exception();
    return false;
  }
  decoded_ = end;
  kept_bytes_ += pitch * static_cast<std::size_t>(next.row_range().count());
  kept_.push_back(std::move(next));
  return true;
}

void ReadAhead::read(const MutableRows& rows) {
  int next = rows.rows.begin;  // in the numbering of `rows`, which need not be the picture's
  take_kept(rows, next);
  if (next == rows.rows.end) return;
  if (failure_) std::rethrow_exception(failure_);
  reader_->read(rows.part({next, rows.rows.end}));
  decoded_ += rows.rows.end - next;
  taken_ = decoded_;
}

void ReadAhead::take_kept(const MutableRows& rows, int& next) {
  while (next < rows.rows.end && !kept_.empty()) {
    const ConstRows from = std::as_const(kept_.front()).rows();
    const int count = std::min(rows.rows.end - next, from.rows.end - taken_);
    for (int i = 0; i < count; ++i)
      std::memcpy(rows.row(next + i), from.row(taken_ + i), from.pitch);
    next += count;
    taken_ += count;
    if (taken_ == from.rows.end) {
      kept_bytes_ -= from.pitch * static_cast<std::size_t>(from.rows.count());
      kept_.pop_front();
    }
  }
}

}  // namespace gpufilter
