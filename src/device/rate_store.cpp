#include "device/rate_store.hpp"

#include <cmath>

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

constexpr const char* rates_schema = "gpufilter-rates-1";
constexpr double weight_of_a_run = 1.0 / 3;
constexpr double noticeable = 0.05;
// A day: longer times are not real measurements.
constexpr double longest = 86'400;

bool is_time(double seconds) {
  return std::isfinite(seconds) && seconds > 0 && seconds <= longest;
}

}  // namespace

RateStore::RateStore(std::optional<std::filesystem::path> file)
    : cache_(std::move(file), rates_schema) {
  read();
}

void RateStore::read() {
  const Json json = cache_.read().value_or(Json());
  const Json nothing = Json::object();
  const auto members = [&](const Json* found) -> const Json::Object& {
    return (found != nullptr && found->is_object() ? *found : nothing).members();
  };
  for (const auto& [place, kinds] : members(json.find("seconds"))) {
    for (const auto& [kind, seconds] : members(&kinds)) {
      if (seconds.is_number() && is_time(seconds.number())) rates_[place][kind] = seconds.number();
    }
  }
  for (const auto& [key, text] : members(json.find("notes"))) {
    if (text.is_string()) notes_[key] = text.text();
  }
}

std::optional<double> RateStore::find(const std::string& place, const std::string& kind) const {
  const std::lock_guard lock(mutex_);
  const auto kinds = rates_.find(place);
  if (kinds == rates_.end()) return std::nullopt;
  const auto found = kinds->second.find(kind);
  return found == kinds->second.end() ? std::nullopt : std::optional(found->second);
}

void RateStore::learn(const std::string& place, const std::string& kind, double seconds) {
  if (!is_time(seconds)) return;
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = rates_[place].try_emplace(kind, seconds);
  if (is_new) {
    changed_ = true;
    return;
  }
  const double before = found->second;
  found->second += (seconds - before) * weight_of_a_run;
  changed_ = changed_ || std::abs(found->second - before) > noticeable * before;
}

std::string RateStore::note(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = notes_.find(key);
  return found == notes_.end() ? std::string() : found->second;
}

void RateStore::keep_note(const std::string& key, const std::string& text) {
  const std::lock_guard lock(mutex_);
  std::string& kept = notes_[key];
  changed_ = changed_ || kept != text;
  kept = text;
}

void RateStore::save() {
  const std::lock_guard lock(mutex_);
  if (!cache_.file() || !changed_) return;
  const std::string failure = cache_.write({{"seconds", rates_}, {"notes", notes_}});
  changed_ = !failure.empty();
  if (changed_) {
    log::debug(
        formatted("{}: the measured rates were not stored: {}", cache_.file()->string(), failure));
  }
}

}  // namespace gpufilter
