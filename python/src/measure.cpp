#include "measure.hpp"

#include <string>

#include <gpufilter/measure.hpp>
#include <pybind11/stl.h>

#include "interrupt.hpp"
#include "picture.hpp"
#include "pixels.hpp"

namespace py = pybind11;
using namespace py::literals;  // NOLINT(google-build-using-namespace): for _a

namespace gpufilter::python {
namespace {

py::dict stats_result(const Stats& stats) {
  py::list channels;
  for (const ChannelStats& channel : stats.channels) {
    channels.append(py::dict("name"_a = channel.name, "minimum"_a = channel.minimum,
                             "maximum"_a = channel.maximum, "sum"_a = channel.sum,
                             "sum_of_squares"_a = channel.sum_of_squares, "mean"_a = channel.mean,
                             "deviation"_a = channel.deviation, "bit_and"_a = channel.bit_and,
                             "bit_or"_a = channel.bit_or, "bit_xor"_a = channel.bit_xor,
                             "histogram"_a = channel.histogram));
  }
  return py::dict("shape"_a = array_shape(stats.shape), "depth"_a = stats.shape.depth,
                  "channels"_a = channels);
}

py::dict stats_of_file(const std::string& path, const Limits& limits) {
  Stats result;
  run_interruptibly([&](const RunControl& control) { result = stats(path, limits, control); });
  return stats_result(result);
}

py::dict stats_of_pixels(py::handle pixels, const Limits& limits) {
  const Source source(pixels);
  Stats result;
  run_interruptibly(
      [&](const RunControl& control) { result = stats(source.view(), limits, control); });
  return stats_result(result);
}

py::object pixel_result(const std::optional<PixelDifference>& pixel, int channels) {
  if (!pixel) return py::none();
  const auto samples = [channels](const std::array<std::uint32_t, 4>& all) {
    return py::tuple(py::cast(std::vector<std::uint32_t>(all.begin(), all.begin() + channels)));
  };
  return py::dict("x"_a = pixel->x, "y"_a = pixel->y, "a"_a = samples(pixel->a),
                  "b"_a = samples(pixel->b));
}

py::dict compare_result(const Differences& differences) {
  static constexpr const char* verdicts[] = {"equal", "within tolerance", "different",
                                             "other shape"};
  py::list channels;
  for (const ChannelDifferences& channel : differences.channels) {
    channels.append(py::dict("name"_a = channel.name, "differing"_a = channel.differing,
                             "beyond_tolerance"_a = channel.beyond_tolerance,
                             "maximum"_a = channel.maximum, "mean"_a = channel.mean));
  }
  return py::dict(
      "verdict"_a = verdicts[static_cast<int>(differences.verdict)],
      "a_shape"_a = array_shape(differences.a), "b_shape"_a = array_shape(differences.b),
      "differing_pixels"_a = differences.differing_pixels,
      "pixels_beyond_tolerance"_a = differences.pixels_beyond_tolerance,
      "maximum"_a = differences.maximum, "mean"_a = differences.mean, "channels"_a = channels,
      "first"_a = pixel_result(differences.first, differences.a.channels),
      "worst"_a = pixel_result(differences.worst, differences.a.channels),
      "psnr"_a = differences.psnr, "ssim"_a = differences.ssim);
}

CompareSettings settings_of(std::uint32_t tolerance, double fail_percent, bool similarity,
                            const Limits& limits) {
  return {.tolerance = tolerance,
          .fail_percent = fail_percent,
          .similarity = similarity,
          .limits = limits};
}

py::dict compare_files(const std::string& a, const std::string& b, std::uint32_t tolerance,
                       double fail_percent, bool similarity, const Limits& limits) {
  const CompareSettings settings = settings_of(tolerance, fail_percent, similarity, limits);
  Differences result;
  run_interruptibly([&](const RunControl& control) { result = compare(a, b, settings, control); });
  return compare_result(result);
}

py::dict compare_pixels(py::handle a, py::handle b, std::uint32_t tolerance, double fail_percent,
                        bool similarity, const Limits& limits) {
  const CompareSettings settings = settings_of(tolerance, fail_percent, similarity, limits);
  const Source first(a);
  const Source second(b);
  Differences result;
  run_interruptibly([&](const RunControl& control) {
    result = compare(first.view(), second.view(), settings, control);
  });
  return compare_result(result);
}

}  // namespace

void define_measure(py::module_& module) {
  module.def("stats_of_file", stats_of_file, "path"_a, "limits"_a);
  module.def("stats_of_pixels", stats_of_pixels, "pixels"_a, "limits"_a);
  module.def("compare_files", compare_files, "a"_a, "b"_a, "tolerance"_a, "fail_percent"_a,
             "similarity"_a, "limits"_a);
  module.def("compare_pixels", compare_pixels, "a"_a, "b"_a, "tolerance"_a, "fail_percent"_a,
             "similarity"_a, "limits"_a);
}

}  // namespace gpufilter::python
