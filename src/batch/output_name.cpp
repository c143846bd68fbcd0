#include "batch/output_name.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "batch/journal.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& placeholders() {
  static const std::vector<std::string> names{"stem", "ext", "name", "parent", "to"};
  return names;
}

std::string braced(const std::string& name) {
  return "{" + name + "}";
}

std::string in_braces(const std::vector<std::string>& names, std::string_view last) {
  std::vector<std::string> words;
  std::transform(names.begin(), names.end(), std::back_inserter(words), braced);
  return enumerated(words, last);
}

// The name of the folder that `path` is in; empty for the root. Links are not resolved: the name
// must be the same on every machine.
std::string parent_of(const std::string& path) {
  std::error_code ignored;
  fs::path folder = fs::path(path).parent_path().lexically_normal();
  const fs::path last = folder.filename();
  if (folder.empty() || last == "." || last == "..") {
    folder = fs::absolute(folder / ".", ignored).lexically_normal();
  }
  return folder.has_filename() ? folder.filename() : folder.parent_path().filename();
}

std::string value_of(const std::string& placeholder, const std::string& input, const Codec* to) {
  const std::string name = fs::path(input).filename();
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  const std::string extension = dot < name.size() ? name.substr(dot + 1) : "";
  if (placeholder == "stem") return name.substr(0, dot);
  if (placeholder == "name") return name;
  if (placeholder == "parent") return parent_of(input);
  const bool keeps_extension = placeholder == "ext" || to == nullptr || codec_of_name(name) == to;
  return keeps_extension ? extension : to->extensions.front().substr(1);
}

bool leads_elsewhere(std::string_view part) {
  return part.empty() || part == "." || part == "..";
}

}  // namespace

NameTemplate::NameTemplate(std::string text) : text_(std::move(text)) {
  std::string literal;
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c != '{' && c != '}') {
      literal += c;
    } else if (at + 1 < text_.size() && text_[at + 1] == c) {
      literal += text_[++at];
    } else if (c == '}') {
      refuse(formatted("the }} at character {} closes nothing; write }}}} for a brace", at + 1));
    } else {
      const std::size_t end = text_.find('}', at);
      if (end == std::string::npos) {
        refuse(formatted("the {{ at character {} is not closed; write {{{{ for a brace", at + 1));
      }
      const std::string name = text_.substr(at + 1, end - at - 1);
      if (std::count(placeholders().begin(), placeholders().end(), name) == 0) {
        const auto near = words_like(name, placeholders());
        refuse(formatted("{} at character {} is unknown; {}", braced(name), at + 1,
                         near.empty() ? in_braces(placeholders(), "and") + " are known"
                                      : "did you mean " + in_braces(near, "or") + "?"));
      }
      parts_.emplace_back(false, std::exchange(literal, std::string()));
      parts_.emplace_back(true, name);
      at = end;
    }
  }
  parts_.emplace_back(false, literal);
  check_folders();
}

void NameTemplate::check_folders() const {
  if (text_.empty()) refuse("is empty; {stem}.{to} is the usual name");
  std::size_t at = 1;
  for (const std::string_view part : split(text_, '/')) {
    if (leads_elsewhere(part)) {
      refuse(formatted("'{}' at character {} is not a name in the output folder", part, at));
    }
    at += part.size() + 1;
  }
}

std::string NameTemplate::name_for(const std::string& input, const Codec* to) const {
  std::string name;
  for (const auto& [is_placeholder, text] : parts_)
    name += is_placeholder ? value_of(text, input, to) : text;
  check(name, input, to);
  return name;
}

void NameTemplate::check(const std::string& name, const std::string& input, const Codec* to) const {
  for (const std::string_view part : split(name, '/')) {
    if (leads_elsewhere(part) || part.starts_with(".gpufilter")) {
      refuse(formatted("{} would become '{}', which is not a name for a result", input, name));
    }
  }
  const Codec* named = codec_of_name(name);
  if (named != nullptr && (to == nullptr || named == to)) return;
  const std::string extensions = extensions_of(to == nullptr ? codecs() : CodecList{to});
  refuse(formatted(
      "{} would become '{}', which does not end in {}; let the template end in .{{to}}{}", input,
      name, extensions, to == nullptr && codec_of_name(input) == nullptr ? " and set --to" : ""));
}

void NameTemplate::refuse(const std::string& reason) const {
  throw UsageError(printable(formatted("--name '{}': {}", text_, reason)));
}

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

void create_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw SystemFailure(path, error.value());
}

void create_parent_folder(const std::string& path) {
  create_folder(std::filesystem::path(path).parent_path());
}

void sync_folder(const std::string& path) {
  const FileDescriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
  if (::fsync(folder.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
    throw std::system_error(errno, std::generic_category());
  }
}

}  // namespace gpufilter
