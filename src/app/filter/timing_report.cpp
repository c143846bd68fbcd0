#include "app/filter/timing_report.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/cli/device_json.hpp"
#include "app/cli/encoding_report.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/timing_line.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/time_units.hpp"
#include "base/words.hpp"
#include "device/brief_version.hpp"
#include "pipeline/run/run_totals.hpp"

namespace gpufilter {
namespace {

// The subject of a line of the report: "decode", "blur", "build blur".
std::string label(const RunReport& report, const ActivityTotal& total) {
  std::string activity = activity_name(total.activity);
  if (total.pass < 0) return activity;
  const std::string& stage = report.passes.at(static_cast<std::size_t>(total.pass)).stage;
  return total.activity == Activity::kernel ? stage : "build " + stage;
}

// The width of the table's first column: kernels of several stages have long names.
std::size_t label_width(const RunReport& report, const std::vector<ActivityTotal>& totals) {
  std::size_t width = 15;
  for (const ActivityTotal& total : totals)
    width = std::max(width, label(report, total).size());
  return width + 1;
}

std::string detail(const RunReport& report, const ActivityTotal& total) {
  switch (total.activity) {
    case Activity::decode:
    case Activity::read_stored:
      return report.input_format->name;
    case Activity::encode:
    case Activity::write_stored:
      return formatted("{}, {} bytes{}", report.output_format->name, report.output_bytes,
                       report.encoding ? ", " + report.encoding->text : "");
    case Activity::build_program:
    case Activity::kernel: {
      if (total.pass < 0) return "for a device that was left out";
      const PassReport& pass = report.passes.at(static_cast<std::size_t>(total.pass));
      if (total.activity == Activity::kernel)
        return formatted("{} ({})", pass.variant, pass.reason);
      return pass.origin == ProgramOrigin::cached ? "from the cache" : "compiled";
    }
    case Activity::upload:
    case Activity::download:
      return total.bytes == 0 ? "in place, not copied" : "";
    case Activity::read_back:
      return "the picture that was kept";
    case Activity::launch:
      return "until kernels ran; some drivers compile them only now";
    case Activity::find_devices:
    case Activity::start_device:
      return "";
  }
  return "";
}

bool moves_pixels(const ActivityTotal& total) {
  return total.bytes > 0;
}

}  // namespace

std::string device_lines(const EngineReport& engine) {
  std::string text;
  for (const std::string& left : engine.fallbacks)
    text += formatted("left out: {}\n", printable(left));
  if (engine.platform.empty())
    return text + formatted("device: {} ({})\n", engine.device, engine.reason);
  text += formatted("device: {} ({})\n", printable(engine.device), engine.kind);
  text += formatted("chosen: {}\n", engine.reason);
  return text + formatted("driver: {}, {}\n", brief_version(engine.platform), engine.driver);
}

std::string verified_line(std::uint64_t blocks, std::size_t width) {
  return formatted("{:<{}}{:>39}  {} equal to the processor's baseline\n", "verified", width, "",
                   counted(blocks, "block"));
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

namespace {

// Why this device, and which ones were tried before it.
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

Json total_json(const RunReport& report, const ActivityTotal& total) {
  Json line{{"activity", activity_name(total.activity)},
            {"walk", total.walk},
            {"milliseconds", milliseconds(total.duration)},
            {"commands", total.commands}};
  if (total.pass >= 0) line["pass"] = total.pass;
  line["bytes"] = total.bytes;
  if (moves_pixels(total)) {
    line["megapixels_per_second"] = total.megapixels_per_second(report.size);
    line["gigabytes_per_second"] = total.gigabytes_per_second();
  }
  return line;
}

}  // namespace

std::string timing_table(const RunReport& report) {
  std::string text =
      formatted("{} -> {}{}: {}; {} of {} rows\n", printable(report.input),
                printable(report.output), report.replaced ? " (replaced)" : "", pixels_text(report),
                counted(report.bands, "band"), report.band_rows);
  text += device_lines(report.engine);
  const std::vector<ActivityTotal> totals = activity_totals(report);
  const std::size_t width = label_width(report, totals);
  text += formatted("{:<{}}{:>11}{:>10}{:>10}{:>8}\n", "", width, "ms", "MB", "Mpx/s", "GB/s");
  int walk = 0;
  for (const ActivityTotal& total : totals) {
    if (std::exchange(walk, total.walk) != total.walk) text += pass_heading(walk) + ":\n";
    text += formatted("{:<{}}{:>11.3f}", printable(label(report, total)), width,
                      milliseconds(total.duration));
    text += moves_pixels(total)
                ? formatted("{:>10.2f}{:>10.1f}{:>8.2f}", static_cast<double>(total.bytes) / 1e6,
                            total.megapixels_per_second(report.size), total.gigabytes_per_second())
                : std::string(28, ' ');
    text += "  " + printable(detail(report, total));
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  if (report.verified_blocks) {
    text += verified_line(static_cast<std::uint64_t>(*report.verified_blocks), width);
  }
  const ActivityTotal total{.duration = report.total};
  text += formatted("{:<{}}{:>11.3f}\n", "other", width, milliseconds(unaccounted_time(report)));
  text += formatted("{:<{}}{:>11.3f}{:>10}{:>10.1f}{:>8}  {}\n", "total", width,
                    milliseconds(report.total), "", total.megapixels_per_second(report.size), "",
                    "from start to end; lines above may overlap");
  return text;
}

std::string timing_json(const RunReport& report) {
  Json passes = Json::array();
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    passes.push_back(pass_json(report, static_cast<int>(i)));
  }
  Json activities = Json::array();
  for (const ActivityTotal& total : activity_totals(report)) {
    activities.push_back(total_json(report, total));
  }
  const ActivityTotal whole{.duration = report.total};
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
  json["total_megapixels_per_second"] = whole.megapixels_per_second(report.size);
  return json.indented(2) + "\n";
}

namespace {

// The end of every line: what the files hold, and how much was verified.
std::string picture_columns(const RunReport& report) {
  return formatted(",{},{},{},{},{}\n", report.input_format->name,
                   csv_text(to_string(report.input_file_pixels)), report.output_format->name,
                   csv_text(to_string(report.output_file_pixels)),
                   report.verified_blocks ? std::to_string(*report.verified_blocks) : "");
}

}  // namespace

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
    text += formatted(",{:.6f},", milliseconds(total.duration));
    text += moves_pixels(total)
                ? formatted("{},{:.3f},{:.3f}", total.bytes,
                            total.megapixels_per_second(report.size), total.gigabytes_per_second())
                : ",,";
    text += end;
  }
  const ActivityTotal whole{.duration = report.total};
  text +=
      formatted("{},,other,,,,,,{:.6f},,,{}", device, milliseconds(unaccounted_time(report)), end);
  text += formatted("{},,total,,,,,{},{:.6f},,{:.3f},{}", device,
                    csv_text(device_reason(report.engine)), milliseconds(report.total),
                    whole.megapixels_per_second(report.size), end);
  return text;
}

std::string flattening_notice(const Codec& output_format, const Color& background) {
  return formatted(
      "alpha is flattened onto {}, because {} has none; --background sets another colour",
      to_string(OptionValue(background)), output_format.name);
}

void print_timing(const RunReport& report, TimingFormat format, bool picture_on_standard_output) {
  const auto print_data = [&](const std::string& text) {
    if (picture_on_standard_output) {
      std::fputs(text.c_str(), stderr);
    } else {
      print_document(text);
    }
  };
  switch (format) {
    case TimingFormat::off:
      return;
    case TimingFormat::line:
      print_note(timing_line(report));
      return;
    case TimingFormat::table:
      print_note(timing_table(report));
      return;
    case TimingFormat::json:
      return print_data(timing_json(report));
    case TimingFormat::csv:
      return print_data(timing_csv(report));
  }
}

}  // namespace gpufilter
