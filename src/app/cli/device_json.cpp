#include "app/cli/device_json.hpp"

namespace gpufilter {

Json device_json(const EngineReport& engine) {
  return {{"name", engine.device},   {"kind", engine.kind},     {"platform", engine.platform},
          {"driver", engine.driver}, {"reason", engine.reason}, {"left_out", engine.fallbacks}};
}

}  // namespace gpufilter
