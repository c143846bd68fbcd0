// The output files of a picture that is being filtered.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/run_description.hpp"

namespace gpufilter {

// The source of an output whose pixels are only moved.
struct StoredPart {
  StoredPicture* picture;
  Placement placement;
};

// Adapts metadata to a result of this shape in a file of `codec`'s format: EXIF and XMP get the
// result's size, and named colours become a profile if the format cannot name them.
void adapt_metadata(Metadata& metadata, const PictureShape& picture, const Codec& codec);

// How the output will be encoded. A copied file is written as the file that it is `stored` in.
[[nodiscard]] std::optional<EncodingNotes> expected_encoding(
    const OutputReport& report, const PictureHeader& header, const WriteOptions& options,
    const std::optional<StoredPart>& stored);

// Takes the rows of one output; does nothing with them if the file is kept. Otherwise the file
// appears complete with commit(), or not at all.
class PictureOutput {
 public:
  // `report` has the path, the format and the shape; the output adds what it learns, and has to be
  // outlived by it. With `stored`, it is written from that in finish(), and rows are ignored.
  // `header` is the input's, with the metadata that belongs before the pixels. Throws PictureError.
  PictureOutput(OutputReport& report, PictureHeader header, const RunOptions& options,
                const std::optional<StoredPart>& stored);

  // Copies all bytes of `file` instead of taking rows, if OutputReport::copied.
  void copy(ByteSource& file);
  // `timeline` gets a span.
  void write(const ConstRows& rows, Timeline& timeline);
  // Takes coded rows instead of pixels; see RowWriter::write_coded().
  void write_coded(const CodedRows& rows, Timeline& timeline);
  // Call once, after the last row; `trailing` is the metadata that belongs after the pixels.
  void finish(const Metadata& trailing);
  void commit();
  // Sets the modification time once the file is in place. Does nothing to a stream.
  void set_time(std::filesystem::file_time_type time) const;

 private:
  OutputReport& report_;
  bool is_stored_;
  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<RowWriter> writer_;
};

// The output files of a picture, in the order of their positions in the chain; the last is the one
// at its end. Outputs that need no decoding are copies of the input's file, or made from its stored
// picture.
class RunOutputs {
 public:
  // Decides by lossless_option() which outputs need no decoding. `outputs` has all of them, with
  // formats and positions in `chains`, this picture's. All arguments have to outlive this object,
  // and `report` receives what becomes known. Throws PictureError if an output cannot be what that
  // option requests.
  RunOutputs(RunReport& report, PictureInput& input, const LoweredTree& chains,
             const std::vector<ChainOutput>& outputs, const RunOptions& options);

  // Whether nothing has to be decoded, and for each output, whether no rows are written to it.
  [[nodiscard]] bool are_without_rows() const;
  [[nodiscard]] std::vector<bool> without_rows() const;
  // Whether all that is written are copies: then nothing of the input is lost.
  [[nodiscard]] bool are_copies() const;
  // For the output with this number; nothing if it is encoded.
  [[nodiscard]] std::optional<StoredPart> stored_part(std::size_t output) const;

  // Reads the file if that is not left to the walks: nothing is copied of a damaged file either. If
  // its picture turns out to be unsuitable, all outputs are to be encoded, or it throws
  // PictureError as above.
  void load();
  // After the walks have shown that the chain changes nothing: makes the last output a copy, if
  // that suits the options. Returns whether it is one.
  [[nodiscard]] bool copy_last();

  // Updates the report with what is known of the outputs.
  void describe();
  // "turned without decoding"
  [[nodiscard]] std::string account() const;

  // The number of files that are open, and the next of them.
  [[nodiscard]] std::size_t count() const { return files_.size(); }
  PictureOutput& open();
  // Completes all of them, and then moves them into place; the time counts as `kind`.
  void finish(Timeline& timeline, const Span& kind);

 private:
  // How an output is made without decoding.
  struct Way {
    bool kept = false;
    std::optional<Placement> placement = std::nullopt;
    bool copied = false;
    bool may_be_copied = false;  // if the stages change nothing
  };

  [[nodiscard]] Way way_to(const ChainOutput& output);
  [[nodiscard]] bool any_stored() const;
  [[nodiscard]] bool may_copy_to(const Codec& format) const;
  [[noreturn]] void refuse(const std::string& objection) const;
  void encode_all(const std::string& objection);
  void load_stored();
  void read_all();
  void note_orientation() const;
  void note_unread() const;

  RunReport& report_;
  PictureInput& input_;
  const LoweredTree& chains_;
  const std::vector<ChainOutput>& places_;
  const RunOptions& options_;
  std::string mode_;  // of lossless_option()
  std::vector<Way> ways_;
  std::unique_ptr<ReadAhead> reader_;  // for outputs that need no decoding
  std::deque<PictureOutput> files_;
};

}  // namespace gpufilter
