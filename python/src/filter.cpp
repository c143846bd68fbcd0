#include "filter.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gpufilter/filter.hpp>
#include <pybind11/stl.h>

#include "calls.hpp"
#include "interrupt.hpp"
#include "picture.hpp"
#include "pixels.hpp"

namespace py = pybind11;
using namespace py::literals;  // NOLINT(google-build-using-namespace): for _a

namespace gpufilter::python {
namespace {

// Calls known to be brief, so that no signal has to be handled meanwhile: those with pictures no
// larger than one that took less than a few milliseconds. They avoid the switch to another thread
// and back, which takes longer than the blur of a small picture.
class BriefCalls {
 public:
  [[nodiscard]] bool include(const Shape& shape) const {
    return pixels(shape) <= largest_[kind(shape)].load(std::memory_order_relaxed);
  }

  // Calls work(), which filters a picture of this shape, and measures it.
  template <typename Work>
  void measure(const Shape& shape, const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const auto taken = std::chrono::steady_clock::now() - begin;
    auto& largest = largest_[kind(shape)];
    if (taken > std::chrono::milliseconds(10)) {
      if (include(shape)) largest.store(0, std::memory_order_relaxed);
    } else if (!include(shape)) {
      largest.store(pixels(shape), std::memory_order_relaxed);
    }
  }

 private:
  static std::int64_t pixels(const Shape& shape) {
    return std::int64_t{shape.width} * shape.height;
  }
  static std::size_t kind(const Shape& shape) {
    return static_cast<std::size_t>(3 * (shape.channels - 1) + shape.depth / 16);
  }

  std::array<std::atomic<std::int64_t>, 12> largest_{};  // pixels, by channels and depth
};

class Filter {
 public:
  Filter(const std::vector<StageUse>& stages, const FilterSettings& settings)
      : filter_(stages, settings) {}

  SharedPicture call(py::handle pixels, const Watch& watch) {
    Picture result;
    if (py::isinstance<SharedPicture>(pixels)) {
      const Picture& picture = pixels.cast<const SharedPicture&>();
      run(picture.shape(), watch,
          [&](const RunControl& control) { result = filter_.run(picture, control); });
    } else {
      const Source source(pixels);
      run(source.view().shape(), watch,
          [&](const RunControl& control) { result = filter_.run(source.view(), control); });
    }
    return SharedPicture(std::move(result));
  }

  // A Picture's metadata are used, and a target Picture gets the result's.
  void call_into(py::handle pixels, py::handle out, const Watch& watch) {
    if (!py::isinstance<SharedPicture>(pixels)) {
      const Source source(pixels);
      const Target target(out);
      return run(source.view().shape(), watch, [&](const RunControl& control) {
        filter_.run(source.view(), target.view(), control);
      });
    }
    const Picture& picture = pixels.cast<const SharedPicture&>();
    if (py::isinstance<SharedPicture>(out)) {
      Picture& result = out.cast<SharedPicture&>();
      return run(picture.shape(), watch,
                 [&](const RunControl& control) { filter_.run(picture, result, control); });
    }
    const Target target(out);
    run(picture.shape(), watch,
        [&](const RunControl& control) { filter_.run(picture, target.view(), control); });
  }

  // (shape of an array, depth)
  [[nodiscard]] py::tuple result_shape(int height, int width, int channels, int depth) const {
    return described(filter_.result_shape({width, height, channels, depth}));
  }
  [[nodiscard]] py::tuple result_shape_of(const SharedPicture& picture) const {
    return described(filter_.result_shape(picture));
  }

  [[nodiscard]] const PictureFilter& get() const { return filter_; }

 private:
  static py::tuple described(const Shape& result) {
    return py::make_tuple(array_shape(result), result.depth);
  }

  // Runs `work` without the GIL.
  void run(const Shape& shape, const Watch& watch,
           const std::function<void(const RunControl&)>& work) {
    if (watch.is_empty() && brief_.include(shape)) {
      const WithoutGil others_may_run;
      const NativeWork native;
      brief_.measure(shape, [&] { work({}); });
    } else {
      run_interruptibly(
          [&](const RunControl& control) { brief_.measure(shape, [&] { work(control); }); }, watch);
    }
  }

  PictureFilter filter_;
  BriefCalls brief_;
};

// The destructor of a filter waits for devices that are being started.
struct DeleteFilter {
  void operator()(Filter* filter) const {
    const WithoutGil others_may_run;
    const NativeWork native;
    delete filter;
  }
};

// (name, value, parameters) of a stage, and of those that are given the file in memory or None.
using StageTuple = std::tuple<std::string, std::string, std::map<std::string, std::string>>;
using GivenStage =
    std::tuple<std::string, std::string, std::map<std::string, std::string>, py::object>;

std::vector<StageUse> stage_uses(const std::vector<GivenStage>& stages) {
  std::vector<StageUse> uses;
  for (const auto& [name, value, parameters, file] : stages) {
    StageUse& use = uses.emplace_back(StageUse{name, value, parameters});
    if (!file.is_none()) use.files.emplace(name, PackedBytes(file).bytes());
  }
  return uses;
}

// The file of a table for lut; size 0: of curves.
py::bytes color_table_file(py::handle colors, int size) {
  const PackedBytes packed(colors);
  const std::span numbers(static_cast<const float*>(packed.data()), packed.size() / sizeof(float));
  const StageFile file = size == 0 ? color_curves(numbers) : color_table(numbers, size);
  return {reinterpret_cast<const char*>(file.bytes()->data()), file.bytes()->size()};
}

std::vector<StageTuple> stage_tuples(const std::vector<StageUse>& uses) {
  std::vector<StageTuple> stages;
  for (const StageUse& use : uses)
    stages.emplace_back(use.name, use.value, use.parameters);
  return stages;
}

std::unique_ptr<Filter, DeleteFilter> make_filter(const std::vector<GivenStage>& stages,
                                                  const std::string& device, bool require_device,
                                                  const Limits& limits,
                                                  const std::string& orientation) {
  const auto uses = stage_uses(stages);
  const WithoutGil others_may_run;
  const NativeWork native;
  return std::unique_ptr<Filter, DeleteFilter>(new Filter(uses, {.device = device,
                                                                 .require_device = require_device,
                                                                 .limits = limits,
                                                                 .orientation = orientation}));
}

py::dict result_of(const FilterResult& result) {
  return py::dict("width"_a = result.width, "height"_a = result.height,
                  "channels"_a = result.channels, "depth"_a = result.depth,
                  "output_bytes"_a = result.output_bytes, "device"_a = result.device,
                  "reason"_a = result.reason, "seconds"_a = result.seconds);
}

// `input` and `output` are paths, or the bytes of a file and a format. Returns the result and the
// bytes of the output.
py::tuple run_file(const Filter& filter, const py::object& input, bool is_path,
                   const std::string& output, bool is_format, const FormatOptions& options,
                   const Watch& watch) {
  const PackedBytes bytes(input);
  const std::string path = is_path ? input.cast<std::string>() : "";
  const PictureFilter& native = filter.get();
  FilterResult result;
  std::vector<std::uint8_t> written;
  run_interruptibly(
      [&](const RunControl& control) {
        if (is_path && is_format) {
          result = native.run(path, written, output, options, control);
        } else if (is_path) {
          result = native.run(path, output, options, control);
        } else if (is_format) {
          result = native.run(bytes.bytes(), written, output, options, control);
        } else {
          result = native.run(bytes.bytes(), output, options, control);
        }
      },
      watch);
  const auto* data = reinterpret_cast<const char*>(written.data());
  return py::make_tuple(result_of(result), py::bytes(data, written.size()));
}

// Paths may hold any bytes.
py::object path_object(const std::string& path) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<py::ssize_t>(path.size())));
}

py::dict folder_picture(const FolderPicture& picture) {
  static constexpr const char* names[] = {"done", "skipped", "failed"};
  return py::dict("input"_a = path_object(picture.input), "output"_a = path_object(picture.output),
                  "status"_a = names[static_cast<int>(picture.status)],
                  "reason"_a = picture.reason);
}

py::dict folder_result(const FolderResult& result) {
  py::list failed;
  for (const FolderPicture& picture : result.failed)
    failed.append(folder_picture(picture));
  return py::dict("done"_a = result.done, "skipped"_a = result.skipped, "failed"_a = failed,
                  "seconds"_a = result.seconds);
}

// Hands the pictures that are finished from the threads of the run to Python's callback.
class FinishedPictures {
 public:
  void add(const FolderPicture& picture) {
    const std::lock_guard lock(mutex_);
    pictures_.push_back(picture);
  }

  void tell(const py::object& callback) {
    std::vector<FolderPicture> pictures;
    {
      const std::lock_guard lock(mutex_);
      pictures.swap(pictures_);
    }
    for (const FolderPicture& picture : pictures)
      callback(folder_picture(picture));
  }

 private:
  std::mutex mutex_;
  std::vector<FolderPicture> pictures_;
};

// `settings` has FolderSettings' members by name.
FolderSettings folder_settings(const py::dict& settings) {
  static const std::map<std::string, Existing> choices{
      {"fail", Existing::fail}, {"skip", Existing::skip}, {"overwrite", Existing::overwrite}};
  const auto existing = choices.find(settings["existing"].cast<std::string>());
  if (existing == choices.end()) throw UsageError("existing: choose fail, skip or overwrite");
  return {.recursive = settings["recursive"].cast<bool>(),
          .match = settings["match"].cast<std::vector<std::string>>(),
          .to = settings["to"].cast<std::string>(),
          .options = settings["options"].cast<FormatOptions>(),
          .existing = existing->second,
          .jobs = settings["jobs"].cast<int>(),
          .resume = settings["resume"].cast<bool>(),
          .stop_on_error = settings["stop_on_error"].cast<bool>()};
}

py::dict run_folder(const Filter& filter, const std::string& input, const std::string& output,
                    const py::dict& given, const py::object& finished, Watch watch) {
  FolderSettings settings = folder_settings(given);
  FinishedPictures pictures;
  if (!finished.is_none())
    settings.finished = [&](const FolderPicture& picture) { pictures.add(picture); };
  watch.report = [&] { pictures.tell(finished); };
  FolderResult result;
  run_interruptibly(
      [&](const RunControl& control) {
        result = filter.get().run_folder(input, output, settings, control);
      },
      watch);
  return folder_result(result);
}

}  // namespace

void define_filter(py::module_& module) {
  py::class_<Limits>(module, "Limits")
      .def(py::init([](std::uint64_t max_pixels, std::uint64_t max_memory, int threads) {
             return Limits{max_pixels, max_memory, threads};
           }),
           py::kw_only(), "max_pixels"_a = Limits{}.max_pixels,
           "max_memory"_a = Limits{}.max_memory, "threads"_a = Limits{}.threads);
  py::class_<Watch>(module, "Watch")
      .def(py::init([](const py::object& progress, const py::object& stop) {
             return Watch{progress, stop};
           }),
           "progress"_a, "stop"_a);
  py::class_<Filter, std::unique_ptr<Filter, DeleteFilter>>(module, "Filter")
      .def(py::init(&make_filter), "stages"_a, "device"_a, "require_device"_a, "limits"_a,
           "orientation"_a)
      .def("call", &Filter::call, "pixels"_a, "watch"_a)
      .def("call_into", &Filter::call_into, "pixels"_a, "out"_a, "watch"_a)
      .def("result_shape", &Filter::result_shape, "height"_a, "width"_a, "channels"_a, "depth"_a)
      .def("result_shape_of", &Filter::result_shape_of, "picture"_a)
      .def("run", &run_file, "input"_a, "is_path"_a, "output"_a, "is_format"_a, "options"_a,
           "watch"_a)
      .def("run_folder", &run_folder, "input"_a, "output"_a, "settings"_a, "finished"_a, "watch"_a);
  module.def("color_table", color_table_file, "colors"_a, "size"_a);
  module.def(
      "parse_stages", [](const std::string& words) { return stage_tuples(parse_stages(words)); },
      "words"_a);
  module.def(
      "parse_stages",
      [](const std::vector<std::string>& words) { return stage_tuples(parse_stages(words)); },
      "words"_a);
}

}  // namespace gpufilter::python
