#include "app/verify_command.hpp"

#include <filesystem>

#include "app/chosen_sessions.hpp"
#include "app/color_output.hpp"
#include "app/kernel_folder_option.hpp"
#include "app/parse.hpp"
#include "app/progress.hpp"
#include "base/error.hpp"
#include "base/folder.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "lab/verify/difference_drawing.hpp"
#include "lab/verify/verifier.hpp"
#include "lab/verify/verify_parts.hpp"

namespace gpufilter {
namespace {

constexpr const char* verify_description =
    "Checks that every stage gives the same bits on every device of this machine, with every "
    "kernel, tile, border and instruction set.";

constexpr const char* verify_explanation =
    R"(Each stage runs on small pictures of 1 to 4 channels, of 8 and 16 bits, of odd
sizes, whole and in bands of few rows. The results are compared, sample by
sample, with those of the processor's baseline instruction set, by as many
processes as there are cores. A full check takes minutes if PoCL has to compile
kernels; --quick takes seconds once they are compiled. On a terminal, a line
shows the progress and the time left.

With --kernels, the OpenCL kernels in a folder are checked instead of the
built-in ones: copy a file of kernels/ there and change it. If a result differs,
FOLDER-differences.png shows the pixels, and the text in why.txt, if the folder
has one, is printed; without --quick, the check ends there. samples/broken has
kernels with the usual mistakes.

Exit codes: 0 all results are equal, 1 one differs, 2 wrong usage, 3 no such
device.

Examples:
  gpufilter verify --quick
  gpufilter verify blur color --device gpu --json
  gpufilter verify blur --kernels samples/broken/no-edge
)";

// What was verified, and where the differences are drawn.
struct Verified {
  lab::VerifyReport report;
  KernelFolderFiles kernels;
  std::string drawing;  // a file; empty: none was drawn
};

Json json_of(const KernelFolderFiles& kernels) {
  if (kernels.folder.empty()) return nullptr;
  return {{"folder", kernels.folder}, {"files", kernels.files}, {"why", kernels.why}};
}

std::string as_json(const Verified& verified) {
  const lab::VerifyReport& report = verified.report;
  Json variants = Json::array();
  for (const lab::VerifiedVariant& variant : report.variants) {
    variants.push_back({{"place", variant.place},
                        {"stage", variant.stage},
                        {"variant", variant.variant},
                        {"cases", variant.cases},
                        {"different", variant.different},
                        {"failed", variant.failed}});
  }
  Json first;
  if (const auto& failure = report.first_failure) {
    first = {{"place", failure->place},
             {"stages", failure->stages},
             {"variant", failure->variant},
             {"width", failure->picture.size.width},
             {"height", failure->picture.size.height},
             {"channels", failure->picture.format.channels},
             {"depth", failure->picture.format.depth},
             {"band_rows", failure->band_rows},
             {"difference", failure->difference},
             {"drawing", verified.drawing}};
  }
  const Json json{{"schema", "gpufilter-verify-1"}, {"version", GPUFILTER_VERSION},
                  {"passed", report.passed()},      {"cases", report.cases},
                  {"skipped", report.skipped},      {"variants", variants},
                  {"first_failure", first},         {"kernels", json_of(verified.kernels)}};
  return json.indented(2) + "\n";
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

std::string as_table(const Verified& verified) {
  const lab::VerifyReport& report = verified.report;
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
  table += formatted(
      "\nThe first that differs: {} ({}) on {}, {}x{}, {}, bands of {} rows:\n"
      "  {}\n",
      first.stages, printable(first.variant), printable(first.place), first.picture.size.width,
      first.picture.size.height, to_string(first.picture.format), first.band_rows,
      printable(first.difference));
  if (!verified.drawing.empty())
    table += formatted("{} shows where it differs\n", printable(verified.drawing));
  const std::string& why = verified.kernels.why;
  if (!why.empty()) table += formatted("{}\n", printable(why));
  return table;
}

// The file that differences are drawn into, unless one is named: in the working folder.
std::string drawing_of(const KernelFolderFiles& kernels) {
  if (kernels.folder.empty()) return "";
  const auto folder = std::filesystem::weakly_canonical(kernels.folder);
  return folder.filename().string() + "-differences.png";
}

// Opened first, so that no work is wasted if it cannot be written; nullptr for an empty path.
std::unique_ptr<ByteSink> open_drawing(const std::string& path) {
  if (path.empty()) return nullptr;
  if (!path.ends_with(".png")) {
    throw UsageError(
        formatted("{}: differences are drawn as PNG; give --diff a name that ends in "
                  ".png",
                  printable(path)));
  }
  if (is_folder(path))
    throw UsageError(
        formatted("{}: is a folder; --diff takes the name of a file", printable(path)));
  return open_sink(path);
}

// Kernels are verified where they run.
void start_devices_for(const KernelFolderFiles& kernels, const std::string& device,
                       lab::VerifyOptions& options) {
  const bool has_kernels = !kernels.folder.empty();
  if (has_kernels && device == "cpu")
    throw UsageError("--kernels: --device cpu runs no OpenCL kernel; name another device");
  options.devices = start_devices(device);
  if (has_kernels && options.devices.empty())
    throw DeviceError("--kernels: there is no OpenCL device to run them; see 'gpufilter devices'");
}

lab::VerifyReport verify_with_progress(lab::VerifyOptions& options) {
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
  return lab::verify(options);
}

}  // namespace

int run_verify_command(int argc, const char* const* argv) {
  Arguments app(verify_description, "gpufilter verify");
  std::string device = "all";
  std::string kernel_folder;
  std::string drawing;
  bool json = false;
  lab::VerifyOptions options;
  add_stage_names(app, options.stages, "Check");
  app.add_flag("--quick", options.quick,
               "Check fewer formats, sizes and parameters. Takes a few seconds.");
  add_formats_choice(app, options.channels, options.depth);
  app.add_flag("--json", json, "Print one JSON object.");
  add_kernel_folder(app, kernel_folder);
  app.add_option("--diff", drawing,
                 "Draw the first result that differs into this file. [with --kernels: "
                 "FOLDER-differences.png]")
      ->option_text("FILE.png");
  add_devices_choice(app, device, true);
  add_color_output(app);
  app.footer(verify_explanation);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  Verified verified;
  verified.kernels = use_kernel_folder(kernel_folder);
  if (drawing.empty()) drawing = drawing_of(verified.kernels);
  options.stop_at_difference = !kernel_folder.empty() && !options.quick;
  const auto sink = open_drawing(drawing);
  // A drawing is made of the pixels, which stay in the process that found the difference.
  verified.report = lab::verify_in_parts(sink ? 1 : lab::parts_to_verify(), [&](const auto& part) {
    options.part = part;
    start_devices_for(verified.kernels, device, options);
    return verify_with_progress(options);
  });
  const auto& first = verified.report.first_failure;
  if (sink && first && first->drawing) {
    lab::write_drawing(*first->drawing, *sink);
    verified.drawing = drawing;
  }
  print_result(json ? as_json(verified) : as_table(verified));
  return verified.report.passed() ? 0 : 1;
}

}  // namespace gpufilter
