#include "files.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gpufilter/devices.hpp>
#include <gpufilter/files.hpp>
#include <pybind11/stl.h>

#include "interrupt.hpp"
#include "memory.hpp"
#include "picture.hpp"
#include "pixels.hpp"

namespace py = pybind11;
using namespace py::literals;  // NOLINT(google-build-using-namespace): for _a

namespace gpufilter::python {
namespace {

// Calls work(pixels, control), where the pixels are a Picture or a ConstView.
template <typename Work>
void with_pixels(py::handle object, const Work& work) {
  if (py::isinstance<SharedPicture>(object)) {
    const Picture& picture = object.cast<const SharedPicture&>();
    run_interruptibly([&](const RunControl& control) { work(picture, control); });
  } else {
    const Source source(object);
    run_interruptibly([&](const RunControl& control) { work(source.view(), control); });
  }
}

bool is_whole(const ReadPart& part) {
  return part.region.empty() && part.size.empty();
}

SharedPicture read_file(const std::string& path, const std::string& region, const std::string& size,
                        const Limits& limits) {
  const ReadPart part{region, size};
  Picture picture;
  run_interruptibly([&](const RunControl& control) {
    picture = is_whole(part) ? read(path, limits, control) : read_part(path, part, limits, control);
  });
  return SharedPicture(std::move(picture));
}

SharedPicture decode_bytes(py::handle encoded, const std::string& region, const std::string& size,
                           const Limits& limits) {
  const ReadPart part{region, size};
  const PackedBytes bytes(encoded);
  Picture picture;
  run_interruptibly([&](const RunControl& control) {
    picture = is_whole(part) ? decode(bytes.bytes(), limits, control)
                             : decode_part(bytes.bytes(), part, limits, control);
  });
  return SharedPicture(std::move(picture));
}

py::dict header_of(const FileHeader& header) {
  return py::dict("shape"_a = array_shape(header.shape), "depth"_a = header.shape.depth,
                  "file_format"_a = header.file_format, "orientation"_a = header.orientation);
}

py::dict open_file_header(const std::string& path, const Limits& limits) {
  FileHeader header;
  run_interruptibly([&](const RunControl& /*control*/) { header = open_header(path, limits); });
  return header_of(header);
}

py::dict open_encoded_header(py::handle encoded, const Limits& limits) {
  const PackedBytes bytes(encoded);
  return header_of(open_header(bytes.bytes(), limits));
}

std::uint64_t write_file(const std::string& path, py::handle pixels, const FormatOptions& options) {
  std::uint64_t bytes = 0;
  with_pixels(pixels, [&](const auto& view, const RunControl& control) {
    bytes = write(path, view, options, control);
  });
  return bytes;
}

py::bytes encode_pixels(const std::string& format, py::handle pixels,
                        const FormatOptions& options) {
  std::vector<std::uint8_t> bytes;
  with_pixels(pixels, [&](const auto& view, const RunControl& control) {
    bytes = encode(format, view, options, control);
  });
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

py::list all_devices() {
  std::vector<Device> found;
  run_interruptibly([&](const RunControl& /*control*/) { found = devices(); });
  py::list list;
  for (const Device& device : found) {
    list.append(py::dict(
        "index"_a = device.index, "name"_a = device.name, "kind"_a = device.kind,
        "vendor"_a = device.vendor, "platform"_a = device.platform,
        "platform_version"_a = device.platform_version, "driver_version"_a = device.driver_version,
        "compute_units"_a = device.compute_units, "memory"_a = device.memory,
        "max_allocation"_a = device.max_allocation, "unified_memory"_a = device.unified_memory,
        "unusable"_a = device.unusable));
  }
  return list;
}

py::list all_formats() {
  py::list list;
  for (const FormatDescription& format : formats())
    list.append(py::dict("name"_a = format.name, "extensions"_a = format.extensions,
                         "options"_a = format.options));
  return list;
}

}  // namespace

void define_files(py::module_& module) {
  module.def("read", read_file, "path"_a, "region"_a, "size"_a, "limits"_a);
  module.def("decode", decode_bytes, "encoded"_a, "region"_a, "size"_a, "limits"_a);
  module.def("open_header", open_file_header, "path"_a, "limits"_a);
  module.def("open_encoded_header", open_encoded_header, "encoded"_a, "limits"_a);
  module.def("write", write_file, "path"_a, "pixels"_a, "options"_a);
  module.def("encode", encode_pixels, "format"_a, "pixels"_a, "options"_a);
  module.def("devices", all_devices);
  module.def("formats", all_formats);
  module.def(
      "set_probe_program", [](const std::string& path) { set_probe_program(path); }, "path"_a);
}

}  // namespace gpufilter::python
