#include "stages/picture_file.hpp"

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/codec_table.hpp"
#include "codec/other_formats.hpp"

namespace gpufilter {

bool is_picture_file(const std::string& path) {
  try {
    return codec_of_content(open_source(path)->peek(recognition_size())) != nullptr;
  } catch (const PictureError& error) {
    throw UsageError(error.what());
  }
}

Image read_picture_file(const std::string& path) {
  try {
    const std::unique_ptr<RowReader> reader = open_picture(open_source(path));
    Image image(reader->header().size, reader->header().format);
    reader->read(image.rows());
    return image;
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  }
}

}  // namespace gpufilter
