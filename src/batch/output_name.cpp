#include "batch/output_name.hpp"

namespace gpufilter {

std::string output_name(const std::string& relative, const Codec* wanted) {
  const Codec* named = codec_of_name(relative);
  if (wanted == nullptr || named == wanted) return relative;
  const bool has_ending = named != nullptr;
  return (has_ending ? relative.substr(0, relative.rfind('.')) : relative) +
         wanted->endings.front();
}

}  // namespace gpufilter
