#include "codec/jpeg/write/settings.hpp"

#include "base/format.hpp"
#include "codec/jpeg/library.hpp"

namespace gpufilter {
namespace {

constexpr int default_quality = 90;
constexpr int min_quality_with_full_chroma = 90;
constexpr const char* requested = "requested";
constexpr const char* kept = "kept from the input";

ChromaSubsampling default_subsampling(int quality) {
  return quality < min_quality_with_full_chroma ? ChromaSubsampling{2, 2} : ChromaSubsampling{1, 1};
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

std::optional<ChromaSubsampling> chroma_option(std::string_view name) {
  if (name == "444") return ChromaSubsampling{1, 1};
  if (name == "422") return ChromaSubsampling{2, 1};
  if (name == "420") return ChromaSubsampling{2, 2};
  return std::nullopt;
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

}  // namespace gpufilter
