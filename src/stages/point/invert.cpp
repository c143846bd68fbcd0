#include "stage/options/catalogue.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

std::shared_ptr<const Stage> make_invert() {
  return make_lookup({"invert", "table", [](const PixelFormat& pixel) {
                        std::vector<std::uint16_t> table(pixel.max_sample() + 1);
                        for (std::size_t i = 0; i < table.size(); ++i)
                          table[i] = static_cast<std::uint16_t>(table.size() - 1 - i);
                        return table;
                      }});
}

}  // namespace

StageKind invert_stage_kind() {
  return {.option = "--invert",
          .type = NoValue{},
          .help = "Invert colours.",
          .formula = "out = max - x\nx are the samples as stored, max is 255 or 65535.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Does not change and has no influence.",
          .examples = {"in.jpg out.jpg --invert"},
          .from_options = [](const OptionValues&) { return make_invert(); }};
}

}  // namespace gpufilter
