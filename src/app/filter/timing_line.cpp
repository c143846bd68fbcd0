#include "app/filter/timing_line.hpp"

#include <array>
#include <utility>

#include "app/cli/paths.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/time_units.hpp"
#include "pipeline/run/run_totals.hpp"

namespace gpufilter {
namespace {

// So that two names and the description of the picture fit on a line of most terminals.
constexpr std::size_t name_columns = 40;
constexpr std::size_t variant_columns = 24;

std::string name_text(const std::string& path, const char* stream) {
  return path == standard_stream ? stream : printable_end(path, name_columns);
}

// The name of a stage's code, without its details: "channel histograms" of "channel histograms,
// counted in 16 copies".
std::string variant_name(const PassReport& pass) {
  return printable_end(pass.variant.substr(0, pass.variant.find(',')), variant_columns);
}

std::string short_label(const RunReport& report, const ActivityTotal& total) {
  if (total.pass < 0) return activity_name(total.activity);
  const PassReport& pass = report.passes.at(static_cast<std::size_t>(total.pass));
  if (total.activity == Activity::kernel) return pass.stage + " " + variant_name(pass);
  return (pass.origin == ProgramOrigin::cached ? "load " : "compile ") + pass.stage;
}

std::string activities_line(const RunReport& report) {
  std::string line;
  int walk = 0;
  for (const ActivityTotal& total : activity_totals(report)) {
    const bool is_transfer =
        total.activity == Activity::upload || total.activity == Activity::download;
    if (is_transfer && total.bytes == 0) continue;
    if (!line.empty()) line += " | ";
    if (std::exchange(walk, total.walk) != total.walk) line += pass_heading(walk) + ": ";
    line += short_label(report, total) + " " + brief(milliseconds(total.duration));
  }
  return line.empty() ? line : line + " ms\n";
}

// ", quality 90 (requested)": the first of the notes.
std::string quality_text(const std::optional<EncodingNotes>& notes) {
  if (!notes) return "";
  const std::size_t end = notes->text.find("), ");
  return ", " + notes->text.substr(0, end == std::string::npos ? end : end + 1);
}

// Time outside all activities is shown if it is a tenth of the total or more.
std::string total_line(const RunReport& report) {
  std::string line = formatted("total {} ms", brief(milliseconds(report.total)));
  const Nanoseconds other = unaccounted_time(report);
  if (other * 10 >= report.total)
    line += formatted(" ({} ms outside these steps)", brief(milliseconds(other)));
  const ActivityTotal whole{.duration = report.total};
  const double rate = whole.megapixels_per_second(report.size);
  if (rate >= 0.1) line += formatted(", {} Mpx/s", brief(rate));
  if (report.verified_blocks) line += formatted("; {} blocks verified", *report.verified_blocks);
  return line + formatted("; {}{}, {}\n", report.output_format->name, quality_text(report.encoding),
                          size_text(report.output_bytes));
}

}  // namespace

std::string brief(double value) {
  if (value >= 9.95) return formatted("{:.0f}", value);
  return value >= 0.095 ? formatted("{:.1f}", value) : formatted("{:.2f}", value);
}

std::string size_text(std::uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes < 1000) return formatted("{} bytes", bytes);
  return bytes < 1'000'000 ? brief(number / 1e3) + " kB" : brief(number / 1e6) + " MB";
}

std::string device_text(const EngineReport& engine) {
  std::string text = engine.device == "none" ? "no device" : printable(engine.device);
  text += " (" + printable(engine.reason);
  for (const std::string& left : engine.fallbacks)
    text += "; left out: " + printable(left);
  return text + ")";
}

std::string pass_heading(int walk) {
  constexpr std::array names{"second", "third", "fourth", "fifth"};
  const auto index = static_cast<std::size_t>(walk - 1);
  return index < names.size() ? formatted("{} pass", names.at(index))
                              : formatted("pass {}", walk + 1);
}

std::string pixels_text(const RunReport& report) {
  std::string text = formatted("{}x{}", report.size.width, report.size.height);
  if (report.output_size != report.size)
    text += formatted(" -> {}x{}", report.output_size.width, report.output_size.height);
  if (report.decoding_divisor > 1) text += formatted(", decoded at 1/{}", report.decoding_divisor);
  text += ", " + to_string(report.input_file_pixels);
  if (report.output_file_pixels != report.input_file_pixels)
    text += " -> " + to_string(report.output_file_pixels);
  if (report.background)
    text += formatted(" (alpha flattened onto {})", to_string(OptionValue(*report.background)));
  if (report.exif_orientation != 1)
    text += formatted(", EXIF orientation {}{} applied", report.exif_orientation,
                      report.is_oriented ? "" : " not");
  return text;
}

std::string outcome_text(const OutputReport& report) {
  if (report.copied) return report.kept ? " (unchanged)" : " (copied unchanged)";
  return report.replaced ? " (replaced)" : "";
}

std::string other_output_line(const OutputReport& report) {
  std::string line =
      formatted("also {}{}: {}x{}, {}; {}{}", printable_end(report.output, name_columns),
                outcome_text(report), report.output_size.width, report.output_size.height,
                to_string(report.output_file_pixels), report.output_format->name,
                quality_text(report.encoding));
  if (report.kept && !report.copied) line += "; already exists, kept";
  if (report.output_bytes > 0) line += ", " + size_text(report.output_bytes);
  return line + "\n";
}

std::string timing_line(const RunReport& report) {
  std::string others;
  for (const OutputReport& other : report.others)
    others += other_output_line(other);

  return formatted("{} -> {}{}: {}; {}\n", name_text(report.input, "standard input"),
                   name_text(report.output, "standard output"), outcome_text(report),
                   pixels_text(report), device_text(report.engine)) +
         others + activities_line(report) + total_line(report);
}

}  // namespace gpufilter
