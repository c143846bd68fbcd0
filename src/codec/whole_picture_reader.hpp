// For formats whose libraries decode a picture as a whole.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "image/image.hpp"

namespace gpufilter {

class WholePictureReader : public RowReader {
 public:
  void read(const MutableRows& rows) final;
  Metadata finish() override;

 protected:
  // Called once, with the first rows: a caller may want only the header.
  [[nodiscard]] virtual Image decode() = 0;

  // In decode(), for a damaged picture that is kept: only the first rows have been decoded.
  void end_at(int rows, PictureError damage) {
    rows_ = rows;
    damage_ = std::move(damage);
  }

 private:
  std::optional<Image> image_;
  int next_row_ = 0;
  int rows_ = std::numeric_limits<int>::max();
  std::optional<PictureError> damage_;  // throws, behind these rows
};

// All bytes of `source`. Throws PictureError if they and `pixel_bytes` are more than the memory
// limit; `holder` and `remedy` are as in check_memory().
[[nodiscard]] Bytes whole_file(ByteSource& source, std::uint64_t pixel_bytes,
                               const ReadLimits& limits, const std::string& holder,
                               const std::string& remedy);

}  // namespace gpufilter
