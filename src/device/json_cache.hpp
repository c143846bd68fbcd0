// A JSON file that is kept from one run to the next.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json.hpp"

namespace gpufilter {

// $XDG_CACHE_HOME/gpufilter, or $HOME/.cache/gpufilter; nothing if neither variable holds an
// absolute path. The folder may not exist.
[[nodiscard]] std::optional<std::filesystem::path> cache_folder();
// A file or folder in it.
[[nodiscard]] std::optional<std::filesystem::path> cache_path(const char* name);

// One object with a member "schema". A file that cannot be read or written costs time, but is never
// a failure.
class JsonCache {
 public:
  // Without a file nothing outlasts the process. `schema` names the layout and its version.
  JsonCache(std::optional<std::filesystem::path> file, std::string schema);

  [[nodiscard]] const std::optional<std::filesystem::path>& file() const { return file_; }

  // Nothing if the file does not exist or cannot be read; null if it is not an object of this
  // schema.
  [[nodiscard]] std::optional<Json> read() const;

  // Replaces the file and creates missing folders; adds the schema to `json`, an object. Returns
  // why the file could not be written; empty if it was, or if there is no file to write.
  [[nodiscard]] std::string write(Json json) const;

 private:
  std::optional<std::filesystem::path> file_;
  std::string schema_;
};

}  // namespace gpufilter
