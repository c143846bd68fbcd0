#include "app/report/report_data.hpp"

#include <algorithm>

#include "app/cli/json_parts.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/timeline.hpp"
#include "pipeline/run/run_totals.hpp"

namespace gpufilter {
namespace {

void add_missing(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  for (const std::string& line : more) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
}

// A field of a CSV line, quoted if necessary.
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return "\"" + with_words_for(text, {{'"', "\"\""}}) + "\"";
}

// Why this device was chosen, and which ones were tried before it.
std::string device_reason(const EngineReport& engine) {
  std::string text = engine.reason;
  for (const std::string& left : engine.fallbacks)
    text += "; left out: " + left;
  return text;
}

Json pass_json(const RunReport& report, int index) {
  const PassReport& pass = report.passes.at(static_cast<std::size_t>(index));
  return {{"index", index},          {"walk", pass.walk},     {"stage", pass.stage},
          {"variant", pass.variant}, {"reason", pass.reason}, {"program", to_string(pass.origin)}};
}

void add_rates(Json& json, const ActivityTotal& total) {
  json["bytes"] = total.bytes;
  if (total.bytes == 0) return;
  json["megapixels_per_second"] = total.megapixels_per_second();
  json["gigabytes_per_second"] = total.gigabytes_per_second();
}

// An activity of one picture, whose passes are listed.
Json total_json(const ActivityTotal& total) {
  Json line{{"activity", activity_name(total.activity)},
            {"walk", total.walk},
            {"milliseconds", milliseconds(total.duration)},
            {"commands", total.commands}};
  if (total.pass >= 0) line["pass"] = total.pass;
  add_rates(line, total);
  return line;
}

// An activity of a folder, whose pictures may have different passes.
Json activity_json(const ActivityTotal& total) {
  Json json{{"activity", activity_name(total.activity)}, {"walk", total.walk}};
  if (total.pass >= 0) {
    json["pass"] = total.pass;
    json["stage"] = total.stage;
    json["variant"] = total.variant;
  }
  json["milliseconds"] = milliseconds(total.duration);
  json["commands"] = total.commands;
  add_rates(json, total);
  return json;
}

// "milliseconds,bytes,megapixels_per_second,gigabytes_per_second"
std::string csv_numbers(const ActivityTotal& total) {
  const std::string time = formatted("{:.6f},", milliseconds(total.duration));
  if (total.bytes == 0) return time + ",,";
  return time + formatted("{},{:.3f},{:.3f}", total.bytes, total.megapixels_per_second(),
                          total.gigabytes_per_second());
}

std::string blocks_text(const std::optional<std::uint64_t>& verified) {
  return verified ? std::to_string(*verified) : "";
}

// The end of every line: the pictures' formats, and how much was verified.
std::string picture_columns(const RunReport& report) {
  return formatted(",{},{},{},{},{}\n", report.input_format->name,
                   csv_text(to_string(report.input_file_pixels)), report.output_format->name,
                   csv_text(to_string(report.output_file_pixels)),
                   blocks_text(report.verified_blocks));
}

Json use_json(const BatchTotals::DeviceUse& use) {
  Json json = device_json(use.engine);
  json["pictures"] = use.pictures;
  return json;
}

Json shard_json(const BatchPlan& plan) {
  const PlannedShard& planned = *plan.shard;
  return {{"index", planned.shard.index},
          {"count", planned.shard.count},
          {"source", planned.source},
          {"pictures", plan.items.size()},
          {"all_pictures", planned.all_pictures},
          {"input_bytes", planned.bytes},
          {"all_input_bytes", planned.all_bytes}};
}

Json totals_json(const BatchTotals& totals, Nanoseconds elapsed) {
  Json json;
  for (const PictureStatus status :
       {PictureStatus::done, PictureStatus::unchanged, PictureStatus::exists, PictureStatus::failed,
        PictureStatus::not_begun, PictureStatus::planned}) {
    std::string name = to_string(status);
    std::replace(name.begin(), name.end(), ' ', '_');
    json[name] = totals.count(status);
  }
  json["pixels"] = totals.pixels;
  json["input_bytes"] = totals.input_bytes;
  json["output_bytes"] = totals.output_bytes;
  if (!totals.other_bytes.empty()) json["other_output_bytes"] = totals.other_bytes;
  json["turned_upright"] = totals.turned;
  json["replaced"] = totals.replaced;
  if (totals.verified_blocks) json["verified_blocks"] = *totals.verified_blocks;
  json["milliseconds"] = milliseconds(elapsed);
  json["megapixels_per_second"] = megapixels_per_second(totals.pixels, elapsed);
  json["devices"] = Json::array();
  for (const auto& use : totals.devices)
    json["devices"].push_back(use_json(use));
  json["activities"] = Json::array();
  for (const ActivityTotal& line : totals.activities())
    json["activities"].push_back(activity_json(line));
  return json;
}

// Adds what is known once the header is read.
void add_formats(Json& json, const PictureReport& report) {
  json["input_format"] = report.input_format->name;
  json["input_pixels"] = pixels_json(report.input_file_pixels);
  json["output_pixels"] = pixels_json(report.output_file_pixels);
  add_background(json, report.background);
  if (report.decoding_divisor > 1) json["decoding_divisor"] = report.decoding_divisor;
  for (const std::string& part : report.unread)
    json["not_read"].push_back(part);
  json["width"] = report.size.width;
  json["height"] = report.size.height;
  json["exif_orientation"] = report.exif_orientation;
  json["orientation_applied"] = report.is_oriented;
  json["output_width"] = report.output_size.width;
  json["output_height"] = report.output_size.height;
  add_encoding(json, *report.output_format, report.encoding);
}

void add_outcome(Json& json, const PictureReport& report) {
  json["replaced"] = report.replaced;
  if (!report.left_out.empty()) json["left_out"] = report.left_out;
  if (report.copied) json["copied"] = true;
  json["output_bytes"] = report.output_bytes;
  if (report.verified_blocks) json["verified_blocks"] = *report.verified_blocks;
  json["device"] = report.engine.device;
  json["milliseconds"] = milliseconds(report.total);
  json["megapixels_per_second"] = megapixels_per_second(report.size.pixels(), report.total);
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

// Adds what is known before the picture is read.
void add_names_of_others(Json& json, const BatchItem& item) {
  for (const ChainOutput& other : item.others) {
    Json one;
    add_path(one, "output", other.path);
    one["output_format"] = other.format->name;
    one["kept"] = other.keep;
    json["other_outputs"].push_back(std::move(one));
  }
}

// The object of a picture in "gpufilter-batch-1".
Json picture_json(const BatchPlan& plan, const PictureResult& result) {
  const BatchItem& item = *result.item;
  const PictureReport& report = result.report;
  const Codec* format = report.output_format != nullptr ? report.output_format : item.output_format;
  Json json;
  add_path(json, "input", item.input);
  if (item.problem.empty()) add_path(json, "output", plan.output_path(item));
  json["status"] = to_string(result.status);
  if (result.status == PictureStatus::failed) add_path(json, "error", result.failure);
  if (item.problem.empty()) {
    if (item.bytes > 0) json["input_bytes"] = item.bytes;
    if (format != nullptr) json["output_format"] = format->name;
  }
  if (report.input_format != nullptr) add_formats(json, report);
  const bool is_done = result.status == PictureStatus::done;
  if (is_done) add_outcome(json, report);
  add_others(json, report.others, is_done);
  if (report.others.empty() && !plan.is_one_picture) add_names_of_others(json, item);
  return json;
}

}  // namespace

void BatchTotals::add(const PictureResult& result, const RunReport* report) {
  ++counts.at(static_cast<std::size_t>(result.status));
  if (report == nullptr) return;
  if (report->copied) ++copied;
  pixels += report->size.pixels();
  input_bytes += result.item->bytes;
  output_bytes += report->output_bytes;
  if (report->is_oriented && report->exif_orientation != 1) ++turned;
  if (report->replaced) ++replaced;
  other_bytes.resize(std::max(other_bytes.size(), report->others.size()));
  for (std::size_t i = 0; i < report->others.size(); ++i) {
    other_bytes[i] += report->others[i].output_bytes;
    if (report->others[i].replaced) ++replaced;
  }
  if (report->verified_blocks) {
    verified_blocks =
        verified_blocks.value_or(0) + static_cast<std::uint64_t>(*report->verified_blocks);
  }
  add_device(report->engine);
  for (const ActivityTotal& total : activity_totals(*report)) {
    const auto key = std::tuple(total.walk, total.activity, total.pass, total.stage);
    const auto [known, is_new] = by_kind.try_emplace(key, total);
    if (is_new) continue;
    ActivityTotal& line = known->second;
    if (line.variant != total.variant) line.variant = "various";
    line.duration += total.duration;
    line.bytes += total.bytes;
    line.pixels += total.pixels;
    line.commands += total.commands;
  }
}

void BatchTotals::add_device(const EngineReport& engine) {
  const auto known = std::find_if(devices.begin(), devices.end(), [&](const DeviceUse& use) {
    return use.engine.device == engine.device && use.engine.kind == engine.kind &&
           use.engine.platform == engine.platform && use.engine.driver == engine.driver;
  });
  if (known == devices.end()) {
    devices.push_back({engine, 1, engine.reason});
    return;
  }
  ++known->pictures;
  if (known->engine.reason != engine.reason) known->engine.reason = known->engine.share;
  add_missing(known->engine.fallbacks, engine.fallbacks);
}

std::vector<ActivityTotal> BatchTotals::activities() const {
  std::vector<ActivityTotal> lines;
  lines.reserve(by_kind.size());
  for (const auto& [key, line] : by_kind)
    lines.push_back(line);
  return lines;
}

std::string timing_json(const RunReport& report) {
  Json passes = Json::array();
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    passes.push_back(pass_json(report, static_cast<int>(i)));
  }
  Json activities = Json::array();
  for (const ActivityTotal& total : activity_totals(report)) {
    activities.push_back(total_json(total));
  }
  Json json{{"schema", "gpufilter-timing-1"},
            {"input", report.input},
            {"output", report.output},
            {"replaced", report.replaced},
            {"input_format", report.input_format->name},
            {"output_format", report.output_format->name},
            {"input_pixels", pixels_json(report.input_file_pixels)},
            {"output_pixels", pixels_json(report.output_file_pixels)},
            {"width", report.size.width},
            {"height", report.size.height},
            {"output_width", report.output_size.width},
            {"output_height", report.output_size.height},
            {"bands", report.bands},
            {"band_rows", report.band_rows},
            {"bands_under_way", report.bands_under_way},
            {"memory_bytes", report.memory},
            {"decoding_divisor", report.decoding_divisor},
            {"exif_orientation", report.exif_orientation},
            {"orientation_applied", report.is_oriented},
            {"output_bytes", report.output_bytes}};
  add_background(json, report.background);
  if (report.verified_blocks) json["verified_blocks"] = *report.verified_blocks;
  add_encoding(json, *report.output_format, report.encoding);
  json["device"] = device_json(report.engine);
  json["passes"] = std::move(passes);
  json["activities"] = std::move(activities);
  json["other_milliseconds"] = milliseconds(unaccounted_time(report));
  json["total_milliseconds"] = milliseconds(report.total);
  json["total_megapixels_per_second"] = megapixels_per_second(report.size.pixels(), report.total);
  return json.indented(2) + "\n";
}

std::string timing_csv(const RunReport& report) {
  std::string text =
      "device,walk,activity,pass,stage,variant,program,reason,milliseconds,bytes,"
      "megapixels_per_second,gigabytes_per_second,input_format,input_pixels,output_format,"
      "output_pixels,verified_blocks\n";
  const std::string device = csv_text(report.engine.device);
  const std::string end = picture_columns(report);
  for (const ActivityTotal& total : activity_totals(report)) {
    text += formatted("{},{},{},", device, total.walk, activity_name(total.activity));
    if (total.pass >= 0) {
      const PassReport& pass = report.passes.at(static_cast<std::size_t>(total.pass));
      text += formatted("{},{},{},{},{}", total.pass, pass.stage, csv_text(pass.variant),
                        to_string(pass.origin), csv_text(pass.reason));
    } else {
      const bool has_notes = total.activity == Activity::encode && report.encoding;
      text += formatted(",,,,{}", has_notes ? csv_text(report.encoding->text) : "");
    }
    text += "," + csv_numbers(total) + end;
  }
  text +=
      formatted("{},,other,,,,,,{:.6f},,,{}", device, milliseconds(unaccounted_time(report)), end);
  text += formatted("{},,total,,,,,{},{:.6f},,{:.3f},{}", device,
                    csv_text(device_reason(report.engine)), milliseconds(report.total),
                    megapixels_per_second(report.size.pixels(), report.total), end);
  return text;
}

std::string batch_timing_json(const BatchTotals& totals, Nanoseconds elapsed) {
  Json json{{"schema", "gpufilter-batch-timing-1"}};
  json.append(totals_json(totals, elapsed));
  return json.indented(2) + "\n";
}

std::string batch_csv(const BatchTotals& totals, Nanoseconds elapsed) {
  std::string text =
      "walk,activity,pass,stage,variant,milliseconds,bytes,megapixels_per_second,"
      "gigabytes_per_second,verified_blocks\n";
  for (const ActivityTotal& line : totals.activities()) {
    const std::string pass =
        line.pass < 0 ? ",," : formatted("{},{},{}", line.pass, line.stage, csv_text(line.variant));
    text += formatted("{},{},{},{},\n", line.walk, activity_name(line.activity), pass,
                      csv_numbers(line));
  }
  return text + formatted(",total,,,,{:.6f},,{:.3f},,{}\n", milliseconds(elapsed),
                          megapixels_per_second(totals.pixels, elapsed),
                          blocks_text(totals.verified_blocks));
}

std::string batch_json_begin(const BatchPlan& plan, bool dry_run) {
  Json json{{"schema", "gpufilter-batch-1"}};
  if (plan.inputs.size() == 1) {
    add_path(json, "input", plan.inputs.front());
  } else {
    json["inputs"] = plan.inputs;
  }
  add_path(json, "output", plan.output);
  json["dry_run"] = dry_run;
  if (plan.shard) json["shard"] = shard_json(plan);
  json["other_formats"] = Json::array();
  for (const OtherPicture& other : plan.others) {
    Json skipped;
    add_path(skipped, "input", other.name);
    skipped["format"] = other.format;
    json["other_formats"].push_back(std::move(skipped));
  }
  std::string text = json.on_one_line();
  text.pop_back();  // the closing brace: more members follow
  return text + ",\"pictures\":[\n";
}

std::string batch_json_picture(const BatchPlan& plan, const PictureResult& result, bool is_first) {
  return (is_first ? "" : ",") + picture_json(plan, result).on_one_line() + "\n";
}

std::string batch_json_end(const BatchTotals& totals, Nanoseconds elapsed) {
  return "],\"summary\":" + totals_json(totals, elapsed).on_one_line() + "}\n";
}

std::string picture_document(const BatchPlan& plan, const PictureResult& result) {
  Json json{{"schema", "gpufilter-picture-1"}};
  json.append(picture_json(plan, result));
  return json.indented(2) + "\n";
}

}  // namespace gpufilter
