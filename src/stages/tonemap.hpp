// --tonemap: compresses the range of brightness, by the picture's own statistics.
#pragma once

#include "compute/picture_statistics.hpp"
#include "stages/catalogue.hpp"

namespace gpufilter {

enum class ToneCurve { reinhard, filmic };

struct ToneMapParameters {
  ToneCurve curve = ToneCurve::reinhard;
  double key = 0.18;  // the brightness that the picture's mean gets, before the curve: 0 < key <= 1
};

[[nodiscard]] std::shared_ptr<const Stage> make_tonemap(const ToneMapParameters& parameters);

// For every luma the factor that a pixel's colours are multiplied by. With L = luma / max of a
// pixel, Lmean = exp(mean of ln(1e-4 + L)) over the picture and x = key * L / Lmean, the pixel's
// new luminance is curve(x) / curve(xwhite), where xwhite is x of the picture's lightest pixel.
// curve(x) is, for
// - reinhard: x * (1 + x / xwhite^2) / (1 + x) (E. Reinhard et al., Photographic Tone Reproduction
//   for Digital Images, 2002, equations 1, 2 and 4);
// - filmic: h(2 x), h(x) = (x (A x + C B) + D E) / (x (A x + B) + D F) - E / F with A = 0.15,
//   B = 0.5, C = 0.1, D = 0.2, E = 0.02, F = 0.3 (J. Hable, Uncharted 2: HDR Lighting, 2010).
// Computed in double precision. A picture that is black throughout gets 1 everywhere.
[[nodiscard]] std::vector<float> tone_factors(const ToneMapParameters& parameters,
                                              const Histogram& luma);

[[nodiscard]] StageKind tonemap_stage_kind();

}  // namespace gpufilter
