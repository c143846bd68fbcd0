#include "device/vendor_checks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <linux/magic.h>
#include <sys/statfs.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "device/cache_folder.hpp"
#include "device/surroundings.hpp"
#include "device/vendor_trial.hpp"

namespace gpufilter {
namespace {

constexpr std::chrono::seconds usual_limit{20};

bool is_mounted(const char* path, long magic) {
  struct statfs status {};
  return statfs(path, &status) == 0 && status.f_type == magic;
}

std::string remedy() {
  constexpr const char* again = "'gpufilter devices' tries it again";
  if (!is_mounted("/sys", SYSFS_MAGIC))
    return formatted("mount /sys, which many drivers need; {}", again);
  if (!is_mounted("/proc", PROC_SUPER_MAGIC))
    return formatted("mount /proc, which many drivers need; {}", again);
  return formatted("update, repair or remove its package; {}", again);
}

std::chrono::milliseconds limit_of_trials() {
  const char* text = std::getenv("GPUFILTER_TRIAL_SECONDS");
  if (text == nullptr) return usual_limit;
  int seconds = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, seconds);
  if (error == std::errc{} && rest == end && seconds >= 1) return std::chrono::seconds(seconds);
  log::warn_of_fallback(
      formatted("GPUFILTER_TRIAL_SECONDS={} is not a positive whole number; using {} s", text,
                usual_limit.count()));
  return usual_limit;
}

VendorChecks::Settings settings_of_process() {
  std::optional<TrialStore> store;
  if (const auto folder = cache_folder()) store.emplace(*folder / "vendor-trials");
  return {std::move(store), describe_surroundings(), try_vendor, limit_of_trials()};
}

}  // namespace

// A library without a folder in its name is found by the dynamic loader, whose cache is part of the
// surroundings; the loaded files are part of the answer.
std::string VendorChecks::key(const std::string& library) const {
  const bool has_folder = library.find('/') != std::string::npos;
  return formatted("gpufilter {}\nlibrary {}\n{}{}", GPUFILTER_VERSION, library,
                   has_folder ? file_identity(library) : "", settings_.surroundings);
}

void VendorChecks::prepare(const std::vector<std::string>& libraries, PastAnswers past) {
  const std::lock_guard lock(mutex_);
  for (const std::string& library : libraries) {
    if (known_.contains(library)) continue;
    const auto answer = past == PastAnswers::used && settings_.store
                            ? settings_.store->recall(key(library), std::time(nullptr))
                            : std::nullopt;
    if (answer) {
      known_[library] = answer->failure;
    } else {
      unknown_.push_back(library);
    }
  }
  if (!unknown_.empty() && !server_) server_.emplace(settings_.trial, settings_.limit);
}

std::string VendorChecks::failure_of(const std::string& library) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(library); known != known_.end()) return known->second;
  known_[library] = try_now(library).failure;
  std::erase(unknown_, library);
  if (unknown_.empty()) server_.reset();
  return known_[library];
}

TrialAnswer VendorChecks::try_now(const std::string& library) {
  if (!server_) server_.emplace(settings_.trial, settings_.limit);
  const auto begin = std::chrono::steady_clock::now();
  TrialResult result = server_->run(library);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  log::debug(formatted("{} was tried in a separate process: {} after {:.0f} ms", library,
                       result.survived ? "it works" : result.ending, took.count()));
  TrialAnswer answer;
  if (result.survived) {
    answer.files = std::move(result.notes);
  } else {
    answer.failure =
        formatted("it failed when tried in a separate process: {}; {}", result.ending, remedy());
  }
  if (result.conclusive && settings_.store)
    static_cast<void>(settings_.store->keep(key(library), answer, std::time(nullptr)));
  return answer;
}

VendorChecks& vendor_checks() {
  // Never destroyed: the process does not wait for the server at its end.
  static auto* const checks = new VendorChecks(settings_of_process());  // NOLINT
  return *checks;
}

}  // namespace gpufilter
