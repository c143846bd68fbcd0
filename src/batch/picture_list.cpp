#include "batch/picture_list.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <system_error>

#include <sys/stat.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "batch/folder_scan.hpp"
#include "batch/journal.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

constexpr std::uint64_t largest_list = std::uint64_t{1} << 30U;  // of ten million names

bool by_name(const SizedName& a, const SizedName& b) {
  return a.name < b.name;
}

// Removes the size in front of the name and returns it.
std::optional<std::uint64_t> take_size(std::string_view& entry) {
  const std::size_t tab = entry.find('\t');
  std::uint64_t bytes = 0;
  if (tab == std::string_view::npos || !parse_whole(entry.substr(0, tab), bytes)) {
    return std::nullopt;
  }
  entry.remove_prefix(tab + 1);
  return bytes;
}

// Whether `name` is a normalised relative path: it cannot leave the folder, and no other such path
// leads to the same file without links.
bool is_below_a_folder(std::string_view name) {
  if (name.empty()) return false;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

std::uint64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// Parses the entries of a list.
class ListReader {
 public:
  ListReader(std::string_view text, const std::string& source, const std::string& folder)
      : text_(text), source_(source), folder_(folder) {}

  void read() {
    const char end = text_.find('\0') == std::string_view::npos ? '\n' : '\0';
    while (!text_.empty()) {
      const std::size_t size = std::min(text_.find(end), text_.size());
      std::string_view entry = text_.substr(0, size);
      text_.remove_prefix(std::min(size + 1, text_.size()));
      if (entry.ends_with('\r') && end == '\n') entry.remove_suffix(1);
      if (!entry.empty()) take(entry);
    }
    std::sort(others.begin(), others.end(), by_name);
    std::sort(pictures.begin(), pictures.end(), by_name);
    const auto twice =
        std::adjacent_find(pictures.begin(), pictures.end(),
                           [](const SizedName& a, const SizedName& b) { return a.name == b.name; });
    if (twice != pictures.end()) refuse(twice->name, "is listed twice");
  }

  std::vector<SizedName> pictures;
  std::vector<SizedName> others;

 private:
  void take(std::string_view entry) {
    const std::string_view whole = entry;
    const auto bytes = take_size(entry);
    if (!has_sizes_) has_sizes_ = bytes.has_value();
    if (*has_sizes_ != bytes.has_value()) {
      if (*has_sizes_) refuse(whole, "has no size, but the first name has one");
      entry = whole;  // a name with a tab
    }
    while (entry.starts_with("./"))
      entry.remove_prefix(2);
    if (!is_below_a_folder(entry)) {
      refuse(entry, formatted("is not a path below {}; find {} -type f -printf '%s\\t%P\\0' makes "
                              "such a list",
                              folder_, folder_));
    }
    if (always_excluded(entry)) return;
    const std::string name(entry);
    if (codec_of_name(name) != nullptr) {
      pictures.push_back(
          {entry, *has_sizes_ ? *bytes : size_of(std::filesystem::path(folder_) / entry)});
    } else if (!other_format_of_name(name).empty()) {
      others.push_back({entry, bytes.value_or(0)});
    }
  }

  [[noreturn]] void refuse(std::string_view name, const std::string& reason) const {
    throw UsageError(printable(formatted("{}: '{}' {}", source_, name, reason)));
  }

  std::string_view text_;
  const std::string& source_;
  const std::string& folder_;
  std::optional<bool> has_sizes_;
};

std::string text_of(const std::vector<SizedName>& pictures, const std::vector<SizedName>& others) {
  std::string text;
  for (const auto* names : {&pictures, &others}) {
    for (const SizedName& picture : *names) {
      text += formatted("{}\t", picture.bytes);
      text += picture.name;
      text += '\0';
    }
  }
  return text;
}

}  // namespace

PictureList::PictureList(std::string text, const std::string& source, const std::string& folder)
    : text_(std::make_shared<const std::string>(std::move(text))) {
  ListReader reader(*text_, source, folder);
  reader.read();
  pictures_ = std::move(reader.pictures);
  others_ = std::move(reader.others);
}

PictureList::PictureList(std::vector<SizedName> pictures, std::vector<SizedName> others)
    : pictures_(std::move(pictures)), others_(std::move(others)) {
  std::sort(pictures_.begin(), pictures_.end(), by_name);
  std::sort(others_.begin(), others_.end(), by_name);
  text_ = std::make_shared<const std::string>(text_of(pictures_, others_));
  std::size_t at = 0;
  for (auto* names : {&pictures_, &others_}) {
    for (SizedName& picture : *names) {
      at = text_->find('\t', at) + 1;
      picture.name = std::string_view(*text_).substr(at, picture.name.size());
      at += picture.name.size() + 1;
    }
  }
}

std::uint64_t PictureList::bytes() const {
  return std::accumulate(
      pictures_.begin(), pictures_.end(), std::uint64_t{0},
      [](std::uint64_t sum, const SizedName& picture) { return sum + picture.bytes; });
}

std::string PictureList::text() const {
  return text_of(pictures_, others_);
}

PictureList read_picture_list(const std::string& path, const std::string& folder) {
  const bool is_stream = path == "-";
  const std::string source = is_stream ? "standard input" : path;
  try {
    std::string text = read_file_or_pipe(is_stream ? "/dev/stdin" : path, largest_list);
    remove_byte_order_mark(text);
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
      throw UsageError(printable(source) + ": is UTF-16; save the list as UTF-8");
    return {std::move(text), source, folder};
  } catch (const std::system_error& error) {
    throw PictureError(source, reason_of(error));
  }
}

}  // namespace gpufilter
