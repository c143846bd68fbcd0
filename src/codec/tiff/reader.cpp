#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "codec/read_limits.hpp"
#include "codec/repeatable_source.hpp"
#include "codec/tiff/codec.hpp"
#include "codec/tiff/conversion.hpp"
#include "codec/tiff/layout.hpp"
#include "codec/tiff/library.hpp"
#include "codec/tiff/metadata.hpp"
#include "codec/tiff/rows.hpp"
#include "codec/tiff/settings.hpp"

namespace gpufilter {
namespace {

// ImageSourceData. The picture is what they show together.
constexpr std::uint16_t layers_tag = 37724;

// What an account of numbers that were brought to another range says.
std::string range_account(const TiffLayout& layout, const std::optional<SampleRange>& cut_off) {
  const SampleRange& range = layout.range;
  const char* kind = layout.kind == TiffLayout::Samples::floating    ? "floating-point samples"
                     : layout.kind == TiffLayout::Samples::with_sign ? "samples with a sign"
                                                                     : "samples";
  std::string text = formatted("its {}-bit {} become samples of {} bits, {} to {} the whole range",
                               layout.bits, kind, layout.format.depth, range.low, range.high);
  if (cut_off) {
    text += formatted("; others, from {} to {}, are cut off: --range chooses another range",
                      cut_off->low, cut_off->high);
  }
  return text;
}

class TiffReader final : public RowReader {
 public:
  TiffReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(random_access(std::move(source))),
        file_(source_->name(), "rm", {input_.read, nullptr, [this] { return input_.size; }},
              "damaged TIFF", limits.max_memory),
        warns_(limits.warn) {
    const TiffContent content = read_tiff_content(input_.read);
    layout_ = tiff_layout(file_, content, limits);
    check_size(file_.name(), layout_.width, layout_.height, layout_.format, limits);
    rows_.emplace(file_, layout_, limits, input_);
    header_.file_format = &tiff_codec();
    header_.size = {static_cast<int>(layout_.width), static_cast<int>(layout_.height)};
    header_.format = layout_.format;
    header_.file_pixels = layout_.file_pixels;
    header_.metadata = read_tiff_metadata(file_, content);
    if (layout_.colors == TiffLayout::Colors::cmyk) {
      layout_.ink = chosen_ink(limits.choose_ink, {CmykPolarity::ink, layout_.format.depth},
                               header_.metadata, ink_doubt_);
    }
    conversion_.emplace(layout_);
    if (const std::size_t pages = file_.pages(); pages > 1)
      header_.unread.push_back(counted(pages - 1, "more page"));
    if (content.find(layers_tag) != nullptr) header_.unread.emplace_back("layers of Photoshop");
    header_.stored = std::make_shared<TiffSettings>(file_.field<std::uint16_t>(TIFFTAG_COMPRESSION),
                                                    foreign_tags(content));
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      conversion_->convert(rows_->next(), rows.row(y));
  }

  // With the next strip or row of tiles.
  [[nodiscard]] bool can_go_on() const override { return true; }

  Metadata finish() override {
    if (!warns_) return {};
    const auto warn = [&](const std::string& what) {
      log::warn(formatted("{}: {}", file_.name(), what));
    };
    if (!file_.ignored().empty()) warn(formatted("{} (it is ignored)", file_.ignored()));
    if (!layout_.guess.empty()) warn(layout_.guess);
    if (!ink_doubt_.empty()) warn(ink_doubt_);
    if (layout_.left_out_channels > 0) {
      warn(formatted("{} of its channels are neither colours nor alpha, and are left out",
                     layout_.left_out_channels));
    }
    if (layout_.has_range()) warn(range_account(layout_, conversion_->cut_off()));
    return {};
  }

 private:
  std::unique_ptr<ByteSource> source_;
  TiffInput input_{[this](std::uint64_t offset, std::span<std::uint8_t> bytes) {
                     return source_->read_at(offset, bytes);
                   },
                   *source_->size()};
  TiffFile file_;
  TiffLayout layout_;
  std::optional<TiffRows> rows_;
  std::optional<TiffConversion> conversion_;
  bool warns_;
  std::string ink_doubt_;
};

}  // namespace

std::unique_ptr<RowReader> open_tiff(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<TiffReader>(std::move(source), limits);
}

}  // namespace gpufilter
