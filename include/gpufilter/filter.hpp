// Chains of stages on a device: for pixels in memory, for files and for folders.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpufilter/control.hpp>
#include <gpufilter/error.hpp>
#include <gpufilter/path_name.hpp>
#include <gpufilter/picture.hpp>
#include <gpufilter/stage_use.hpp>

namespace gpufilter {

// Stages from words of the command line: "--blur auto --color sepia". Quotes work as in a shell,
// and @FILE is replaced by the words in FILE. A parameter belongs to the stage before it; before
// the first stage it is the default for all stages that take it. Throws UsageError for a word that
// is neither a stage nor a parameter of one; values are checked by PictureFilter.
[[nodiscard]] std::vector<StageUse> parse_stages(std::string_view words);
// The stages in words that are separated already.
[[nodiscard]] std::vector<StageUse> parse_stages(const std::vector<std::string>& words);

// A parameter of a stage, for programs that offer stages to their users.
struct ParameterDescription {
  std::string name;           // without dashes: "border"
  std::string form;           // of its values: "replicate|mirror|wrap|constant"
  std::string default_value;  // "replicate"
  std::string help;           // sentences
};

// A stage, for programs that offer stages to their users.
struct StageDescription {
  std::string name;  // without dashes: "blur"
  std::string form;  // of its values: "naive|tiled|auto"; empty if it takes none
  std::string help;  // sentences
  std::vector<ParameterDescription> parameters;  // those that it takes
};

// All stages, in the order of the help.
[[nodiscard]] std::vector<StageDescription> stage_descriptions();

// The options of file formats by their names: {{"quality", "85"}, {"strip", "on"}}. Options of
// formats other than the output's are ignored. "gpufilter --help-all" lists them.
using FormatOptions = std::map<std::string, std::string>;

// How a filter works.
struct FilterSettings {
  // "auto" (what finishes first), "cpu", "gpu", "opencl", "all", or a device's index or a part of
  // its name; see devices().
  std::string device = "auto";
  // Fail if the device does not work; otherwise the processor does the work.
  bool require_device = false;
  // The limits of each call.
  Limits limits = {};
  // When the orientation in EXIF or XMP is applied: "auto" (before the first stage that depends on
  // it, such as resize or overlay), "apply" (at the beginning), "keep" (only by auto_orient).
  std::string orientation = "auto";
};

// The result of a run.
struct FilterResult {
  int width = 0;                   // of the result, pixels
  int height = 0;                  // of the result, pixels
  std::uint64_t output_bytes = 0;  // of the file; 0 for pixels in memory
  std::string device;              // the device that did the work
  std::string reason;              // why this device
  double seconds = 0;              // from the call until the output was complete
  int channels = 0;                // of the result
  int depth = 0;                   // of the result, bits per sample
};

// What to do with an output that already exists.
enum class Existing { fail, skip, overwrite };

// One picture of a folder, once it is finished.
struct FolderPicture {
  // done; skipped, because its output exists; or failed.
  enum class Status { done, skipped, failed };
  std::string input;             // path
  std::string output;            // path
  Status status = Status::done;  // what became of it
  std::string reason;            // why it failed
};

// Which pictures of a folder are filtered, and how they are written.
struct FolderSettings {
  bool recursive = false;               // subfolders as well
  std::vector<std::string> match = {};  // patterns of names, "img*.png"; empty: all pictures
  std::string to = {};                  // the format, "png"; empty: each picture keeps its own
  FormatOptions options = {};           // of the outputs' formats
  Existing existing = Existing::fail;   // what to do with outputs that exist
  int jobs = 0;                         // pictures in progress; 0: as many as threads
  bool resume = false;                  // continue an earlier run: skip what it completed
  bool stop_on_error = false;           // start no more pictures after one that fails
  // Called for each picture, by one thread at a time. May be empty.
  std::function<void(const FolderPicture&)> finished = {};
};

// The result of filtering a folder.
struct FolderResult {
  std::size_t done = 0;                    // pictures
  std::size_t skipped = 0;                 // pictures
  std::vector<FolderPicture> failed = {};  // in the order in which they ended
  double seconds = 0;                      // from the call until all were done
};

// A chain of stages on a device. Keep this object for many pictures: it prepares its work once. All
// functions may be called by several threads at the same time.
//
// After a fork, the child may use the object as well; there the processor does the work, because
// devices do not survive a fork. A filter that the child makes uses any device.
class PictureFilter {
 public:
  // Throws UsageError for unknown or invalid stages, parameters and devices. The device is searched
  // for in the background: run() throws DeviceError if that fails. No stages: pixels are copied.
  explicit PictureFilter(const std::vector<StageUse>& stages, const FilterSettings& settings = {});
  // Stages as a list in braces: {blur{}, color{"sepia"}} or {{"blur", "auto"}}.
  explicit PictureFilter(std::initializer_list<StageUse> stages,
                         const FilterSettings& settings = {})
      : PictureFilter(std::vector<StageUse>(stages), settings) {}
  // A filter on this device, with the defaults of the other settings.
  template <std::convertible_to<std::string> Device>
  PictureFilter(const std::vector<StageUse>& stages, const Device& device)
      : PictureFilter(stages, FilterSettings{.device = device}) {}
  // A filter on this device; stages as a list in braces.
  template <std::convertible_to<std::string> Device>
  PictureFilter(std::initializer_list<StageUse> stages, const Device& device)
      : PictureFilter(std::vector<StageUse>(stages), FilterSettings{.device = device}) {}
  // Waits for devices that are being started.
  ~PictureFilter();
  // The other filter can only be destroyed or assigned to afterwards.
  PictureFilter(PictureFilter&& other) noexcept;
  // The other filter can only be destroyed or assigned to afterwards.
  PictureFilter& operator=(PictureFilter&& other) noexcept;

  // The shape of the result for pixels of shape `input`, which have no metadata. Throws UsageError
  // if the stages cannot work on such a picture, or if the shape depends on the pixels (trim).
  [[nodiscard]] Shape result_shape(const Shape& input) const;
  // The shape of the result for this picture, whose orientation may matter. Throws as above.
  [[nodiscard]] Shape result_shape(const Picture& input) const;

  // Filters `input` into a new picture. Throws UsageError if the view is not one of a picture or
  // the stages cannot work on it, PictureError if a limit is exceeded, DeviceError if a device that
  // is required does not work, Stopped, std::bad_alloc.
  [[nodiscard]] Picture run(const ConstView& input, const RunControl& control = {}) const;

  // Filters a picture with metadata: they are carried over, stages that depend on them (--linear)
  // use them, and the picture is turned upright, as for files.
  [[nodiscard]] Picture run(const Picture& input, const RunControl& control = {}) const;

  // Filters `input` into the caller's memory, whose shape has to be result_shape()'s. The two may
  // overlap; then the input is copied first. Throws as above, and UsageError if `output` has
  // another shape; if it throws, the contents of the output are unspecified.
  FilterResult run(const ConstView& input, const View& output,
                   const RunControl& control = {}) const;
  // Filters a picture with metadata, used as above, into the caller's memory.
  FilterResult run(const Picture& input, const View& output, const RunControl& control = {}) const;
  // Filters a picture with metadata into the pixels of another, or of itself; the metadata of the
  // result replace those of `output`.
  FilterResult run(const Picture& input, Picture& output, const RunControl& control = {}) const;

  // Filters the file `input` into `output`, whose name decides the format; "-" is standard input or
  // output. The output appears complete or not at all. Throws UsageError, also for unknown
  // options, PictureError if a file cannot be read or written or exceeds a limit, DeviceError,
  // Stopped.
  FilterResult run(const PathName& input, const PathName& output, const FormatOptions& options = {},
                   const RunControl& control = {}) const;

  // Filters the bytes of a file into those of another, whose format is an extension of a name:
  // "png", "jpg". They replace what `output` holds. Throws as above.
  FilterResult run(std::span<const std::uint8_t> input, std::vector<std::uint8_t>& output,
                   std::string_view format, const FormatOptions& options = {},
                   const RunControl& control = {}) const;
  // Filters the bytes of a file into the file `output`.
  FilterResult run(std::span<const std::uint8_t> input, const PathName& output,
                   const FormatOptions& options = {}, const RunControl& control = {}) const;
  // Filters the file `input` into the bytes of a file.
  FilterResult run(const PathName& input, std::vector<std::uint8_t>& output,
                   std::string_view format, const FormatOptions& options = {},
                   const RunControl& control = {}) const;

  // Filters the pictures in the folder `input` into the folder `output`, which is created if it
  // does not exist. A picture that fails does not affect the others. Throws UsageError before
  // anything is written, PictureError if a folder cannot be read or written, DeviceError; Stopped,
  // once the pictures in progress are done.
  FolderResult run_folder(const PathName& input, const PathName& output,
                          const FolderSettings& settings = {},
                          const RunControl& control = {}) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
