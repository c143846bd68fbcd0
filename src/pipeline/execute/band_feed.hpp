// The input rows of one band after the other, with the rows that neighbouring bands share.
#pragma once

#include "codec/codec.hpp"
#include "image/image.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// Reads every row of the picture once, in order. With a plan that reads past the picture's edges,
// the first band already needs the picture's last rows, so the whole picture is read at once and
// kept.
class BandFeed {
 public:
  // Bands use memory of `pool`. All three have to outlive the feed.
  BandFeed(RowReader& reader, const Plan& plan, ImagePool& pool)
      : reader_(reader), plan_(plan), pool_(pool), whole_(plan.reads_past_edges()) {}

  // The first window of `band`, the plan's next band. Throws PictureError.
  [[nodiscard]] Image next(const RowRange& band);

  // Call once, after the last band: reads the rows that no band needed. Throws PictureError.
  void finish();

 private:
  [[nodiscard]] Image next_streamed(const RowRange& window, int next_begin);
  [[nodiscard]] Image next_of_whole(const RowRange& window);
  void skip_to(int row);

  RowReader& reader_;
  const Plan& plan_;
  ImagePool& pool_;
  bool whole_;
  int read_ = 0;  // rows
  // Streamed: the last rows of the previous window, which the next one needs too. Otherwise: the
  // whole picture.
  Image kept_;
};

}  // namespace gpufilter
