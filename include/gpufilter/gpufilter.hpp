// gpufilter as a library: pictures from file to file, through a chain of stages. What stages,
// options and devices there are, and what they mean, "gpufilter --help" says; names have no dashes
// here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gpufilter/error.hpp>

namespace gpufilter {

// One use of a stage: {"blur", "tiled", {{"tile", "32"}, {"border", "mirror"}}}.
struct StageUse {
  std::string name;
  std::string value;
  std::map<std::string, std::string> parameters = {};
};

struct FilterResult {
  int width = 0;   // pixels
  int height = 0;  // pixels
  std::uint64_t output_bytes = 0;
  std::string device;  // that did the work
  std::string reason;  // why this device
  double seconds = 0;  // from the call until the output was in its place
};

// A chain of stages on a device. What a device needs is prepared once, so keep it for many
// pictures; it may be used by several threads.
class PictureFilter {
 public:
  // Throws UsageError for stages and parameters that do not exist or do not fit. The device is
  // looked for in the background: run() throws what goes wrong with it.
  explicit PictureFilter(const std::vector<StageUse>& stages, const std::string& device = "auto");
  ~PictureFilter();
  PictureFilter(PictureFilter&&) noexcept;
  PictureFilter& operator=(PictureFilter&&) noexcept;

  // Filters `input` into `output`, whose name decides the format; "-" is standard input or output.
  // `options` are those of the output's format: {{"quality", "85"}}. The output appears whole or
  // not at all. Throws UsageError, PictureError, DeviceError.
  FilterResult run(const std::string& input, const std::string& output,
                   const std::map<std::string, std::string>& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
