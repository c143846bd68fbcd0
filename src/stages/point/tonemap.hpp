// --tonemap: compresses the brightness range, based on the picture's own statistics.
#pragma once

#include "compute/picture_statistics.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

enum class ToneCurve { reinhard, filmic };

// The brightness of a grey card in daylight, as a share of white.
inline constexpr double middle_grey = 0.18;

struct ToneMapParameters {
  ToneCurve curve = ToneCurve::reinhard;
  // The brightness that the picture's log-average is scaled to before the curve, from 0.001 to 1.
  // Doubling the key raises the exposure by one stop.
  double key = middle_grey;
};

[[nodiscard]] std::shared_ptr<const Stage> make_tonemap(const ToneMapParameters& parameters);

// For every luma, the factor Ld / Lw that a pixel's colours are multiplied by. Lw = luma / max is
// the pixel's luminance from 0 to 1, Ld the luminance to display, 1 for white; it may exceed 1.
//
// E. Reinhard, M. Stark, P. Shirley, J. Ferwerda: Photographic Tone Reproduction for Digital
// Images, ACM Transactions on Graphics 21(3), 2002, calls the log-average Lm of N pixels, the key a
// and the exposed luminance L:
//   Lm = exp(1/N * sum of ln(1e-4 + Lw))    equation 1, with 1/N inside as it is meant
//   L = a / Lm * Lw                         equation 2
// - reinhard: Ld = L (1 + L / Lwhite^2) / (1 + L), equation 4, where Lwhite is L of the lightest
//   pixel, the paper's default: that pixel becomes white, nothing burns out, for any key. Without
//   the white point this is equation 3, L / (1 + L).
// - filmic: Ld = h(2 L) / h(2 Lwhite), h(x) = (x (A x + C B) + D E) / (x (A x + B) + D F) - E / F
//   with A = 0.15, B = 0.5, C = 0.1, D = 0.2, E = 0.02, F = 0.3 (J. Hable: Filmic Tonemapping
//   Operators, 2010). Lwhite is L of the lightest pixel at the key of middle grey: that pixel
//   becomes white at this key, a lower key darkens the picture, a higher one clips its highlights.
//
// Both curves rise with Lw, and at every Lw with the key; reinhard stays at 1 for the lightest
// pixel. Computed in double precision, the factor rounded to float. A picture that is black
// throughout gets 1 everywhere; luma 0, where a little colour may be left, gets the factor of 1.
[[nodiscard]] std::vector<float> tone_factors(const ToneMapParameters& parameters,
                                              const Histogram& luma);

}  // namespace gpufilter
