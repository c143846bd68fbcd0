#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/thread_limit.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/encoding.hpp"
#include "codec/jpeg/fair_share.hpp"
#include "codec/jpeg/group_reader.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/jpeg/restart_layout.hpp"
#include "codec/jpeg/row_decoder.hpp"
#include "codec/jpeg/scan_limits.hpp"

namespace gpufilter {
namespace {

// Those that decode.
std::atomic<std::size_t> readers{0};

class JpegReader final : public RowReader {
 public:
  JpegReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(std::move(source)), decoder_(source_->name()) {
    decoder_.open([this](std::span<JOCTET> buffer) { return source_->read(buffer); }, scan_limits_);
    check(limits);
    decoder_.choose_colors();
    Decompressor& jpeg = decoder_.jpeg();
    header_.file_format = &jpeg_codec();
    header_.size = {static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
    header_.format = {jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3, 8};
    header_.metadata = read_jpeg_metadata(jpeg, decoder_.errors(), warnings_);
    if (!limits.warn) warnings_.clear();
    header_.stored = read_jpeg_encoding(jpeg, decoder_.errors());
  }

  void read(const MutableRows& rows) override {
    if (!std::exchange(started_, true)) cut_into_groups();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      if (groups_) {
        groups_->read_row(rows.row(y));
      } else {
        decoder_.read_row(rows.row(y));
      }
    }
  }

  Metadata finish() override {
    if (groups_) {
      groups_->finish();
    } else {
      decoder_.finish();
    }
    for (const std::string& warning : warnings_)
      log::warn(warning);
    return {};
  }

 private:
  void check(const ReadLimits& limits) {
    const Decompressor& jpeg = decoder_.jpeg();
    const std::string& name = source_->name();
    check_size(name, jpeg.image_width, jpeg.image_height, {3, 8}, limits);
    // Newer libraries read the header of such files, but only rows of 8 bits.
    if (jpeg.data_precision != 8) {
      throw PictureError(name, unsupported_precision(jpeg.data_precision));
    }
    check_memory(name, coefficient_bytes(jpeg), limits, "a JPEG of several scans",
                 "save it as a baseline JPEG");
  }

  // Not at construction: who wants the header alone shall not wait for more of the file. Where
  // other pictures keep the threads busy, groups would only cost more than the whole.
  void cut_into_groups() {
    const FairShare& share = share_.emplace(readers);
    const std::size_t threads = share.of_threads(allowed_threads());
    const auto layout =
        restart_layout(decoder_.jpeg(), threads, JpegGroupReader::group_memory(threads));
    if (layout) groups_.emplace(*layout, decoder_, *source_, share);
  }

  std::unique_ptr<ByteSource> source_;
  ScanLimits scan_limits_;
  JpegRowDecoder decoder_;  // of the header, and where there are no groups, of everything
  std::optional<FairShare> share_;
  std::optional<JpegGroupReader> groups_;
  bool started_ = false;
  std::vector<std::string>
      warnings_;  // logged at the end: a picture that is refused has one message
};

}  // namespace

std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<JpegReader>(std::move(source), limits);
}

}  // namespace gpufilter
