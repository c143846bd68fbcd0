#include "codec/png/serial_reader.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "codec/png/unfilter.hpp"

namespace gpufilter {
namespace {

// Filtered bytes inflated at a time: small enough for the caches, large beside what ISA-L does at
// each call.
constexpr std::size_t batch_size = std::size_t{256} << 10U;

// Filtered bytes of a picture for which a second thread is worth waking.
constexpr std::size_t large_picture = std::size_t{4} << 20U;

}  // namespace

PngSerialReader::PngSerialReader(PngStream& stream, const PngRowShape& shape,
                                 const PngRowPlace& from)
    : stream_(stream),
      shape_(shape),
      inflater_(stream, from.stream),
      batch_rows_(std::clamp<std::size_t>(batch_size / shape.filtered_bytes(), 1, shape.rows)),
      to_inflate_(from.row),
      to_deliver_(from.row),
      above_(from.above),
      current_(shape.row_bytes + unfilter_slack) {
  above_.resize(current_.size());
  if (shape.rows * shape.filtered_bytes() >= large_picture) background_.emplace();
  for (Batch& batch : batches_) {
    if (background_) batch.task.emplace(*background_);
    batch.filtered.reserve(batch_rows_ * shape.filtered_bytes() + unfilter_slack);
  }
  if (background_) start_batch(batches_[batch_]);
}

PngSerialReader::~PngSerialReader() = default;

// The borders of batches do not depend on where reading began, so that a file with several faults
// is refused for the same one.
void PngSerialReader::start_batch(Batch& batch) {
  const std::size_t end =
      std::min(to_inflate_ - to_inflate_ % batch_rows_ + batch_rows_, shape_.rows);
  batch.rows = end - to_inflate_;
  batch.next = 0;
  to_inflate_ = end;
  const auto output = std::span(batch.filtered.data(), batch.rows * shape_.filtered_bytes());
  if (background_) {
    batch.task->start([this, output] { inflater_.inflate(output); });
  } else {
    inflater_.inflate(output);
  }
}

// One that has rows left; the one behind it is started.
PngSerialReader::Batch& PngSerialReader::current_batch() {
  Batch& current = batches_.at(batch_);
  if (!background_) {
    if (current.next == current.rows) start_batch(current);
    return current;
  }
  if (current.next > 0 && current.next < current.rows) return current;
  if (current.next > 0) batch_ = 1 - batch_;
  Batch& next = batches_.at(batch_);
  next.task->wait();
  if (to_inflate_ < shape_.rows) start_batch(batches_.at(1 - batch_));
  return next;
}

void PngSerialReader::read(std::uint8_t* row) {
  Batch& batch = current_batch();
  const std::uint8_t* filtered = batch.filtered.data() + batch.next * shape_.filtered_bytes();
  if (!png_unfilter_row(filtered[0], filtered + 1, above_.data(), current_.data(), shape_.row_bytes,
                        shape_.distance)) {
    throw PictureError(stream_.name(), "damaged PNG: bad adaptive filter value");
  }
  copy_samples(std::span(current_).first(shape_.row_bytes), row, shape_.depth);
  std::swap(above_, current_);
  ++batch.next;
  if (++to_deliver_ == shape_.rows) end();
}

void PngSerialReader::end() {
  inflater_.expect_end();
  stream_.leave_idat();
}

}  // namespace gpufilter
