// --lut: colours from a table in a file.
#pragma once

#include "stage/options/catalogue.hpp"
#include "stages/point/cube.hpp"

namespace gpufilter {

// Tables for all three colours are interpolated in tetrahedra , curves linearly.
// `strength`, from 0 to 1, mixes the result with the input. `label` is what the timing shows.
[[nodiscard]] std::shared_ptr<const Stage> make_lut(Cube cube, double strength, std::string label);

}  // namespace gpufilter
