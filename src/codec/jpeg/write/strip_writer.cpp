#include "codec/jpeg/write/strip_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "codec/jpeg/write/strip_encoder.hpp"

namespace gpufilter {
namespace {

std::atomic<std::size_t> strip_writers{0};

// Bytes for the strips in the background, in all pictures together. Each picture may have two in
// any case. A strip holds its rows and their encoding.
constexpr std::size_t max_memory = std::size_t{48} << 20U;
constexpr std::size_t buffers_a_strip = 2;

// More strips than threads, so that no thread waits until earlier strips have been written.
constexpr std::size_t strips_for(std::size_t threads) {
  return threads == 1 ? 1 : threads + 4;
}

}  // namespace

struct JpegStripWriter::Strip {
  Strip(const std::string& name, const JpegPicture& picture, Background& background)
      : encoder(name, picture), task(background) {}

  int row_count = 0;  // in all
  int taken = 0;      // of these
  bool is_copied = false;
  std::vector<std::uint8_t> rows;  // where they are copied
  std::atomic<bool> is_encoded{false};
  JpegStripEncoder encoder;
  std::span<std::uint8_t> encoded;
  bool last = false;
  BackgroundTask task;  // destroyed first: it uses the others
};

JpegStripWriter::JpegStripWriter(std::string name, const JpegPicture& picture, int rows_a_strip,
                                 Emit emit)
    : name_(std::move(name)),
      picture_(picture),
      row_bytes_(row_bytes(picture.size.width, picture.format)),
      rows_left_(picture.size.height),
      rows_a_strip_(rows_a_strip),
      emit_(std::move(emit)),
      share_(strip_writers),
      max_strips_(std::min(
          strips_for(background_.threads()),
          std::max<std::size_t>(
              max_memory / (buffers_a_strip * static_cast<std::size_t>(rows_a_strip) * row_bytes_),
              2))) {}

JpegStripWriter::~JpegStripWriter() = default;

void JpegStripWriter::write(const ConstRows& rows) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y)
    add_row(rows.row(y));
}

void JpegStripWriter::write_coded(const CodedRows& rows) {
  finish();  // the strips before
  rows_left_ -= rows.rows.count();
  for (const std::size_t end : rows.ends) {
    rows.bytes[end - 2] = 0xFF;
    rows.bytes[end - 1] = next_marker(rows_left_ == 0 && end == rows.bytes.size());
  }
  emit_(rows.bytes);
}

void JpegStripWriter::finish() {
  while (!running_.empty())
    emit_first();
}

void JpegStripWriter::add_row(const std::uint8_t* row) {
  if (!filling_) filling_ = take_strip();
  Strip& strip = *filling_;
  if (strip.is_copied) {
    std::memcpy(strip.rows.data() + static_cast<std::size_t>(strip.taken) * row_bytes_, row,
                row_bytes_);
  } else {
    strip.encoder.write_row(row);
  }
  ++strip.taken;
  --rows_left_;
  if (strip.taken == strip.row_count) start(std::move(filling_));
}

void JpegStripWriter::start(std::unique_ptr<Strip> strip) {
  while (running_.size() >= share_.of(max_strips_))
    emit_first();
  running_.push_back(std::move(strip));
  Strip& started = *running_.back();
  started.last = rows_left_ == 0;
  if (started.is_copied) {
    started.task.start([&started] { encode(started); });
  } else {
    started.encoded = started.encoder.finish();
    started.is_encoded = true;
  }
}

// Encodes a copied strip, in the background.
void JpegStripWriter::encode(Strip& strip) {
  strip.encoder.begin(strip.row_count);
  const std::size_t row_bytes = strip.rows.size() / static_cast<std::size_t>(strip.row_count);
  for (int i = 0; i < strip.row_count; ++i)
    strip.encoder.write_row(strip.rows.data() + static_cast<std::size_t>(i) * row_bytes);
  strip.encoded = strip.encoder.finish();
  strip.is_encoded = true;
}

void JpegStripWriter::emit_first() {
  Strip& strip = *running_.front();
  if (strip.is_copied) strip.task.wait();
  strip.encoded.back() = next_marker(strip.last);
  emit_(strip.encoded);
  spare_.push_back(std::move(running_.front()));
  running_.pop_front();
}

// Restart markers are numbered from 0 to 7 again and again.
std::uint8_t JpegStripWriter::next_marker(bool is_last) {
  return static_cast<std::uint8_t>(is_last ? JPEG_EOI : JPEG_RST0 + emitted_++ % 8);
}

// The caller's thread counts as busy.
bool JpegStripWriter::has_thread_left() const {
  const auto busy = std::count_if(running_.begin(), running_.end(),
                                  [](const auto& strip) { return !strip->is_encoded; });
  return static_cast<std::size_t>(busy) + 1 < share_.of_threads(background_.threads());
}

std::unique_ptr<JpegStripWriter::Strip> JpegStripWriter::take_strip() {
  std::unique_ptr<Strip> strip;
  if (spare_.empty()) {
    strip = std::make_unique<Strip>(name_, picture_, background_);
  } else {
    strip = std::move(spare_.back());
    spare_.pop_back();
  }
  strip->row_count = std::min(rows_a_strip_, rows_left_);
  strip->taken = 0;
  strip->is_encoded = false;
  strip->is_copied = has_thread_left();
  if (strip->is_copied) {
    strip->rows.resize(static_cast<std::size_t>(strip->row_count) * row_bytes_);
  } else {
    strip->encoder.begin(strip->row_count);
  }
  return strip;
}

}  // namespace gpufilter
