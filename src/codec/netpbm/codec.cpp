#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "codec/byte_source.hpp"
#include "codec/formats.hpp"
#include "codec/netpbm/metadata.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

// Headers are read as the manual pages ppm(5), pgm(5), pbm(5) and pam(5) describe them.

struct NetpbmHeader {
  char kind = '6';  // of the magic number
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int channels = 3;
  std::uint32_t maxval = 255;

  [[nodiscard]] bool is_plain() const { return kind <= '3'; }
  [[nodiscard]] bool is_bitmap() const { return kind == '1' || kind == '4'; }
};

constexpr std::size_t longest_line = 4096;  // of a PAM header

bool is_blank(char c) {
  return std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The channels of a PAM's tuple type; nothing for unknown types and those that are not pictures.
std::optional<int> channels_of_type(const std::string& type) {
  static const std::map<std::string, int> types{
      {"BLACKANDWHITE", 1},   {"GRAYSCALE", 1}, {"BLACKANDWHITE_ALPHA", 2},
      {"GRAYSCALE_ALPHA", 2}, {"RGB", 3},       {"RGB_ALPHA", 4}};
  const auto found = types.find(type);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

// The file's bytes one by one, for text, and in pieces. Failures name the file.
class NetpbmInput {
 public:
  explicit NetpbmInput(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  [[nodiscard]] const std::string& name() const { return source_->name(); }

  // The next byte; throws PictureError at the end of the file.
  [[nodiscard]] char next() {
    if (is_at_end()) throw PictureError(name(), file_ends_early);
    return static_cast<char>(text_.at(begin_++));
  }

  // The next byte of plain text in which "#" begins a comment that lasts to the end of its line;
  // the comment reads as a line feed.
  [[nodiscard]] char next_of_text() {
    char c = next();
    if (c == '#') {
      while (c != '\n' && c != '\r')
        c = next();
    }
    return c;
  }

  // A number of plain text, after white space. The byte behind it is consumed; it may be the end of
  // the file.
  [[nodiscard]] std::uint32_t number() {
    char c = next_of_text();
    while (is_blank(c))
      c = next_of_text();
    if (!is_digit(c)) refuse(formatted("'{}' where a number should be", printable({&c, 1})));
    std::uint64_t value = 0;
    for (;;) {
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
      if (value > INT_MAX) refuse("a number is too large");
      if (is_at_end()) break;
      c = next_of_text();
      if (!is_digit(c)) break;
    }
    if (!is_digit(c) && !is_blank(c)) {
      refuse(formatted("'{}' after a number", printable({&c, 1})));
    }
    return static_cast<std::uint32_t>(value);
  }

  // Fills `bytes`, or throws PictureError.
  void read(std::span<std::uint8_t> bytes) {
    const std::size_t ahead = std::min(bytes.size(), end_ - begin_);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(begin_), ahead, bytes.begin());
    begin_ += ahead;
    read_all(*source_, bytes.subspan(ahead));
  }

  // Whether another picture follows.
  [[nodiscard]] bool begins_another() {
    if (is_at_end() || text_.at(begin_) != 'P') return false;
    ++begin_;
    return !is_at_end() && text_.at(begin_) >= '1' && text_.at(begin_) <= '7';
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw PictureError(name(), "damaged Netpbm file: " + why);
  }

 private:
  [[nodiscard]] bool is_at_end() {
    if (begin_ < end_) return false;
    begin_ = 0;
    end_ = source_->read(text_);
    return end_ == 0;
  }

  std::unique_ptr<ByteSource> source_;
  std::array<std::uint8_t, 4096> text_{};  // read ahead by next()
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

std::string line_of(NetpbmInput& input) {
  std::string line;
  for (char c = input.next(); c != '\n'; c = input.next()) {
    if (line.size() == longest_line) input.refuse("a line of its header is too long");
    line += c;
  }
  return line;
}

// The number that is the only word after a PAM's keyword.
std::uint32_t value_of(const NetpbmInput& input, const std::string& keyword,
                       const std::string& text) {
  std::istringstream words(text);
  std::uint32_t number = 0;
  std::string more;
  const bool is_number =
      !text.empty() && std::ranges::all_of(text, [](char c) { return is_digit(c) || is_blank(c); });
  if (!is_number || !(words >> number) || words >> more)
    input.refuse(formatted("{} is '{}'", keyword, printable(text)));
  return number;
}

// Lines of a keyword and a value, in any order.
NetpbmHeader read_pam_header(NetpbmInput& input) {
  std::map<std::string, std::uint32_t> numbers{
      {"WIDTH", 0}, {"HEIGHT", 0}, {"DEPTH", 0}, {"MAXVAL", 0}};
  std::string type;
  for (std::string line = line_of(input);; line = line_of(input)) {
    std::istringstream words(line);
    std::string keyword;
    if (!(words >> keyword) || keyword[0] == '#') continue;
    if (keyword == "ENDHDR") break;
    std::string value;
    std::getline(words >> std::ws, value);
    if (keyword == "TUPLTYPE") {
      if (!type.empty()) type += ' ';
      type += value.substr(0, value.find_last_not_of(" \t\r") + 1);
      if (type.size() > longest_line) input.refuse("its tuple type is too long");
    } else if (const auto number = numbers.find(keyword); number != numbers.end()) {
      number->second = value_of(input, keyword, value);
    } else {
      input.refuse(formatted("'{}' is not a keyword of its header", printable(keyword)));
    }
  }
  const std::uint32_t depth = numbers["DEPTH"];
  const bool is_picture = depth >= 1 && depth <= 4;
  const auto channels =
      type.empty() && is_picture ? static_cast<int>(depth) : channels_of_type(type).value_or(0);
  if (channels == 0 || depth != static_cast<std::uint32_t>(channels)) {
    throw PictureError(input.name(),
                       formatted("a PAM of {} channels and type '{}' is not supported: only grey, "
                                 "grey with alpha, RGB and RGB with alpha are",
                                 depth, printable(type)));
  }
  return {'7', numbers["WIDTH"], numbers["HEIGHT"], channels, numbers["MAXVAL"]};
}

NetpbmHeader read_map_header(NetpbmInput& input, char kind) {
  NetpbmHeader header{.kind = kind, .channels = kind == '3' || kind == '6' ? 3 : 1};
  header.width = input.number();
  header.height = input.number();
  header.maxval = header.is_bitmap() ? 1 : input.number();
  return header;
}

// Reads up to the first sample. Throws PictureError.
NetpbmHeader read_netpbm_header(NetpbmInput& input) {
  static_cast<void>(input.next());  // "P": the signature has been checked
  const char kind = input.next();
  const NetpbmHeader header = kind == '7' ? read_pam_header(input) : read_map_header(input, kind);
  if (header.width == 0 || header.height == 0) input.refuse("its width or height is 0");
  if (header.width > INT_MAX || header.height > INT_MAX) input.refuse("a number is too large");
  if (header.maxval == 0 || header.maxval > 65535)
    input.refuse(formatted("its largest sample is {}, not 1 to 65535", header.maxval));
  return header;
}

const Codec& codec_of(const NetpbmHeader& header) {
  if (header.kind == '7') return pam_codec();
  if (header.is_bitmap()) return pnm_codec();
  return header.channels == 3 ? ppm_codec() : pgm_codec();
}

class NetpbmReader final : public RowReader {
 public:
  NetpbmReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : input_(std::move(source)), file_(read_netpbm_header(input_)) {
    const PixelFormat format{file_.channels, file_.maxval <= 255 ? 8 : 16};
    check_size(input_.name(), file_.width, file_.height, format, limits);
    header_.file_format = &codec_of(file_);
    header_.size = {static_cast<int>(file_.width), static_cast<int>(file_.height)};
    header_.format = format;
    header_.file_pixels = file_pixels(format);
    header_.file_pixels.depth = std::bit_width(file_.maxval);
    samples_ = static_cast<std::size_t>(file_.width) * static_cast<unsigned>(format.channels);
    if (file_.kind == '4') bits_.resize((samples_ + 7) / 8);
    if (file_.maxval != format.max_sample()) make_scale();
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      std::uint8_t* row = rows.row(y);
      if (file_.kind == '4') {
        read_bits(row);
      } else {
        file_.is_plain() ? read_plain(row) : read_binary(row);
        if (!scale_.empty()) scale(row);
      }
    }
  }

  Metadata finish() override {
    if (input_.begins_another()) header_.unread.emplace_back("more pictures");
    return {};
  }

 private:
  [[nodiscard]] bool is_wide() const { return header_.format.depth == 16; }

  void make_scale() {
    const std::uint32_t max = header_.format.max_sample();
    for (std::uint32_t v = 0; v <= file_.maxval; ++v)
      scale_.push_back(static_cast<std::uint16_t>((v * max + file_.maxval / 2) / file_.maxval));
  }

  // A set bit is black.
  void read_bits(std::uint8_t* row) {
    input_.read(bits_);
    for (std::size_t x = 0; x < samples_; ++x)
      row[x] = (bits_[x / 8] >> (7 - x % 8) & 1U) != 0 ? 0 : 255;
  }

  // Bits may follow each other without white space.
  std::uint32_t read_plain_bit() {
    for (;;) {
      const char c = input_.next_of_text();
      if (c == '0' || c == '1') return c == '0' ? 1 : 0;
      if (!is_blank(c)) input_.refuse("a sample is neither 0 nor 1");
    }
  }

  void read_plain(std::uint8_t* row) {
    for (std::size_t i = 0; i < samples_; ++i) {
      const std::uint32_t value = file_.is_bitmap() ? read_plain_bit() : input_.number();
      check(value);
      store_sample(row, i, static_cast<std::uint16_t>(value), is_wide());
    }
  }

  // Samples of two bytes begin with the more significant one.
  void read_binary(std::uint8_t* row) {
    input_.read({row, samples_ * header_.format.bytes_per_sample()});
    if (is_wide()) swap_big_endian({row, 2 * samples_});
  }

  void scale(std::uint8_t* row) const {
    for (std::size_t i = 0; i < samples_; ++i) {
      const std::uint32_t value = load(row, i);
      check(value);
      store_sample(row, i, scale_[value], is_wide());
    }
  }

  void check(std::uint32_t value) const {
    if (value <= file_.maxval) return;
    input_.refuse(formatted("a sample of {}, its largest is said to be {}", value, file_.maxval));
  }

  [[nodiscard]] std::uint16_t load(const std::uint8_t* row, std::size_t index) const {
    return is_wide() ? load_sample<std::uint16_t>(row, index) : row[index];
  }

  NetpbmInput input_;
  NetpbmHeader file_;
  std::size_t samples_ = 0;           // of a row
  std::vector<std::uint8_t> bits_;    // a row of a bitmap
  std::vector<std::uint16_t> scale_;  // empty: samples stay as they are
};

std::string pam_type(const PixelFormat& format) {
  return formatted("{}{}", format.color_channels() == 1 ? "GRAYSCALE" : "RGB",
                   format.has_alpha() ? "_ALPHA" : "");
}

std::string header_text(const Codec& codec, const ImageSize& size, const PixelFormat& format) {
  if (&codec == &pam_codec()) {
    return formatted("P7\nWIDTH {}\nHEIGHT {}\nDEPTH {}\nMAXVAL {}\nTUPLTYPE {}\nENDHDR\n",
                     size.width, size.height, format.channels, format.max_sample(),
                     pam_type(format));
  }
  return formatted("P{}\n{} {}\n{}\n", format.channels == 1 ? 5 : 6, size.width, size.height,
                   format.max_sample());
}

// The formats can store metadata only in comments, which many readers do not expect.
class NetpbmWriter final : public RowWriter {
 public:
  NetpbmWriter(const Codec& codec, ByteSink& sink, const PictureHeader& header,
               const WriteOptions& options)
      : sink_(sink),
        format_(format_in_file(codec, header.format)),
        conversion_(header.format, format_, header.size.width,
                    *options.get<Color>(background_option())),
        kinds_(kept_metadata(options)) {
    note_private_metadata(header, kinds_);
    if (format_.color_channels() < header.format.color_channels())
      left_out_.add(formatted("colours (a {} is grey)", codec.name));
    note_all_metadata(kept_part(header.metadata, kinds_), left_out_);
    const std::string text = header_text(codec, header.size, format_);
    sink_.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }

  void write(const ConstRows& rows) override {
    const std::size_t bytes = row_bytes(rows.width, format_);
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      sink_.write({in_file_order(conversion_.convert(rows.row(y)), bytes), bytes});
  }

  void finish(const Metadata& trailing) override {
    note_content(kept_part(trailing, kinds_), left_out_);
  }

 private:
  // Samples of two bytes begin with the more significant one.
  const std::uint8_t* in_file_order(const std::uint8_t* row, std::size_t bytes) {
    if (format_.depth == 8) return row;
    swapped_.assign(row, row + bytes);
    swap_big_endian(swapped_);
    return swapped_.data();
  }

  ByteSink& sink_;
  PixelFormat format_;
  RowConversion conversion_;
  MetadataKinds kinds_;
  std::vector<std::uint8_t> swapped_;
};

// A magic number and the white space or comment that follows it.
std::vector<std::string> signatures_of(const std::vector<std::string>& magic_numbers) {
  std::vector<std::string> signatures;
  for (const std::string& magic : magic_numbers) {
    for (const char next : {'\n', ' ', '\t', '\r', '#'})
      signatures.push_back(magic + next);
  }
  return signatures;
}

std::unique_ptr<RowReader> open(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<NetpbmReader>(std::move(source), limits);
}

template <const Codec& (*codec)()>
std::unique_ptr<RowWriter> create(ByteSink& sink, const PictureHeader& header,
                                  const WriteOptions& options) {
  return std::make_unique<NetpbmWriter>(codec(), sink, header, options);
}

// The row of a format without alpha.
template <const Codec& (*codec)()>
Codec map_codec(const std::string& name, const std::string& ending, int color_channels,
                const std::vector<std::string>& magic_numbers) {
  return {.name = name,
          .extensions = {ending},
          .signatures = signatures_of(magic_numbers),
          .color_channels = color_channels,
          .decoding = {"decode " + name, 0.3e-9, 0},
          .encoding = {"encode " + name, 0.3e-9, 0},
          .options = {&background_option(), &strip_option(), &keep_option()},
          .open = open,
          .create = create<codec>};
}

}  // namespace

void note_all_metadata(const Metadata& metadata, LeftOut& left_out) {
  if (metadata.icc_profile) left_out.add("the ICC profile");
  note_color_description(metadata, metadata.icc_profile.has_value(), left_out);
  note_density(metadata, left_out);
  note_content(metadata, left_out);
}

const Codec& ppm_codec() {
  static const Codec codec = map_codec<ppm_codec>("PPM", ".ppm", 3, {"P6", "P3"});
  return codec;
}

const Codec& pgm_codec() {
  static const Codec codec = map_codec<pgm_codec>("PGM", ".pgm", 1, {"P5", "P2"});
  return codec;
}

const Codec& pnm_codec() {
  static const Codec codec = map_codec<pnm_codec>("PNM", ".pnm", 0, {"P4", "P1"});
  return codec;
}

const Codec& pam_codec() {
  static const Codec codec{.name = "PAM",
                           .extensions = {".pam"},
                           .signatures = {"P7\n"},
                           .holds_alpha = true,
                           .is_lossless = true,
                           .decoding = {"decode PAM", 0.3e-9, 0},
                           .encoding = {"encode PAM", 0.3e-9, 0},
                           .options = {&strip_option(), &keep_option()},
                           .open = open,
                           .create = create<pam_codec>};
  return codec;
}

}  // namespace gpufilter
