#include "lab/tune/tune_report.hpp"

#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"

namespace gpufilter::lab {
namespace {

using Outcome = TriedCandidate::Outcome;

std::size_t count_of(const TunedSite& site, Outcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(site.tried.begin(), site.tried.end(),
                    [outcome](const auto& tried) { return tried.outcome == outcome; }));
}

// "27 tried, 1 wrong"; also the best one's time relative to the usual one's.
std::string note_of(const TunedSite& site) {
  if (site.known) return "known";
  std::string note = formatted("{} tried", site.tried.size());
  if (site.tried.size() < site.candidates)
    note = formatted("{} of {} tried", site.tried.size(), site.candidates);
  if (const auto wrong = count_of(site, Outcome::wrong); wrong > 0)
    note += formatted(", {} wrong", wrong);
  if (const auto not_built = count_of(site, Outcome::not_built); not_built > 0)
    note += formatted(", {} not built", not_built);
  const TriedCandidate& usual = site.tried.front();
  if (site.chosen && usual.outcome == Outcome::timed && site.chosen->milliseconds > 0)
    note += formatted(", {:.2f} of the usual time", site.chosen->milliseconds / usual.milliseconds);
  return note;
}

Json candidate_json(const KernelCandidate& candidate) {
  if (!candidate.constants.empty())
    return {{"algorithm", candidate.algorithm}, {"constants", candidate.constants}};
  return {{"algorithm", candidate.algorithm},
          {"pixels", candidate.shape.pixels},
          {"lines", candidate.shape.lines},
          {"group_width", candidate.shape.group_width},
          {"group_height", candidate.shape.group_height}};
}

const char* outcome_name(Outcome outcome) {
  static constexpr std::array names{"timed", "wrong", "not built"};
  return names.at(static_cast<std::size_t>(outcome));
}

Json site_json(const TunedSite& site) {
  Json tried = Json::array();
  for (const TriedCandidate& each : site.tried) {
    Json entry = candidate_json(each.candidate);
    entry["outcome"] = outcome_name(each.outcome);
    if (each.outcome == Outcome::timed) entry["milliseconds"] = each.milliseconds;
    if (each.spilled_bytes > 0) entry["spilled_bytes"] = each.spilled_bytes;
    if (!each.difference.empty()) entry["difference"] = each.difference;
    tried.push_back(std::move(entry));
  }
  Json chosen;
  if (site.chosen) {
    chosen = candidate_json(site.chosen->candidate);
    chosen["milliseconds"] = site.chosen->milliseconds;
    chosen["next_milliseconds"] = site.chosen->next_milliseconds;
  }
  return {{"site", site.site.key()},
          {"known", site.known},
          {"candidates", site.known ? Json() : Json(site.candidates)},
          {"chosen", chosen},
          {"tried", tried}};
}

}  // namespace

bool TuneReport::any_wrong() const {
  return std::any_of(sites.begin(), sites.end(),
                     [](const auto& site) { return count_of(site, Outcome::wrong) > 0; });
}

std::string tune_table(const std::vector<TuneReport>& reports) {
  std::string table;
  for (const TuneReport& report : reports) {
    table += formatted("{} ({}), driver {}\n", printable(report.device.name),
                       to_string(report.device.kind), printable(report.device.driver_version));
    std::size_t width = 30;
    for (const TunedSite& site : report.sites)
      width = std::max(width, site.site.key().size());
    width += 2;
    table += formatted("  {:<{}}{:>9}{:>9}  {}\n", "kernel, channels x depth", width, "ms", "next",
                       "fastest");
    for (const TunedSite& site : report.sites) {
      if (!site.chosen) {
        table += formatted("  {:<{}}{:>9}{:>9}  none is correct ({})\n", site.site.key(), width,
                           "-", "-", note_of(site));
        continue;
      }
      const double next = site.chosen->next_milliseconds;  // 0: no other candidate was timed
      table += formatted("  {:<{}}{:>9.3f}{:>9}  {} ({})\n", site.site.key(), width,
                         site.chosen->milliseconds, next > 0 ? formatted("{:.3f}", next) : "-",
                         to_string(site.chosen->candidate), note_of(site));
    }
  }
  return table;
}

std::string tune_json(const std::vector<TuneReport>& reports) {
  Json devices = Json::array();
  for (const TuneReport& report : reports) {
    Json sites = Json::array();
    for (const TunedSite& site : report.sites)
      sites.push_back(site_json(site));
    devices.push_back({{"name", report.device.name},
                       {"kind", to_string(report.device.kind)},
                       {"driver", report.device.driver_version},
                       {"kernels", sites}});
  }
  const Json json{
      {"schema", "gpufilter-tune-1"}, {"version", GPUFILTER_VERSION}, {"devices", devices}};
  return json.indented(2) + "\n";
}

}  // namespace gpufilter::lab
