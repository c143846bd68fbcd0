// Limits of a call, its progress, and how to stop it.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include <gpufilter/error.hpp>

namespace gpufilter {

// Limits of a call.
struct Limits {
  // Pictures with more pixels are refused, results as well.
  std::uint64_t max_pixels = 500'000'000;
  // Bytes for the parts of a file that are in progress. More than a gigabyte also allows larger
  // files that have to be held as a whole (interlaced PNG, progressive JPEG).
  std::uint64_t max_memory = std::uint64_t{128} << 20U;
  // Threads of one call, including the one that calls; 0: all cores that the process may use.
  int threads = 0;
};

// A call ended because its stop token requested it. No output has appeared; the contents of memory
// to write to are unspecified.
class Stopped : public Error {
 public:
  using Error::Error;
};

// How one call is watched and stopped.
struct RunControl {
  // Called with the finished fraction, 0 to 1, never decreasing; by one thread at a time, not
  // necessarily the caller's. An exception that it throws ends the call and propagates. May be
  // empty.
  std::function<void(double done)> progress = {};
  // Once a stop is requested, the call soon throws Stopped.
  std::stop_token stop = {};
};

}  // namespace gpufilter
