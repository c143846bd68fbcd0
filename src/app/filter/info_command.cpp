#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/json_parts.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/format_options.hpp"
#include "app/help/help_layout.hpp"
#include "app/report/report_text.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "codec/codec_table.hpp"
#include "image/exif.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {
namespace {

constexpr const char* info_description =
    "Describes pictures: format, size, depth, orientation, how they are coded, colour profile, "
    "camera and date, metadata, and what else their files hold. Pixels are not decoded.";

constexpr const char* info_explanation =
    R"(Width and height are those of the stored pixels; an orientation says how they are
shown. The quality of a JPEG is the one for which libjpeg writes the same
quantization tables, or the nearest.

Examples:
  gpufilter info photo.jpg
  gpufilter info *.jpg
  gpufilter info photo.jpg --json | jq '.files[0].camera'
)";

struct InfoOptions {
  std::vector<std::string> inputs;
  bool json = false;
  ReadLimits limits;
};

// The header of a file, and metadata from its end.
struct PictureInfo {
  std::string name;
  std::uint64_t bytes = 0;  // 0: unknown
  PictureHeader header;
};

PictureInfo read_info(const std::string& input, const ReadLimits& limits) {
  std::unique_ptr<ByteSource> source = open_source(input);
  PictureInfo info{.name = source->name(), .bytes = 0, .header = {}};
  info.header = open_picture(std::move(source), limits)->header();
  if (input == standard_stream) return info;
  info.bytes = bytes_of_file(input);
  if (const auto read_late = info.header.file_format->read_late_metadata)
    add_late_metadata(info.header.metadata, read_late(*open_source(input)));
  return info;
}

std::string turned_size_text(int orientation, ImageSize size) {
  static constexpr std::array turns{
      "",
      "mirrored",
      "turned by 180 degrees",
      "mirrored top to bottom",
      "turned by 90 degrees and mirrored",
      "turned by 90 degrees",
      "turned by 270 degrees and mirrored",
      "turned by 270 degrees",
  };
  const bool swaps = orientation >= 5;
  return formatted("{}: shown {}, {}x{}", orientation,
                   turns.at(static_cast<std::size_t>(orientation - 1)),
                   swaps ? size.height : size.width, swaps ? size.width : size.height);
}

std::string density_text(const Density& density) {
  if (density.unit == Density::Unit::aspect_ratio)
    return formatted("pixels {}:{}", density.y, density.x);
  const auto dots = [](std::uint32_t per_metre) { return per_metre * 0.0254; };
  return density.x == density.y
             ? formatted("{:.0f} dots per inch", dots(density.x))
             : formatted("{:.4g} x {:.0f} dots per inch", dots(density.x), dots(density.y));
}

// The profile's name, or how else the colours are named; empty if they are not.
std::string colors_text(const Metadata& metadata) {
  if (metadata.icc_profile) {
    try {
      const std::string name = name_of(*metadata.icc_profile);
      return name.empty() ? "an ICC profile without a name" : name;
    } catch (const UnusableProfile& error) {
      return formatted("an ICC profile that {}", error.what());
    }
  }
  if (metadata.coding_points) {
    return formatted("code points {}", fmt::join(*metadata.coding_points, "-"));
  }
  if (metadata.srgb_intent) return "sRGB";
  return metadata.gamma ? formatted("gamma 1/{:.3g}", 1e5 / *metadata.gamma) : "";
}

std::vector<std::string> kinds_of(const Metadata& metadata) {
  std::vector<std::string> kinds;
  if (!metadata.exif.empty()) kinds.emplace_back("EXIF");
  if (!metadata.xmp.empty()) kinds.emplace_back("XMP");
  if (!metadata.image_resources.empty()) kinds.emplace_back("IPTC");
  for (const TextEntry& entry : metadata.text)
    kinds.push_back(formatted("text \"{}\"", printable(entry.keyword)));
  return kinds;
}

std::string coding_of(const PictureHeader& header) {
  return header.stored ? header.stored->coding() : "";
}

std::string text_of(const PictureInfo& info) {
  const PictureHeader& header = info.header;
  const ExifSummary exif = exif_summary(header.metadata.exif);
  const int orientation = stored_orientation(header.metadata).value_or(1);
  std::string text =
      formatted("{}: {}, {}x{}, {}{}\n", printable(info.name), header.file_format->name,
                header.size.width, header.size.height, to_string(header.file_pixels),
                info.bytes == 0 ? "" : ", " + size_text(info.bytes));
  const auto line = [&text](const char* what, const std::string& value) {
    constexpr std::size_t column = 15;
    if (!value.empty()) text += list_item(what, printable(value), column);
  };
  line("orientation", orientation == 1 ? "" : turned_size_text(orientation, header.size));
  line("coding", coding_of(header));
  line("colours", colors_text(header.metadata));
  line("density", header.metadata.density ? density_text(*header.metadata.density) : "");
  line("camera", exif.camera);
  line("lens", exif.lens);
  line("taken", exif.taken);
  line("metadata", formatted("{}", fmt::join(kinds_of(header.metadata), ", ")));
  line("not read", formatted("{}", fmt::join(header.unread, ", ")));
  return text;
}

Json json_of(const PictureInfo& info) {
  const PictureHeader& header = info.header;
  const ExifSummary exif = exif_summary(header.metadata.exif);
  Json json;
  add_path(json, "name", info.name);
  json["file_format"] = header.file_format->name;
  if (info.bytes > 0) json["bytes"] = info.bytes;
  json["width"] = header.size.width;
  json["height"] = header.size.height;
  json["pixels"] = pixels_json(header.file_pixels);
  json["orientation"] = stored_orientation(header.metadata).value_or(1);
  const auto add = [&json](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  add("coding", coding_of(header));
  add("colors", colors_text(header.metadata));
  if (const auto& density = header.metadata.density;
      density && density->unit == Density::Unit::per_metre) {
    json["dots_per_inch"] = std::array{density->x * 0.0254, density->y * 0.0254};
  }
  add("camera", exif.camera);
  add("lens", exif.lens);
  add("taken", exif.taken);
  json["metadata"] = Json(kinds_of(header.metadata));
  json["unread"] = Json(header.unread);
  return json;
}

}  // namespace

int run_info_command(int argc, const char* const* argv) {
  InfoOptions options;
  Arguments app(info_description, "gpufilter info");
  app.add_option("FILE", options.inputs,
                 formatted("Pictures: {}; - is standard input.", names_of(codecs())))
      ->required()
      ->suggests(picture_files());
  app.add_flag("--json", options.json, "Print one JSON object.");
  add_color_output(app);
  app.footer(info_explanation);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;

  int status = 0;
  Json json{{"schema", "gpufilter-info-1"}, {"files", Json::array()}};
  for (const std::string& input : options.inputs) {
    try {
      if (is_folder_argument(input))
        throw PictureError(input, "is a folder; info takes pictures, such as folder/*.jpg");
      const PictureInfo info = read_info(input, options.limits);
      if (options.json) {
        json["files"].push_back(json_of(info));
      } else {
        print_result(text_of(info));
      }
    } catch (const Error&) {
      status = report_failure();
    }
  }
  if (options.json) print_document(json.indented(2) + "\n");
  return status;
}

}  // namespace gpufilter
