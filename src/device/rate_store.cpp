#include "device/rate_store.hpp"

#include <cmath>

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

constexpr double weight_of_a_run = 1.0 / 3;
constexpr double noticeable = 0.05;
// A day: longer times are not real measurements.
constexpr double longest = 86'400;

bool is_time(double seconds) {
  return std::isfinite(seconds) && seconds > 0 && seconds <= longest;
}

// The member of this name, which becomes an object if it is something else.
Json& object_in(Json& json, const std::string& name) {
  Json& member = json[name];
  if (!member.is_object()) member = Json::object();
  return member;
}

}  // namespace

RateStore::RateStore(std::optional<std::filesystem::path> file)
    : cache_(std::move(file), "gpufilter-rates-1"), kept_(cache_.read().value_or(Json())) {}

std::optional<double> RateStore::find(const std::string& place, const std::string& kind) const {
  const std::lock_guard lock(mutex_);
  const Json* found = kept_.find("seconds");
  if (found != nullptr) found = found->find(place);
  if (found != nullptr) found = found->find(kind);
  if (found == nullptr || !found->is_number() || !is_time(found->number())) return std::nullopt;
  return found->number();
}

void RateStore::learn(const std::string& place, const std::string& kind, double seconds) {
  if (!is_time(seconds)) return;
  const auto before = find(place, kind);
  const double after = before ? *before + (seconds - *before) * weight_of_a_run : seconds;
  const std::lock_guard lock(mutex_);
  object_in(object_in(kept_, "seconds"), place)[kind] = after;
  changed_ = changed_ || !before || std::abs(after - *before) > noticeable * *before;
}

std::string RateStore::note(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const Json* found = kept_.find("notes");
  if (found != nullptr) found = found->find(key);
  return found == nullptr || !found->is_string() ? "" : found->text();
}

void RateStore::keep_note(const std::string& key, const std::string& text) {
  const std::lock_guard lock(mutex_);
  Json& kept = object_in(kept_, "notes")[key];
  changed_ = changed_ || kept != Json(text);
  kept = text;
}

void RateStore::save() {
  const std::lock_guard lock(mutex_);
  if (!cache_.file() || !changed_) return;
  const std::string failure = cache_.write(kept_);
  changed_ = !failure.empty();
  if (changed_) {
    log::debug(
        formatted("{}: the measured rates were not stored: {}", cache_.file()->string(), failure));
  }
}

}  // namespace gpufilter
