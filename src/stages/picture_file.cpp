#include "stages/picture_file.hpp"

#include "base/error.hpp"
#include "codec/codec.hpp"

namespace gpufilter {

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
