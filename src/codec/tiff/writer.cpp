#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "codec/byte_source.hpp"
#include "codec/formats.hpp"
#include "codec/tiff/library.hpp"
#include "codec/tiff/metadata.hpp"
#include "image/tiff.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t strip_bytes = std::size_t{256} << 10U;
constexpr std::uint64_t largest_classic_file = 0xf0000000U;  // there has to be room for metadata
constexpr std::uint64_t max_allocation = std::uint64_t{1} << 30U;

struct SpoolFailure : SystemFailure {
  SpoolFailure(const std::string& name, int error)
      : SystemFailure(name, "the temporary file for it: " + describe_system_error(error), error) {}
};

// The temporary file in which libtiff writes and reads where it likes. Throws SpoolFailure.
class Spool {
 public:
  explicit Spool(const std::string& name)
      : name_(name), file_(with_failures_of<SpoolFailure>(name, nameless_file)) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }

  void write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    with_failures_of<SpoolFailure>(name_, [&] { write_fully_at(file_.get(), offset, bytes); });
    size_ = std::max(size_, offset + bytes.size());
  }

  std::size_t read(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    return with_failures_of<SpoolFailure>(
        name_, [&] { return read_fully_at(file_.get(), offset, bytes); });
  }

  void copy_to(ByteSink& sink) {
    std::vector<std::uint8_t> piece(std::size_t{1} << 20U);
    for (std::uint64_t at = 0; at < size_; at += piece.size())
      sink.write(std::span(piece).first(read(at, piece)));
  }

 private:
  const std::string& name_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
};

std::uint16_t compression_for(const PictureHeader& header, const WriteOptions& options) {
  const std::string name = *options.get<std::string>(tiff_compression_option());
  if (name == "none") return COMPRESSION_NONE;
  if (name == "lzw") return COMPRESSION_LZW;
  const auto* stored = dynamic_cast<const TiffSettings*>(header.stored.get());
  const bool keeps =
      name == "auto" && stored != nullptr &&
      (stored->compression() == COMPRESSION_NONE || stored->compression() == COMPRESSION_LZW);
  return keeps ? stored->compression() : COMPRESSION_ADOBE_DEFLATE;
}

// The tags of a TIFF stay if they may be about places in the picture and those are the same.
TiffTags kept_tags(const PictureHeader& header, const MetadataKinds& kinds) {
  const auto* stored = dynamic_cast<const TiffSettings*>(header.stored.get());
  const bool stay = stored != nullptr && header.keeps_positions && kinds.has(MetadataKind::other);
  return stay ? stored->tags() : TiffTags{};
}

class TiffWriter final : public RowWriter {
 public:
  TiffWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : sink_(sink),
        format_(header.format),
        kinds_(kept_metadata(options)),
        tags_(kept_tags(header, kinds_)),
        order_(header.metadata.exif.empty() ? ByteOrder::little
                                            : tiff_byte_order(header.metadata.exif)),
        spool_(sink.name()),
        row_bytes_(row_bytes(header.size.width, format_)),
        rows_a_strip_(std::clamp<std::size_t>(strip_bytes / std::max<std::size_t>(row_bytes_, 1), 1,
                                              static_cast<std::size_t>(header.size.height))),
        file_(sink.name(), mode(header.size), bytes(), "cannot be encoded as TIFF",
              max_allocation) {
    note_private_metadata(header, kinds_, names_of(tags_));
    set_layout(header.size, compression_for(header, options));
    write_tiff_metadata(file_, kept_part(header.metadata, kinds_), format_,
                        {order_, [this] { return static_cast<std::uint32_t>(even_end()); },
                         [this](const Bytes& bytes) { spool_.write(even_end(), bytes); }},
                        left_out_);
    strip_.reserve(rows_a_strip_ * row_bytes_);
  }

  void write(const ConstRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      strip_.insert(strip_.end(), rows.row(y), rows.row(y) + row_bytes_);
      if (strip_.size() == rows_a_strip_ * row_bytes_) write_strip();
    }
  }

  // libtiff takes most tags only before the pixels.
  void finish(const Metadata& trailing) override {
    note_content(kept_part(trailing, kinds_), left_out_, " that follows the pixels in a stream");
    if (!strip_.empty()) write_strip();
    file_.flush();
    add_tags();
    spool_.copy_to(sink_);
  }

 private:
  [[nodiscard]] std::uint64_t even_end() const { return spool_.size() + spool_.size() % 2; }

  [[nodiscard]] const char* mode(const ImageSize& size) const {
    const bool is_big =
        row_bytes_ * std::uint64_t{static_cast<unsigned>(size.height)} > largest_classic_file;
    const bool is_little = order_ == ByteOrder::little;
    if (is_big) return is_little ? "w8l" : "w8b";
    return is_little ? "wl" : "wb";
  }

  TiffBytes bytes() {
    return {read_at_, write_at_, [this] { return spool_.size(); }};
  }

  void add_tags() {
    if (tags_.fields.empty()) return;
    for (TiffField& field : tags_.fields) {
      if (tags_.order != order_) swap_bytes(field);
    }
    add_fields(tags_.fields, read_at_, write_at_, even_end());
  }

  void set(std::uint32_t tag, int value) {
    file_.check(libtiff().TIFFSetField(file_.get(), tag, value) == 1);
  }

  void set_layout(const ImageSize& size, std::uint16_t compression) {
    set(TIFFTAG_IMAGEWIDTH, size.width);
    set(TIFFTAG_IMAGELENGTH, size.height);
    set(TIFFTAG_BITSPERSAMPLE, format_.depth);
    set(TIFFTAG_SAMPLESPERPIXEL, format_.channels);
    set(TIFFTAG_PHOTOMETRIC,
        format_.color_channels() == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    set(TIFFTAG_ROWSPERSTRIP, static_cast<int>(rows_a_strip_));
    set(TIFFTAG_COMPRESSION, compression);
    if (format_.is_float()) set(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    if (compression != COMPRESSION_NONE) {
      set(TIFFTAG_PREDICTOR, format_.is_float() ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    }
    if (!format_.has_alpha()) return;
    const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    file_.check(libtiff().TIFFSetField(file_.get(), TIFFTAG_EXTRASAMPLES, 1, &alpha) == 1);
  }

  void write_strip() {
    const auto size = static_cast<tmsize_t>(strip_.size());
    file_.check(
        libtiff().TIFFWriteEncodedStrip(file_.get(), strip_number_++, strip_.data(), size) == size);
    strip_.clear();
  }

  ByteSink& sink_;
  PixelFormat format_;
  MetadataKinds kinds_;
  TiffTags tags_;
  ByteOrder order_;
  Spool spool_;
  TiffReadAt read_at_ = [this](std::uint64_t offset, std::span<std::uint8_t> into) {
    return spool_.read(offset, into);
  };
  TiffWriteAt write_at_ = [this](std::uint64_t offset, std::span<const std::uint8_t> from) {
    spool_.write(offset, from);
  };
  std::size_t row_bytes_;
  std::size_t rows_a_strip_;
  TiffFile file_;
  std::vector<std::uint8_t> strip_;
  std::uint32_t strip_number_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> create_tiff(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  return std::make_unique<TiffWriter>(sink, header, options);
}

}  // namespace gpufilter
