// An output file of a picture that is being filtered.
#pragma once

#include <filesystem>
#include <memory>

#include "pipeline/run/run.hpp"
#include "pipeline/run/stored_outputs.hpp"

namespace gpufilter {

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

  // In place of rows, if OutputReport::copied: all bytes of `file`.
  void copy(ByteSource& file);
  // `timeline` gets a span.
  void write(const ConstRows& rows, Timeline& timeline);
  // The same for coded rows; see RowWriter::write_coded().
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

}  // namespace gpufilter
