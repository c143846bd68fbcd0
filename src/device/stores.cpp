#include "device/stores.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "base/atomic_file.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {
namespace {

std::optional<std::filesystem::path> absolute_path_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || !std::filesystem::path(value).is_absolute()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::filesystem::path> cache_folder() {
  if (const auto cache = absolute_path_in("XDG_CACHE_HOME")) return *cache / "gpufilter";
  if (const auto home = absolute_path_in("HOME")) return *home / ".cache" / "gpufilter";
  return std::nullopt;
}

std::optional<std::filesystem::path> cache_path(const char* name) {
  const auto folder = cache_folder();
  return folder ? std::optional(*folder / name) : std::nullopt;
}

namespace {

constexpr const char* schema_name = "schema";
constexpr std::uint64_t largest_cache_file = std::uint64_t{64} << 20U;  // far more than any cache's

}  // namespace

JsonCache::JsonCache(std::optional<std::filesystem::path> file, std::string schema)
    : file_(std::move(file)), schema_(std::move(schema)) {}

std::optional<Json> JsonCache::read() const {
  if (!file_) return std::nullopt;
  std::string text;
  try {
    text = read_regular_file(*file_, largest_cache_file);
  } catch (const UnsuitableFile& error) {
    log::info(formatted("{}: {}; ignored", file_->string(), error.what()));
    return std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  std::optional<Json> json = Json::parse(text);
  const Json* schema = json ? json->find(schema_name) : nullptr;
  return schema != nullptr && *schema == Json(schema_) ? std::move(json) : Json();
}

std::string JsonCache::write(Json json) const {
  if (!file_) return "";
  json[schema_name] = schema_;
  const std::string text = json.indented(1) + "\n";
  try {
    std::filesystem::create_directories(file_->parent_path());
    AtomicFile file(*file_);
    file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    file.commit();
  } catch (const std::system_error& error) {
    return reason_of(error);
  }
  return "";
}

namespace {

constexpr double weight_of_a_run = 1.0 / 3;
constexpr double noticeable = 0.05;
// A day: longer times are not real measurements.
constexpr double longest = 86'400;

bool is_time(double seconds) {
  return std::isfinite(seconds) && seconds > 0 && seconds <= longest;
}

// The member of this name, replaced by an object if it is not one.
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

namespace {

// One entry of kernels/tuned.json.
struct Shipped {
  std::string device;  // part of a name; empty: every device of the vendor
  std::string vendor;  // part of the vendor's or the platform's name
  std::string site;    // KernelSite::key()
  KernelCandidate candidate;
};

// An entry has either a shape or constants.
KernelCandidate candidate_of(const Json& entry) {
  KernelCandidate candidate{entry.at("algorithm").text()};
  if (const Json* constants = entry.find("constants")) {
    candidate.constants = constants_from(*constants);
    return candidate;
  }
  const Json::Array& shape = entry.at("shape").items();
  if (shape.size() != 4) throw JsonError("'shape' is not four numbers");
  candidate.shape = {shape[0].count(), shape[1].count(), shape[2].count(), shape[3].count()};
  return candidate;
}

std::vector<Shipped> read_shipped() {
  std::vector<Shipped> entries;
  const Json json = Json::parse(kernel_file("tuned.json")).value_or(Json());
  try {
    for (const Json& entry : json.at("tuned").items()) {
      entries.push_back({entry.at("device").text(), entry.at("vendor").text(),
                         entry.at("site").text(), candidate_of(entry)});
    }
  } catch (const JsonError& error) {
    log::warn(formatted("tuned.json: ignored: {}", error.what()));
    entries.clear();
  }
  return entries;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class StoredTuning final : public KernelTuning {
 public:
  StoredTuning(const DeviceInfo& device, std::shared_ptr<const TuningStore> store)
      : place_(tuning_place(device)), store_(std::move(store)) {
    for (Shipped& entry : read_shipped()) {
      const bool of_vendor =
          contains(device.vendor, entry.vendor) || contains(device.platform, entry.vendor);
      if (of_vendor && contains(device.name, entry.device)) shipped_.push_back(std::move(entry));
    }
    // Entries for the device itself come first.
    std::stable_partition(shipped_.begin(), shipped_.end(),
                          [](const Shipped& entry) { return !entry.device.empty(); });
  }

  [[nodiscard]] std::optional<Choice> choose(
      const KernelSite& site, std::span<const KernelCandidate> candidates) const override {
    if (const auto tuned = store_->find(place_, site)) {
      std::string reason = formatted("tuned here: {:.3f} ms", tuned->milliseconds);
      if (tuned->next_milliseconds > 0)
        reason += formatted(", next best {:.3f}", tuned->next_milliseconds);
      if (auto choice = choice_of(tuned->candidate, candidates, reason)) return choice;
    }
    for (const Shipped& entry : shipped_) {
      if (entry.site != site.key()) continue;
      const std::string reason =
          formatted("tuned for {}", entry.device.empty() ? entry.vendor : entry.device);
      if (auto choice = choice_of(entry.candidate, candidates, reason)) return choice;
    }
    return std::nullopt;
  }

 private:
  static std::optional<Choice> choice_of(const KernelCandidate& wanted,
                                         std::span<const KernelCandidate> candidates,
                                         const std::string& reason) {
    const auto found = std::find(candidates.begin(), candidates.end(), wanted);
    if (found == candidates.end()) return std::nullopt;
    return Choice{static_cast<std::size_t>(found - candidates.begin()), reason};
  }

  std::string place_;
  std::shared_ptr<const TuningStore> store_;
  std::vector<Shipped> shipped_;
};

}  // namespace

std::shared_ptr<const KernelTuning> tuning_for(const DeviceInfo& device,
                                               std::shared_ptr<const TuningStore> store) {
  return std::make_shared<StoredTuning>(device, std::move(store));
}

}  // namespace gpufilter
