#include "app/folder/batch_data.hpp"

#include <algorithm>

#include "app/cli/device_json.hpp"
#include "app/cli/json_paths.hpp"
#include "app/filter/picture_json.hpp"
#include "app/filter/timing_report.hpp"
#include "app/folder/batch_rates.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/time_units.hpp"

namespace gpufilter {
namespace {

Json activity_json(const BatchActivity& line) {
  Json json{{"activity", activity_name(line.activity)}, {"walk", line.walk}};
  if (line.pass >= 0) {
    json["pass"] = line.pass;
    json["stage"] = line.stage;
    json["variant"] = line.variant;
  }
  json["milliseconds"] = milliseconds(line.duration);
  json["commands"] = line.commands;
  json["bytes"] = line.bytes;
  if (line.bytes == 0) return json;
  json["megapixels_per_second"] = megapixels_per_second(line.pixels, line.duration);
  json["gigabytes_per_second"] = gigabytes_per_second(line.bytes, line.duration);
  return json;
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
  json["pixels"] = totals.pixels();
  json["input_bytes"] = totals.input_bytes();
  json["output_bytes"] = totals.output_bytes();
  if (!totals.other_bytes().empty()) json["other_output_bytes"] = totals.other_bytes();
  json["turned_upright"] = totals.turned();
  json["replaced"] = totals.replaced();
  if (totals.verified_blocks()) json["verified_blocks"] = *totals.verified_blocks();
  json["milliseconds"] = milliseconds(elapsed);
  json["megapixels_per_second"] = megapixels_per_second(totals.pixels(), elapsed);
  json["devices"] = Json::array();
  for (const auto& use : totals.devices())
    json["devices"].push_back(use_json(use));
  json["activities"] = Json::array();
  for (const BatchActivity& line : totals.activities())
    json["activities"].push_back(activity_json(line));
  return json;
}

}  // namespace

std::string batch_timing_json(const BatchTotals& totals, Nanoseconds elapsed) {
  Json json{{"schema", "gpufilter-batch-timing-1"}};
  json.append(totals_json(totals, elapsed));
  return json.indented(2) + "\n";
}

std::string batch_csv(const BatchTotals& totals, Nanoseconds elapsed) {
  std::string text =
      "walk,activity,pass,stage,variant,milliseconds,bytes,megapixels_per_second,"
      "gigabytes_per_second,verified_blocks\n";
  for (const BatchActivity& line : totals.activities()) {
    const std::string pass =
        line.pass < 0 ? ",," : formatted("{},{},{}", line.pass, line.stage, csv_text(line.variant));
    text += formatted("{},{},{},{:.6f},", line.walk, activity_name(line.activity), pass,
                      milliseconds(line.duration));
    text += line.bytes == 0 ? ",,,\n"
                            : formatted("{},{:.3f},{:.3f},\n", line.bytes,
                                        megapixels_per_second(line.pixels, line.duration),
                                        gigabytes_per_second(line.bytes, line.duration));
  }
  return text +
         formatted(",total,,,,{:.6f},,{:.3f},,{}\n", milliseconds(elapsed),
                   megapixels_per_second(totals.pixels(), elapsed),
                   totals.verified_blocks() ? std::to_string(*totals.verified_blocks()) : "");
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
  const Json json = picture_json(result, plan.output_path(*result.item));
  return (is_first ? "" : ",") + json.on_one_line() + "\n";
}

std::string batch_json_end(const BatchTotals& totals, Nanoseconds elapsed) {
  return "],\"summary\":" + totals_json(totals, elapsed).on_one_line() + "}\n";
}

}  // namespace gpufilter
