// The input rows of one band after the other, with the rows that neighbouring bands share.
#pragma once

#include "codec/codec.hpp"
#include "image/image_pool.hpp"
#include "pipeline/plan.hpp"

namespace gpufilter {

// Reads every row of the picture once, in order. Under a plan that wraps, the first band already
// needs the picture's last rows: then the whole picture is read at once and kept.
class BandFeed {
 public:
  // Bands lie in memory of `pool`. All three outlive the feed.
  BandFeed(RowReader& reader, const Plan& plan, ImagePool& pool)
      : reader_(reader), plan_(plan), pool_(pool) {}

  // The rows `window`, the first window of the plan's next band. Throws PictureError.
  [[nodiscard]] Image next(const RowRange& window);

 private:
  [[nodiscard]] Image next_streamed(const RowRange& window);
  [[nodiscard]] Image next_wrapped(const RowRange& window);

  RowReader& reader_;
  const Plan& plan_;
  ImagePool& pool_;
  // Streamed: the last rows of the window before, as far as the next can need them. Wrapped: the
  // whole picture.
  Image kept_;
};

}  // namespace gpufilter
