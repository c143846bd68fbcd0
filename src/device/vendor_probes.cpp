#include "device/vendor_probes.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "device/cache_folder.hpp"

namespace gpufilter {
namespace {

constexpr std::chrono::seconds usual_limit{20};
constexpr double failure_lasts = 24 * 60 * 60;  // seconds
constexpr std::size_t answers_kept = 64;

bool is_mounted(const char* path, long magic) {
  struct statfs status {};
  return statfs(path, &status) == 0 && status.f_type == magic;
}

std::string remedy() {
  constexpr const char* again = "'gpufilter devices' probes it again";
  if (!is_mounted("/sys", SYSFS_MAGIC))
    return formatted("mount /sys, which many drivers need; {}", again);
  if (!is_mounted("/proc", PROC_SUPER_MAGIC))
    return formatted("mount /proc, which many drivers need; {}", again);
  return formatted("update, repair or remove its package; {}", again);
}

std::string boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(file, line);
  return line;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return formatted("{}={}\n", name, value == nullptr ? "" : value);
}

std::chrono::milliseconds limit_of_probes() {
  const char* text = std::getenv("GPUFILTER_PROBE_SECONDS");
  if (text == nullptr) return usual_limit;
  int seconds = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, seconds);
  if (error == std::errc{} && rest == end && seconds >= 1) return std::chrono::seconds(seconds);
  log::warn_of_fallback(
      formatted("GPUFILTER_PROBE_SECONDS={} is not a positive whole number; using {} s", text,
                usual_limit.count()));
  return usual_limit;
}

std::optional<std::filesystem::path> file_of_answers() {
  const auto folder = cache_folder();
  return folder ? std::optional(*folder / "probes.json") : std::nullopt;
}

// The identities of `files`, as one text.
std::string identity_of(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files)
    all += file_identity(file);
  return to_string(content_hash(all));
}

// Makes room for one more answer.
void forget_oldest(Json& answers) {
  const auto time = [](const Json::Member& answer) {
    const Json* found = answer.value.find("time");
    return found != nullptr && found->is_number() ? found->number() : 0.0;
  };
  Json::Object& all = answers.members();
  while (all.size() >= answers_kept) {
    all.erase(std::min_element(all.begin(), all.end(),
                               [&](const auto& a, const auto& b) { return time(a) < time(b); }));
  }
}

}  // namespace

std::string file_identity(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path + " absent\n";
  return formatted("{} {}:{} {} {}.{}\n", path, status.st_dev, status.st_ino, status.st_size,
                   status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// A library without a folder in its name is found by the dynamic loader, by way of a variable and
// its cache.
std::string probe_key(const std::string& library) {
  const bool has_folder = library.find('/') != std::string::npos;
  return formatted("gpufilter {}\nlibrary {}\n{}boot {}\n{}sys {} proc {}\n{}{}", GPUFILTER_VERSION,
                   library, file_identity(has_folder ? library : "/etc/ld.so.cache"), boot(),
                   file_identity("/"), is_mounted("/sys", SYSFS_MAGIC),
                   is_mounted("/proc", PROC_SUPER_MAGIC), variable("LD_LIBRARY_PATH"),
                   variable("LD_PRELOAD"));
}

VendorProbes::VendorProbes(std::optional<std::filesystem::path> file, Probe probe)
    : cache_(std::move(file), "gpufilter-probes-1"), probe_(std::move(probe)) {}

// The failure that is kept under `key`; nothing if there is none that still holds.
std::optional<std::string> VendorProbes::recall(const std::string& key) const {
  const Json all = cache_.read().value_or(Json());
  try {
    const Json& answer = all.at("answers").at(to_string(content_hash(key)));
    const std::string& failure = answer.at("failure").text();
    const double age = static_cast<double>(std::time(nullptr)) - answer.at("time").number();
    const bool expired = !failure.empty() && (age < 0 || age >= failure_lasts);
    std::vector<std::string> files;
    for (const Json& file : answer.at("files").items())
      files.push_back(file.text());
    if (expired || answer.at("identity").text() != identity_of(files)) return std::nullopt;
    return failure;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

void VendorProbes::keep(const std::string& key, const std::string& failure,
                        const std::vector<std::string>& files) const {
  const Json all = cache_.read().value_or(Json());
  Json answers = Json::object();
  if (const Json* kept = all.find("answers"); kept != nullptr && kept->is_object()) answers = *kept;
  forget_oldest(answers);
  answers[to_string(content_hash(key))] = {{"failure", failure},
                                           {"time", std::time(nullptr)},
                                           {"files", files},
                                           {"identity", identity_of(files)}};
  const std::string reason = cache_.write({{"answers", answers}});
  if (!reason.empty()) log::debug(formatted("the answer of a probe was not stored: {}", reason));
}

std::string VendorProbes::failure_of(const std::string& library, PastAnswers past) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(library); known != known_.end()) return known->second;
  const std::string key = probe_key(library);
  if (past == PastAnswers::used) {
    if (auto kept = recall(key)) return known_[library] = *kept;
  }
  const auto begin = std::chrono::steady_clock::now();
  ProbeResult result = probe_(library);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  log::debug(formatted("{} was probed in {:.0f} ms: {}", library, took.count(),
                       result.works ? "it works" : result.failure));
  if (!result.works && result.conclusive) result.failure += "; " + remedy();
  if (result.conclusive) keep(key, result.failure, result.files);
  return known_[library] = result.failure;
}

VendorProbes& vendor_probes() {
  // Never destroyed: a thread that starts a device may still use it when the process ends.
  static auto* const probes = new VendorProbes(  // NOLINT
      file_of_answers(), [limit = limit_of_probes()](const std::string& library) {
        return probe_library(library, limit);
      });
  return *probes;
}

}  // namespace gpufilter
