// Stages that end in a look-up table: levels and tone mapping.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/picture_statistics.hpp"
#include "image/rows.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// Both fill `target` from the same rows of `source`, whose format it has; alpha stays. The target
// may be the source.

// Colours become table[sample]. `tables` are one table of max_sample + 1 entries; or three, for
// red, green and blue of a picture in colour.
void lookup_rows(const ConstRows& source, const MutableRows& target,
                 std::span<const std::uint16_t> tables);

// Colours become sample * factors[luma], rounded half to even and saturated, in float32; for grey
// pictures luma is the sample. There are max_sample + 1 factors, finite and not negative.
void lookup_rows(const ConstRows& source, const MutableRows& target, const float* factors);

// out = table[sample] for every colour sample; alpha stays. `make_table` gives the max_sample + 1
// entries for pictures of a depth, or three times as many, one table after the other, for red,
// green and blue of pictures in colour; it is called at most once for each depth. `variant` is what
// the timing shows, and with `stage` the stage's key. Neighbours become one.
struct SampleLookup {
  std::string stage;
  std::string variant;
  std::function<std::vector<std::uint16_t>(const PixelFormat&)> make_table;
  std::function<std::string(const PixelFormat&)> warning = {};  // as in Lowered; empty: none
};
[[nodiscard]] std::shared_ptr<const OneStepStage> make_lookup(SampleLookup lookup);
[[nodiscard]] StageCost lookup_cost(const PixelFormat& input);

// out = round_half_to_even(sample * factors[luma]), saturated, in float32, for every colour sample;
// alpha stays. luma is defined as for the luma histogram. Factors are finite and not negative.
// make_table and variant are as above.
struct LumaScaling {
  std::string stage;
  std::string variant;
  std::function<std::vector<float>(const PixelFormat&)> make_factors;
};
[[nodiscard]] std::shared_ptr<const OneStepStage> make_luma_scaling(LumaScaling scaling);
[[nodiscard]] StageCost luma_scaling_cost(const PixelFormat& input);

// The stage --gray: a grey picture, whose sample is the luma of the luma histogram.
[[nodiscard]] std::shared_ptr<const OneStepStage> make_gray();

// ---- --levels ----

// A sample value as given: in the picture's own range, or as a share of its maximum.
struct Level {
  double value = 0;
  bool percent = false;
};
// "16" or "10%". Throws UsageError; `words` is what the user wrote, for messages.
[[nodiscard]] Level parse_level(std::string_view words, std::string_view text);
[[nodiscard]] std::string to_string(const Level& level);
[[nodiscard]] double sample_value(const Level& level, const PixelFormat& pixel);

// out = (sample - low) * max / (high - low), in double precision, rounded half to even, saturated;
// the same for every colour channel, so that greys stay grey. low < high is required.
[[nodiscard]] std::shared_ptr<const Stage> make_levels(Level low, Level high);

// Takes low and high from the picture: `clip_percent` percent of all colour samples lie below low
// and as many above high (nearest rank; 0: minimum and maximum). A picture in which both are equal
// does not change. 0 <= clip_percent < 50.
[[nodiscard]] std::shared_ptr<const Stage> make_auto_levels(double clip_percent);

// The values that make_auto_levels() uses; {0, 0} for a picture without pixels.
struct LevelBounds {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
[[nodiscard]] LevelBounds level_bounds(const std::vector<Histogram>& colors, double clip_percent);

// ---- --tonemap ----

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
