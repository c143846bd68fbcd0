// How stages treat alpha.
#pragma once

namespace gpufilter {

// How alpha takes part: as the weight of the colours beside it, or as one more plain channel.
enum class AlphaMode { weighted, independent };

}  // namespace gpufilter
