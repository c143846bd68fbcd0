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

namespace gpufilter {

// What an output of moved pixels is made of.
struct StoredPart {
  StoredPicture* picture;
  Placement placement;
};

class StoredOutputs {
 public:
  // Decides by lossless_option() for `outputs`, as in RunOptions, and for the output at the end of
  // the chain. `chain` is the one for this picture; all outlive this object. Throws
  // PictureError if an output cannot be what that option asks for.
  StoredOutputs(PictureInput& input, const LoweredChain& chain,
                const std::vector<ChainOutput>& outputs, const Codec& last_format,
                const RunOptions& options);

  // Whether nothing has to be decoded, and whether something is stored.
  [[nodiscard]] bool are_all() const;
  [[nodiscard]] bool are_any() const;

  // For each output, whether no rows are written to it.
  [[nodiscard]] std::vector<bool> without_rows() const;

  // Reads the file if that is not left to the walks: nothing is copied of a damaged file either. If
  // its picture turns out to be unsuitable, all outputs are to be encoded, or it throws
  // PictureError as above.
  void load();
  // Whether an output's file is a copy of the input's.
  [[nodiscard]] bool is_copy(std::size_t output) const { return outputs_.at(output).copied; }
  // Whether all that is written are copies: then nothing of the input is lost.
  [[nodiscard]] bool are_copies() const;
  // After the walks have shown that the chain changes nothing: makes the last output a copy, if
  // that suits the options. Returns whether it is one.
  [[nodiscard]] bool copy_last();
  // For the output with this number, the last one having the highest; nothing if it is encoded.
  [[nodiscard]] std::optional<StoredPart> part(std::size_t output) const;
  // Once all outputs are finished. Throws PictureError.
  void finish();

  // Corrects what is known of the outputs in `report`.
  void describe(RunReport& report) const;
  // "turned without decoding"
  [[nodiscard]] std::string account() const;

 private:
  struct Output {
    bool kept = false;
    std::optional<Placement> placement = std::nullopt;
    bool copied = false;
    bool may_be_copied = false;  // if the stages change nothing
  };

  [[nodiscard]] Output decide(std::size_t stages, const Codec& format, bool kept);
  [[nodiscard]] bool may_copy_to(const Codec& format) const;
  [[nodiscard]] const LoweredStage* find_placement(std::size_t stages, Placement& placement) const;
  [[noreturn]] void refuse(const std::string& objection) const;
  void encode_all(const std::string& objection);
  void read_all();

  PictureInput& input_;
  const LoweredChain& chain_;
  const RunOptions& options_;
  std::string mode_;  // of lossless_option()
  std::vector<Output> outputs_;
  std::unique_ptr<ReadAhead> reader_;
};

// For a result of this shape in a file of the format of `codec`: the sizes that EXIF and XMP repeat
// are those of the result, and colours become a profile if the file cannot name them otherwise.
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

  // Takes all bytes of `file` in place of rows, if OutputReport::copied.
  void copy(ByteSource& file);
  // `timeline` gets a span.
  void write(const ConstRows& rows, Timeline& timeline);
  // Takes coded rows in place of rows; see RowWriter::write_coded().
  void write_coded(const CodedRows& rows, Timeline& timeline);
  // Call once, after the last row; `trailing` is the metadata that belongs after the pixels.
  void finish(const Metadata& trailing);
  void commit();
  // Once it is in place: of its modification. Does nothing to a stream.
  void set_time(std::filesystem::file_time_type time) const;

 private:
  OutputReport& report_;
  bool is_stored_;
  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<RowWriter> writer_;
};

// The output files of a picture.
class RunOutputs {
 public:
  // `outputs` are those of `options`, with their places in `chain`, which is the one for this
  // picture. All outlive this object, and `report` gets what becomes known. Decides
  // what is not decoded, and reads that. Throws PictureError.
  RunOutputs(RunReport& report, PictureInput& input, const LoweredChain& chain,
             const std::vector<ChainOutput>& outputs, const Codec& last_format,
             const RunOptions& options);

  [[nodiscard]] StoredOutputs& stored() { return stored_; }
  [[nodiscard]] std::size_t count() const { return files_.size(); }

  // Begins the next file, in the order of their places.
  PictureOutput& open(OutputReport& report);
  // Completes all of them, and then moves them into place; the time counts as `kind`.
  void finish(Timeline& timeline, const Span& kind);

 private:
  void note_orientation() const;
  void note_unread() const;

  RunReport& report_;
  PictureInput& input_;
  const LoweredChain& chain_;
  const std::vector<ChainOutput>& places_;
  const RunOptions& options_;
  StoredOutputs stored_;
  std::deque<PictureOutput> files_;
};

}  // namespace gpufilter
