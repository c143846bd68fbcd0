// The input rows of one band after the other, with the rows that neighbouring bands share.
#pragma once

#include <memory>

#include "codec/codec.hpp"
#include "image/image.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// With a plan that reads past the picture's edges, the first band already needs the picture's last
// rows, so the whole picture is kept.
class BandFeed {
 public:
  // From the rows of `reader`, each of which is read once, in order; from a picture in memory; or
  // from rows that are pushed. Bands use memory of `pool`. All of these have to outlive the feed.
  BandFeed(RowReader& reader, const Plan& plan, ImagePool& pool) : BandFeed(plan, pool) {
    reader_ = &reader;
  }
  BandFeed(const ConstRows& picture, const Plan& plan, ImagePool& pool) : BandFeed(plan, pool) {
    picture_ = picture;
  }
  BandFeed(const Plan& plan, ImagePool& pool)
      : plan_(plan), pool_(pool), keeps_whole_(plan.reads_past_edges()) {}

  // The first window of `band`, the plan's next band. Throws PictureError. A feed of pushed rows
  // yields nothing unless these reach the end of the window. Then the band after it is to get the
  // same rows; otherwise the same band gets those that follow.
  [[nodiscard]] std::shared_ptr<const Image> next(const RowRange& band,
                                                  const ConstRows* pushed = nullptr);

  // Call once, after the last band: reads the rows that no band needed. Throws PictureError.
  void finish();

 private:
  void begin(const RowRange& window);
  [[nodiscard]] bool fill(const ConstRows* pushed);
  [[nodiscard]] bool is_shared(const RowRange& band, int end) const;
  [[nodiscard]] std::shared_ptr<const Image> copy_of(const RowRange& window) const;
  void skip_to(int row);

  const Plan& plan_;
  ImagePool& pool_;
  bool keeps_whole_;
  RowReader* reader_ = nullptr;
  ConstRows picture_;                  // the whole one, once it is in memory
  int read_ = 0;                       // rows
  std::shared_ptr<Image> current_;     // being filled: a window, or the whole picture
  std::shared_ptr<const Image> last_;  // the last window, if the next shares rows; or the picture
};

}  // namespace gpufilter
