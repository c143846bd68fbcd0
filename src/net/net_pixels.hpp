// Between pixels and the numbers of a network.
#pragma once

#include "image/rows.hpp"
#include "net/net_planes.hpp"
#include "stage/border.hpp"

namespace gpufilter {

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

// Fills the rows `rows` of the network's input, which may lie outside of the picture, from those of
// `source`; `size` is the picture's.
void net_unpack(const NetUse& use, const ConstRows& source, ImageSize size, const RowRange& rows,
                NetPlanes& planes);

// The pixels `columns` of row y of the result. `base` is the picture at the result's size.
void net_pack(const NetUse& use, const NetPlanes& planes, int y, const RowRange& columns,
              const ConstRows& base, const MutableRows& target);

}  // namespace gpufilter
