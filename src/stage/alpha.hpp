// How stages treat alpha.
#pragma once

namespace gpufilter {

// How a stage uses alpha: as the weight of its pixel's colours, or as one more plain channel.
enum class AlphaMode { weighted, independent };

}  // namespace gpufilter
