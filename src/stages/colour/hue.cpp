#include "base/format.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/colour/color.hpp"
#include "stages/colour/color_presets.hpp"

namespace gpufilter {
namespace {

std::shared_ptr<const Stage> make_hue(double degrees) {
  const auto rows = find_color_preset(formatted("hue={}", degrees));
  return make_color(to_matrix(rows.value()), formatted("{} degrees", degrees), "hue");
}

}  // namespace

StageKind hue_stage_kind() {
  return {
      .option = "--hue",
      .type = NumberIn{-360, 360},
      .help =
          "Rotate the hue of every colour. 120 makes red green, green blue and blue red. The "
          "brightness stays about the same. It is --color hue=DEGREES.",
      .formula =
          "The matrix of the preset hue, which 'gpufilter --list-presets' prints, applied as "
          "--color does.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence. Grey pictures become RGB.",
      .examples = {"in.jpg out.jpg --hue 30"},
      .sample_values = {"90", "-30"},
      .from_options = [](const OptionValues& values) { return make_hue(values.number("--hue")); }};
}

}  // namespace gpufilter
