#include "app/batch_report.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/encoding_report.hpp"
#include "app/timing_report.hpp"
#include "base/format.hpp"
#include "codec/text_encoding.hpp"
#include "pipeline/run_totals.hpp"

namespace gpufilter {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* summed = "sums over all pictures; several are under way at a time";

double milliseconds(Nanoseconds duration) {
  return static_cast<double>(duration) / 1e6;
}

double megapixels_per_second(std::uint64_t pixels, Nanoseconds duration) {
  return duration == 0 ? 0 : static_cast<double>(pixels) * 1e3 / static_cast<double>(duration);
}

double gigabytes_per_second(std::uint64_t bytes, Nanoseconds duration) {
  return duration == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(duration);
}

std::string label(const BatchActivity& line) {
  if (line.pass < 0) return activity_name(line.activity);
  return line.activity == Activity::kernel ? line.stage : "build " + line.stage;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Names of files are bytes: what JSON cannot hold is replaced in the name, and another field holds
// the exact bytes.
void add_path(Json& json, const std::string& field, const std::string& path) {
  json[field] = path;
  if (is_utf8(path)) return;
  std::string digits;
  for (const char c : path)
    digits += formatted("{:02x}", static_cast<unsigned char>(c));
  json[field + "_hex"] = digits;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

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

Json device_json(const BatchTotals::DeviceUse& use) {
  return {{"name", use.engine.device},       {"kind", use.engine.kind},
          {"platform", use.engine.platform}, {"driver", use.engine.driver},
          {"reason", use.engine.reason},     {"left_out", use.engine.fallbacks},
          {"pictures", use.pictures}};
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
  json["milliseconds"] = milliseconds(elapsed);
  json["megapixels_per_second"] = megapixels_per_second(totals.pixels(), elapsed);
  json["devices"] = Json::array();
  for (const auto& use : totals.devices())
    json["devices"].push_back(device_json(use));
  json["activities"] = Json::array();
  for (const BatchActivity& line : totals.activities())
    json["activities"].push_back(activity_json(line));
  return json;
}

}  // namespace

void BatchTotals::add(const PictureResult& result, const RunReport* report) {
  ++counts_.at(static_cast<std::size_t>(result.status));
  if (report == nullptr) return;
  const auto pixels = static_cast<std::uint64_t>(report->size.pixels());
  pixels_ += pixels;
  input_bytes_ += result.item->bytes;
  output_bytes_ += report->output_bytes;
  verified_blocks_ += static_cast<std::uint64_t>(report->verified_blocks.value_or(0));
  add_device(report->engine);
  for (const ActivityTotal& total : activity_totals(*report)) {
    const PassReport* pass =
        total.pass < 0 ? nullptr : &report->passes.at(static_cast<std::size_t>(total.pass));
    const std::string stage = pass != nullptr ? pass->stage : "";
    BatchActivity& line = activities_[{total.walk, total.activity, total.pass, stage}];
    const std::string variant = pass != nullptr ? pass->variant : "";
    if (line.commands == 0) {
      line.variant = variant;
    } else if (line.variant != variant) {
      line.variant = "various";
    }
    line.activity = total.activity;
    line.walk = total.walk;
    line.pass = total.pass;
    line.stage = stage;
    line.duration += total.duration;
    line.bytes += total.bytes;
    line.pixels += pixels;
    line.commands += static_cast<std::uint64_t>(total.commands);
  }
}

void BatchTotals::add_device(const EngineReport& engine) {
  const auto known = std::find_if(devices_.begin(), devices_.end(), [&](const DeviceUse& use) {
    return use.engine.device == engine.device && use.engine.reason == engine.reason;
  });
  if (known == devices_.end()) {
    devices_.push_back({engine, 1});
  } else {
    ++known->pictures;
  }
}

std::vector<BatchActivity> BatchTotals::activities() const {
  std::vector<BatchActivity> lines;
  lines.reserve(activities_.size());
  for (const auto& [key, line] : activities_)
    lines.push_back(line);
  return lines;
}

std::string batch_summary(const BatchTotals& totals, Nanoseconds elapsed) {
  const std::size_t planned = totals.count(PictureStatus::planned);
  const std::size_t done = planned > 0 ? planned : totals.count(PictureStatus::done);
  std::string text = formatted("{} picture{} {}", done, done == 1 ? "" : "s",
                               planned > 0 ? "would be done" : "done");
  for (const auto& [status, words] :
       {std::pair{PictureStatus::unchanged, "unchanged"},
        std::pair{PictureStatus::exists, "skipped"}, std::pair{PictureStatus::failed, "failed"},
        std::pair{PictureStatus::not_begun, "not begun"}}) {
    if (totals.count(status) > 0) text += formatted(", {} {}", totals.count(status), words);
  }
  if (totals.pixels() > 0) {
    text += formatted(": {:.1f} Mpx in {:.2f} s, {:.1f} Mpx/s",
                      static_cast<double>(totals.pixels()) / 1e6, milliseconds(elapsed) / 1e3,
                      megapixels_per_second(totals.pixels(), elapsed));
  }
  if (totals.verified_blocks() > 0) {
    text += formatted("; {} blocks verified", totals.verified_blocks());
  }
  return text + "\n";
}

std::string batch_table(const BatchTotals& totals, Nanoseconds elapsed) {
  std::string text;
  for (const auto& use : totals.devices()) {
    if (totals.devices().size() > 1) text += formatted("{} pictures on: ", use.pictures);
    text += device_lines(use.engine);
  }
  text += formatted("{:<16}{:>11}{:>10}{:>10}{:>8}  {}\n", "", "ms", "MB", "Mpx/s", "GB/s", summed);
  int walk = 0;
  for (const BatchActivity& line : totals.activities()) {
    if (std::exchange(walk, line.walk) != line.walk) text += "again, now that it is known:\n";
    text += formatted("{:<16}{:>11.3f}", label(line), milliseconds(line.duration));
    if (line.bytes > 0) {
      text += formatted("{:>10.2f}{:>10.1f}{:>8.2f}  {}", static_cast<double>(line.bytes) / 1e6,
                        megapixels_per_second(line.pixels, line.duration),
                        gigabytes_per_second(line.bytes, line.duration), line.variant);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text + formatted("{:<16}{:>11.3f}{:>10}{:>10.1f}\n", "total", milliseconds(elapsed), "",
                          megapixels_per_second(totals.pixels(), elapsed));
}

std::string batch_timing_json(const BatchTotals& totals, Nanoseconds elapsed) {
  Json json{{"schema", "gpufilter-batch-timing-1"}};
  json.update(totals_json(totals, elapsed));
  return dump(json, 2) + "\n";
}

std::string batch_csv(const BatchTotals& totals, Nanoseconds elapsed) {
  std::string text =
      "walk,activity,pass,stage,variant,milliseconds,bytes,megapixels_per_second,"
      "gigabytes_per_second\n";
  for (const BatchActivity& line : totals.activities()) {
    const std::string pass =
        line.pass < 0 ? ",," : formatted("{},{},{}", line.pass, line.stage, csv_text(line.variant));
    text += formatted("{},{},{},{:.6f},", line.walk, activity_name(line.activity), pass,
                      milliseconds(line.duration));
    text += line.bytes == 0 ? ",,\n"
                            : formatted("{},{:.3f},{:.3f}\n", line.bytes,
                                        megapixels_per_second(line.pixels, line.duration),
                                        gigabytes_per_second(line.bytes, line.duration));
  }
  return text + formatted(",total,,,,{:.6f},,{:.3f},\n", milliseconds(elapsed),
                          megapixels_per_second(totals.pixels(), elapsed));
}

std::string batch_json_begin(const BatchPlan& plan, bool dry_run) {
  Json json{{"schema", "gpufilter-batch-1"}};
  add_path(json, "input", plan.input);
  add_path(json, "output", plan.output);
  json["dry_run"] = dry_run;
  std::string text = dump(json, -1);
  text.pop_back();  // the brace: more follows
  return text + ",\"pictures\":[\n";
}

std::string batch_json_picture(const BatchPlan& plan, const PictureResult& result, bool is_first) {
  const BatchItem& item = *result.item;
  Json json;
  add_path(json, "input", plan.input_path(item));
  if (item.problem.empty()) add_path(json, "output", plan.output_path(item));
  json["status"] = to_string(result.status);
  if (result.status == PictureStatus::failed) add_path(json, "error", result.failure);
  if (item.problem.empty()) {
    json["input_bytes"] = item.bytes;
    json["output_format"] = lower(item.output_format->name);
  }
  if (result.status == PictureStatus::done) {
    json["input_format"] = lower(result.input_format->name);
    json["width"] = result.size.width;
    json["height"] = result.size.height;
    json["channels"] = result.output_pixel.channels;
    json["depth"] = result.output_pixel.depth;
    json["output_bytes"] = result.output_bytes;
    add_encoding(json, *item.output_format, result.encoding);
    json["device"] = result.device;
    json["milliseconds"] = milliseconds(result.duration);
    json["megapixels_per_second"] =
        megapixels_per_second(static_cast<std::uint64_t>(result.size.pixels()), result.duration);
  }
  return (is_first ? "" : ",\n") + dump(json, -1);
}

std::string batch_json_end(const BatchTotals& totals, Nanoseconds elapsed) {
  return "\n],\"summary\":" + dump(totals_json(totals, elapsed), -1) + "}\n";
}

}  // namespace gpufilter
