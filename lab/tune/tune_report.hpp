// The output of `gpufilter tune`.
#pragma once

#include <string>
#include <vector>

#include "device/device_info.hpp"
#include "lab/tune/tuner.hpp"

namespace gpufilter::lab {

struct TuneReport {
  DeviceInfo device;
  std::vector<TunedSite> sites;

  [[nodiscard]] bool any_wrong() const;
};

[[nodiscard]] std::string tune_table(const std::vector<TuneReport>& reports);
[[nodiscard]] std::string tune_json(const std::vector<TuneReport>& reports);

}  // namespace gpufilter::lab
