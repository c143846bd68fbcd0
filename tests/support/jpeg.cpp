#include "support/jpeg.hpp"

#include "codec/formats.hpp"

namespace gpufilter::test {
namespace {

// One scan per component, as in sequential files: all 64 coefficients at once.
constexpr std::array<jpeg_scan_info, 3> component_scans{{{1, {0, 0, 0, 0}, 0, 63, 0, 0},
                                                         {1, {1, 0, 0, 0}, 0, 63, 0, 0},
                                                         {1, {2, 0, 0, 0}, 0, 63, 0, 0}}};

std::size_t pitch_of(const Raster& raster) {
  return static_cast<std::size_t>(raster.width) * static_cast<std::size_t>(raster.channels);
}

void apply(const JpegRecipe& recipe, jpeg_compress_struct& jpeg) {
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, recipe.stored_colors);
  jpeg_set_quality(&jpeg, recipe.quality, TRUE);
  if (recipe.stored_colors == JCS_YCbCr) {
    jpeg.comp_info[0].h_samp_factor = recipe.horizontal_subsampling;
    jpeg.comp_info[0].v_samp_factor = recipe.vertical_subsampling;
  }
  jpeg.arith_code = recipe.arithmetic ? TRUE : FALSE;
  jpeg.restart_in_rows = recipe.restart_rows;
  if (!recipe.adobe_marker) jpeg.write_Adobe_marker = FALSE;
  if (recipe.progressive) jpeg_simple_progression(&jpeg);
  if (recipe.one_scan_a_component) {
    jpeg.scan_info = component_scans.data();
    jpeg.num_scans = static_cast<int>(component_scans.size());
  }
  if (recipe.before_start) recipe.before_start(jpeg);
}

}  // namespace

Raster flat_raster(int width, int height, const Bytes& color) {
  Raster raster{width, height, static_cast<int>(color.size()), {}};
  for (int i = 0; i < width * height; ++i)
    raster.samples.insert(raster.samples.end(), color.begin(), color.end());
  return raster;
}

Raster textured_raster(int width, int height, int channels) {
  Raster raster{width, height, channels, {}};
  std::uint32_t state = 1;
  for (const auto [x, y, c] : each_sample({width, height}, channels)) {
    state = state * 1664525U + 1013904223U;
    const int noise = static_cast<int>(state >> 27U);
    raster.samples.push_back(static_cast<std::uint8_t>(
        (x * (c + 1) * 200 / width + y * (3 - c) * 100 / height + noise) & 0xFF));
  }
  return raster;
}

Raster raster_of(const Image& image) {
  Raster raster{image.width(), image.size().height, image.format().channels, {}};
  const std::size_t bytes =
      static_cast<std::size_t>(image.width()) * image.format().bytes_per_pixel();
  for (int y = image.row_range().begin; y < image.row_range().end; ++y) {
    const std::uint8_t* row = image.rows().row(y);
    raster.samples.insert(raster.samples.end(), row, row + bytes);
  }
  return raster;
}

Bytes encode_with_libjpeg(const Raster& raster, const JpegRecipe& recipe) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &data, &size);
  jpeg.image_width = static_cast<JDIMENSION>(raster.width);
  jpeg.image_height = static_cast<JDIMENSION>(raster.height);
  jpeg.input_components = raster.channels;
  jpeg.in_color_space = recipe.raster_colors;
  apply(recipe, jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  if (recipe.after_start) recipe.after_start(jpeg);
  Bytes samples = raster.samples;  // libjpeg wants to be able to write to it
  const std::size_t pitch = pitch_of(raster);
  for (int y = 0; y < raster.height; ++y) {
    JSAMPROW row = samples.data() + static_cast<std::size_t>(y) * pitch;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  Bytes result(data, data + size);
  std::free(data);  // jpeg_mem_dest() has it from malloc()
  return result;
}

std::vector<JpegComponent> components_of(const Bytes& data) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, data.data(), data.size());
  jpeg_read_header(&jpeg, TRUE);
  std::vector<JpegComponent> components;
  for (int i = 0; i < jpeg.num_components; ++i) {
    const jpeg_component_info& info = jpeg.comp_info[i];
    const JQUANT_TBL& table = *jpeg.quant_tbl_ptrs[info.quant_tbl_no];
    components.push_back({{std::begin(table.quantval), std::end(table.quantval)},
                          info.h_samp_factor,
                          info.v_samp_factor});
  }
  jpeg_destroy_decompress(&jpeg);
  return components;
}

namespace {

// `warnings` counts libjpeg's.
Raster decoded(const Bytes& data, int divisor, long& warnings) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, data.data(), data.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.scale_denom = static_cast<unsigned>(divisor);
  jpeg_start_decompress(&jpeg);
  Raster raster{static_cast<int>(jpeg.output_width),
                static_cast<int>(jpeg.output_height),
                jpeg.output_components,
                {}};
  const std::size_t pitch = pitch_of(raster);
  raster.samples.resize(pitch * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = raster.samples.data() + jpeg.output_scanline * pitch;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  warnings = errors.num_warnings;
  jpeg_destroy_decompress(&jpeg);
  return raster;
}

}  // namespace

Raster decode_with_libjpeg(const Bytes& data, int divisor) {
  long warnings = 0;
  Raster raster = decoded(data, divisor, warnings);
  if (warnings != 0) throw std::logic_error("this JPEG is not intact");
  return raster;
}

Raster decode_damaged_with_libjpeg(const Bytes& data) {
  long ignored = 0;
  return decoded(data, 1, ignored);
}

Raster decode_with_codec(const Bytes& jpeg, const ReadLimits& limits) {
  const auto reader = open_jpeg(memory_source(jpeg, "some.jpg"), limits);
  Image image(reader->header().size, reader->header().format);
  const MutableRows rows = image.rows();
  int begin = 0;
  for (int band = 1; begin < rows.rows.end; ++band) {
    const int end = std::min(begin + band, rows.rows.end);
    reader->read(rows.part({begin, end}));
    begin = end;
  }
  reader->finish();
  return raster_of(image);
}

std::string refusal_of(const Bytes& jpeg, const ReadLimits& limits) {
  return objection_to<PictureError>([&] { return decode_with_codec(jpeg, limits); }, "");
}

Metadata metadata_in(const Bytes& jpeg) {
  return open_jpeg(memory_source(jpeg, "some.jpg"), {})->header().metadata;
}

Bytes shared_file(const std::string& relative) {
  const std::string text = read_file(shared_path(relative));
  return {text.begin(), text.end()};
}

std::size_t scan_data_begin(const Bytes& jpeg) {
  std::size_t at = 2;
  while (at + 4 <= jpeg.size()) {
    const bool is_scan = jpeg[at + 1] == 0xDA;
    at += 2 + (std::size_t{jpeg[at + 2]} << 8U) + jpeg[at + 3];
    if (is_scan) return at;
  }
  throw std::logic_error("this JPEG has no scan");
}

}  // namespace gpufilter::test
