// Convolutions of quantized values by AMX.
#pragma once

#include "stages/net_integer_rows.hpp"
#include "stages/net_tiles.hpp"

namespace gpufilter {

// Computes what net_integer_rows() does, with the same bits, where amx_permitted(). Distances are
// not needed.
void net_tile_rows(const NetTiles& tiles, const NetIntegerRows& rows);

}  // namespace gpufilter
