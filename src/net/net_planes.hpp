// The rows of a network's values that the processor keeps while it goes down a picture, the parts
// of them that a part of the result needs, and the conversion between pixels and values.
#pragma once

#include <array>
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
  // For a strip of columns. The whole value has `size` positions; what lies outside follows
  // `border`.
  NetPlanes(const NetValue& value, const RowRange& columns, ImageSize size = {},
            Border border = Border::constant);

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

  [[nodiscard]] ImageSize size() const { return size_; }
  [[nodiscard]] Border border() const { return border_; }

  // Fills what lies outside of `fresh` rows by the border's rule; `computed` are those inside.
  void fill_outside(const RowRange& computed, const RowRange& fresh);

 private:
  void fill_columns(const RowRange& rows);
  void fill_rows(const RowRange& rows);

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
  ImageSize size_;
  Border border_;
  std::size_t pitch_;
  RowRange rows_;
  std::vector<std::uint8_t> bytes_;
};

// For each value, the positions that `wanted` positions of the picture's result need, with those
// outside of the value that windows read, and those that these repeat. `length` is the picture's.
// With Border::wrap the picture repeats and no position is outside.
[[nodiscard]] std::vector<RowRange> net_spans(const NetGraph& graph, NetAxis axis,
                                              const RowRange& wanted, int length, Border border);

// The rows of `input` that an operation reads for these computed rows of its result.
[[nodiscard]] RowRange net_input_span(const NetGraph& graph, const NetOperation& operation,
                                      int input, const RowRange& computed, int height,
                                      Border border);

// The positions of a span that are computed, of a value with `length`; the others follow from the
// border.
[[nodiscard]] RowRange computed_span(const RowRange& span, int length, Border border);

// How many positions a value has along both axes, for a picture of this size.
[[nodiscard]] ImageSize net_value_size(const NetGraph& graph, const NetValue& value,
                                       ImageSize picture);

// Where position i of the network's input is in a picture of this length; -1: nowhere, it is 0.
// With Border::wrap for columns only.
[[nodiscard]] int net_source(const NetFrame& frame, int i, int length, Border border);

// The positions of the picture that these of the network's input read. With Border::wrap they may
// reach past its edges.
[[nodiscard]] RowRange net_source_span(const NetFrame& frame, const RowRange& span, int length,
                                       Border border);

// Positions of the picture besides its own that a position of the result reads, on the longer side.
[[nodiscard]] int net_radius(const NetGraph& graph);

// What a position of a resized value is made of: `weights` of the input's positions from `first`
// on, which are limited to the input's.
struct NetTap {
  int first = 0;
  std::array<float, 4> weights = {};
};
[[nodiscard]] NetTap net_tap(const NetResize& resize, int i, int from, int to);

enum class NetInput {
  rgb01,     // red, green and blue from 0 to 1
  rgb255,    // from 0 to 255
  y,         // luma from 0 to 1; colours follow it
  bgr01,     // blue, green and red from 0 to 1: with_convention() makes rgb01 of it
  automatic  // as the file's metadata says, otherwise rgb01
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
void net_unpack(const NetGraph& graph, const NetUse& use, const ConstRows& source, ImageSize size,
                const RowRange& rows, NetPlanes& planes);

// The pixels `columns` of row y of the picture's result. `base` is the picture at its size.
void net_pack(const NetGraph& graph, const NetUse& use, const NetPlanes& planes, int y,
              const RowRange& columns, const ConstRows& base, const MutableRows& target);

}  // namespace gpufilter
