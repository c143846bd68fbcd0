#include "stages/picture_file.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/codec_table.hpp"
#include "codec/other_formats.hpp"
#include "codec/unread.hpp"
#include "image/exif_orientation.hpp"
#include "stages/turn_rows.hpp"

namespace gpufilter {
namespace {

Image all_pixels(RowReader& reader, const std::string& name) {
  warn_of_unread(name, reader.header().unread);
  Image image(reader.header().size, reader.header().format);
  reader.read(image.rows());
  return image;
}

}  // namespace

Image read_upright_picture(const std::string& path) {
  try {
    const std::unique_ptr<RowReader> reader = open_picture(open_source(path));
    Image stored = all_pixels(*reader, path);
    Metadata metadata = reader->header().metadata;
    add_late_metadata(metadata, reader->finish());
    return turned(std::move(stored), turn_for_orientation(exif_orientation(metadata.exif)));
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  }
}

std::optional<Image> picture_in(const std::string& bytes, const std::string& path) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (codec_of_content({data, std::min(bytes.size(), recognition_size())}) == nullptr)
    return std::nullopt;
  try {
    return all_pixels(*open_picture(memory_source({data, data + bytes.size()}, path)), path);
  } catch (const PictureError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace gpufilter
