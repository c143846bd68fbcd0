#include "app/encoding_report.hpp"

namespace gpufilter {

void add_encoding(nlohmann::ordered_json& report, const Codec& output_format,
                  const std::optional<EncodingNotes>& notes) {
  for (const Codec* codec : codecs()) {
    if (codec->report_key.empty()) continue;
    nlohmann::ordered_json& field = report[codec->report_key];
    if (codec != &output_format || !notes) continue;
    for (const auto& [key, value] : notes->fields)
      std::visit([&field, &key = key](const auto& known) { field[key] = known; }, value);
  }
}

}  // namespace gpufilter
