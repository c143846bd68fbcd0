#include "app/filter/run_account.hpp"

#include "app/filter/timing_line.hpp"
#include "base/format.hpp"
#include "base/time_units.hpp"
#include "base/words.hpp"
#include "device/brief_version.hpp"
#include "pipeline/run/run_totals.hpp"

namespace gpufilter {
namespace {

std::string device_line(const EngineReport& engine) {
  if (engine.platform.empty()) return formatted("device: {} ({})", engine.device, engine.reason);
  return formatted("device: {} ({}); {}, driver {}", engine.device, engine.reason,
                   brief_version(engine.platform), engine.driver);
}

std::string plan_line(const RunReport& report, const StageChain& chain) {
  std::string line = "plan: " + counted(chain.size(), "stage");
  if (report.bands == 0) return line + "; " + report.engine.reason;
  if (report.result_passes == 0 && !chain.empty()) {
    line += ", which change nothing";
  } else if (report.result_passes < chain.size()) {
    line += formatted(", merged into {}", report.result_passes);
  }
  return line + formatted("; {} of {}, {} at a time in {:.1f} MB",
                          counted(static_cast<std::size_t>(report.bands), "band"),
                          counted(static_cast<std::size_t>(report.band_rows), "row"),
                          report.bands_under_way, static_cast<double>(report.memory) / 1e6);
}

std::string pass_line(const PassReport& pass) {
  std::string line = formatted("{}: {} ({})", pass.stage, pass.variant, pass.reason);
  if (pass.origin == ProgramOrigin::cached) line += ", program from the cache";
  if (pass.origin == ProgramOrigin::compiled) line += ", program compiled";
  return pass.walk == 0 ? line : pass_heading(pass.walk) + ": " + line;
}

// Empty if nothing had to be started.
std::string start_line(const RunReport& report) {
  std::string line;
  for (const Activity activity :
       {Activity::find_devices, Activity::start_device, Activity::build_program}) {
    Nanoseconds duration = 0;
    for (const Span& span : report.spans)
      duration += span.activity == activity ? span.duration : 0;
    if (duration == 0) continue;
    line += formatted("{}{} {:.1f} ms", line.empty() ? "start: " : ", ", activity_name(activity),
                      milliseconds(duration));
  }
  return line;
}

}  // namespace

std::vector<std::string> run_account(const RunReport& report, const StageChain& chain) {
  std::vector<std::string> lines{device_line(report.engine)};
  for (const std::string& left : report.engine.fallbacks)
    lines.push_back("left out: " + left);
  if (const std::string line = start_line(report); !line.empty()) lines.push_back(line);
  lines.push_back(plan_line(report, chain));
  for (const PassReport& pass : report.passes)
    lines.push_back(pass_line(pass));
  if (report.verified_blocks) {
    lines.push_back(formatted("verified: {} equal to the processor's baseline",
                              counted(static_cast<std::size_t>(*report.verified_blocks), "block")));
  }
  return lines;
}

}  // namespace gpufilter
