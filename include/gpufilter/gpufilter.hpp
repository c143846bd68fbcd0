// gpufilter as a library: pictures from file to file, through a chain of stages. "gpufilter --help"
// lists and explains stages, options and devices; names have no dashes here.
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
  std::string device;  // the device that did the work
  std::string reason;  // why this device
  double seconds = 0;  // from the call until the output was in place
};

// For the beginning of main(): lets this program be started again, in a process of its own, to
// probe an OpenCL driver, which may crash there without harm. Does not return in such a process,
// and does nothing in others. Programs without this call need the program "gpufilter" of the same
// version in PATH; without that either, no OpenCL device is used, and the processor does the work.
void answer_probes(int argc, const char* const* argv);

// A chain of stages on a device. The device is prepared only once, so keep this object for many
// pictures. Thread-safe.
class PictureFilter {
 public:
  // Throws UsageError for unknown or invalid stages and parameters. The device is searched for in
  // the background: run() throws the errors of that search.
  explicit PictureFilter(const std::vector<StageUse>& stages, const std::string& device = "auto");
  ~PictureFilter();
  PictureFilter(PictureFilter&&) noexcept;
  PictureFilter& operator=(PictureFilter&&) noexcept;

  // Filters `input` into `output`, whose name decides the format; "-" is standard input or output.
  // `options` are those of the output's format: {{"quality", "85"}}. The output appears complete
  // or not at all. Throws UsageError, PictureError, DeviceError.
  FilterResult run(const std::string& input, const std::string& output,
                   const std::map<std::string, std::string>& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
