// The picture that a chain works on: from its file, and after a stage that keeps it as a
// whole, as that left it.
#pragma once

#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/timeline.hpp"
#include "codec/byte_source.hpp"
#include "codec/codec.hpp"
#include "image/image.hpp"
#include "pipeline/execute/kept_picture.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// A reader that can read on while the rows cannot be taken yet.
class ReadAhead final : public RowReader {
 public:
  explicit ReadAhead(std::unique_ptr<RowReader> reader);

  // Decodes a few more rows and keeps them. False if there is nothing more to decode, or `maximum`
  // bytes are already kept. Errors in the file are thrown when those rows are read.
  [[nodiscard]] bool read_on(std::uint64_t maximum);

  [[nodiscard]] int rows_decoded() const { return decoded_; }

  void read(const MutableRows& rows) override;
  [[nodiscard]] int decode_smaller(int largest) override;
  Metadata finish() override;
  [[nodiscard]] std::optional<JpegScan> jpeg_scan() override { return reader_->jpeg_scan(); }
  [[nodiscard]] StoredPicture* stored_picture() override { return reader_->stored_picture(); }

 private:
  void take_kept(const MutableRows& rows, int& next);

  std::unique_ptr<RowReader> reader_;
  std::deque<Image> kept_;  // rows that follow one another
  std::uint64_t kept_bytes_ = 0;
  int decoded_ = 0;  // rows
  int taken_ = 0;    // rows
  std::exception_ptr failure_;
};

struct RunOptions;

class PictureInput {
 public:
  // Reads the header. The chain decides how often the file has to be read, and whether the picture
  // gets another orientation. Throws PictureError.
  PictureInput(const std::string& path, const StageChain& chain, const RunOptions& options);

  // The file's header. Once the chain has turned the picture upright, its orientation is 1.
  [[nodiscard]] const PictureHeader& header() const { return header_; }
  // For messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  // The orientation in the file, before or behind the pixels, as far as it is known.
  [[nodiscard]] int orientation() const { return orientation_; }

  // For each walk through the picture, from its beginning. Throws PictureError, also if the file
  // has changed meanwhile.
  [[nodiscard]] std::unique_ptr<ReadAhead> open();
  // The next reader warns, because the first one was not read to its end.
  void warn_again() { warns_again_ = true; }
  // The activity of reading from it.
  [[nodiscard]] Activity reading() const { return kept_ ? Activity::read_back : Activity::decode; }
  // The scan of the file, as RowReader has it; nothing once it has been read.
  [[nodiscard]] std::optional<JpegScan> jpeg_scan() const;
  // The file itself. Only if it is_repeatable().
  [[nodiscard]] std::unique_ptr<ByteSource> open_bytes() const { return source_.open(); }
  // The shape that open() yields.
  [[nodiscard]] PictureShape shape() const;
  // Whether reading does not wait for other programs.
  [[nodiscard]] bool is_file() const { return is_file_ && !kept_; }

  // Before open(): from now on the file is decoded smaller, if its format can, by what
  // RowReader::decode_smaller() returns.
  [[nodiscard]] int decode_smaller(int largest);

  // The file's stored picture, if its format has one, before open() is called.
  [[nodiscard]] StoredPicture* stored_picture() { return first_->stored_picture(); }
  // Whether the file can be read again.
  [[nodiscard]] bool is_repeatable() const { return is_file_ || is_read_again_; }

  // When the file was modified; nothing if it is a stream.
  [[nodiscard]] const std::optional<std::filesystem::file_time_type>& modified() const {
    return modified_;
  }

  // After a walk: reads the rest of the file, which may hold more. Throws PictureError.
  void finish(ReadAhead& reader);

  // The metadata for outputs, before and after their pixels; `is_oriented`: the chain has turned
  // the picture upright. First call prepare_metadata() for the format of every output.
  void prepare_metadata(const Codec& codec);
  [[nodiscard]] const Metadata& leading_metadata(bool is_oriented) const;
  [[nodiscard]] const Metadata& trailing_metadata() const { return trailing_; }

  // From now on, walks begin with this picture.
  void replace(std::unique_ptr<KeptPicture> kept) { kept_ = std::move(kept); }
  // Bytes of memory that it takes.
  [[nodiscard]] std::uint64_t memory() const;

 private:
  void note_orientation(const Metadata& metadata);
  void take_late_metadata(Metadata& metadata);

  std::string path_;
  bool turns_upright_;
  bool is_read_again_ = false;
  RepeatableSource source_;
  bool is_file_;
  std::optional<std::filesystem::file_time_type> modified_;
  ReadLimits limits_;
  bool warns_again_ = false;
  std::string name_;
  PictureHeader header_;
  ImageSize decoded_size_;
  int divisor_ = 1;                   // of the sides
  Metadata stored_metadata_;          // before the orientation was reset
  std::unique_ptr<ReadAhead> first_;  // opened to read the header
  int orientation_ = 1;
  bool took_late_metadata_ = false;
  Metadata trailing_;
  std::unique_ptr<KeptPicture> kept_;
};

// Throws UnreadParts if the file is known to hold more than is read.
void refuse_unread(const PictureInput& input);

}  // namespace gpufilter
