// Compares two picture files.
#pragma once

#include <optional>
#include <string>

#include "codec/codec_table.hpp"
#include "codec/repeatable_source.hpp"
#include "compare/comparison.hpp"

namespace gpufilter {

struct FileComparisonRequest {
  std::string a;  // "-" is standard input
  std::string b;
  Tolerance tolerance;
  ReadLimits limits;
  // The file for the drawing of the differences; its extension is that of a lossless codec.
  std::optional<std::string> drawing;
  OpenSource open = open_source;
};

struct ComparedFile {
  std::string name;  // its name in messages
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
};

struct FileComparison {
  ComparedFile a;
  ComparedFile b;
  // None if size, channels or depth differ: then nothing was compared or drawn.
  std::optional<Comparison> comparison;
};

// Metadata is ignored. Memory does not grow with the pictures' height. Throws PictureError if a
// file cannot be read to its end, or the drawing cannot be written.
[[nodiscard]] FileComparison compare_files(const FileComparisonRequest& request);

}  // namespace gpufilter
