// In which order the processor computes the rows of a network's values.
#pragma once

#include <cstddef>
#include <vector>

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {

// Goes down a picture: some rows of the input, then of each value those that the rows before it
// permit. Values hold the rows alone that are still read.
class NetSchedule {
 public:
  // For `rows` of the picture's result, so many of the input at a time.
  NetSchedule(const NetGraph& graph, const RowRange& rows, int height, Border border, int at_once);

  struct Step {
    int operation = -1;  // -1: the network's input
    int value = 0;
    RowRange held;   // of the value; the last of them are `fresh`
    RowRange fresh;  // computed, or outside of the value
  };

  [[nodiscard]] bool is_done() const { return next_[output_] == spans_[output_].end; }
  // The next step, while it is not done.
  [[nodiscard]] Step next();

 private:
  [[nodiscard]] bool has_inputs(std::size_t operation, const RowRange& rows) const;
  [[nodiscard]] int reachable(int operation) const;
  [[nodiscard]] int first_held(std::size_t value) const;

  const NetGraph& graph_;
  int height_;
  Border border_;
  std::size_t output_;
  int at_once_;
  int cursor_ = -1;
  std::vector<RowRange> spans_;
  std::vector<int> next_;  // of each value the first row that is not there
  std::vector<int> lengths_;
  std::vector<std::vector<std::size_t>> readers_;  // operations
};

// For each value the most rows that it holds while a picture this high is computed.
[[nodiscard]] std::vector<int> net_held_rows(const NetGraph& graph, int height, int at_once);

}  // namespace gpufilter
