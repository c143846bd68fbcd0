// A JSON file that is kept from one run to the next.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace gpufilter {

// One object with a member "schema". What cannot be read or written costs time, never a failure.
class JsonCache {
 public:
  // Without a file nothing outlasts the process. `schema` names the layout and its version.
  JsonCache(std::optional<std::filesystem::path> file, std::string schema);

  [[nodiscard]] const std::optional<std::filesystem::path>& file() const { return file_; }

  // Nothing where the file does not exist or cannot be read; null where it is not an object of this
  // schema.
  [[nodiscard]] std::optional<nlohmann::json> read() const;

  // Replaces the file, its folders made where they are missing; adds the schema to `json`, an
  // object. Why the file could not be written; empty: it was, or there is none to write.
  [[nodiscard]] std::string write(nlohmann::json json) const;

 private:
  std::optional<std::filesystem::path> file_;
  std::string schema_;
};

}  // namespace gpufilter
