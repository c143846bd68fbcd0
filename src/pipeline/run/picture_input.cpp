#include "pipeline/run/picture_input.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "codec/codec_table.hpp"
#include "image/exif.hpp"
#include "pipeline/run/run_description.hpp"
#include "stages/colour/color_profile.hpp"

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

namespace {

bool measures(const StageChain& chain) {
  return std::ranges::any_of(chain, [](const auto& stage) { return stage->traits().measures; });
}

// Whether an orientation may follow behind the pixels. `first` receives the source that was
// examined.
bool may_be_turned_late(const std::string& path, const StageChain& chain, const OpenSource& open,
                        std::unique_ptr<ByteSource>& first) {
  if (!depends_on_orientation(chain) || !is_stream(path)) return false;
  first = open(path);
  const Codec* codec = codec_of_content(first->peek(recognition_size()));
  return codec != nullptr && codec->read_late_metadata != nullptr;
}

RepeatableSource source_for(const std::string& path, const StageChain& chain,
                            const OpenSource& open, bool& is_read_again) {
  const auto first = std::make_shared<std::unique_ptr<ByteSource>>();
  is_read_again = measures(chain) || may_be_turned_late(path, chain, open, *first);
  return {path, is_read_again, [first, open](const std::string& again) {
            return *first ? std::move(*first) : open(again);
          }};
}

}  // namespace

PictureInput::PictureInput(const std::string& path, const StageChain& chain,
                           const RunOptions& options)
    : path_(path),
      turns_upright_(depends_on_orientation(chain)),
      source_(source_for(path, chain, options.open_input ? options.open_input : open_source,
                         is_read_again_)),
      is_file_(is_regular_file(path)),
      limits_(options.limits) {
  std::error_code unknown;
  const auto time = std::filesystem::last_write_time(path, unknown);
  if (is_file_ && !unknown) modified_ = time;
  limits_.choose_ink = ink_choice(chain);
  limits_.keeps_floats = !chain.empty() && chain.front()->traits().reads_floats;
  auto source = source_.open();
  name_ = source->name();
  first_ = std::make_unique<ReadAhead>(open_picture(std::move(source), limits_));
  limits_.warn = false;
  header_ = first_->header();
  decoded_size_ = header_.size;
  note_orientation(header_.metadata);
  if (turns_upright_) take_late_metadata(header_.metadata);
  // The copy of a stream has one position.
  if (took_late_metadata_ && !is_file_)
    first_ = std::make_unique<ReadAhead>(open_picture(source_.open(), limits_));
  if (turns_upright_) stored_metadata_ = header_.metadata;
  if (turns_upright_) set_orientation(header_.metadata, 1);
}

std::unique_ptr<ReadAhead> PictureInput::open() {
  if (kept_) return std::make_unique<ReadAhead>(std::make_unique<KeptReader>(*kept_));
  if (first_) return std::move(first_);
  ReadLimits limits = limits_;
  limits.warn = std::exchange(warns_again_, false);
  auto reader = std::make_unique<ReadAhead>(open_picture(source_.open(), limits));
  std::error_code unknown;
  const bool is_newer =
      modified_ && std::filesystem::last_write_time(path_, unknown) != *modified_ && !unknown;
  if (is_newer || reader->header().size != header_.size ||
      reader->header().format != header_.format)
    throw PictureError(name_, "it changed while it was being read");
  if (divisor_ > 1) divisor_ = reader->decode_smaller(divisor_);
  return reader;
}

int PictureInput::decode_smaller(int largest) {
  if (!first_) first_ = open();
  divisor_ = first_->decode_smaller(largest);
  decoded_size_ = first_->header().size;
  return divisor_;
}

PictureShape PictureInput::shape() const {
  return kept_ ? kept_->shape() : PictureShape{decoded_size_, header_.format};
}

void PictureInput::finish(ReadAhead& reader) {
  Metadata trailing = reader.finish();
  if (!kept_) header_.unread = reader.header().unread;
  if (kept_ || took_late_metadata_) return;
  trailing_ = std::move(trailing);
  note_orientation(trailing_);
}

void PictureInput::prepare_metadata(const Codec& codec) {
  // A stream cannot be read twice.
  if (is_file_ && !codec.holds_late_metadata) take_late_metadata(header_.metadata);
}

const Metadata& PictureInput::leading_metadata(bool is_oriented) const {
  return turns_upright_ && !is_oriented ? stored_metadata_ : header_.metadata;
}

std::optional<JpegScan> PictureInput::jpeg_scan() const {
  return first_ ? first_->jpeg_scan() : std::nullopt;
}

std::uint64_t PictureInput::memory() const {
  return kept_ && kept_->is_in_memory() ? KeptPicture::bytes_of(kept_->shape()) : 0;
}

void PictureInput::take_late_metadata(Metadata& metadata) {
  const auto read = header_.file_format->read_late_metadata;
  if (read == nullptr || took_late_metadata_) return;
  add_late_metadata(metadata, read(*source_.open()));
  took_late_metadata_ = true;
  note_orientation(metadata);
}

void refuse_unread(const PictureInput& input) {
  const auto& unread = input.header().unread;
  if (unread.empty()) return;
  throw UnreadParts(
      input.name(),
      formatted("holds {}, which the result would not have; --pages first replaces the file anyway",
                enumerated(unread, "and")));
}

void PictureInput::note_orientation(const Metadata& metadata) {
  orientation_ = stored_orientation(metadata).value_or(orientation_);
}

}  // namespace gpufilter
