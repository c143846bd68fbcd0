#include "lab/bench/test_bed.hpp"

#include <fstream>

#include <unistd.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "device/device_choice.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter::lab {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

Report TestBed::start_report(const std::string& bench) const {
  Report report;
  report.bench = bench;
  report.fallback = fallback;
  if (session) {
    report.device = session->device().name;
    report.platform = session->device().platform_version;
    report.driver = session->device().driver_version;
  }
  report.processor = formatted("{}, {} threads, {}", processor_name(), allowed_threads(),
                               to_string(instruction_set()));
  report.parameters.push_back({"trials", std::int64_t{trials}});
  return report;
}

TestBed make_test_bed(const std::string& request, bool require_device) {
  TestBed bed;
  if (request == "cpu") {
    static_cast<void>(choose_devices(request, require_device, {}));
    return bed;
  }
  const DeviceCandidates candidates = device_candidates(request, require_device, device_catalog());
  auto candidate = candidates(0);
  for (std::size_t place = 0; candidate; candidate = candidates(++place)) {
    if (!candidate->device) {
      if (bed.fallback.empty()) bed.fallback = candidate->reason;
      return bed;
    }
    try {
      bed.session = start_session(*candidate->device, default_engine_options());
      return bed;
    } catch (const DeviceError& error) {
      bed.fallback = error.what();
    }
  }
  throw DeviceError(bed.fallback);
}

void check_memory(const TestBed& bed, const std::string& subject, double bytes,
                  double buffer_bytes) {
  constexpr double gigabyte = 1e9;
  const auto refuse = [&](double needed, const std::string& what, double available) {
    throw UsageError(formatted("{}: takes {:.3g} GB {}; {} GB are available", subject,
                               needed / gigabyte, what, formatted("{:.3g}", available / gigabyte)));
  };
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > memory) refuse(bytes, "of memory", memory);
  if (!bed.session) return;
  const auto largest = static_cast<double>(bed.session->device().max_allocation);
  if (buffer_bytes > largest)
    refuse(buffer_bytes, formatted("in one buffer of {}", bed.session->device().name), largest);
}

bool has_gpu(const TestBed& bed) {
  return bed.session && bed.session->device().kind == DeviceKind::gpu;
}

}  // namespace gpufilter::lab
