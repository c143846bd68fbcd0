// The names of results in a folder, and templates for them: --name '{stem}-{ext}.{to}'.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec_table.hpp"

namespace gpufilter {

// Placeholders are replaced by parts of the input's path: {stem} and {ext}, the file's name before
// and after its last dot; {name}, both; {parent}, the folder that it is in; and for {to}, the
// extension of the result's format. "{{" and "}}" mean braces. A slash begins a subfolder.
class NameTemplate {
 public:
  // Throws UsageError, which names the position, if `text` is not a template, or would leave the
  // folder of results.
  explicit NameTemplate(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }

  // The name of the result of `input`, a path, in the format `to`; nullptr: the name decides.
  // Throws UsageError if the name does not end like one of the format, or leaves the folder.
  [[nodiscard]] std::string name_for(const std::string& input, const Codec* to) const;

 private:
  void check_folders() const;
  void check(const std::string& name, const std::string& input, const Codec* to) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string text_;
  std::vector<std::pair<bool, std::string>> parts_;  // whether it is a placeholder, its text
};

// The relative path of the result of `relative` in the format `wanted`. The path stays the same if
// `wanted` is nullptr or the name already has an extension of that format. Otherwise the format's
// first extension replaces that of another format, or is appended if the name has none.
[[nodiscard]] std::string output_name(const std::string& relative, const Codec* wanted);

// The output for `relative` in `folder`, with the name that `name` gives it. Throws as NameTemplate
// does.
[[nodiscard]] std::string output_name(const std::filesystem::path& folder,
                                      const std::string& relative, const Codec* wanted,
                                      const std::optional<NameTemplate>& name);

// Creates the folder and those above it if they do not exist. Throws PictureError.
void create_folder(const std::string& path);

// Creates the folder of the file `path`.
void create_parent_folder(const std::string& path);

// Syncs a folder, so that the names of its files survive a power failure, if the file system
// supports that. Throws std::system_error.
void sync_folder(const std::string& path);

}  // namespace gpufilter
