#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/shared_options.hpp"
#include "app/lab/lab_options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "device/kernel_source.hpp"
#include "lab/verify/verifier.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

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

// --kernels FOLDER: the user's kernels, which replace built-in ones.
struct KernelFolderFiles {
  std::string folder;              // empty: only built-in kernels
  std::vector<std::string> files;  // that replace built-in ones, sorted
  std::string why;                 // what its why.txt says, in one line; empty if it has none
};

constexpr std::uint64_t largest_explanation = 4096;

std::vector<std::string> kernel_files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const fs::path name = entry->path().filename();
    if (embedded_kernels().contains(name.string())) {
      files.push_back(name.string());
    } else if (name.extension() == ".cl") {
      std::vector<std::string> known;
      for (const auto& [file, text] : embedded_kernels())
        if (file.ends_with(".cl")) known.push_back(file);
      throw UsageError(formatted("{}: replaces no kernel file; those are {}",
                                 printable(entry->path().string()), fmt::join(known, ", ")));
    }
  }
  if (failure)
    throw UsageError(formatted("{}: cannot be read: {}", printable(folder), failure.message()));
  std::ranges::sort(files);
  return files;
}

// One line.
std::string explanation_in(const std::string& folder) {
  try {
    std::string text = read_regular_file(fs::path(folder) / "why.txt", largest_explanation);
    std::ranges::replace(text, '\n', ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  } catch (const std::system_error&) {
    return "";
  }
}

// Makes the kernel files in `folder` replace the built-in ones of the same names; nothing changes
// if it is empty. Call it before other threads start. Throws UsageError if it is not a folder, or
// one without a kernel file, or with one that replaces none.
KernelFolderFiles use_kernel_folder(const std::string& folder) {
  if (folder.empty()) return {};
  if (!is_folder(folder)) throw UsageError(formatted("{}: is not a folder", printable(folder)));
  KernelFolderFiles found{folder, kernel_files_in(folder), explanation_in(folder)};
  if (found.files.empty()) {
    throw UsageError(formatted(
        "{}: has no kernel file; copy one there, such as kernels/window/blur.cl, and change it",
        printable(folder)));
  }
  setenv("GPUFILTER_KERNELS", folder.c_str(), 1);
  return found;
}

// The results of the verification, and the file for the drawing of differences.
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
  Json json{{"schema", "gpufilter-verify-1"},
            {"version", GPUFILTER_VERSION},
            {"passed", report.passed()}};
  json.append(lab::to_json(report));
  if (report.first_failure) json["first_failure"]["drawing"] = verified.drawing;
  json["kernels"] = json_of(verified.kernels);
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
  const auto folder = fs::weakly_canonical(kernels.folder);
  return folder.filename().string() + "-differences.png";
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
  app.add_option("--kernels", kernel_folder,
                 "Check these kernel files in place of the built-in ones of the same names.")
      ->option_text("FOLDER");
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
  const auto sink = open_drawing(drawing, "--diff", "PNG");
  // A drawing needs the pixels, which only the process that found the difference has.
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
  json ? print_document(as_json(verified)) : print_result(as_table(verified));
  return verified.report.passed() ? 0 : 1;
}

}  // namespace gpufilter
