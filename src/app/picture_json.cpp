#include "app/picture_json.hpp"

#include "app/batch_rates.hpp"
#include "app/encoding_report.hpp"
#include "app/json_paths.hpp"

namespace gpufilter {
namespace {

// What is known once the header is read.
void add_formats(Json& json, const PictureResult& result) {
  json["input_format"] = result.input_format->name;
  json["input_pixels"] = pixels_json(result.input_pixels);
  json["output_pixels"] = pixels_json(result.output_pixels);
  add_background(json, result.background);
  json["width"] = result.size.width;
  json["height"] = result.size.height;
  json["output_width"] = result.output_size.width;
  json["output_height"] = result.output_size.height;
  add_encoding(json, *result.item->output_format, result.encoding);
}

void add_outcome(Json& json, const PictureResult& result) {
  json["replaced"] = result.replaced;
  json["output_bytes"] = result.output_bytes;
  if (result.verified_blocks) json["verified_blocks"] = *result.verified_blocks;
  json["device"] = result.device;
  json["milliseconds"] = milliseconds(result.duration);
  json["megapixels_per_second"] =
      megapixels_per_second(static_cast<std::uint64_t>(result.size.pixels()), result.duration);
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
  if (result.status == PictureStatus::done) add_outcome(json, result);
  return json;
}

std::string picture_document(const PictureResult& result, const std::string& output) {
  Json json{{"schema", "gpufilter-picture-1"}};
  json.append(picture_json(result, output));
  return json.indented(2) + "\n";
}

}  // namespace gpufilter
