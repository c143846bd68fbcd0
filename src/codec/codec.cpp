#include "codec/codec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "base/log.hpp"
#include "codec/codec_table.hpp"
#include "codec/integer_writer.hpp"
#include "codec/limited_writer.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

// A row of that colour, opaque.
Bytes row_of(const Color& color, int width, const PixelFormat& format) {
  std::array<std::uint32_t, 4> samples{color[0], color[1], color[2], 255};
  if (format.color_channels() == 1) samples = {luma_bt601(color[0], color[1], color[2]), 255};
  const int whole = format.is_float() ? 1 : static_cast<int>(format.bytes_per_sample());
  Bytes row;
  for (int i = 0; i < width * format.channels; ++i) {
    const auto sample = static_cast<std::uint8_t>(samples.at(i % format.channels));
    row.insert(row.end(), whole, sample);  // 16 bits: times 257
  }
  if (!format.is_float()) return row;
  Bytes floats(row.size() * sizeof(float));
  samples_to_floats(row.data(), floats.data(), row.size(), 8);
  return floats;
}

// Yields the rows of `reader` until it throws PictureError, or, if it can go on, all rows for which
// it does not throw; missing rows are `limits.missing`. finish() warns once, with the share of the
// rows that were read. A reader that can yield more than it should without the option, such as the
// coarse rows of a progressive file, yields them, and throws in finish(). Throws what the reader
// throws if it yields no row.
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
  std::int64_t rows_ = 0;  // that read() was called for
  std::int64_t read_ = 0;
  Bytes row_;  // of missing_
  std::exception_ptr failure_;
  std::string reason_;
};

}  // namespace

std::unique_ptr<RowReader> open_picture(std::unique_ptr<ByteSource> source,
                                        const ReadLimits& limits) {
  const auto head = source->peek(recognition_size());
  const Codec* codec = codec_of_content(head);
  if (codec == nullptr) throw PictureError(source->name(), no_picture(head));
  const std::string name = source->name();
  try {
    auto reader = codec->open(std::move(source), limits);
    if (limits.damaged == Damaged::fail) return reader;
    return std::make_unique<DamagedPictureReader>(std::move(reader), limits);
  } catch (const LibraryNotLoaded& failure) {
    throw PictureError(name, formatted("{} {}", codec->name, failure.what()));
  }
}

std::unique_ptr<RowWriter> create_picture(const Codec& codec, ByteSink& sink,
                                          const PictureHeader& header,
                                          const WriteOptions& options) {
  try {
    if (header.format.is_float() && codec.max_depth < float_depth)
      return integer_writer(codec, sink, header, options);
    if (options.is_given(max_bytes_option()) &&
        std::ranges::find(codec.options, &max_bytes_option()) != codec.options.end())
      return limited_writer(codec, sink, header, options);
    return codec.create(sink, header, options);
  } catch (const LibraryNotLoaded& failure) {
    throw PictureError(sink.name(), formatted("{} {}", codec.name, failure.what()));
  }
}

void RowWriter::write_coded(const CodedRows& /*rows*/) {
  throw std::logic_error("this format has no other coding");
}

void RowWriter::note_private_metadata(const PictureHeader& header, const MetadataKinds& kinds,
                                      const std::vector<std::string>& written) {
  if (header.stored == nullptr || !kinds.has(MetadataKind::other)) return;
  for (std::string& name : header.stored->private_metadata()) {
    if (std::ranges::find(written, name) == written.end()) left_out_.add(std::move(name));
  }
}

std::string codec_versions() {
  std::string versions;
  for (const Codec* codec : codecs()) {
    if (codec->libraries == nullptr) continue;
    const std::string own = codec->loaded_later.empty() ? codec->libraries() : codec->loaded_later;
    if (versions.find(own) != std::string::npos) continue;  // of another format
    versions += versions.empty() ? "" : ", ";
    versions += own;
  }
  return versions;
}

}  // namespace gpufilter
