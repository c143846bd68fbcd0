#include "codec/jpeg/read/stored_picture.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/move/moved_blocks.hpp"
#include "codec/jpeg/move/moved_writer.hpp"
#include "codec/jpeg/read/scan_limits.hpp"
#include "codec/jpeg/write/encoding.hpp"

namespace gpufilter {
namespace {

// Blocks in an MCU of a scan of all components, as the standard limits them.
constexpr int max_blocks = 10;

// Only the result's left and upper edges have to lie between blocks: what the last blocks of a row
// or column hold beyond the other edges is not shown.
std::string objection_to_edge(bool mirrors, int corner, int size, int unit, const char* line,
                              const char* extent) {
  const int edge = mirrors ? corner + size : corner;
  if (edge % unit == 0) return "";
  return formatted("its edge at {} {} does not lie between blocks, which are {} pixels {}", line,
                   edge, unit, extent);
}

}  // namespace

std::string JpegStoredPicture::objection_to_file() const {
  const Decompressor& jpeg = decoder_.jpeg();
  const JpegEncoding* encoding = stored_jpeg_encoding(header_);
  if (encoding == nullptr || !encoding->quantization)
    return "its quantization tables are not in its header";
  if (jpeg.num_components > 1 && mcu_grid(jpeg).blocks > max_blocks)
    return "its components cannot share a scan";
  // Newer versions of libjpeg also read files without coefficients, which predict samples.
  if (jpeg.progressive_mode == FALSE && jpeg.Ss != 0) return "it may have no coefficients";
  if (keeps_damaged_ && !is_repeatable_) return "it comes from a stream and may be damaged";
  const std::uint64_t bytes = all_coefficient_bytes(jpeg);
  if (bytes > max_memory_) {
    return formatted("its coefficients take {:.0f} MB, more than allowed; raise --max-memory",
                     static_cast<double>(bytes) / 1e6);
  }
  return "";
}

std::string JpegStoredPicture::objection(const Placement& placement,
                                         const WriteOptions& options) const {
  for (const WriteOption* option : {&quality_option(), &jpeg_subsampling_option()}) {
    if (options.is_given(*option))
      return formatted("--{} asks for other coefficients", option->name);
  }
  const auto& [corner, size, turn] = placement;
  const ImageSize mcu = mcu_grid(decoder_.jpeg()).mcu;
  std::string text =
      objection_to_edge(turn.mirrors_x, corner.x, size.width, mcu.width, "column", "wide");
  if (text.empty())
    text = objection_to_edge(turn.mirrors_y, corner.y, size.height, mcu.height, "row", "high");
  return text.empty() ? objection_to_file() : text;
}

std::string JpegStoredPicture::load() {
  if (!keeps_damaged_) return load_blocks();
  try {
    return load_blocks();
  } catch (const PictureError&) {
    return "it is damaged";
  }
}

std::string JpegStoredPicture::load_blocks() {
  Decompressor& jpeg = decoder_.jpeg();
  jvirt_barray_ptr* arrays = nullptr;
  decoder_.errors().run([&] { arrays = jpeg_read_coefficients(&jpeg); });
  rows_.resize(static_cast<std::size_t>(jpeg.num_components));
  bool in_range = true;
  for (std::size_t c = 0; c < rows_.size(); ++c) {
    const jpeg_component_info& info = jpeg.comp_info[c];
    rows_[c].resize(info.height_in_blocks);
    for (JDIMENSION row = 0; row < info.height_in_blocks; ++row) {
      decoder_.errors().run([&] {
        rows_[c][row] = jpeg.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&jpeg),
                                                     arrays[c], row, 1, FALSE)[0];
      });
      in_range = in_range && are_in_range({rows_[c][row], info.width_in_blocks});
    }
  }
  return in_range ? "" : "its coefficients are too large for 8-bit samples";
}

std::unique_ptr<RowWriter> JpegStoredPicture::create(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options,
                                                     const Placement& placement) {
  return create_moved_jpeg(sink, header, options, {decoder_.jpeg(), placement, rows_});
}

}  // namespace gpufilter
