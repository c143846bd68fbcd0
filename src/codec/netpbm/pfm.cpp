// PFM, "portable float map", as netpbm's manual page pfm describes it: "Pf" (grey) or "PF" (RGB),
// width, height and scale in text, then floats. A negative scale means little-endian; its magnitude
// is ignored. Rows go from the bottom to the top.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "codec/byte_source.hpp"
#include "codec/codec_table.hpp"
#include "codec/formats.hpp"
#include "codec/netpbm/metadata.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/sample_range.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

// Long enough for every header that is not padded with blanks.
constexpr std::size_t longest_pfm_header = 256;

struct PfmHeader {
  int channels = 3;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool is_little = true;
  std::uint64_t bytes = 0;  // of the header
};

[[noreturn]] void refuse_pfm(const std::string& name, const std::string& why) {
  throw PictureError(name, "damaged PFM: " + why);
}

// The words of a header, each of which white space follows.
class PfmWords {
 public:
  PfmWords(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  std::string_view next() {
    const std::size_t begin = text_.find_first_not_of(blanks, end_);
    const std::size_t end = begin == text_.npos ? begin : text_.find_first_of(blanks, begin);
    if (end == text_.npos) refuse_pfm(name_, "its header is too long or ends too early");
    end_ = end;
    return text_.substr(begin, end - begin);
  }

  std::uint32_t side() {
    const std::string_view word = next();
    std::uint64_t value = 0;
    for (const char c : word) {
      if (c < '0' || c > '9' || value > INT_MAX) refuse(word);
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    if (value == 0 || value > INT_MAX) refuse(word);
    return static_cast<std::uint32_t>(value);
  }

  double scale() {
    const std::string_view word = next();
    double number = 0;
    if (!parse_whole(word, number) || number == 0 || !std::isfinite(number)) refuse(word);
    return number;
  }

  // Up to one blank after the last word.
  [[nodiscard]] std::uint64_t bytes() const { return end_ + 1; }

 private:
  static constexpr std::string_view blanks = " \t\n\v\f\r";

  [[noreturn]] void refuse(std::string_view word) const {
    refuse_pfm(name_, formatted("'{}' in its header", printable(word)));
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t end_ = 0;
};

PfmHeader read_pfm_header(ByteSource& source) {
  std::array<std::uint8_t, longest_pfm_header> bytes{};
  const std::size_t count = source.read_at(0, bytes);
  PfmWords words(source.name(), {reinterpret_cast<const char*>(bytes.data()), count});
  PfmHeader header;
  header.channels = words.next() == "Pf" ? 1 : 3;  // the signature has been checked
  header.width = words.side();
  header.height = words.side();
  header.is_little = words.scale() < 0;
  header.bytes = words.bytes();
  return header;
}

class PfmReader final : public RowReader {
 public:
  PfmReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(random_access(std::move(source))),
        file_(read_pfm_header(*source_)),
        range_(limits.range.value_or(SampleRange{})),
        seen_(range_),
        warns_(limits.warn) {
    const PixelFormat floats{file_.channels, float_depth};
    header_.format = {file_.channels, limits.keeps_floats ? float_depth : 16};
    check_size(source_->name(), file_.width, file_.height, header_.format, limits);
    header_.file_format = &pfm_codec();
    header_.size = {static_cast<int>(file_.width), static_cast<int>(file_.height)};
    header_.file_pixels = file_pixels(floats);
    row_.resize(row_bytes(header_.size.width, floats));
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      read_row(next_row_++);
      if (header_.format.is_float())
        std::memcpy(rows.row(y), row_.data(), row_.size());
      else
        to_integers(rows.row(y));
    }
  }

  // With any other row.
  [[nodiscard]] bool can_go_on() const override { return true; }

  Metadata finish() override {
    const std::uint64_t end = file_.bytes + std::uint64_t{file_.height} * row_.size();
    if (source_->size().value_or(end) > end) header_.unread.emplace_back("data after its pixels");
    if (warns_ && !header_.format.is_float()) {
      log::warn(formatted("{}: {}", source_->name(),
                          float_account(float_depth, range_, seen_.cut_off())));
    }
    return {};
  }

 private:
  void read_row(int y) {
    const auto from_bottom = static_cast<std::uint64_t>(header_.size.height - 1 - y);
    if (source_->read_at(file_.bytes + from_bottom * row_.size(), row_) < row_.size())
      throw PictureError(source_->name(), file_ends_early);
    if (file_.is_little == (std::endian::native == std::endian::little)) return;
    for (std::size_t i = 0; i < row_.size(); i += sizeof(float))
      std::reverse(row_.begin() + static_cast<std::ptrdiff_t>(i),
                   row_.begin() + static_cast<std::ptrdiff_t>(i + sizeof(float)));
  }

  void to_integers(std::uint8_t* row) {
    for (std::size_t i = 0; i < row_.size() / sizeof(float); ++i) {
      const double value = load_sample<float>(row_.data(), i);
      seen_.note(value);
      store_sample(row, i, sample_in(range_, value, header_.format.max_sample()));
    }
  }

  std::unique_ptr<ByteSource> source_;
  PfmHeader file_;
  SampleRange range_;
  SeenRange seen_;
  bool warns_;
  int next_row_ = 0;
  std::vector<std::uint8_t> row_;
};

class PfmWriter final : public RowWriter {
 public:
  PfmWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : sink_(sink),
        kinds_(kept_metadata(options)),
        conversion_(header.format, format_in_file(pfm_codec(), header.format), header.size.width,
                    *options.get<Color>(background_option())) {
    const PixelFormat format = format_in_file(pfm_codec(), header.format);
    check_memory(sink.name(), row_pitch(header.size.width, format) * header.size.height,
                 {.max_memory = options.max_memory()}, "a PFM", "write TIFF instead");
    picture_ = Image(header.size, format);
    note_private_metadata(header, kinds_);
    note_all_metadata(kept_part(header.metadata, kinds_), left_out_);
  }

  void write(const ConstRows& rows) override {
    const MutableRows picture = picture_.rows();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      std::memcpy(picture.row(next_row_++), conversion_.convert(rows.row(y)), picture.row_bytes());
  }

  void finish(const Metadata& trailing) override {
    const ImageSize size = picture_.size();
    const std::string text =
        formatted("P{}\n{} {}\n{}1.0\n", picture_.format().channels == 1 ? 'f' : 'F', size.width,
                  size.height, std::endian::native == std::endian::little ? "-" : "");
    sink_.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    const ConstRows rows = std::as_const(picture_).rows();
    for (int y = size.height; y-- > 0;)
      sink_.write({rows.row(y), rows.row_bytes()});
    note_content(kept_part(trailing, kinds_), left_out_);
  }

 private:
  ByteSink& sink_;
  MetadataKinds kinds_;
  RowConversion conversion_;
  Image picture_;
  int next_row_ = 0;
};

std::unique_ptr<RowReader> open_pfm(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<PfmReader>(std::move(source), limits);
}

std::unique_ptr<RowWriter> create_pfm(ByteSink& sink, const PictureHeader& header,
                                      const WriteOptions& options) {
  return std::make_unique<PfmWriter>(sink, header, options);
}

}  // namespace

const Codec& pfm_codec() {
  static const Codec codec{
      .name = "PFM",
      .extensions = {".pfm"},
      .signatures = {"PF\n", "PF ", "PF\r", "PF\t", "Pf\n", "Pf ", "Pf\r", "Pf\t"},
      .min_depth = float_depth,
      .max_depth = float_depth,
      .is_lossless = true,
      .decoding = {"decode PFM", 0.3e-9, 0},
      .encoding = {"encode PFM", 0.3e-9, 0},
      .options = {&background_option(), &strip_option(), &keep_option()},
      .open = open_pfm,
      .create = create_pfm};
  return codec;
}

}  // namespace gpufilter
