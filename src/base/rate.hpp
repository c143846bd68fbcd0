// How long an operation takes, as far as whoever does it knows before anything was measured.
#pragma once

#include <string>
#include <utility>

namespace gpufilter {

struct Rate {
  Rate() = default;
  Rate(std::string operation, double host_seconds, double device_seconds)
      : kind(std::move(operation)), host(host_seconds), device(device_seconds) {}

  // "blur 8": what is measured under one name takes the same time for an operation.
  std::string kind;
  // Seconds for an operation, until runs have measured it (RateStore): on one core with AVX2, and
  // on a desktop GPU with 400 GB/s of memory bandwidth on PCIe 3. 0: it is not done there.
  double host = 0;
  double device = 0;
};

}  // namespace gpufilter
