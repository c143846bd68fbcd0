// Reads and writes the rows of picture files. Only the codecs behind this interface use the
// libraries of formats; codec_table.hpp lists them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "codec/byte_sink.hpp"
#include "codec/byte_source.hpp"
#include "codec/read_limits.hpp"
#include "codec/unread.hpp"
#include "image/color.hpp"
#include "image/jpeg_coding.hpp"
#include "image/metadata.hpp"
#include "image/placement.hpp"
#include "image/rows.hpp"

namespace gpufilter {

struct Codec;
class StoredPicture;

// How a file stores its picture, so that a new file of the same format can use the same settings. A
// codec derives its own class and ignores other codecs' settings.
class StoredSettings {
 public:
  virtual ~StoredSettings() = default;

  // Names of the metadata that is kept here because only this format can hold it: "APP11 \"JP\"".
  [[nodiscard]] virtual std::vector<std::string> private_metadata() const { return {}; }

  // How the pixels are coded: "about quality 92, 4:2:0", "lossless"; empty if that is not known.
  [[nodiscard]] virtual std::string coding() const { return {}; }
};

struct PictureHeader {
  const Codec* file_format = nullptr;  // nullptr: the picture does not come from a file
  ImageSize size;
  PixelFormat format;                                 // of the rows that the reader yields
  Metadata metadata;                                  // from before the pixels
  std::shared_ptr<const StoredSettings> stored = {};  // of the file; nullptr: nothing to keep
  FilePixels file_pixels = {};                        // as the file holds them, for reports
  // Other contents of the file, besides this picture and its metadata, by names for the user: "2
  // more pages", "a film". RowReader::finish() may add those that only the end of the file shows.
  // Readers do not log it: see codec/unread.hpp.
  std::vector<std::string> unread = {};
  bool keeps_positions = true;  // each pixel is where the file that is described had it

  [[nodiscard]] PictureShape shape() const { return {size, format}; }
  void set_shape(const PictureShape& shape) {
    size = shape.size;
    format = shape.format;
  }
};

// Yields the rows of one picture, top to bottom. Samples are as stored (16-bit ones in the
// machine's byte order), except: palettes and 1, 2 and 4-bit grey become 8-bit, tRNS becomes alpha,
// YCbCr becomes RGB, CMYK and YCCK become RGB.
class RowReader {
 public:
  virtual ~RowReader() = default;
  [[nodiscard]] const PictureHeader& header() const { return header_; }

  // Fills every row of `rows` with the next rows of the picture, which has to have that many left;
  // width and format have to be the header's. Throws PictureError if the file is damaged or ends
  // too early.
  virtual void read(const MutableRows& rows) = 0;

  // After read() has thrown because of damage: whether it can be called for the rows after the
  // requested ones.
  [[nodiscard]] virtual bool can_go_on() const { return false; }

  // Call once, after the last row: checks the rest of the file, and returns metadata found there
  // (text, EXIF). Logs a warning if the file has damaged metadata, which is skipped. Throws
  // PictureError.
  virtual Metadata finish() = 0;

  // The picture as a scan that others may decode instead: then no row is read, but finish() is
  // called. Nothing if it is not that kind of JPEG, or if it comes from a pipe. The reader outlives
  // the scan.
  [[nodiscard]] virtual std::optional<JpegScan> jpeg_scan() { return std::nullopt; }

  // Before the first row: requests a smaller picture, with sides divided by up to `largest`, 2, 4
  // or 8, and rounded up, if the format can decode one. The header then has this size. Returns the
  // divisor, 1 if the format cannot.
  [[nodiscard]] virtual int decode_smaller(int /*largest*/) { return 1; }

  // The picture as the file stores it, for outputs that need not decode it; nullptr if its format
  // has no such thing. It is part of the reader: call finish() once its writers have finished.
  [[nodiscard]] virtual StoredPicture* stored_picture() { return nullptr; }

 protected:
  PictureHeader header_;
};

// Reads the header of `source`; the content decides the format. Throws PictureError if it is not a
// picture, damaged, or larger than `limits` allow. Before that check, nothing of the picture's size
// is allocated.
[[nodiscard]] std::unique_ptr<RowReader> open_picture(std::unique_ptr<ByteSource> source,
                                                      const ReadLimits& limits = {});

// How a file is written and why, if the codec reports it.
struct EncodingNotes {
  std::string text;  // "quality 90 (requested), 4:2:0 (kept from the input)"
  // The notes for programs: {"quality", 90}, ...
  std::vector<std::pair<std::string, std::variant<int, std::string, bool>>> fields;
};

// The options for writing pictures, and the values that a caller has given.
using OptionValue = std::variant<int, std::string, Color, bool>;

// Declared once, in the row of every codec that has it. On the command line it is "--name".
struct WriteOption {
  struct WholeNumber {
    int minimum = 0;
    int maximum = 0;
  };
  struct Choice {
    std::vector<std::string> names;
    std::string alone = {};  // what the option means without a value; empty: it needs one
  };
  struct List {  // some of the names, separated by commas
    std::vector<std::string> names;
  };
  struct AnyColor {};
  struct ByteCount {};  // "200K": up to 2 GiB
  struct Flag {};       // "on" or "off"; on the command line its name alone means "on"

  std::string name;  // without dashes: "quality"
  std::variant<WholeNumber, Choice, List, AnyColor, ByteCount, Flag> kind;
  std::string default_value;  // as text; empty: the codec decides, by the picture
  std::string help;
  // The pictures, as the codec gets them, that it makes a difference to.
  enum class Pixels { all, with_alpha, in_color };
  Pixels pixels = Pixels::all;
};

// The value of `text`. Throws UsageError if the option does not accept it.
[[nodiscard]] OptionValue parse_value(const WriteOption& option, std::string_view text);

// The text of a value: "85", "420", "#ffffff".
[[nodiscard]] std::string to_string(const OptionValue& value);

// The colour behind transparent pixels: for all formats that cannot hold alpha.
[[nodiscard]] const WriteOption& background_option();

// For all formats that lose samples to be small.
[[nodiscard]] const WriteOption& quality_option();

// For the same formats: the quality is the highest with which the file has at most so many bytes.
[[nodiscard]] const WriteOption& max_bytes_option();

// Whether every bit of the picture is kept: for formats that may lose some.
[[nodiscard]] const WriteOption& lossless_option();

// Which metadata are written, in all formats. See kept_metadata().
[[nodiscard]] const WriteOption& strip_option();
[[nodiscard]] const WriteOption& keep_option();

// The options that were given, by their names. A codec ignores other codecs' options.
class WriteOptions {
 public:
  // Throws as parse_value() does.
  WriteOptions& set(const WriteOption& option, std::string_view text);

  // Takes back a value.
  WriteOptions& unset(const WriteOption& option);

  // The memory limit for encoders that have to hold a whole picture; 1 GiB until it is set.
  void limit_memory(std::uint64_t bytes) { max_memory_ = bytes; }
  [[nodiscard]] std::uint64_t max_memory() const { return max_memory_; }

  [[nodiscard]] bool is_given(const WriteOption& option) const;

  // The given value, otherwise the default; nothing if the codec decides.
  [[nodiscard]] std::optional<OptionValue> value(const WriteOption& option) const;

  // The value of an option whose values are of type Value.
  template <typename Value>
  [[nodiscard]] std::optional<Value> get(const WriteOption& option) const {
    const auto found = value(option);
    return found ? std::optional(std::get<Value>(*found)) : std::nullopt;
  }

 private:
  std::map<std::string, OptionValue> given_;
  std::uint64_t max_memory_ = std::uint64_t{1} << 30U;
};

// Why a given quality was chosen, for reports: "requested", or because of max_bytes_option().
[[nodiscard]] std::string quality_reason(const WriteOptions& options);

// The kinds of metadata that these options keep.
[[nodiscard]] MetadataKinds kept_metadata(const WriteOptions& options);

// Takes the rows of one picture, top to bottom.
class RowWriter {
 public:
  virtual ~RowWriter() = default;

  // Encodes the next rows; their format and width are those given at creation. Throws PictureError.
  virtual void write(const ConstRows& rows) = 0;

  // Used instead of write() for a picture that Codec::coding describes: writes the coded data of
  // the next rows.
  virtual void write_coded(const CodedRows& rows);

  // Call once, after the last row: writes `trailing` if the format can hold it, and completes the
  // stream. The sink is not committed. Throws PictureError.
  virtual void finish(const Metadata& trailing) = 0;

  [[nodiscard]] const std::optional<EncodingNotes>& notes() const { return notes_; }

  // How the file holds the pixels, after finish(); nothing: as pixels_in_file() says.
  [[nodiscard]] const std::optional<FilePixels>& file_pixels() const { return file_pixels_; }

  // The metadata that was not carried over because the format cannot hold it, by names for the
  // user. Complete after finish().
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_.names(); }

 protected:
  // Adds to left_out_ the metadata to keep that only the input's format can hold, except what is
  // `written`.
  void note_private_metadata(const PictureHeader& header, const MetadataKinds& kinds,
                             const std::vector<std::string>& written = {});

  LeftOut left_out_;
  std::optional<EncodingNotes> notes_;
  std::optional<FilePixels> file_pixels_;
};

// Begins a picture of `header.size` and `header.format` with its metadata in the format of `codec`;
// header.file_format and header.stored describe the input file. `sink` has to outlive the writer. A
// format with only 8 bits per sample converts 16-bit samples by (v * 255 + 32767) / 65535; one
// without floats gets them as samples of 16 bits, or of 8 if it has no more; one without alpha
// flattens the picture onto background_option(). With max_bytes_option() the picture is held in
// memory, and finish() encodes it. Throws PictureError.
[[nodiscard]] std::unique_ptr<RowWriter> create_picture(const Codec& codec, ByteSink& sink,
                                                        const PictureHeader& header,
                                                        const WriteOptions& options = {});

// The libraries that decode and encode: "libpng 1.6.39, zlib 1.2.13, ...". Those that are loaded
// for their format only are named with the versions of the build.
[[nodiscard]] std::string codec_versions();

// The picture of a file whose header has been read, as the file stores it. It can be written to
// files of the same format.
class StoredPicture {
 public:
  virtual ~StoredPicture() = default;

  // Why a part of it cannot be written like this with every bit that it has; empty if it can.
  [[nodiscard]] virtual std::string objection(const Placement& placement,
                                              const WriteOptions& options) const = 0;

  // Call once, instead of RowReader's read() and finish(): reads the file to its end. Returns an
  // objection that is only found now and holds for every output; empty if there is none. Throws
  // PictureError.
  [[nodiscard]] virtual std::string load() = 0;

  // Begins a file, as create_picture() does; there must be no objection. The writer takes no rows.
  // It can be created before load(), but not finished. Throws PictureError.
  [[nodiscard]] virtual std::unique_ptr<RowWriter> create(ByteSink& sink,
                                                          const PictureHeader& header,
                                                          const WriteOptions& options,
                                                          const Placement& placement) = 0;
};

}  // namespace gpufilter
