#include "codec/jpeg/write/coding.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/write/strip_encoder.hpp"

namespace gpufilter {
namespace {

JpegHuffmanTable table_of(const JHUFF_TBL& from) {
  JpegHuffmanTable table;
  std::copy(std::begin(from.bits), std::end(from.bits), table.counts.begin());
  std::copy(std::begin(from.huffval), std::end(from.huffval), table.symbols.begin());
  return table;
}

// For grey all the same.
void read_tables(const jpeg_compress_struct& jpeg, JpegCoding& coding) {
  for (int i = 0; i < 3; ++i) {
    const jpeg_component_info& component = jpeg.comp_info[std::min(i, jpeg.num_components - 1)];
    const JQUANT_TBL& table = *jpeg.quant_tbl_ptrs[component.quant_tbl_no];
    std::transform(std::begin(table.quantval), std::end(table.quantval),
                   coding.divisors.at(static_cast<std::size_t>(i)).begin(),
                   [](UINT16 divisor) { return static_cast<std::uint8_t>(divisor); });
    const auto kind = static_cast<std::size_t>(i == 0 ? 0 : 1);
    coding.dc.at(kind) = table_of(*jpeg.dc_huff_tbl_ptrs[component.dc_tbl_no]);
    coding.ac.at(kind) = table_of(*jpeg.ac_huff_tbl_ptrs[component.ac_tbl_no]);
  }
}

}  // namespace

JpegPicture jpeg_picture(const PictureHeader& header, const WriteOptions& options) {
  JpegPicture picture{header.size, header.format, *options.get<Color>(background_option()), {}};
  picture.settings =
      choose_jpeg_settings(stored_jpeg_encoding(header), header.format.color_channels() == 1,
                           options.get<int>(quality_option()),
                           chroma_option(*options.get<std::string>(jpeg_subsampling_option())));
  picture.settings.progressive = *options.get<bool>(jpeg_progressive_option());
  return picture;
}

int restart_rows(const JpegPicture& picture, const WriteOptions& options) {
  const bool restarts =
      !picture.settings.progressive && *options.get<std::string>(jpeg_restart_option()) == "on";
  return restarts ? mcu_rows_a_strip(mcu_grid(picture)) : 0;
}

std::optional<JpegCoding> jpeg_coding(const PictureHeader& header, const WriteOptions& options) {
  const JpegPicture picture = jpeg_picture(header, options);
  constexpr int max_side = JPEG_MAX_DIMENSION;
  const bool is_too_large = std::max(header.size.width, header.size.height) > max_side;
  if (picture.settings.progressive || header.format.has_alpha() || is_too_large)
    return std::nullopt;
  JpegCoding coding;
  coding.picture = {picture.size, picture.format};
  coding.interval_rows = restart_rows(picture, options);
  const auto subsampling = picture.settings.subsampling.value_or(ChromaSubsampling{});
  coding.horizontal = subsampling.horizontal;
  coding.vertical = subsampling.vertical;
  JpegErrors errors("JPEG");
  Compressor compressor(errors);
  errors.run([&] { create_compressor(compressor, picture); });
  read_tables(compressor, coding);
  return coding;
}

}  // namespace gpufilter
