// What "gpufilter compare" says about two pictures, for people and for programs.
#pragma once

#include <optional>
#include <string>

#include "codec/codec_table.hpp"
#include "pipeline/comparison.hpp"

namespace gpufilter {

struct ComparedPicture {
  std::string name;  // as messages call it
  PictureHeader header;
};

struct CompareReport {
  ComparedPicture a;
  ComparedPicture b;
  std::uint32_t tolerance = 0;
  std::optional<Comparison> comparison;       // none where size or format differ
  std::optional<std::string> wanted_drawing;  // where the differences were to be drawn
};

// The subcommand's exit code, 0 to 3.
[[nodiscard]] int exit_code(const CompareReport& report);

// A few plain lines, each ended.
[[nodiscard]] std::string text_report(const CompareReport& report);

// One JSON object, "gpufilter-compare-1", and a line end.
[[nodiscard]] std::string json_report(const CompareReport& report);

}  // namespace gpufilter
