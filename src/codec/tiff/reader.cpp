#include <memory>
#include <optional>
#include <utility>

#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/repeatable_source.hpp"
#include "codec/tiff/codec.hpp"
#include "codec/tiff/layout.hpp"
#include "codec/tiff/library.hpp"
#include "codec/tiff/metadata.hpp"
#include "codec/tiff/rows.hpp"
#include "codec/tiff/settings.hpp"

namespace gpufilter {
namespace {

class TiffReader final : public RowReader {
 public:
  TiffReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(random_access(std::move(source))),
        file_(source_->name(), "rm", bytes_of(*source_), "damaged TIFF", limits.max_memory),
        layout_(tiff_layout(file_)),
        warns_(limits.warn) {
    check_size(file_.name(), layout_.width, layout_.height, layout_.format, limits);
    rows_.emplace(file_, layout_, limits);
    header_.file_format = &tiff_codec();
    header_.size = {static_cast<int>(layout_.width), static_cast<int>(layout_.height)};
    header_.format = layout_.format;
    header_.file_pixels = layout_.file_pixels;
    header_.metadata =
        read_tiff_metadata(file_, [this](std::uint64_t offset, std::span<std::uint8_t> bytes) {
          return source_->read_at(offset, bytes);
        });
    if (layout_.colors == TiffLayout::Colors::cmyk)
      layout_.ink = chosen_ink(limits.choose_ink, CmykPolarity::ink, header_.metadata);
    header_.stored =
        std::make_shared<TiffSettings>(file_.field<std::uint16_t>(TIFFTAG_COMPRESSION));
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      convert_tiff_row(layout_, rows_->next(), rows.row(y));
  }

  Metadata finish() override {
    if (!warns_) return {};
    if (layout_.left_out_channels > 0) {
      log::warn(formatted("{}: {} of its channels are neither colours nor alpha, and are left out",
                          file_.name(), layout_.left_out_channels));
    }
    if (libtiff().TIFFLastDirectory(file_.get()) == 0)
      log::warn(formatted("{}: only the first of its pages is read", file_.name()));
    return {};
  }

 private:
  static TiffBytes bytes_of(ByteSource& source) {
    return {[&source](std::uint64_t offset, std::span<std::uint8_t> bytes) {
              return source.read_at(offset, bytes);
            },
            nullptr, [&source] { return *source.size(); }};
  }

  std::unique_ptr<ByteSource> source_;
  TiffFile file_;
  TiffLayout layout_;
  std::optional<TiffRows> rows_;
  bool warns_;
};

}  // namespace

std::unique_ptr<RowReader> open_tiff(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<TiffReader>(std::move(source), limits);
}

}  // namespace gpufilter
