#include "codec/codec_table.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "codec/heif/codec.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jxl/codec.hpp"
#include "codec/netpbm/codec.hpp"
#include "codec/other_formats.hpp"
#include "codec/png/codec.hpp"
#include "codec/tiff/codec.hpp"
#include "codec/webp/codec.hpp"

namespace gpufilter {
namespace {

bool takes(const Codec& codec, const WriteOption& option) {
  const auto& own = codec.options;
  return std::find(own.begin(), own.end(), &option) != own.end();
}

// Why an option makes no difference to such pictures; empty if it makes one.
std::string objection(const WriteOption& option, const PixelFormat& pixel) {
  switch (option.pixels) {
    case WriteOption::Pixels::with_alpha:
      return pixel.has_alpha() ? "" : "the picture has no alpha";
    case WriteOption::Pixels::in_color:
      return pixel.color_channels() == 3 ? "" : "the picture is grey";
    case WriteOption::Pixels::all:
      break;
  }
  return "";
}

}  // namespace

const CodecList& codecs() {
  static const CodecList table{
      &png_codec(),  &jpeg_codec(), &ppm_codec(), &pgm_codec(), &pnm_codec(), &pam_codec(),
#ifdef GPUFILTER_HAS_TIFF
      &tiff_codec(),
#endif
#ifdef GPUFILTER_HAS_WEBP
      &webp_codec(),
#endif
#ifdef GPUFILTER_HAS_JXL
      &jxl_codec(),
#endif
#ifdef GPUFILTER_HAS_HEIF
      &heic_codec(), &avif_codec(),
#endif
  };
  return table;
}

const Codec* codec_of_content(std::span<const std::uint8_t> head) {
  for (const Codec* codec : codecs()) {
    for (const std::string& signature : codec->signatures) {
      if (begins_with(head, signature)) return codec;
    }
  }
  return nullptr;
}

std::size_t signature_size() {
  std::size_t size = 0;
  for (const Codec* codec : codecs()) {
    for (const std::string& signature : codec->signatures)
      size = std::max(size, signature.size());
  }
  return size;
}

const Codec* codec_of_name(const std::string& path) {
  const std::string extension = extension_of(path);
  for (const Codec* codec : codecs()) {
    const auto& own = codec->extensions;
    if (std::find(own.begin(), own.end(), extension) != own.end()) return codec;
  }
  return nullptr;
}

const Codec& codec_for_output(const std::string& path) {
  const Codec* codec = codec_of_name(path);
  if (codec == nullptr) {
    const std::string other = other_format_of_name(path);
    const std::string missing = missing_format(other);
    if (!missing.empty()) throw UsageError(formatted("{}: {}", path, missing));
    throw UsageError(formatted("{}: {}the name of an output must end in {}", path,
                               other.empty() ? "" : other + " is not supported; ",
                               extensions_of(codecs())));
  }
  return *codec;
}

std::vector<const WriteOption*> all_write_options() {
  std::vector<const WriteOption*> options;
  for (const Codec* codec : codecs()) {
    for (const WriteOption* option : codec->options) {
      if (std::find(options.begin(), options.end(), option) == options.end()) {
        options.push_back(option);
      }
    }
  }
  return options;
}

PixelFormat format_in_file(const Codec& codec, const PixelFormat& format) {
  const int colors = codec.color_channels == 0 ? format.color_channels() : codec.color_channels;
  const bool keeps_alpha = codec.holds_alpha && format.has_alpha();
  return {colors + (keeps_alpha ? 1 : 0), codec.max_depth == 8 ? 8 : format.depth};
}

FilePixels pixels_in_file(const Codec& codec, const PixelFormat& format) {
  FilePixels pixels = file_pixels(format_in_file(codec, format));
  pixels.depth = std::min(pixels.depth, codec.max_depth);
  return pixels;
}

CodecList codecs_with(const WriteOption& option) {
  CodecList list;
  std::copy_if(codecs().begin(), codecs().end(), std::back_inserter(list),
               [&option](const Codec* codec) { return takes(*codec, option); });
  return list;
}

std::vector<UnusedOption> unused_options(const WriteOptions& options, const Codec& codec,
                                         const PixelFormat& pixel) {
  std::vector<UnusedOption> unused;
  for (const WriteOption* option : all_write_options()) {
    if (!options.is_given(*option)) continue;
    const std::string reason =
        takes(codec, *option) ? objection(*option, pixel) : "the output is a " + codec.name;
    if (!reason.empty()) unused.push_back({option, reason});
  }
  return unused;
}

std::string encoding_key(const Codec& codec, const WriteOptions& options) {
  std::string key = codec.name;
  for (const WriteOption* option : codec.options) {
    const auto value = options.value(*option);
    key += formatted(" {}={}", option->name, value ? to_string(*value) : "");
  }
  return key;
}

std::string names_of(const CodecList& list) {
  std::vector<std::string> names;
  for (const Codec* codec : list)
    names.push_back(codec->name);
  return enumerated(names, "or");
}

std::string extensions_of(const CodecList& list) {
  std::vector<std::string> extensions;
  for (const Codec* codec : list)
    extensions.insert(extensions.end(), codec->extensions.begin(), codec->extensions.end());
  return enumerated(extensions, "or");
}

}  // namespace gpufilter
