#include "app/verify_command.hpp"

#include <nlohmann/json.hpp>

#include "app/chosen_sessions.hpp"
#include "app/color_output.hpp"
#include "app/parse.hpp"
#include "app/progress.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "lab/verify/verifier.hpp"

namespace gpufilter {
namespace {

constexpr const char* description =
    "Checks that every stage gives the same bits on every device of this machine, with every "
    "kernel, tile, border and instruction set.";

constexpr const char* explanation =
    R"(Each stage runs on small pictures of 1 to 4 channels, of 8 and 16 bits, of odd
sizes, whole and in bands of few rows. The results are compared, sample by
sample, with those of the processor's baseline instruction set. A full check
takes minutes if the kernels are not compiled yet; --quick takes seconds. On a
terminal, a line shows the progress and the time left.

Exit codes: 0 all results are equal, 1 one differs, 2 wrong usage, 3 no such
device.

Examples:
  gpufilter verify --quick
  gpufilter verify blur color --device gpu --json
)";

std::string as_json(const lab::VerifyReport& report) {
  nlohmann::ordered_json variants = nlohmann::ordered_json::array();
  for (const lab::VerifiedVariant& variant : report.variants) {
    variants.push_back({{"place", variant.place},
                        {"stage", variant.stage},
                        {"variant", variant.variant},
                        {"cases", variant.cases},
                        {"different", variant.different},
                        {"failed", variant.failed}});
  }
  nlohmann::ordered_json first;
  if (const auto& failure = report.first_failure) {
    first = {{"place", failure->place},
             {"stages", failure->stages},
             {"variant", failure->variant},
             {"width", failure->picture.size.width},
             {"height", failure->picture.size.height},
             {"channels", failure->picture.format.channels},
             {"depth", failure->picture.format.depth},
             {"band_rows", failure->band_rows},
             {"difference", failure->difference}};
  }
  const nlohmann::ordered_json json{
      {"schema", "gpufilter-verify-1"}, {"version", GPUFILTER_VERSION}, {"passed", report.passed()},
      {"cases", report.cases},          {"skipped", report.skipped},    {"variants", variants},
      {"first_failure", first}};
  // Drivers' texts may not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string line_of(const lab::VerifiedVariant& variant) {
  const std::string name =
      variant.variant.empty() ? variant.stage : variant.stage + ", " + variant.variant;
  std::string result = variant.different + variant.failed == 0 ? "equal" : "";
  if (variant.different > 0) result += formatted("{} different", variant.different);
  if (variant.failed > 0) {
    result += formatted("{}{} not run", result.empty() ? "" : ", ", variant.failed);
  }
  return formatted("  {:<52}{:>6}  {}\n", printable_end(name, 52), variant.cases, result);
}

std::string as_table(const lab::VerifyReport& report) {
  std::string table;
  std::string place;
  for (const lab::VerifiedVariant& variant : report.variants) {
    if (variant.place != place) {
      place = variant.place;
      table += formatted("{:<54}{:>6}\n", printable_end(place, 52), "cases");
    }
    table += line_of(variant);
  }
  table += formatted("{} results compared with the processor's baseline", report.cases);
  if (report.skipped > 0) table += formatted(", {} skipped: tile too large", report.skipped);
  if (report.passed()) return table + ": all equal\n";
  const lab::VerifyFailure& first = *report.first_failure;
  return table + formatted(
                     "\nThe first that differs: {} ({}) on {}, {}x{}, {}, bands of {} rows:\n"
                     "  {}\n",
                     first.stages, printable(first.variant), printable(first.place),
                     first.picture.size.width, first.picture.size.height,
                     to_string(first.picture.format), first.band_rows, printable(first.difference));
}

}  // namespace

int run_verify_command(int argc, const char* const* argv) {
  Arguments app(description, "gpufilter verify");
  std::string device = "all";
  bool json = false;
  lab::VerifyOptions options;
  add_stage_names(app, options.stages, "Check");
  app.add_flag("--quick", options.quick,
               "Check fewer formats, sizes and parameters. Takes a few seconds.");
  add_formats_choice(app, options.channels, options.depth);
  app.add_flag("--json", json, "Print one JSON object.");
  add_devices_choice(app, device, true);
  add_color_output(app);
  app.footer(explanation);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  options.devices = start_devices(device);
  lab::VerifyReport report;
  {
    ProgressDisplay display(ProgressMode::automatic);
    const Nanoseconds begin = now();
    options.on_progress = [&](std::int64_t so_far, std::int64_t all) {
      const auto done = static_cast<std::uint64_t>(so_far);
      display.show({.name = "verify",
                    .done = done,
                    .all = static_cast<std::uint64_t>(all),
                    .worked = done,
                    .elapsed = now() - begin});
    };
    report = lab::verify(options);
  }
  print_result(json ? as_json(report) : as_table(report));
  for (const auto& session : options.devices)
    session->keep_programs();
  return report.passed() ? 0 : 1;
}

}  // namespace gpufilter
