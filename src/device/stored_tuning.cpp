// Stored choices: made on this machine, or shipped with the program.
#include <algorithm>

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "device/kernel_source.hpp"
#include "device/tuning_store.hpp"

namespace gpufilter {
namespace {

// One entry of kernels/tuned.json.
struct Shipped {
  std::string device;  // part of a name; empty: every device of the vendor
  std::string vendor;  // part of the vendor's or the platform's name
  std::string site;    // KernelSite::key()
  KernelCandidate candidate;
};

// It has either a shape or constants.
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
