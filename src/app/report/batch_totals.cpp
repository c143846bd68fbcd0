#include "app/report/batch_totals.hpp"

#include <algorithm>

namespace gpufilter {

namespace {

void add_missing(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  for (const std::string& line : more) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
}

}  // namespace

void BatchTotals::add(const PictureResult& result, const RunReport* report) {
  ++counts_.at(static_cast<std::size_t>(result.status));
  if (report == nullptr) return;
  if (report->copied) ++copied_;
  const auto pixels = report->size.pixels();
  pixels_ += pixels;
  input_bytes_ += result.item->bytes;
  output_bytes_ += report->output_bytes;
  if (report->is_oriented && report->exif_orientation != 1) ++turned_;
  if (report->replaced) ++replaced_;
  other_bytes_.resize(std::max(other_bytes_.size(), report->others.size()));
  for (std::size_t i = 0; i < report->others.size(); ++i) {
    other_bytes_[i] += report->others[i].output_bytes;
    if (report->others[i].replaced) ++replaced_;
  }
  if (report->verified_blocks) {
    verified_blocks_ =
        verified_blocks_.value_or(0) + static_cast<std::uint64_t>(*report->verified_blocks);
  }
  add_device(report->engine);
  for (const ActivityTotal& total : activity_totals(*report)) {
    const auto key = std::tuple(total.walk, total.activity, total.pass, total.stage);
    const auto [known, is_new] = activities_.try_emplace(key, total);
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
  const auto known = std::find_if(devices_.begin(), devices_.end(), [&](const DeviceUse& use) {
    return use.engine.device == engine.device && use.engine.kind == engine.kind &&
           use.engine.platform == engine.platform && use.engine.driver == engine.driver;
  });
  if (known == devices_.end()) {
    devices_.push_back({engine, 1, engine.reason});
    return;
  }
  ++known->pictures;
  if (known->engine.reason != engine.reason) known->engine.reason = known->engine.share;
  add_missing(known->engine.fallbacks, engine.fallbacks);
}

std::vector<ActivityTotal> BatchTotals::activities() const {
  std::vector<ActivityTotal> lines;
  lines.reserve(activities_.size());
  for (const auto& [key, line] : activities_)
    lines.push_back(line);
  return lines;
}

}  // namespace gpufilter
