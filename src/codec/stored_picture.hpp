// Pictures that are cropped and turned without being decoded.
#pragma once

#include <memory>
#include <string>

#include "codec/byte_sink.hpp"
#include "codec/write_options.hpp"
#include "image/placement.hpp"

namespace gpufilter {

struct PictureHeader;
class RowWriter;

// The picture of a file whose header has been read, as the file stores it. It can be written to
// files of the same format.
class StoredPicture {
 public:
  virtual ~StoredPicture() = default;

  // Why a part of it cannot be written like this with every bit that it has; empty if it can.
  [[nodiscard]] virtual std::string objection(const Placement& placement,
                                              const WriteOptions& options) const = 0;

  // Call once, in place of RowReader's read() and finish(): reads the file to its end. Returns what
  // only now turns out to be an objection, whatever is written; empty if nothing does. Throws
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
