#include "device/tuning_store.hpp"

#include <cmath>

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

constexpr const char* tuning_schema = "gpufilter-tuning-1";

bool is_milliseconds(double milliseconds) {
  return std::isfinite(milliseconds) && milliseconds >= 0;
}

Json as_json(const TunedKernel& tuned, const std::string& code) {
  const WorkShape& shape = tuned.candidate.shape;
  return {{"code", code},
          {"algorithm", tuned.candidate.algorithm},
          {"pixels", shape.pixels},
          {"lines", shape.lines},
          {"group_width", shape.group_width},
          {"group_height", shape.group_height},
          {"constants", tuned.candidate.constants},
          {"milliseconds", tuned.milliseconds},
          {"next_milliseconds", tuned.next_milliseconds}};
}

// Throws JsonError if something is missing or has the wrong type.
TunedKernel tuned_from(const Json& json) {
  return {{json.at("algorithm").text(),
           {json.at("pixels").count(), json.at("lines").count(), json.at("group_width").count(),
            json.at("group_height").count()},
           constants_from(json.at("constants"))},
          json.at("milliseconds").number(),
          json.at("next_milliseconds").number()};
}

}  // namespace

TuningStore::TuningStore(std::optional<std::filesystem::path> file)
    : cache_(std::move(file), tuning_schema) {
  read();
}

void TuningStore::read() {
  const auto json = cache_.read();
  if (!json) return;
  const auto ignored = [this] {
    log::info(
        formatted("{}: damaged, ignored; 'gpufilter tune' replaces it", cache_.file()->string()));
    entries_.clear();
  };
  if (json->is_null()) return ignored();
  try {
    for (const auto& [place, sites] : json->at("devices").members()) {
      for (const auto& [site, entry] : sites.members()) {
        const Entry known{entry.at("code").text(), tuned_from(entry)};
        if (is_milliseconds(known.tuned.milliseconds) &&
            is_milliseconds(known.tuned.next_milliseconds))
          entries_[place][site] = known;
      }
    }
  } catch (const JsonError&) {
    ignored();
  }
}

std::optional<TunedKernel> TuningStore::find(const std::string& place,
                                             const KernelSite& site) const {
  const std::lock_guard lock(mutex_);
  const auto sites = entries_.find(place);
  if (sites == entries_.end()) return std::nullopt;
  const auto found = sites->second.find(site.key());
  if (found == sites->second.end() || found->second.code != site.code) return std::nullopt;
  return found->second.tuned;
}

void TuningStore::keep(const std::string& place, const KernelSite& site, const TunedKernel& tuned) {
  const std::lock_guard lock(mutex_);
  entries_[place][site.key()] = {site.code, tuned};
  changed_ = true;
}

void TuningStore::save() {
  const std::lock_guard lock(mutex_);
  if (!cache_.file() || !changed_) return;
  Json devices = Json::object();
  for (const auto& [place, sites] : entries_) {
    for (const auto& [site, entry] : sites)
      devices[place][site] = as_json(entry.tuned, entry.code);
  }
  const std::string failure = cache_.write({{"devices", devices}});
  changed_ = !failure.empty();
  if (changed_) {
    log::warn(
        formatted("{}: the tuning results were not stored: {}", cache_.file()->string(), failure));
  }
}

std::string tuning_place(const DeviceInfo& device) {
  return formatted("{}, {}", device.name, device.driver_version);
}

}  // namespace gpufilter
