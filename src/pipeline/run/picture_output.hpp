// The output files of a picture that is being filtered.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>

#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stored_outputs.hpp"

namespace gpufilter {

// For a result of this shape in a file of the format of `codec`: the sizes that EXIF and XMP repeat
// are those of the result, and colours become a profile if the file cannot name them otherwise.
void adapt_metadata(Metadata& metadata, const PictureShape& picture, const Codec& codec);

// What writes the output that `report` describes to `sink`; from `stored`, if it is given. Throws
// PictureError.
[[nodiscard]] std::unique_ptr<RowWriter> create_writer(const OutputReport& report, ByteSink& sink,
                                                       PictureHeader header,
                                                       const WriteOptions& options,
                                                       const std::optional<StoredPart>& stored);

// How the file of a copied picture is written: as the file that it is `stored` in.
[[nodiscard]] std::optional<EncodingNotes> notes_on_copy(const OutputReport& report,
                                                         const PictureHeader& header,
                                                         const WriteOptions& options,
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
  // `outputs` are those of `options`, with their places in `chain`, which is the one for the
  // input's orientation. All outlive this object, and `report` gets what becomes known. Decides
  // what is not decoded, and reads that. Throws PictureError.
  RunOutputs(RunReport& report, PictureInput& input, const StageChain& chain,
             const std::vector<ChainOutput>& outputs, const Codec& last_format,
             const RunOptions& options);

  [[nodiscard]] const StoredOutputs& stored() const { return stored_; }
  [[nodiscard]] bool copy_last() { return stored_.copy_last(); }
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
  const StageChain& chain_;
  const std::vector<ChainOutput>& places_;
  const RunOptions& options_;
  StoredOutputs stored_;
  std::deque<PictureOutput> files_;
};

}  // namespace gpufilter
