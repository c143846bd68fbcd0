#include "batch/output_name.hpp"

#include "base/error.hpp"

namespace gpufilter {

std::optional<FileFormat> format_named(const std::string& path) {
  try {
    return format_for_name(path);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::string output_name(const std::string& relative, std::optional<FileFormat> wanted) {
  const auto named = format_named(relative);
  if (!wanted || named == wanted) return relative;
  const std::string ending = *wanted == FileFormat::png ? ".png" : ".jpg";
  return (named ? relative.substr(0, relative.rfind('.')) : relative) + ending;
}

}  // namespace gpufilter
