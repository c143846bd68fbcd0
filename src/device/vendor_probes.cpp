#include "device/vendor_probes.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "device/json_cache.hpp"

namespace gpufilter {
namespace {

constexpr int usual_limit = 20;                 // seconds
constexpr double failure_lasts = 24 * 60 * 60;  // seconds
constexpr std::size_t answers_kept = 64;

bool is_mounted(const char* path, long magic) {
  struct statfs status {};
  return statfs(path, &status) == 0 && status.f_type == magic;
}

std::string remedy() {
  std::string first = "update, repair or remove its package";
  if (!is_mounted("/proc", PROC_SUPER_MAGIC)) first = "mount /proc, which many drivers need";
  if (!is_mounted("/sys", SYSFS_MAGIC)) first = "mount /sys, which many drivers need";
  return first + "; 'gpufilter devices' probes it again";
}

std::string boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(file, line);
  return line;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::chrono::seconds limit_of_probes() {
  const std::string text = variable("GPUFILTER_PROBE_SECONDS");
  int seconds = usual_limit;
  if (!text.empty() && (!parse_whole(text, seconds) || seconds < 1)) {
    log::warn_of_fallback(
        formatted("GPUFILTER_PROBE_SECONDS={} is not a positive whole number; using {} s", text,
                  usual_limit));
    seconds = usual_limit;
  }
  return std::chrono::seconds(seconds);
}

// The failure that is kept under `key`; nothing if there is none that still holds.
std::optional<std::string> recall(const JsonCache& cache, const std::string& key) {
  const Json all = cache.read().value_or(Json());
  try {
    const Json& answer = all.at("answers").at(to_string(content_hash(key)));
    const std::string& failure = answer.at("failure").text();
    const double age = static_cast<double>(std::time(nullptr)) - answer.at("time").number();
    const bool expired = !failure.empty() && (age < 0 || age >= failure_lasts);
    return expired ? std::nullopt : std::optional(failure);
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

void keep(const JsonCache& cache, const std::string& key, const std::string& failure) {
  const Json all = cache.read().value_or(Json());
  Json answers = Json::object();
  if (const Json* kept = all.find("answers"); kept != nullptr && kept->is_object()) answers = *kept;
  while (answers.members().size() >= answers_kept)
    answers.members().erase(answers.members().begin());  // the oldest
  answers[to_string(content_hash(key))] = {{"failure", failure}, {"time", std::time(nullptr)}};
  const std::string reason = cache.write({{"answers", answers}});
  if (!reason.empty()) log::debug(formatted("the answer of a probe was not stored: {}", reason));
}

}  // namespace

std::string file_identity(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path + " absent\n";
  return formatted("{} {}:{} {} {}.{}\n", path, status.st_dev, status.st_ino, status.st_size,
                   status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// The cache of the dynamic loader changes when a package of libraries is installed or updated, and
// thus stands for those that this one needs.
std::string probe_key(const std::string& library) {
  return formatted("{}\n{}\n{}{}{}\n{}\n{}\n{}\n{}", GPUFILTER_VERSION, library,
                   file_identity(library), file_identity("/etc/ld.so.cache"), boot(),
                   is_mounted("/sys", SYSFS_MAGIC), is_mounted("/proc", PROC_SUPER_MAGIC),
                   variable("LD_LIBRARY_PATH"), variable("LD_PRELOAD"));
}

VendorProbes::VendorProbes(std::optional<std::filesystem::path> file, Probe probe)
    : cache_(std::move(file), "gpufilter-probes-2"), probe_(std::move(probe)) {}

std::string VendorProbes::failure_of(const std::string& library, PastAnswers past) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(library); known != known_.end()) return known->second;
  const std::string key = probe_key(library);
  if (past == PastAnswers::used) {
    if (auto kept = recall(cache_, key)) return known_[library] = *kept;
  }
  const auto begin = std::chrono::steady_clock::now();
  ProbeResult result = probe_(library);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  log::debug(formatted("{} was probed in {:.0f} ms: {}", library, took.count(),
                       result.failure.empty() ? "it works" : result.failure));
  if (result.conclusive) {
    if (!result.failure.empty()) result.failure += "; " + remedy();
    keep(cache_, key, result.failure);
  } else if (auto kept = recall(cache_, key)) {
    result.failure = *kept;  // what an earlier probe found says more
  }
  return known_[library] = result.failure;
}

VendorProbes& vendor_probes() {
  // Never destroyed: a thread that starts a device may still use it when the process ends.
  static auto* const probes = new VendorProbes(  // NOLINT
      cache_path("probes.json"), [limit = limit_of_probes()](const std::string& library) {
        return probe_library(library, limit);
      });
  return *probes;
}

}  // namespace gpufilter
