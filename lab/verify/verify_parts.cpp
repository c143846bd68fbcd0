#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "lab/verify/verifier.hpp"

namespace gpufilter::lab {
namespace {

// With the jobs as well.
Json message_of(const VerifyReport& report) {
  Json json = to_json(report);
  for (const VerifiedVariant& variant : report.variants)
    json["jobs"].push_back(variant.first_job);
  if (report.first_failure) json["failed_job"] = report.first_failure->job;
  return json;
}

VerifyReport report_of(const Json& json) {
  const auto number = [](const Json& object, const char* name) {
    return static_cast<int>(object.at(name).count());
  };
  VerifyReport report;
  for (const Json& variant : json.at("variants").items()) {
    const std::size_t job = json.at("jobs").items()[report.variants.size()].count();
    report.variants.push_back({variant.at("place").text(), variant.at("stage").text(),
                               variant.at("variant").text(), job, number(variant, "cases"),
                               number(variant, "different"), number(variant, "failed")});
  }
  const Json& first = json.at("first_failure");
  if (!first.is_null()) {
    report.first_failure = VerifyFailure{first.at("place").text(),
                                         first.at("stages").text(),
                                         first.at("variant").text(),
                                         json.at("failed_job").count(),
                                         {{number(first, "width"), number(first, "height")},
                                          {number(first, "channels"), number(first, "depth")}},
                                         number(first, "band_rows"),
                                         first.at("difference").text()};
  }
  report.cases = static_cast<std::int64_t>(json.at("cases").count());
  report.skipped = static_cast<std::int64_t>(json.at("skipped").count());
  return report;
}

// A process that verifies one part.
class PartProcess {
 public:
  PartProcess(const VerifyPart& part,
              const std::function<VerifyReport(const VerifyPart&)>& verify_part) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
    report_.reset(ends[0]);
    FileDescriptor report(ends[1]);
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ < 0) throw std::system_error(errno, std::generic_category());
    if (child_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    verify_and_report(part, verify_part, report);
  }
  ~PartProcess() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  PartProcess(PartProcess&& other) noexcept
      : child_(std::exchange(other.child_, -1)), report_(std::move(other.report_)) {}
  PartProcess(const PartProcess&) = delete;
  PartProcess& operator=(const PartProcess&) = delete;

  // Waits for its end.
  [[nodiscard]] VerifyReport report() {
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t size = read(report_.get(), buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    int status = 0;
    waitpid(std::exchange(child_, -1), &status, 0);
    const auto json = Json::parse(text);
    if (!json || !json->is_object()) throw DeviceError(why_it_ended(status));
    if (const Json* error = json->find("error")) throw DeviceError(error->text());
    return report_of(*json);
  }

 private:
  [[noreturn]] static void verify_and_report(
      const VerifyPart& part, const std::function<VerifyReport(const VerifyPart&)>& verify_part,
      FileDescriptor& report) {
    // Its warnings would repeat the first process's.
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      dup2(nothing, stream);
    Json json;
    try {
      json = message_of(verify_part(part));
    } catch (const std::exception& error) {
      json = {{"error", error.what()}};
    }
    const std::string text = json.on_one_line();
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t size = write(report.get(), text.data() + written, text.size() - written);
      if (size <= 0) break;
      written += static_cast<std::size_t>(size);
    }
    _exit(0);  // drivers may fail when a copy of the process cleans up
  }

  static std::string why_it_ended(int status) {
    const char* signal = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : nullptr;
    return formatted("a process that verified a part ended{}",
                     signal == nullptr ? "" : formatted(": SIG{}", signal));
  }

  pid_t child_ = -1;
  FileDescriptor report_;
};

// Adds the results of another part of the same verification.
void add(const VerifyReport& part, VerifyReport& all) {
  for (const VerifiedVariant& variant : part.variants) {
    VerifiedVariant& known = variant_in(all.variants, variant);
    known.cases += variant.cases;
    known.different += variant.different;
    known.failed += variant.failed;
  }
  all.cases += part.cases;
  all.skipped += part.skipped;
}

}  // namespace

Json to_json(const VerifyReport& report) {
  Json variants = Json::array();
  for (const VerifiedVariant& variant : report.variants) {
    variants.push_back({{"place", variant.place},
                        {"stage", variant.stage},
                        {"variant", variant.variant},
                        {"cases", variant.cases},
                        {"different", variant.different},
                        {"failed", variant.failed}});
  }
  Json first;
  if (const auto& failure = report.first_failure) {
    first = {{"place", failure->place},
             {"stages", failure->stages},
             {"variant", failure->variant},
             {"width", failure->picture.size.width},
             {"height", failure->picture.size.height},
             {"channels", failure->picture.format.channels},
             {"depth", failure->picture.format.depth},
             {"band_rows", failure->band_rows},
             {"difference", failure->difference}};
  }
  return {{"cases", report.cases},
          {"skipped", report.skipped},
          {"variants", variants},
          {"first_failure", first}};
}

std::size_t parts_to_verify() {
  constexpr std::size_t enough = 8;  // drivers take some hundred megabytes in each
  std::error_code unknown;
  const std::filesystem::directory_iterator threads("/proc/self/task", unknown);
  const bool is_alone = !unknown && std::distance(begin(threads), end(threads)) == 1;
  return is_alone ? std::min(enough, allowed_threads()) : 1;
}

VerifyReport verify_in_parts(std::size_t parts,
                             const std::function<VerifyReport(const VerifyPart&)>& verify_part) {
  std::vector<PartProcess> others;
  others.reserve(parts);
  for (std::size_t i = 1; i < parts; ++i)
    others.emplace_back(VerifyPart{i, parts}, verify_part);
  VerifyReport all = verify_part({0, parts});
  std::vector<std::string> places;
  const auto index_of = [&places](const std::string& place) {
    const auto found = std::find(places.begin(), places.end(), place);
    return static_cast<std::size_t>(found - places.begin());
  };
  const auto note_places = [&](const VerifyReport& report) {
    for (const VerifiedVariant& variant : report.variants) {
      if (index_of(variant.place) == places.size()) places.push_back(variant.place);
    }
  };
  note_places(all);
  for (PartProcess& other : others) {
    const VerifyReport report = other.report();
    note_places(report);
    const auto& failure = report.first_failure;
    const auto order = [&](const VerifyFailure& of) {
      return std::pair(index_of(of.place), of.job);
    };
    if (failure && (!all.first_failure || order(*failure) < order(*all.first_failure)))
      all.first_failure = failure;
    add(report, all);
  }
  std::stable_sort(all.variants.begin(), all.variants.end(), [&](const auto& a, const auto& b) {
    return std::pair(index_of(a.place), a.first_job) < std::pair(index_of(b.place), b.first_job);
  });
  return all;
}

}  // namespace gpufilter::lab
