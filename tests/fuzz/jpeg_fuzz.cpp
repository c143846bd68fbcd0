// JPEG files read by one thread, by several, and by libjpeg alone.
#include <algorithm>
#include <csetjmp>
#include <optional>

#include "base/error.hpp"
#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "fuzz/mutate.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

const ReadLimits limits{.max_pixels = 1'000'000, .warn = false};

struct Outcome {
  Bytes samples;
  std::string refusal;
};

Outcome decode(const Bytes& file, std::size_t threads) {
  const ThreadLimit limit(threads);
  try {
    return {decode_with_codec(file, limits).samples, ""};
  } catch (const PictureError& error) {
    return {{}, error.what()};
  }
}

struct Alone {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  Bytes samples;
};

// libjpeg's pixels of an accepted file, whatever it warns about; nothing if it refuses the file or
// yields CMYK.
std::optional<Bytes> decode_alone(const Bytes& file) {
  Alone alone;
  jpeg_decompress_struct& jpeg = alone.jpeg;
  jpeg.err = jpeg_std_error(&alone.errors);
  jpeg.client_data = &alone;
  alone.errors.error_exit = [](j_common_ptr common) {
    std::longjmp(static_cast<Alone*>(common->client_data)->jump, 1);
  };
  alone.errors.emit_message = [](j_common_ptr, int) {};
  if (setjmp(alone.jump) != 0) {
    jpeg_destroy_decompress(&jpeg);
    return std::nullopt;
  }
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&jpeg, TRUE);
  jpeg_start_decompress(&jpeg);
  const std::size_t pitch =
      std::size_t{jpeg.output_width} * static_cast<unsigned>(jpeg.output_components);
  alone.samples.resize(pitch * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = alone.samples.data() + jpeg.output_scanline * pitch;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  const bool is_ink = jpeg.out_color_space == JCS_CMYK;
  jpeg_destroy_decompress(&jpeg);
  if (is_ink) return std::nullopt;
  return std::move(alone.samples);
}

std::string described(const Outcome& outcome) {
  return outcome.refusal.empty() ? "accepted" : outcome.refusal;
}

std::string check(const Bytes& file) {
  const Outcome expected = decode(file, 1);
  const Outcome outcome = decode(file, 3);
  if (outcome.refusal != expected.refusal) {
    return described(outcome) + ", by one thread: " + described(expected);
  }
  if (outcome.samples != expected.samples) return "other samples than by one thread";
  if (!outcome.refusal.empty()) return "";
  const auto alone = decode_alone(file);
  return alone && *alone != outcome.samples ? "other samples than by libjpeg alone" : "";
}

// Restart markers, the ends of scans, their headers and their Huffman tables.
bool is_of_interest(std::uint8_t marker) {
  return marker == 0xC4 || (marker >= 0xD0 && marker <= 0xDA);
}

// Anywhere, but often at such a marker.
void mutate(Bytes& file, const Bytes& other, Mutator& mutator) {
  const std::size_t changes = 1 + mutator.below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    if (!mutator.one_in(4)) {
      mutator.change(file, other);
      continue;
    }
    std::vector<std::size_t> markers;
    for (std::size_t at = 0; at + 1 < file.size(); ++at) {
      if (file[at] == 0xFF && is_of_interest(file[at + 1])) markers.push_back(at);
    }
    if (markers.empty()) continue;
    const std::size_t first = mutator.below(markers.size());
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(markers[first]);
    switch (mutator.below(4)) {
      case 0: {
        const std::size_t after = markers[first] + 2 + mutator.below(14);
        if (after < file.size()) file[after] = static_cast<std::uint8_t>(mutator.below(66));
        break;
      }
      case 1:
        begin[1] = static_cast<std::uint8_t>(0xD0 + mutator.below(10));
        break;
      case 2: {
        const std::size_t last = std::min(first + 1 + mutator.below(9), markers.size() - 1);
        file.erase(begin, file.begin() + static_cast<std::ptrdiff_t>(markers[last]));
        break;
      }
      default:
        file.insert(begin, 1 + mutator.below(20), mutator.one_in(2) ? 0xFF : 0x5A);
    }
  }
}

Bytes seed(int horizontal, int vertical, unsigned interval, int height) {
  return encode_with_libjpeg(textured_raster(397, height, 3),
                             {.quality = 60,
                              .horizontal_subsampling = horizontal,
                              .vertical_subsampling = vertical,
                              .before_start = [interval](jpeg_compress_struct& jpeg) {
                                jpeg.restart_interval = interval;
                              }});
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> files{seed(1, 1, 50, 367), seed(2, 2, 25, 411),  seed(2, 2, 5, 350),
                           seed(2, 1, 75, 341), seed(1, 2, 150, 403), seed(4, 1, 1, 345)};
  files.push_back(encode_with_libjpeg(
      textured_raster(397, 400, 1),
      {.raster_colors = JCS_GRAYSCALE, .stored_colors = JCS_GRAYSCALE, .restart_rows = 2}));
  files.push_back(encode_with_libjpeg(
      textured_raster(397, 350, 4),
      {.raster_colors = JCS_CMYK, .stored_colors = JCS_YCCK, .restart_rows = 1}));
  // These are large enough that several threads divide them into their scans.
  const Raster large = textured_raster(397, 1051, 3);
  for (const auto& [sampling, rows] : {std::pair{1, 0}, {2, 0}, {2, 5}}) {
    files.push_back(encode_with_libjpeg(large, {.quality = 20,
                                                .horizontal_subsampling = sampling,
                                                .vertical_subsampling = sampling,
                                                .progressive = true,
                                                .restart_rows = rows}));
  }
  files.push_back(encode_with_libjpeg(large, {.quality = 20, .one_scan_a_component = true}));
  return files;
}

}  // namespace
}  // namespace gpufilter::test

int main(int argc, char** argv) {
  using namespace gpufilter::test;
  return fuzz(argc, argv, {{"jpeg", seeds(), mutate, check}});
}
