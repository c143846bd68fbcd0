// The output of "gpufilter stats" for a picture, for people and for programs.
#pragma once

#include <string>

#include "codec/codec_table.hpp"
#include "compute/picture_statistics.hpp"
#include "pipeline/choose/engine.hpp"
#include "pipeline/execute/band_executor.hpp"

namespace gpufilter {

struct StatsReport {
  std::string name;  // the picture's name in messages
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
  Histograms histograms;
  EngineReport engine;
  PassReport gathering;
};

// A table with a column for each channel, and a line that says how it was made.
[[nodiscard]] std::string text_report(const StatsReport& report);

// One JSON object, "gpufilter-stats-1", on one line.
[[nodiscard]] std::string json_report(const StatsReport& report);

}  // namespace gpufilter
