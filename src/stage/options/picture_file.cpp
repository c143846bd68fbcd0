#include "stage/options/picture_file.hpp"

#include <cstdint>
#include <memory>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/unread.hpp"
#include "host/turn_rows.hpp"
#include "image/exif_orientation.hpp"

namespace gpufilter {
namespace {

// With an alpha for each sample of a picture in colour.
std::uint64_t overlay_memory(const PictureHeader& header) {
  const PixelFormat& format = header.format;
  return header.size.pixels() * (format.bytes_per_pixel() + 6 * format.bytes_per_sample());
}

}  // namespace

Image read_overlay(const std::string& path, const ReadLimits& limits) {
  try {
    const std::unique_ptr<RowReader> reader = open_picture(open_source(path), limits);
    const PictureHeader& header = reader->header();
    check_memory(path, overlay_memory(header), limits, "an overlay", "make it smaller");
    warn_of_unread(path, header.unread);
    Image image(header.size, header.format);
    reader->read(image.rows());
    Metadata metadata = header.metadata;
    add_late_metadata(metadata, reader->finish());
    return turned(std::move(image), turn_for_orientation(stored_orientation(metadata).value_or(1)));
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  }
}

}  // namespace gpufilter
