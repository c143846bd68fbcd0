#include "codec/png/read/serial_reader.hpp"

#include <algorithm>
#include <span>

#include "base/error.hpp"

namespace gpufilter {
namespace {

// Filtered bytes inflated at a time: few enough for the caches, enough to outweigh the cost of a
// call of ISA-L.
constexpr std::size_t batch_size = std::size_t{256} << 10U;

}  // namespace

PngSerialReader::PngSerialReader(PngStream& stream, const PngRowShape& shape,
                                 const PngRowPlace& from)
    : stream_(stream),
      shape_(shape),
      inflater_(stream, from.stream),
      batch_rows_(std::clamp<std::size_t>(batch_size / shape.filtered_bytes(), 1, shape.rows)),
      to_inflate_(from.row),
      above_(from.above) {
  above_.resize(shape.pitch());
  if (shape.is_large()) background_.emplace();
  for (Batch& batch : batches_) {
    if (background_) batch.task.emplace(*background_);
    batch.filtered.reserve(batch_rows_ * shape.filtered_bytes() + unfilter_slack);
    batch.samples.reserve(batch_rows_ * shape.pitch());
  }
  if (background_) start_inflating(batches_[0]);
}

PngSerialReader::~PngSerialReader() = default;

// The borders of batches do not depend on the row at which reading began, so that a file with
// several faults is always refused for the same one.
void PngSerialReader::start_inflating(Batch& batch) {
  const std::size_t end =
      std::min(to_inflate_ - to_inflate_ % batch_rows_ + batch_rows_, shape_.rows);
  batch.rows = end - to_inflate_;
  to_inflate_ = end;
  if (background_) {
    batch.task->start([this, &batch] { inflate(batch); });
  } else {
    inflate(batch);
  }
}

void PngSerialReader::inflate(Batch& batch) {
  try {
    inflater_.inflate(std::span(batch.filtered.data(), batch.rows * shape_.filtered_bytes()));
  } catch (const PictureError&) {
    batch.failure = std::current_exception();
    batch.rows = inflater_.inflated() / shape_.filtered_bytes();
  }
}

void PngSerialReader::unfilter(Batch& batch, const std::uint8_t* above) {
  if (png_unfilter_rows(batch.filtered.data(), batch.rows, above, batch.samples.data(),
                        shape_.pitch(), shape_.row_bytes, shape_.distance)) {
    return;
  }
  constexpr std::uint8_t last_filter = 4;
  std::size_t sound = 0;
  while (batch.filtered.data()[sound * shape_.filtered_bytes()] <= last_filter)
    ++sound;
  batch.rows = sound;
  batch.failure = std::make_exception_ptr(
      PictureError(stream_.name(), "damaged PNG: bad adaptive filter value"));
}

// Moves on to the next batch, and starts inflating the one after it.
void PngSerialReader::advance() {
  const Batch& last = batches_.at(current_);
  const std::uint8_t* above =
      last.rows == 0 ? above_.data() : last.samples.data() + (last.rows - 1) * shape_.pitch();
  current_ = 1 - current_;
  Batch& batch = batches_.at(current_);
  const auto start_next = [&](Batch& next) {
    if (to_inflate_ < shape_.rows) start_inflating(next);
  };
  if (background_) {
    batch.task->wait();
    if (!batch.failure) start_next(batches_.at(1 - current_));
  } else {
    start_next(batch);
  }
  unfilter(batch, above);
  next_row_ = 0;
}

void PngSerialReader::read(std::uint8_t* row) {
  if (next_row_ == batches_.at(current_).rows && !batches_.at(current_).failure) advance();
  const Batch& batch = batches_.at(current_);
  if (next_row_ == batch.rows) std::rethrow_exception(batch.failure);
  const auto samples =
      std::span(batch.samples.data() + next_row_ * shape_.pitch(), shape_.row_bytes);
  copy_samples(samples, row, shape_.depth);
  ++next_row_;
}

void PngSerialReader::finish() {
  inflater_.expect_end();
  stream_.leave_idat();
}

}  // namespace gpufilter
