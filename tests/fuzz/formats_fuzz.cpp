// Files of the formats without their own fuzzer, read whole and row by row.
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/format.hpp"
#include "fuzz/mutate.hpp"
#include "image/exif.hpp"
#include "support/coding.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

const ReadLimits limits{
    .max_pixels = 1'000'000, .max_memory = 16U << 20U, .warn = false, .keeps_floats = true};

// With the pixels both ways, and with boxes or chunks of metadata.
void add_seeds(std::vector<Bytes>& files, const Codec& codec, const PixelFormat& format) {
  const Image image = random_image({29, 17}, format, 1);
  files.push_back(encode(codec, image).file);
  for (const WriteOption* option : codec.options) {
    if (option->name != "lossless") continue;
    Metadata metadata;
    set_orientation(metadata, 6);
    metadata.xmp = Bytes(90, ' ');
    files.push_back(encode(codec, image, WriteOptions().set(*option, "always"), metadata).file);
  }
}

std::vector<Bytes> seeds_of(const Codec& codec) {
  std::vector<Bytes> files;
  for (const int depth : {8, 16, float_depth}) {
    for (int channels = 1; channels <= 4; ++channels) {
      const PixelFormat format{channels, depth};
      if (format_in_file(codec, format) == format) add_seeds(files, codec, format);
    }
  }
  return files;
}

// Mostly in the headers, which the formats have at the beginning or at the end.
void mutate(Bytes& file, const Bytes& other, Mutator& mutator) {
  for (std::size_t left = 1 + mutator.below(4); left > 0; --left) {
    if (!mutator.one_in(3) || file.size() < 400) {
      mutator.change(file, other);
      continue;
    }
    const std::size_t place = mutator.below(300);
    file.at(mutator.one_in(2) ? place : file.size() - 1 - place) =
        static_cast<std::uint8_t>(mutator.below(256));
  }
}

// The samples that are read; nothing if the file is refused, for which `refusal` says why.
std::optional<Image> read(const Bytes& file, int rows_a_time, std::string& refusal) {
  try {
    return decode(file, limits, rows_a_time).image;
  } catch (const PictureError& error) {
    refusal = error.what();
    return std::nullopt;
  }
}

bool has_opaque_alpha(const Image& image) {
  const int alpha = image.format().channels - 1;
  for (const auto [x, y] : each_pixel(image)) {
    if (sample_at(image, x, y, alpha) != image.format().max_sample()) return false;
  }
  return image.format().has_alpha();
}

// The picture, written without loss and read back.
std::string written_back(const Codec& codec, const Image& image) {
  WriteOptions options;
  bool is_lossless = codec.is_lossless;
  for (const WriteOption* option : codec.options) {
    if (option->name != "lossless") continue;
    options.set(*option, "always");
    is_lossless = true;
  }
  if (!is_lossless || format_in_file(codec, image.format()) != image.format()) return "";
  const auto written = [&](const Image& picture) {
    return decode(encode(codec, picture, options).file, limits, 1 << 20).image;
  };
  const Image back = written(image);
  // libwebp leaves out an alpha that is opaque everywhere.
  if (back.format() != image.format() && has_opaque_alpha(image)) return "";
  // AVIF with 10 bits a sample becomes one with 12, which has other values; HEIC with 12 likewise.
  // Once written they stay as they are.
  const bool is_rounded =
      image.format().depth == 16 && (codec.name == "HEIC" || codec.name == "AVIF");
  const auto same = is_rounded ? same_pixels(written(back), back) : same_pixels(back, image);
  return same ? "" : formatted("written and read back: {}", same.message());
}

std::string check(const Codec& codec, const Bytes& file) {
  std::string refusal;
  std::string refusal_by_rows;
  const auto whole = read(file, 1 << 20, refusal);
  const auto by_rows = read(file, 1, refusal_by_rows);
  if (refusal != refusal_by_rows) return "refusals: '" + refusal + "', '" + refusal_by_rows + "'";
  if (!whole) return refusal.find('\n') == std::string::npos ? "" : "a refusal of several lines";
  // libde265 does not report damage within slices, and leaves samples there as memory was.
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.find("hvcC") != std::string_view::npos) return "";
  const auto same = same_pixels(*whole, *by_rows);
  return same ? written_back(codec, *whole) : same.message();
}

std::vector<FuzzTarget> targets() {
  std::vector<FuzzTarget> all;
  for (const Codec* codec : codecs()) {
    if (codec->name == "PNG" || codec->name == "JPEG") continue;
    all.push_back({codec->extensions.front().substr(1), seeds_of(*codec), mutate,
                   [codec](const Bytes& file) { return check(*codec, file); }});
  }
  return all;
}

}  // namespace
}  // namespace gpufilter::test

int main(int argc, char** argv) {
  using namespace gpufilter::test;
  return fuzz(argc, argv, targets());
}
