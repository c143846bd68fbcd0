#include "app/cli/json_parts.hpp"

#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {

Json device_json(const EngineReport& engine) {
  return {{"name", engine.device},   {"kind", engine.kind},     {"platform", engine.platform},
          {"driver", engine.driver}, {"reason", engine.reason}, {"left_out", engine.fallbacks}};
}

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

void add_path(Json& json, const std::string& field, const std::string& path) {
  json[field] = path;
  if (is_utf8(path)) return;
  std::string digits;
  for (const char c : path)
    digits += formatted("{:02x}", static_cast<unsigned char>(c));
  json[field + "_hex"] = digits;
}

}  // namespace gpufilter
