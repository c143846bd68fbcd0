#include "batch/output_name.hpp"

namespace gpufilter {

std::string output_name(const std::string& relative, const Codec* wanted) {
  const Codec* named = codec_of_name(relative);
  if (wanted == nullptr || named == wanted) return relative;
  const bool has_ending = named != nullptr;
  return (has_ending ? relative.substr(0, relative.rfind('.')) : relative) +
         wanted->extensions.front();
}

std::string output_name(const std::filesystem::path& folder, const std::string& relative,
                        const Codec* wanted, const std::optional<NameTemplate>& name) {
  if (!name) return output_name(relative, wanted);
  return std::filesystem::path(relative).parent_path() / name->name_for(folder / relative, wanted);
}

}  // namespace gpufilter
