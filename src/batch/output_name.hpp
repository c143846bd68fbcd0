// The names of results in a folder, and templates for them: --name '{stem}-{ext}.{to}'.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batch/journal.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {

// A size of results, as asked for: "400", "x300", "400x300".
struct ResultSize {
  std::string width;   // empty: in proportion
  std::string height;  // the same
};
// Throws UsageError.
[[nodiscard]] ResultSize parse_result_size(const std::string& text);
[[nodiscard]] std::string to_string(const ResultSize& size);

// A result that gets a name.
struct ResultToName {
  std::string input;                 // the picture's path
  const Codec* format = nullptr;     // nullptr: the name decides
  const ResultSize* size = nullptr;  // nullptr: none was asked for
  std::size_t number = 1;            // of the picture in its run, from 1
  RunWork work = {};                 // what is done with it
};

// Placeholders are replaced by parts of the input's path: {stem} and {ext}, the file's name before
// and after its last dot; {name}, both; {parent}, the folder that it is in; for {to}, the extension
// of the result's format; {width} and {height}, the size that was asked for; {n}, the picture's
// number; {date}, when it was taken, or else when its file was modified; {hash}, of the file's
// contents and the work. "{{" and "}}" mean braces. A slash begins a subfolder.
class NameTemplate {
 public:
  // Throws UsageError, which names the position, if `text` is not a template, or would leave the
  // folder of results.
  explicit NameTemplate(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }

  // Throws UsageError if the name does not end like one of the format, leaves the folder, or needs
  // a size that was not asked for; PictureError if it needs a file that cannot be read.
  [[nodiscard]] std::string name_for(const ResultToName& result) const;

  // Whether the template has the placeholder {field}.
  [[nodiscard]] bool has(std::string_view field) const;

 private:
  // Text, or a placeholder with what follows its colon.
  struct Part {
    std::string text = {};
    std::string field = {};
    std::string form = {};
  };

  [[nodiscard]] Part placeholder(const std::string& words, std::size_t at) const;
  [[nodiscard]] std::string value_of(const Part& part, const ResultToName& result) const;
  void check_folders() const;
  void check(const std::string& name, const ResultToName& result) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string text_;
  std::vector<Part> parts_;
};

// The relative path of the result of `relative` in the format `wanted`. The path stays the same if
// `wanted` is nullptr or the name already has an extension of that format. Otherwise the format's
// first extension replaces that of another format, or is appended if the name has none.
[[nodiscard]] std::string output_name(const std::string& relative, const Codec* wanted);

// One of the results of a picture.
struct NamedResult {
  std::string path;
  const Codec* format = nullptr;  // as in ResultToName
  std::size_t size = 0;           // number in ResultNames::sizes
};

// In which formats and sizes each picture of a run is written, and how the results are named.
struct ResultNames {
  CodecList to = {};                                // nothing: each name decides the format
  std::vector<ResultSize> sizes = {};               // nothing: as the chain leaves it
  std::optional<NameTemplate> name = std::nullopt;  // nothing: as output_name() says

  // The format of all results; nullptr if there is none or several.
  [[nodiscard]] const Codec* one_format() const { return to.size() == 1 ? to.front() : nullptr; }
  [[nodiscard]] bool are_several() const { return to.size() > 1 || !sizes.empty(); }
  // The results of the picture `relative` in `folder`, size by size, at least one. Throws as
  // NameTemplate does.
  [[nodiscard]] std::vector<NamedResult> of(const std::filesystem::path& folder,
                                            const std::string& relative, std::size_t number = 1,
                                            const RunWork& work = {}) const;
};

// Creates the folder and those above it if they do not exist. Throws PictureError.
void create_folder(const std::string& path);

// Creates the folder of the file `path`.
void create_parent_folder(const std::string& path);

// Syncs a folder, so that the names of its files survive a power failure, if the file system
// supports that. Throws std::system_error.
void sync_folder(const std::string& path);

}  // namespace gpufilter
