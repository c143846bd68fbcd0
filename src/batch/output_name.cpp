#include "batch/output_name.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "batch/file_content.hpp"
#include "codec/byte_source.hpp"
#include "image/exif.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& placeholders() {
  static const std::vector<std::string> names{"stem",  "ext",    "name", "parent", "to",
                                              "width", "height", "hash", "date",   "n"};
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

// The extension of a result.
std::string extension_of(const std::string& input_name, const Codec* format) {
  const std::size_t dot = std::min(input_name.rfind('.'), input_name.size());
  const bool stays = format == nullptr || codec_of_name(input_name) == format;
  if (!stays) return format->extensions.front().substr(1);
  return dot < input_name.size() ? input_name.substr(dot + 1) : "";
}

std::tm local_time(std::time_t time) {
  std::tm local{};
  ::localtime_r(&time, &local);
  return local;
}

// When the picture was taken, as EXIF says; nothing if the file has none or cannot be read.
std::optional<std::tm> time_taken(const std::string& path) {
  std::string text;
  try {
    text = exif_summary(open_picture(open_source(path), {})->header().metadata.exif).taken;
  } catch (const Error&) {
    return std::nullopt;  // the picture itself will say why
  }
  std::tm time{};
  std::istringstream in(text);
  in >> std::get_time(&time, "%Y:%m:%d %H:%M:%S");
  if (in.fail() || time.tm_mday == 0) return std::nullopt;
  time.tm_isdst = -1;
  return local_time(std::mktime(&time));
}

std::tm time_of(const std::string& path) {
  if (const auto taken = time_taken(path)) return *taken;
  struct stat status {};
  static_cast<void>(::stat(path.c_str(), &status));
  return local_time(status.st_mtime);
}

// Fields of dates that are numbers in every language.
bool is_date_form(const std::string& form) {
  for (std::size_t at = 0; at < form.size(); ++at) {
    if (form[at] == '%' && (++at == form.size() || !std::strchr("YmdHMSjy%", form[at])))
      return false;
  }
  return !form.empty();
}

// "4" or "04": the least number of digits.
bool is_number_form(const std::string& form) {
  return !form.empty() && form.size() <= 2 && form.find_first_not_of("0123456789") == form.npos;
}

std::string hash_of(const ResultToName& result) {
  const std::string text = formatted(
      "{} {} {} {} {}\n{} {}", to_string(content_of(result.input).hash),
      to_string(result.work.stages), to_string(result.work.options),
      result.size == nullptr ? "" : to_string(*result.size),
      result.format == nullptr ? "" : result.format->name, GPUFILTER_VERSION, codec_versions());
  return to_string(content_hash(text)).substr(0, 16);
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
      parts_.push_back({std::exchange(literal, std::string())});
      parts_.push_back(placeholder(text_.substr(at + 1, end - at - 1), at + 1));
      at = end;
    }
  }
  parts_.push_back({literal});
  check_folders();
}

NameTemplate::Part NameTemplate::placeholder(const std::string& words, std::size_t at) const {
  const std::size_t colon = words.find(':');
  Part part{.field = words.substr(0, colon)};
  if (std::ranges::count(placeholders(), part.field) == 0) {
    const auto near = words_like(part.field, placeholders());
    refuse(formatted("{} at character {} is unknown; {}", braced(words), at,
                     near.empty() ? in_braces(placeholders(), "and") + " are known"
                                  : "did you mean " + in_braces(near, "or") + "?"));
  }
  if (colon == std::string::npos) return part;
  part.form = words.substr(colon + 1);
  const bool is_date = part.field == "date";
  if (is_date ? is_date_form(part.form) : part.field == "n" && is_number_form(part.form))
    return part;
  refuse(formatted("{} at character {}: {}", braced(words), at,
                   is_date             ? "a date has %Y, %m, %d, %H, %M, %S, %j or %y"
                   : part.field == "n" ? "write {n:04} for at least four digits"
                                       : "only {date:...} and {n:...} have a form"));
}

bool NameTemplate::has(std::string_view field) const {
  return std::ranges::any_of(parts_, [field](const Part& part) { return part.field == field; });
}

std::string NameTemplate::value_of(const Part& part, const ResultToName& result) const {
  const std::string& field = part.field;
  const std::string name = fs::path(result.input).filename();
  if (field == "stem") return name.substr(0, name.rfind('.'));
  if (field == "name") return name;
  if (field == "parent") return parent_of(result.input);
  if (field == "ext") return extension_of(name, nullptr);
  if (field == "to") return extension_of(name, result.format);
  if (field == "hash") return hash_of(result);
  if (field == "n") {
    const std::string digits = std::to_string(result.number);
    const std::size_t least = part.form.empty() ? 1 : std::stoul(part.form);
    return std::string(least - std::min(least, digits.size()), '0') + digits;
  }
  if (field == "date") {
    const std::tm time = time_of(result.input);
    std::ostringstream text;
    text << std::put_time(&time, part.form.empty() ? "%Y-%m-%d" : part.form.c_str());
    return text.str();
  }
  const ResultSize size = result.size == nullptr ? ResultSize{} : *result.size;
  const std::string& side = field == "width" ? size.width : size.height;
  if (side.empty()) refuse(formatted("{} needs a {} in --sizes", braced(field), field));
  return side;
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

std::string NameTemplate::name_for(const ResultToName& result) const {
  std::string name;
  for (const Part& part : parts_)
    name += part.field.empty() ? part.text : value_of(part, result);
  check(name, result);
  return name;
}

void NameTemplate::check(const std::string& name, const ResultToName& result) const {
  const std::string& input = result.input;
  const Codec* to = result.format;
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

ResultSize parse_result_size(const std::string& text) {
  const std::size_t cross = std::min(text.find_first_of("xX"), text.size());
  ResultSize size{text.substr(0, cross), cross < text.size() ? text.substr(cross + 1) : ""};
  const auto is_side = [](const std::string& side) {
    return side.size() <= 7 && side.find_first_not_of("0123456789") == std::string::npos &&
           (side.empty() || side.front() != '0');
  };
  if (is_side(size.width) && is_side(size.height) && !(size.width + size.height).empty())
    return size;
  throw UsageError(printable(formatted(
      "--sizes: '{}' is not a size; write widths in pixels, xHEIGHT or WIDTHxHEIGHT, as in 400,800",
      text)));
}

std::string to_string(const ResultSize& size) {
  return size.width + (size.height.empty() ? "" : "x" + size.height);
}

std::vector<NamedResult> ResultNames::of(const std::filesystem::path& folder,
                                         const std::string& relative, std::size_t number,
                                         const RunWork& work) const {
  std::vector<NamedResult> results;
  const auto add = [&](std::size_t i, const Codec* format) {
    const ResultSize* size = sizes.empty() ? nullptr : &sizes[i];
    if (!name && size == nullptr) {
      results.push_back({output_name(relative, format), format});
      return;
    }
    const NameTemplate usual(size == nullptr        ? "{stem}.{to}"
                             : size->height.empty() ? "{stem}-{width}.{to}"
                             : size->width.empty()  ? "{stem}-{height}.{to}"
                                                    : "{stem}-{width}x{height}.{to}");
    const ResultToName result{folder / relative, format, size, number, work};
    results.push_back(
        {fs::path(relative).parent_path() / name.value_or(usual).name_for(result), format, i});
  };
  for (std::size_t i = 0; i < std::max<std::size_t>(sizes.size(), 1); ++i) {
    if (to.empty()) add(i, nullptr);
    for (const Codec* format : to)
      add(i, format);
  }
  return results;
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
