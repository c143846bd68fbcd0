// The rows of one value of a network that the processor holds while it goes down a picture.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/border.hpp"
#include "stages/net_graph.hpp"

namespace gpufilter {

// Columns that loops may read and write after the last one of a plane's row.
inline constexpr int net_slack = 80;

class NetPlanes {
 public:
  // For a strip of columns.
  NetPlanes(int channels, const RowRange& columns);

  // Drops the rows above `wanted` and makes room for the others. Returns the rows to fill.
  RowRange advance(const RowRange& wanted);

  // Where row y of a channel begins: column columns().begin.
  [[nodiscard]] float* row(int y, int channel) { return numbers_.data() + offset(y, channel); }
  [[nodiscard]] const float* row(int y, int channel) const {
    return numbers_.data() + offset(y, channel);
  }
  [[nodiscard]] const RowRange& columns() const { return columns_; }
  [[nodiscard]] int channels() const { return channels_; }
  // Numbers from a channel to the next, and from a row to the next.
  [[nodiscard]] std::size_t pitch() const { return pitch_; }
  [[nodiscard]] std::size_t row_pitch() const {
    return pitch_ * static_cast<std::size_t>(channels_);
  }

  // Fills what lies outside of 0 ... length - 1 in these rows, by the border's rule.
  void fill_columns(const RowRange& rows, int length, Border border);
  void fill_rows(const RowRange& rows, int length, Border border);

 private:
  [[nodiscard]] std::size_t offset(int y, int channel) const {
    return static_cast<std::size_t>(y - rows_.begin) * row_pitch() +
           static_cast<std::size_t>(channel) * pitch_;
  }

  int channels_;
  RowRange columns_;
  std::size_t pitch_;
  RowRange rows_;
  std::vector<float> numbers_;
};

}  // namespace gpufilter
