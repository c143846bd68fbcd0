// The part of a chain that follows an output: it continues with the rows that were written there.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "base/timeline.hpp"
#include "pipeline/choose/engine.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/block_check.hpp"

namespace gpufilter {

// Rows that are handed in before they are read.
class HandedRows final : public RowReader {
 public:
  explicit HandedRows(const PictureShape& shape) {
    header_.size = shape.size;
    header_.format = shape.format;
  }

  // The next rows; they are copied, those before `first_needed` left out. Reading these gives no
  // certain samples.
  void hand(const ConstRows& rows, int first_needed);
  void read(const MutableRows& rows) override;
  Metadata finish() override { return {}; }

 private:
  std::deque<Image> kept_;  // rows that follow one another
};

class ChainPart {
 public:
  using Take = std::function<void(const ConstRows& rows)>;

  // Filters rows of `work.input` on `engine`. With `verify_blocks`, as in RunOptions; `input` is
  // the name of the picture for messages.
  ChainPart(Engine& engine, const Work& work, int verify_blocks, std::string input);

  // The next rows of its input. Gives every band of the result that they complete to `give`.
  void take(const ConstRows& rows, const Take& give);

  [[nodiscard]] Timeline& timeline() { return timeline_; }
  [[nodiscard]] const Prepared& prepared() const { return prepared_; }
  [[nodiscard]] std::optional<int> verified_blocks() const {
    return check_ ? std::optional(check_->checked()) : std::nullopt;
  }

 private:
  [[nodiscard]] bool is_fed(const RowRange& band, int rows) const;
  [[nodiscard]] int first_needed() const;
  void filter(const RowRange& band, const Take& give);

  Timeline timeline_;
  Prepared prepared_;
  ImagePool plain_memory_;
  ImagePool& pool_;
  HandedRows rows_;
  BandFeed feed_;
  std::optional<BlockCheck> check_;
  std::string input_;
  std::vector<RowRange> bands_;
  std::size_t next_ = 0;
};

}  // namespace gpufilter
