// The rows of a network's values that the processor keeps while it goes down a picture, the parts
// of them that a part of the result needs, and the conversion between pixels and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "stage/border.hpp"

namespace gpufilter {

// Columns that loops may read and write after the last one of a plane's row.
inline constexpr int net_slack = 80;

class NetPlanes {
 public:
  // For a strip of columns.
  NetPlanes(const NetValue& value, const RowRange& columns);

  // Drops the rows that are not wanted and makes room for the others. Returns the rows to fill.
  RowRange advance(const RowRange& wanted);

  // Row y of a plane, from column columns().begin on; of quantized values, its words.
  [[nodiscard]] float* row(int y, int plane) {
    return reinterpret_cast<float*>(bytes_.data() + offset(y, plane));
  }
  [[nodiscard]] const float* row(int y, int plane) const {
    return reinterpret_cast<const float*>(bytes_.data() + offset(y, plane));
  }
  [[nodiscard]] std::uint32_t* words(int y, int plane) {
    return reinterpret_cast<std::uint32_t*>(bytes_.data() + offset(y, plane));
  }
  [[nodiscard]] const std::uint32_t* words(int y, int plane) const {
    return reinterpret_cast<const std::uint32_t*>(bytes_.data() + offset(y, plane));
  }
  [[nodiscard]] const RowRange& columns() const { return columns_; }
  [[nodiscard]] const NetValue& value() const { return value_; }
  // Numbers or words from a plane to the next, and from a row to the next.
  [[nodiscard]] std::size_t pitch() const { return pitch_; }
  [[nodiscard]] std::size_t row_pitch() const {
    return pitch_ * static_cast<std::size_t>(value_.planes());
  }

  // Fills the columns outside of 0 ... length - 1 in these rows by the border rule.
  void fill_columns(const RowRange& rows, int length, Border border);
  void fill_rows(const RowRange& rows, int length, Border border);

 private:
  static constexpr std::size_t word = 4;  // bytes

  [[nodiscard]] std::size_t offset(int y, int plane) const {
    return word * (static_cast<std::size_t>(y - rows_.begin) * row_pitch() +
                   static_cast<std::size_t>(plane) * pitch_);
  }
  // The byte that means 0.
  [[nodiscard]] std::uint8_t outside() const {
    return static_cast<std::uint8_t>(value_.quantized ? -value_.low : 0);
  }

  NetValue value_;
  RowRange columns_;
  std::size_t pitch_;
  RowRange rows_;
  std::vector<std::uint8_t> bytes_;
};

enum class NetAxis { columns, rows };

// For each value, the positions that `wanted` positions of the result need, with those outside of
// the picture that windows read, and those that these repeat. `length` is the picture's. With
// Border::wrap the picture repeats and no position is outside.
[[nodiscard]] std::vector<RowRange> net_spans(const NetGraph& graph, NetAxis axis,
                                              const RowRange& wanted, int length, Border border);

// The positions of a value's span that are computed; the others follow from the border.
[[nodiscard]] RowRange computed_span(const NetValue& value, const RowRange& span, int length,
                                     Border border);

// Positions of the picture besides its own that a position of the result reads, on the longer side.
[[nodiscard]] int net_radius(const NetGraph& graph);

// i / n, rounded down, for positions before 0 too.
[[nodiscard]] constexpr int floor_divide(int i, int n) {
  return i >= 0 ? i / n : -((-i + n - 1) / n);
}

enum class NetInput {
  rgb01,   // red, green and blue from 0 to 1
  rgb255,  // from 0 to 255
  y        // luma from 0 to 1; colours follow it
};

// How a network is applied to pictures.
struct NetUse {
  NetInput input = NetInput::rgb01;
  Border border = Border::constant;
  float strength = 1;  // 0 to 1: how much of the result is the network's
};

// A number of the network for a sample s is s * net_input_factor, and for a number v of its result
// the sample is v * net_output_factor.
[[nodiscard]] float net_input_factor(NetInput input, int depth);
[[nodiscard]] float net_output_factor(NetInput input, int depth);

// Fills the rows `rows` of the network's input, which may lie outside of the picture, from
// `source`; `size` is the picture's.
void net_unpack(const NetUse& use, const ConstRows& source, ImageSize size, const RowRange& rows,
                NetPlanes& planes);

// The pixels `columns` of row y of the result. `base` is the picture at the result's size.
void net_pack(const NetUse& use, const NetPlanes& planes, int y, const RowRange& columns,
              const ConstRows& base, const MutableRows& target);

}  // namespace gpufilter
