#include <cstdint>
#include <memory>
#include <system_error>

#include <fcntl.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/posix_file.hpp"
#include "codec/codec.hpp"
#include "codec/codec_table.hpp"
#include "codec/other_formats.hpp"
#include "codec/unread.hpp"
#include "image/image.hpp"
#include "stages/point/cube.hpp"

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

Cube read_hald(RowReader& reader, const std::string& path) {
  const int level = level_of(path, reader.header().size);
  warn_of_unread(path, reader.header().unread);
  Image image(reader.header().size, reader.header().format);
  reader.read(image.rows());
  Cube cube{.size = level * level};
  cube.colors.reserve(image.size().pixels());
  const auto append =
      image.format().depth == 8 ? append_row<std::uint8_t> : append_row<std::uint16_t>;
  for (int y = 0; y < image.size().height; ++y)
    append(image.rows().row(y), image.format(), image.width(), cube.colors);
  return cube;
}

// Yields the whole lines of a text, as many as fit a buffer.
class Lines {
 public:
  explicit Lines(ByteSource& source) : source_(source) {}

  std::string_view next() {
    text_.erase(0, given_);
    const std::size_t kept = text_.size();
    text_.resize(size);
    const std::span bytes(reinterpret_cast<std::uint8_t*>(text_.data()), text_.size());
    text_.resize(kept + source_.read(bytes.subspan(kept)));
    given_ = text_.size() < size ? text_.size() : text_.rfind('\n') + 1;
    if (given_ == 0 && !text_.empty())
      throw UsageError(formatted("{}: a line of more than {} bytes; is this a .cube file?",
                                 source_.name(), size));
    return std::string_view(text_).substr(0, given_);
  }

 private:
  static constexpr std::size_t size = std::size_t{64} << 10U;

  ByteSource& source_;
  std::string text_;
  std::size_t given_ = 0;  // of its bytes
};

}  // namespace

Cube read_cube(const std::string& path, const ReadLimits& limits) {
  try {
    auto source = descriptor_source(open_file(path, O_RDONLY), path);
    if (codec_of_content(source->peek(recognition_size())) != nullptr)
      return read_hald(*open_picture(std::move(source), limits), path);
    Lines lines(*source);
    return parse_cube([&] { return lines.next(); }, path);
  } catch (const PictureError& error) {
    throw UsageError(error.what());  // it begins with the path
  } catch (const std::system_error& error) {
    throw UsageError(formatted("{}: {}", path, describe_system_error(error.code().value())));
  }
}

}  // namespace gpufilter
