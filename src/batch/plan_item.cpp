#include "batch/plan_item.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "batch/output_name.hpp"
#include "codec/other_formats.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// A file found in a folder always has a picture's name; one named on the command line may not.
const Codec* format_of_name(const BatchItem& item) {
  const Codec* format = codec_of_name(item.output);
  if (format != nullptr) return format;
  throw UsageError(formatted("{}: the name does not end in {}; --to sets the format of the results",
                             printable(item.input), extensions_of(codecs())));
}

// The path of `inner` relative to `folder`, with a slash at the end; empty if `inner` is not below
// `folder`.
std::string prefix_of(const std::string& inner, const std::string& folder) {
  std::error_code error;
  const fs::path within =
      fs::weakly_canonical(inner, error).lexically_relative(fs::weakly_canonical(folder, error));
  if (error || within.empty() || *within.begin() == ".." || *within.begin() == ".") return "";
  return within.string() + "/";
}

// "find DIR" prints paths that begin with DIR, but a list has paths below DIR.
void check_prefix(const PictureList& list, const std::string& source, const std::string& folder) {
  if (list.pictures().empty()) return;
  const fs::path first = list.pictures().front().name;
  std::error_code ignored;
  if (fs::exists(folder / first, ignored) || !fs::exists(first, ignored)) return;
  throw UsageError(printable(
      formatted("{0}: '{1}' is not below {2}, but {1} exists; list names below {2}, as find {2} "
                "-type f -printf '%s\\t%P\\0' does",
                source, first.string(), folder)));
}

}  // namespace

BatchItem plan_item(const BatchRequest& request, FoundFile found, const fs::path& folder,
                    bool in_place) {
  BatchItem item;
  item.input = folder / found.relative;
  item.problem = std::move(found.problem);
  item.bytes = found.bytes;
  item.output = item.problem.empty() ? output_name(folder, found.relative, request.to, request.name)
                                     : output_name(found.relative, request.to);
  if (item.problem.empty()) {
    item.output_format = request.to != nullptr ? request.to : format_of_name(item);
    item.replaces_input = in_place && item.output == found.relative;
    for (ChainOutput other : request.outputs) {
      other.path = fs::path(other.path) / item.output;
      other.format = item.output_format;
      item.others.push_back(std::move(other));
    }
  }
  return item;
}

OtherPicture other_picture(const fs::path& folder, const SizedName& listed) {
  return {folder / listed.name, other_format_of_name(std::string(listed.name))};
}

PictureList listed_pictures(const BatchRequest& request) {
  const std::string& folder = request.inputs.front();
  PictureList list = read_picture_list(request.list, folder);
  check_prefix(list, request.list, folder);
  const std::string results = prefix_of(request.output, folder);
  const auto is_result = [&](const SizedName& picture) {
    return picture.name.starts_with(results);
  };
  if (results.empty()) return list;
  std::vector<SizedName> pictures(list.pictures().begin(), list.pictures().end());
  std::vector<SizedName> others(list.others().begin(), list.others().end());
  if (std::erase_if(pictures, is_result) + std::erase_if(others, is_result) == 0) return list;
  return PictureList(std::move(pictures), std::move(others));
}

}  // namespace gpufilter
