#include <system_error>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/posix_file.hpp"
#include "base/text_file.hpp"
#include "image/image.hpp"
#include "stages/cube.hpp"
#include "stages/picture_file.hpp"

namespace gpufilter {
namespace {

// A HaldCLUT of level L has L^3 x L^3 pixels: a table with L^2 entries along each axis, row by row.
int level_of(const std::string& path, const ImageSize& size) {
  for (int level = 2; level * level <= Cube::largest; ++level) {
    const int side = level * level * level;
    if (size == ImageSize{side, side}) return level;
  }
  throw UsageError(formatted(
      "{}: a HaldCLUT is a square of 8, 27, 64, 125, ... or 4096 pixels, but this picture has "
      "{}x{}",
      path, size.width, size.height));
}

template <typename Sample>
void append_row(const std::uint8_t* row, const PixelFormat& format, int width,
                std::vector<CubeColor>& colors) {
  const auto* samples = reinterpret_cast<const Sample*>(row);
  const auto max = static_cast<float>(format.max_sample());
  const bool grey = format.color_channels() == 1;
  for (int x = 0; x < width; ++x, samples += format.channels) {
    colors.push_back({static_cast<float>(samples[0]) / max,
                      static_cast<float>(samples[grey ? 0 : 1]) / max,
                      static_cast<float>(samples[grey ? 0 : 2]) / max});
  }
}

Cube read_hald(const Image& image, const std::string& path) {
  const int level = level_of(path, image.size());
  Cube cube{.size = level * level};
  cube.colors.reserve(image.size().pixels());
  const auto append =
      image.format().depth == 8 ? append_row<std::uint8_t> : append_row<std::uint16_t>;
  for (int y = 0; y < image.size().height; ++y)
    append(image.rows().row(y), image.format(), image.width(), cube.colors);
  return cube;
}

}  // namespace

Cube read_cube(const std::string& path) {
  try {
    const std::string bytes = read_text_file(path);
    const std::optional<Image> hald = picture_in(bytes, path);
    return hald ? read_hald(*hald, path) : parse_cube(bytes, path);
  } catch (const std::system_error& error) {
    throw UsageError(formatted("{}: {}", path, describe_system_error(error.code().value())));
  }
}

}  // namespace gpufilter
