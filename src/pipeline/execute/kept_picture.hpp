// A whole picture between two walks, turned or not: for stages whose result begins with the last
// rows of their source or with its columns, or depends on all of it.
#pragma once

#include <memory>

#include "base/files.hpp"
#include "codec/codec.hpp"
#include "image/image.hpp"
#include "image/placement.hpp"

namespace gpufilter {

// Takes the bands of a picture in any order and gives the rows of the turned picture. The picture
// is kept in memory, or in an unnamed temporary file, which is gone when this object or the process
// ends.
//
// A band becomes one block of the turned picture, as wide as high in the source if rows and columns
// change places. The blocks are consecutive, so that each is written and read in long runs.
class KeptPicture final : public WholePicture {
 public:
  // Bands of `source` are `band_rows` high, all but the last. Throws PictureError with the
  // picture's `name` if there is no room for the file.
  KeptPicture(const PictureShape& source, const Turn& turn, int band_rows, bool in_memory,
              std::string name);

  [[nodiscard]] static std::uint64_t bytes_of(const PictureShape& picture);
  [[nodiscard]] const PictureShape& shape() const override { return shape_; }
  [[nodiscard]] bool is_in_memory() const { return memory_ != nullptr; }

  // Safe to call from several threads for different bands. Throws PictureError.
  void add(const ConstRows& band);

  // Call it once all bands are added.
  void read(const MutableRows& target) const override;

 private:
  [[nodiscard]] std::uint64_t row_bytes(int width) const;
  void make_file();
  [[nodiscard]] const std::uint8_t* stretch(std::uint64_t offset, std::uint64_t count,
                                            std::vector<std::uint8_t>& scratch) const;
  template <typename Step>
  void guarded(const Step& step) const;  // failures of the file
  [[noreturn]] void fail(int error) const;

  int source_height_;
  Turn turn_;
  PictureShape shape_;
  int band_rows_;
  std::string name_;
  std::shared_ptr<std::uint8_t> memory_;  // or
  FileDescriptor file_;
};

// Yields the rows of a turned picture, which has to outlive the reader.
class KeptReader final : public RowReader {
 public:
  explicit KeptReader(const KeptPicture& picture);

  void read(const MutableRows& rows) override;
  Metadata finish() override { return {}; }

 private:
  const KeptPicture& picture_;
  int next_ = 0;  // row
};

}  // namespace gpufilter
