#include "codec/jpeg/write/encoding.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/format.hpp"
#include "codec/formats.hpp"

namespace gpufilter {
namespace {

constexpr int default_quality = 90;
constexpr int min_quality_with_full_chroma = 90;
constexpr const char* requested = "requested";
constexpr const char* kept = "kept from the input";

ChromaSubsampling default_subsampling(int quality) {
  return quality < min_quality_with_full_chroma ? ChromaSubsampling{2, 2} : ChromaSubsampling{1, 1};
}

// The meaning of a value of --subsampling: "444", "422" or "420"; nothing for "auto".
std::optional<ChromaSubsampling> chroma_option(std::string_view name) {
  if (name == "444") return ChromaSubsampling{1, 1};
  if (name == "422") return ChromaSubsampling{2, 1};
  if (name == "420") return ChromaSubsampling{2, 2};
  return std::nullopt;
}

std::string describe(const JpegSettings& settings) {
  std::string text =
      formatted("{}quality {} ({})", settings.quantization.standard ? "" : "own tables, about ",
                settings.quantization.quality, settings.quantization_reason);
  if (settings.subsampling) {
    text +=
        formatted(", {} ({})", chroma_notation(*settings.subsampling), settings.subsampling_reason);
  }
  if (settings.progressive) text += ", progressive";
  return text;
}

// Baseline JPEG has no larger divisors; libjpeg clamps them like this for baseline.
QuantizationTable baseline_table(const JQUANT_TBL& table) {
  QuantizationTable divisors{};
  std::transform(
      std::begin(table.quantval), std::end(table.quantval), divisors.begin(),
      [](UINT16 divisor) { return static_cast<std::uint8_t>(std::clamp<int>(divisor, 1, 255)); });
  return divisors;
}

int distance(const QuantizationTable& a, const QuantizationTable& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::abs(a[i] - b[i]);
  return sum;
}

// Tables may be missing: a file may define them as late as just before the scan that uses them.
bool read_tables(const jpeg_decompress_struct& jpeg, std::array<QuantizationTable, 3>& tables) {
  for (int i = 0; i < 3; ++i) {
    const int component = jpeg.num_components < 3 ? 0 : i;
    const int number = jpeg.comp_info[component].quant_tbl_no;
    if (number < 0 || number >= NUM_QUANT_TBLS) return false;
    const JQUANT_TBL* table = jpeg.quant_tbl_ptrs[number];
    if (table == nullptr) return false;
    tables.at(static_cast<std::size_t>(i)) = baseline_table(*table);
  }
  return true;
}

// Sets quality and `standard` by comparison with libjpeg's own tables. In YCbCr and YCCK files the
// second and third components are chroma; in all others every component is treated like luma.
void find_quality(JpegQuantization& quantization, bool has_chroma, JpegErrors& errors) {
  Compressor compressor(errors);
  errors.run([&] {
    jpeg_create_compress(&compressor);
    int nearest = -1;
    for (int quality = 1; quality <= 100; ++quality) {
      jpeg_set_quality(&compressor, quality, TRUE);
      const auto luma = baseline_table(*compressor.quant_tbl_ptrs[0]);
      const auto others = has_chroma ? baseline_table(*compressor.quant_tbl_ptrs[1]) : luma;
      const int luma_distance = distance(quantization.tables[0], luma);
      if (nearest >= 0 && luma_distance >= nearest) continue;
      nearest = luma_distance;
      quantization.quality = quality;
      quantization.standard =
          quantization.tables == std::array<QuantizationTable, 3>{luma, others, others};
    }
  });
}

// Nothing if there is no chroma, its components differ, or libjpeg could not write it.
std::optional<ChromaSubsampling> read_subsampling(const jpeg_decompress_struct& jpeg) {
  if (jpeg.num_components < 3) return std::nullopt;
  const jpeg_component_info& luma = jpeg.comp_info[0];
  const jpeg_component_info& blue = jpeg.comp_info[1];
  const jpeg_component_info& red = jpeg.comp_info[2];
  if (blue.h_samp_factor != red.h_samp_factor || blue.v_samp_factor != red.v_samp_factor ||
      luma.h_samp_factor % blue.h_samp_factor != 0 ||
      luma.v_samp_factor % blue.v_samp_factor != 0) {
    return std::nullopt;
  }
  const ChromaSubsampling found{luma.h_samp_factor / blue.h_samp_factor,
                                luma.v_samp_factor / blue.v_samp_factor};
  const bool writable = found.horizontal * found.vertical + 2 <= C_MAX_BLOCKS_IN_MCU;
  return writable ? std::optional(found) : std::nullopt;
}

void set_tables(jpeg_compress_struct& jpeg, const std::array<QuantizationTable, 3>& tables) {
  for (int i = 0; i < jpeg.num_components; ++i) {
    const auto& table = tables.at(static_cast<std::size_t>(i));
    // Components with equal tables share one in the file.
    const auto slot = static_cast<int>(std::ranges::find(tables, table) - tables.begin());
    std::array<unsigned, 64> divisors{};
    std::copy(table.begin(), table.end(), divisors.begin());
    jpeg_add_quant_table(&jpeg, slot, divisors.data(), 100, TRUE);
    jpeg.comp_info[i].quant_tbl_no = slot;
  }
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

constexpr std::int64_t pixels_a_strip = std::int64_t{256} << 10U;

}  // namespace

std::string chroma_notation(const ChromaSubsampling& subsampling) {
  const auto [horizontal, vertical] = subsampling;
  if (horizontal == 3 || vertical > 2) return formatted("{}x{}", horizontal, vertical);
  const int in_first_row = 4 / horizontal;
  return formatted("4:{}:{}", in_first_row, vertical == 1 ? in_first_row : 0);
}

std::vector<std::string> JpegEncoding::private_metadata() const {
  std::vector<std::string> names;
  for (const JpegSegment& segment : metadata_layout) {
    const bool is_private = segment.kind == JpegSegmentKind::other && segment.marker != JPEG_COM;
    if (is_private) names.push_back(name_of(segment));
  }
  return names;
}

std::string JpegEncoding::coding() const {
  std::vector<std::string> parts;
  if (quantization)
    parts.push_back(
        formatted("{}quality {}", quantization->standard ? "" : "about ", quantization->quality));
  if (subsampling) parts.push_back(chroma_notation(*subsampling));
  return formatted("{}", fmt::join(parts, ", "));
}

const JpegEncoding* stored_jpeg_encoding(const PictureHeader& header) {
  return dynamic_cast<const JpegEncoding*>(header.stored.get());
}

EncodingNotes notes_on(const JpegSettings& settings) {
  EncodingNotes notes{describe(settings),
                      {{"quality", settings.quantization.quality},
                       {"tables", settings.quantization.standard ? "standard" : "own"},
                       {"quality_reason", settings.quantization_reason}}};
  if (settings.subsampling) {
    notes.fields.emplace_back("subsampling", chroma_notation(*settings.subsampling));
    notes.fields.emplace_back("subsampling_reason", settings.subsampling_reason);
  }
  return notes;
}

JpegSettings choose_jpeg_settings(const JpegEncoding* input, bool is_grey,
                                  std::optional<int> quality,
                                  std::optional<ChromaSubsampling> subsampling) {
  JpegSettings settings;
  if (quality) {
    settings.quantization = {.quality = *quality, .standard = true};
    settings.quantization_reason = requested;
  } else if (input != nullptr && input->quantization) {
    settings.quantization = *input->quantization;
    settings.quantization_reason = kept;
  } else {
    settings.quantization = {.quality = default_quality, .standard = true};
    settings.quantization_reason = "the default";
  }
  if (is_grey) return settings;

  if (subsampling) {
    settings.subsampling = subsampling;
    settings.subsampling_reason = requested;
  } else if (input != nullptr && input->subsampling) {
    settings.subsampling = input->subsampling;
    settings.subsampling_reason = kept;
  } else {
    settings.subsampling = default_subsampling(settings.quantization.quality);
    settings.subsampling_reason =
        formatted("the default {} {}",
                  settings.quantization.quality < min_quality_with_full_chroma ? "below quality"
                                                                               : "from quality",
                  min_quality_with_full_chroma);
  }
  return settings;
}

std::shared_ptr<const JpegEncoding> read_jpeg_encoding(const jpeg_decompress_struct& jpeg,
                                                       JpegErrors& errors) {
  auto encoding = std::make_shared<JpegEncoding>();
  JpegQuantization quantization;
  if (read_tables(jpeg, quantization.tables)) {
    const bool has_chroma = jpeg.jpeg_color_space == JCS_YCbCr || jpeg.jpeg_color_space == JCS_YCCK;
    find_quality(quantization, has_chroma, errors);
    encoding->quantization = quantization;
  }
  encoding->subsampling = read_subsampling(jpeg);
  encoding->metadata_layout = read_jpeg_metadata_layout(jpeg);
  return encoding;
}

void create_compressor(jpeg_compress_struct& jpeg, const JpegPicture& picture) {
  jpeg_create_compress(&jpeg);
  jpeg.image_width = static_cast<JDIMENSION>(picture.size.width);
  jpeg.image_height = static_cast<JDIMENSION>(picture.size.height);
  jpeg.input_components = picture.format.color_channels();
  jpeg.in_color_space = jpeg.input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  const JpegSettings& settings = picture.settings;
  jpeg_set_quality(&jpeg, settings.quantization.quality, TRUE);
  if (!settings.quantization.standard) set_tables(jpeg, settings.quantization.tables);
  if (settings.subsampling) {
    jpeg.comp_info[0].h_samp_factor = settings.subsampling->horizontal;
    jpeg.comp_info[0].v_samp_factor = settings.subsampling->vertical;
  }
  if (settings.progressive) jpeg_simple_progression(&jpeg);
}

McuGrid mcu_grid(const JpegPicture& picture) {
  const bool is_grey = !picture.settings.subsampling;
  const auto [horizontal, vertical] =
      picture.settings.subsampling.value_or(ChromaSubsampling{1, 1});
  return {picture.size,
          {DCTSIZE * horizontal, DCTSIZE * vertical},
          horizontal * vertical + (is_grey ? 0 : 2)};
}

std::uint64_t coefficient_bytes(const JpegPicture& picture) {
  const McuGrid grid = mcu_grid(picture);
  return grid.count.pixels() * static_cast<unsigned>(grid.blocks) * sizeof(JBLOCK);
}

JpegHuffmanTable table_of(const JHUFF_TBL& from) {
  JpegHuffmanTable table;
  std::copy(std::begin(from.bits), std::end(from.bits), table.counts.begin());
  std::copy(std::begin(from.huffval), std::end(from.huffval), table.symbols.begin());
  return table;
}

JpegPicture jpeg_picture(const PictureHeader& header, const WriteOptions& options) {
  JpegPicture picture{header.size, header.format, *options.get<Color>(background_option()), {}};
  picture.settings =
      choose_jpeg_settings(stored_jpeg_encoding(header), header.format.color_channels() == 1,
                           options.get<int>(quality_option()),
                           chroma_option(*options.get<std::string>(jpeg_subsampling_option())));
  if (options.is_given(quality_option()))
    picture.settings.quantization_reason = quality_reason(options);
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
  const bool needs_pixels = header.format.has_alpha() || header.format.is_float() ||
                            options.is_given(max_bytes_option());
  if (picture.settings.progressive || needs_pixels || is_too_large) return std::nullopt;
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

JpegOutput::JpegOutput(ByteSink& sink, JpegErrors& errors)
    : jpeg_destination_mgr{}, sink_(sink), errors_(errors), buffer_(std::size_t{64} * 1024) {
  init_destination = [](j_compress_ptr jpeg) { of(jpeg).rewind(); };
  empty_output_buffer = [](j_compress_ptr jpeg) -> boolean {
    // libjpeg means the whole buffer, whatever free_in_buffer says.
    of(jpeg).write(of(jpeg).buffer_.size());
    of(jpeg).rewind();
    return TRUE;
  };
  term_destination = [](j_compress_ptr jpeg) { of(jpeg).flush(); };
}

void JpegOutput::flush() {
  write(buffer_.size() - free_in_buffer);
  rewind();
}

void JpegOutput::rewind() {
  next_output_byte = buffer_.data();
  free_in_buffer = buffer_.size();
}

void JpegOutput::write(std::size_t count) {
  errors_.call_back([&] { sink_.write(std::span(buffer_).first(count)); });
}

int mcu_rows_a_strip(const McuGrid& grid) {
  const std::int64_t row = grid.pixels_a_row();
  const std::int64_t rows = (pixels_a_strip + row - 1) / row;
  // A restart interval is a number of 16 bits. 4096 MCUs and one row are always fewer.
  return 2 * rows > grid.count.height ? 0 : static_cast<int>(rows);
}

}  // namespace gpufilter
