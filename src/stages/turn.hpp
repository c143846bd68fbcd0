// --flip, --flop, --rotate and --auto-orient: the same pixels in another place.
#pragma once

#include "image/turn.hpp"
#include "stages/catalogue.hpp"

namespace gpufilter {

[[nodiscard]] std::shared_ptr<const Stage> make_flip();
[[nodiscard]] std::shared_ptr<const Stage> make_flop();
// Clockwise by 90, 180 or 270 degrees.
[[nodiscard]] std::shared_ptr<const Stage> make_rotate(int degrees);
[[nodiscard]] std::shared_ptr<const Stage> make_auto_orient();

[[nodiscard]] StageKind flip_stage_kind();
[[nodiscard]] StageKind flop_stage_kind();
[[nodiscard]] StageKind rotate_stage_kind();
[[nodiscard]] StageKind auto_orient_stage_kind();

}  // namespace gpufilter
