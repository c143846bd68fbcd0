#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "codec/deflate/isal_state.hpp"
#include "codec/png/read/rows.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_at_a_time = std::size_t{1} << 30U;  // ISA-L counts in 32 bits

// Adler-32 as ISA-L's state holds it: the lower half, which begins at 1, is less by 1.
std::uint32_t isal_adler32_state(std::uint32_t adler32) {
  constexpr std::uint32_t modulus = 65521;
  return (adler32 & 0xffff0000U) | ((adler32 & 0xffffU) + modulus - 1) % modulus;
}

// Filtered bytes inflated at a time: few enough for the caches, enough to outweigh the cost of a
// call of ISA-L.
constexpr std::size_t batch_size = std::size_t{256} << 10U;

}  // namespace

// The input is read in parts with the same borders wherever the inflater begins, so that a file
// that is damaged twice is always refused for the same reason.
PngInflater::PngInflater(PngStream& stream, const PngInflatePlace& from)
    : stream_(stream), next_read_(input_size - from.compressed_bytes % input_size) {
  isal_inflate_init(&state_);
  state_.crc_flag = from.compressed_bytes == 0 ? ISAL_ZLIB : ISAL_ZLIB_NO_HDR_VER;
  state_.crc = isal_adler32_state(from.adler32);
  if (from.history.empty()) return;
  const auto history = from.history.last(std::min(from.history.size(), longest_distance));
  if (isal_inflate_set_dict(&state_, const_cast<std::uint8_t*>(history.data()),  // it only reads
                            static_cast<std::uint32_t>(history.size())) != COMP_OK) {
    throw std::logic_error("ISA-L does not accept what was inflated before");
  }
}

void PngInflater::inflate(std::span<std::uint8_t> output) {
  inflated_ = 0;
  while (!output.empty()) {
    const std::size_t count = step(output.first(std::min(output.size(), max_at_a_time)));
    if (count == 0 && (isal_has_ended(state_) || is_out_of_input())) refuse_end();
    output = output.subspan(count);
    inflated_ += count;
  }
}

void PngInflater::expect_end() {
  // ISA-L is also at its end if the checksum is wrong.
  while (failure_ != nullptr || !isal_has_ended(state_)) {
    std::array<std::uint8_t, 1> excess{};
    if (step(excess) != 0) refuse("IDAT: Too much image data");
    if (!isal_has_ended(state_) && is_out_of_input()) refuse_end();
  }
}

bool PngInflater::is_out_of_input() const {
  return input_ended_ && state_.avail_in == 0;
}

// Inflates zero or more bytes into `output` and returns their number. ISA-L inflates ahead,
// by an amount that depends on where it began. A failure found there is reported only once the
// bytes before it have been returned, and input is read only when it is needed: so the message does
// not depend on that amount.
std::size_t PngInflater::step(std::span<std::uint8_t> output) {
  if (failure_ == nullptr && !isal_has_ended(state_)) {
    if (state_.avail_in == 0 && isal_kept_output(state_).empty()) read_input();
    state_.next_out = output.data();
    state_.avail_out = static_cast<std::uint32_t>(output.size());
    const int result = isal_inflate(&state_);
    if (result == ISAL_INCORRECT_CHECKSUM) {
      failure_ = "IDAT: incorrect data check";
    } else if (result != ISAL_DECOMP_OK) {
      failure_ = "IDAT: invalid compressed data";
    }
    const std::size_t count = output.size() - state_.avail_out;
    if (failure_ == nullptr || count > 0) return count;
  }
  if (failure_ == nullptr) return 0;
  const std::size_t count = take_kept_output(output);
  if (count == 0) refuse(failure_);
  return count;
}

void PngInflater::read_input() {
  const std::size_t count = stream_.read_idat(std::span(input_).first(next_read_));
  input_ended_ = count < next_read_;
  next_read_ = input_.size();
  state_.next_in = input_.data();
  state_.avail_in = static_cast<std::uint32_t>(count);
}

// After a failure ISA-L must not be called again: it would begin to inflate the damaged data.
std::size_t PngInflater::take_kept_output(std::span<std::uint8_t> output) {
  const auto kept = isal_kept_output(state_);
  const std::size_t count = std::min(output.size(), kept.size());
  std::copy_n(kept.begin(), count, output.begin());
  isal_drop_kept_output(state_, count);
  return count;
}

void PngInflater::refuse_end() const {
  stream_.throw_damage();
  refuse("Not enough image data");
}

void PngInflater::refuse(const char* why) const {
  throw PictureError(stream_.name(), std::string("damaged PNG: ") + why);
}

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
