#include "app/cli/encoding_report.hpp"

namespace gpufilter {

Json pixels_json(const FilePixels& pixels) {
  return {{"color", pixels.color}, {"channels", pixels.channels}, {"depth", pixels.depth}};
}

void add_background(Json& report, const std::optional<Color>& background) {
  if (background) report["alpha_laid_over"] = to_string(OptionValue(*background));
}

void add_encoding(Json& report, const Codec& output_format,
                  const std::optional<EncodingNotes>& notes) {
  for (const Codec* codec : codecs()) {
    if (codec->report_key.empty()) continue;
    Json& field = report[codec->report_key];
    if (codec != &output_format || !notes) continue;
    for (const auto& [key, value] : notes->fields)
      std::visit([&field, &key = key](const auto& known) { field[key] = known; }, value);
  }
}

}  // namespace gpufilter
