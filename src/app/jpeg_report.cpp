#include "app/jpeg_report.hpp"

namespace gpufilter {

nlohmann::ordered_json jpeg_json(const std::optional<JpegSettings>& settings) {
  if (!settings) return nullptr;
  nlohmann::ordered_json json{{"quality", settings->quantization.quality},
                              {"tables", settings->quantization.standard ? "standard" : "own"},
                              {"quality_reason", settings->quantization_reason}};
  if (settings->subsampling) {
    json["subsampling"] = chroma_notation(*settings->subsampling);
    json["subsampling_reason"] = settings->subsampling_reason;
  }
  return json;
}

}  // namespace gpufilter
