// Two picture files against each other.
#pragma once

#include <optional>
#include <string>

#include "codec/codec_table.hpp"
#include "pipeline/comparison.hpp"

namespace gpufilter {

struct FileComparisonRequest {
  std::string a;  // "-" is standard input
  std::string b;
  Tolerance tolerance;
  ReadLimits limits;
  // Where the differences are to be drawn; its ending is that of a codec that loses nothing.
  std::optional<std::string> drawing;
};

struct ComparedFile {
  std::string name;  // as messages call it
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
};

struct FileComparison {
  ComparedFile a;
  ComparedFile b;
  // None where size, channels or depth differ: then nothing was compared or drawn.
  std::optional<Comparison> comparison;
};

// What files say beside their pixels does not count. Memory does not grow with the pictures'
// height. Throws PictureError where a file cannot be read to its end, or the drawing cannot be
// written.
[[nodiscard]] FileComparison compare_files(const FileComparisonRequest& request);

}  // namespace gpufilter
