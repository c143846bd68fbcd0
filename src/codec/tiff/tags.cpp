#include "codec/tiff/tags.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/format.hpp"

namespace gpufilter {
namespace {

struct TagRange {
  std::uint16_t first;
  std::uint16_t last;
};

// How pixels, planes, pages and thumbnails are stored, what becomes metadata, and the layers of
// Photoshop, which show the picture as it was.
constexpr std::array handled{
    TagRange{254, 266},     TagRange{273, 284},     TagRange{288, 293},     TagRange{296, 297},
    TagRange{301, 301},     TagRange{317, 330},     TagRange{332, 347},     TagRange{400, 405},
    TagRange{512, 532},     TagRange{559, 559},     TagRange{700, 700},     TagRange{32995, 32998},
    TagRange{33421, 33422}, TagRange{33723, 33723}, TagRange{34377, 34377}, TagRange{34665, 34665},
    TagRange{34675, 34675}, TagRange{34853, 34853}, TagRange{37724, 37724}, TagRange{40965, 40965},
    TagRange{50674, 50674}};

// Types that both kinds of files have, apart from offsets of directories.
constexpr std::uint16_t last_type = 12;

bool is_foreign(const TiffField& field) {
  return field.type <= last_type && !is_description(field.tag) &&
         std::none_of(handled.begin(), handled.end(), [&](const TagRange& range) {
           return range.first <= field.tag && field.tag <= range.last;
         });
}

std::string name_of(std::uint16_t tag) {
  static const std::map<std::uint16_t, const char*> names{
      {285, "PageName"},  {286, "XPosition"},       {287, "YPosition"},
      {33550, "GeoTIFF"}, {33920, "GeoTIFF"},       {33922, "GeoTIFF"},
      {34264, "GeoTIFF"}, {34735, "GeoTIFF"},       {34736, "GeoTIFF"},
      {34737, "GeoTIFF"}, {42112, "GDAL metadata"}, {42113, "GDAL no-data value"}};
  const auto found = names.find(tag);
  return found == names.end() ? formatted("tag {}", tag) : found->second;
}

}  // namespace

TiffTags foreign_tags(const TiffContent& content) {
  TiffTags tags{{}, content.little_endian};
  std::copy_if(content.first.begin(), content.first.end(), std::back_inserter(tags.fields),
               is_foreign);
  return tags;
}

std::vector<std::string> names_of(const TiffTags& tags) {
  std::vector<std::string> names;
  for (const TiffField& field : tags.fields) {
    std::string name = name_of(field.tag);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace gpufilter
