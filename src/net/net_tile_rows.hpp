// Convolutions of quantized values by AMX.
#pragma once

#include "net/net_integer_rows.hpp"
#include "net/net_tiles.hpp"

namespace gpufilter {

// Computes what net_integer_rows() does, with the same bits, where amx_permitted(). Distances are
// not needed.
void net_tile_rows(const NetTiles& tiles, const NetIntegerRows& rows);

}  // namespace gpufilter
