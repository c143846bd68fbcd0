#include "app/cli/json_paths.hpp"

#include "base/format.hpp"
#include "codec/text_encoding.hpp"

namespace gpufilter {

void add_path(Json& json, const std::string& field, const std::string& path) {
  json[field] = path;
  if (is_utf8(path)) return;
  std::string digits;
  for (const char c : path)
    digits += formatted("{:02x}", static_cast<unsigned char>(c));
  json[field + "_hex"] = digits;
}

}  // namespace gpufilter
