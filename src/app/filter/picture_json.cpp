#include "app/filter/picture_json.hpp"

#include "app/cli/encoding_report.hpp"
#include "app/cli/json_paths.hpp"
#include "app/folder/batch_rates.hpp"

namespace gpufilter {
namespace {

// What is known once the header is read.
void add_formats(Json& json, const PictureResult& result) {
  json["input_format"] = result.input_format->name;
  json["input_pixels"] = pixels_json(result.input_pixels);
  json["output_pixels"] = pixels_json(result.output_pixels);
  add_background(json, result.background);
  if (result.decoding_divisor > 1) json["decoding_divisor"] = result.decoding_divisor;
  for (const std::string& part : result.unread)
    json["not_read"].push_back(part);
  json["width"] = result.size.width;
  json["height"] = result.size.height;
  json["exif_orientation"] = result.exif_orientation;
  json["orientation_applied"] = result.is_oriented;
  json["output_width"] = result.output_size.width;
  json["output_height"] = result.output_size.height;
  add_encoding(json, *result.item->output_format, result.encoding);
}

void add_outcome(Json& json, const PictureResult& result) {
  json["replaced"] = result.replaced;
  if (!result.left_out.empty()) json["left_out"] = result.left_out;
  if (result.copied) json["copied"] = true;
  json["output_bytes"] = result.output_bytes;
  if (result.verified_blocks) json["verified_blocks"] = *result.verified_blocks;
  json["device"] = result.device;
  json["milliseconds"] = milliseconds(result.duration);
  json["megapixels_per_second"] =
      megapixels_per_second(static_cast<std::uint64_t>(result.size.pixels()), result.duration);
}

// The outputs besides the one at the end of the chain.
void add_others(Json& json, const std::vector<OutputReport>& others, bool are_written) {
  for (const OutputReport& other : others) {
    Json one;
    add_path(one, "output", other.output);
    one["output_format"] = other.output_format->name;
    one["output_pixels"] = pixels_json(other.output_file_pixels);
    add_background(one, other.background);
    one["output_width"] = other.output_size.width;
    one["output_height"] = other.output_size.height;
    add_encoding(one, *other.output_format, other.encoding);
    one["kept"] = other.kept;
    if (are_written) {
      one["replaced"] = other.replaced;
      if (other.copied) one["copied"] = true;
      one["output_bytes"] = other.output_bytes;
    }
    json["other_outputs"].push_back(std::move(one));
  }
}

// All that is known before the picture is read.
void add_names_of_others(Json& json, const BatchItem& item) {
  for (const ChainOutput& other : item.others) {
    Json one;
    add_path(one, "output", other.path);
    one["output_format"] = other.format->name;
    one["kept"] = other.keep;
    json["other_outputs"].push_back(std::move(one));
  }
}

}  // namespace

Json picture_json(const PictureResult& result, const std::string& output) {
  const BatchItem& item = *result.item;
  Json json;
  add_path(json, "input", item.input);
  if (item.problem.empty()) add_path(json, "output", output);
  json["status"] = to_string(result.status);
  if (result.status == PictureStatus::failed) add_path(json, "error", result.failure);
  if (item.problem.empty()) {
    if (item.bytes > 0) json["input_bytes"] = item.bytes;
    if (item.output_format != nullptr) json["output_format"] = item.output_format->name;
  }
  if (result.input_format != nullptr) add_formats(json, result);
  const bool is_done = result.status == PictureStatus::done;
  if (is_done) add_outcome(json, result);
  add_others(json, result.others, is_done);
  if (result.others.empty()) add_names_of_others(json, item);
  return json;
}

std::string picture_document(const PictureResult& result, const std::string& output) {
  Json json{{"schema", "gpufilter-picture-1"}};
  json.append(picture_json(result, output));
  return json.indented(2) + "\n";
}

}  // namespace gpufilter
