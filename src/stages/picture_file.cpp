#include "stages/picture_file.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/codec_table.hpp"
#include "codec/other_formats.hpp"
#include "codec/unread.hpp"

namespace gpufilter {
namespace {

Image all_pixels(std::unique_ptr<ByteSource> source) {
  const std::string name = source->name();
  const std::unique_ptr<RowReader> reader = open_picture(std::move(source));
  warn_of_unread(name, reader->header().unread);
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  return image;
}

}  // namespace

Image read_picture_file(const std::string& path) {
  try {
    return all_pixels(open_source(path));
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  }
}

std::optional<Image> picture_in(const std::string& bytes, const std::string& path) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (codec_of_content({data, std::min(bytes.size(), recognition_size())}) == nullptr)
    return std::nullopt;
  try {
    return all_pixels(memory_source({data, data + bytes.size()}, path));
  } catch (const PictureError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace gpufilter
