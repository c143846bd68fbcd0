#include "picture.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gpufilter/files.hpp>

#include "calls.hpp"
#include "pixels.hpp"

namespace py = pybind11;
using namespace py::literals;  // NOLINT(google-build-using-namespace): for _a

namespace gpufilter::python {
namespace {

int dimensions_of(const Shape& shape) {
  return shape.channels == 1 ? 2 : 3;
}

// Rows have no gaps between them.
py::ssize_t bytes_in(const Picture& picture) {
  return static_cast<py::ssize_t>(picture.pitch()) * picture.height();
}

// The buffer protocol. pybind11's own implementation needs a function for the end of the view, and
// functions that take "bytes-like objects" refuse objects with such a function; Pillow uses them.
int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  auto& picture = py::handle(object).cast<SharedPicture&>();
  static char byte_format[] = "B";
  static char word_format[] = "H";
  static char float_format[] = "f";
  char* const format = picture.depth() == 8    ? byte_format
                       : picture.depth() == 16 ? word_format
                                               : float_format;
  view->obj = Py_NewRef(object);
  view->buf = picture.data();
  view->len = bytes_in(picture);
  view->itemsize = picture.depth() / 8;
  view->readonly = 0;
  view->format = (flags & PyBUF_FORMAT) == 0 ? nullptr : format;
  view->ndim = (flags & PyBUF_ND) == 0 ? 1 : dimensions_of(picture.shape());
  view->shape = (flags & PyBUF_ND) == 0 ? nullptr : picture.sizes.data();
  view->strides = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ? nullptr : picture.strides.data();
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void set_slots(const py::object& type) {
  auto* slots = reinterpret_cast<PyHeapTypeObject*>(type.ptr());
  slots->as_buffer.bf_getbuffer = get_buffer;
  slots->as_buffer.bf_releasebuffer = nullptr;
  slots->ht_type.tp_init = PyBaseObject_Type.tp_init;  // __new__ has done everything
  slots->ht_type.tp_name = "gpufilter.Picture";
}

py::dict interface_of(SharedPicture& picture) {
  const std::string order = std::endian::native == std::endian::little ? "<" : ">";
  const std::string type =
      picture.depth() == 8 ? "|u1" : order + (picture.depth() == 16 ? "u2" : "f4");
  const auto address = reinterpret_cast<std::uintptr_t>(picture.data());
  return py::dict("version"_a = 3, "typestr"_a = type, "shape"_a = array_shape(picture.shape()),
                  "strides"_a = py::none(), "data"_a = py::make_tuple(address, false));
}

py::bytes bytes_of(const SharedPicture& picture) {
  return {static_cast<const char*>(picture.data()), static_cast<std::size_t>(bytes_in(picture))};
}

py::bytes as_bytes(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The function that pickle calls, and its arguments: pixels and all metadata.
py::tuple reduced(const SharedPicture& picture) {
  const py::object restore = py::module_::import("gpufilter._functions").attr("restored_picture");
  return py::make_tuple(
      restore, py::make_tuple(picture.width(), picture.height(), picture.channels(),
                              picture.depth(), bytes_of(picture), as_bytes(picture.metadata())));
}

SharedPicture restored_picture(int width, int height, int channels, int depth,
                               const py::bytes& bytes, const py::bytes& metadata) {
  Picture picture(Shape{width, height, channels, depth});
  if (PyBytes_GET_SIZE(bytes.ptr()) != bytes_in(picture))
    throw py::value_error("the state of a Picture is damaged");
  std::memcpy(picture.data(), PyBytes_AS_STRING(bytes.ptr()),
              static_cast<std::size_t>(bytes_in(picture)));
  const PackedBytes packed(metadata);
  picture.set_metadata(packed.bytes());
  return picture;
}

// A setter for metadata in bytes; None removes them.
template <typename Set>
auto setting_bytes(Set set) {
  return [set](SharedPicture& picture, const py::object& given) {
    const PackedBytes packed(given.is_none() ? py::bytes() : given);
    (picture.*set)(packed.bytes());
  };
}

py::object density_of(const SharedPicture& picture) {
  const auto density = picture.density();
  if (!density) return py::none();
  return py::make_tuple(density->x, density->y);
}

void set_density(SharedPicture& picture, const py::object& given) {
  if (given.is_none()) return picture.set_density(std::nullopt);
  const py::tuple both =
      py::isinstance<py::sequence>(given) ? py::tuple(given) : py::make_tuple(given, given);
  const auto number = [&](std::size_t i) {
    const double value = PyFloat_AsDouble(py::object(both[i]).ptr());
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return value;
  };
  if (both.size() != 2)
    throw py::type_error("density is pixels per inch: a number, or two of them");
  picture.set_density(PixelsPerInch{number(0), number(1)});
}

void set_orientation(SharedPicture& picture, const py::object& given) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
  picture.set_orientation(overflow != 0 || value < 0 || value > 9 ? 0 : static_cast<int>(value));
}

// Picture(pixels, icc=...). It is __new__, without an __init__, so that there are no pictures
// without pixels.
py::object made_picture(const py::args& arguments, const py::kwargs& given) {
  static constexpr std::array settings{"exif", "icc", "xmp", "density", "orientation"};
  py::dict metadata = given;
  py::object pixels = arguments.size() == 2 ? py::object(arguments[1]) : py::object();
  if (!pixels && arguments.size() == 1 && metadata.contains("pixels"))
    pixels = metadata.attr("pop")("pixels");
  if (!pixels) throw py::type_error("Picture() takes its pixels, such as an array");
  for (const auto& [name, value] : metadata) {
    const auto text = name.cast<std::string>();
    if (std::find(settings.begin(), settings.end(), text) == settings.end())
      throw py::type_error("Picture() takes no argument " + text);
  }
  const bool is_picture = py::isinstance<SharedPicture>(pixels);
  py::object picture =
      py::cast(is_picture ? SharedPicture(pixels.cast<const SharedPicture&>().copy())
                          : SharedPicture(Picture(Source(pixels).view())));
  for (const auto& [name, value] : metadata) {
    if (!value.is_none()) py::setattr(picture, name, value);
  }
  return picture;
}

SharedPicture copy_of(const SharedPicture& picture) {
  return picture.copy();
}

// Notebooks show this.
py::bytes png_of(const SharedPicture& picture) {
  std::vector<std::uint8_t> png;
  {
    const WithoutGil others_may_run;
    const NativeWork native;
    png = encode("png", picture);
  }
  return as_bytes(png);
}

std::string description_of(const SharedPicture& picture) {
  static constexpr const char* kinds[] = {"empty", "grey", "grey and alpha", "RGB", "RGBA"};
  return "<gpufilter.Picture " + std::to_string(picture.width()) + "x" +
         std::to_string(picture.height()) + ", " + kinds[picture.channels()] + ", " +
         std::to_string(picture.depth()) + "-bit>";
}

}  // namespace

SharedPicture::SharedPicture(Picture&& picture)
    : Picture(std::move(picture)),
      sizes{height(), width(), channels()},
      strides{static_cast<py::ssize_t>(pitch()), channels() * depth() / 8, depth() / 8} {}

py::tuple array_shape(const Shape& shape) {
  if (shape.channels == 1) return py::make_tuple(shape.height, shape.width);
  return py::make_tuple(shape.height, shape.width, shape.channels);
}

void define_picture(py::module_& module) {
  py::class_<SharedPicture> type(
      module, "Picture", py::buffer_protocol(), py::is_final(),
      "A picture in memory, which NumPy, Pillow and others use without a copy.\n\n"
      "numpy.asarray(picture), PIL.Image.fromarray(picture). A picture read from a file carries "
      "its metadata.\n\n"
      "Picture(pixels, exif=, icc=, xmp=, density=, orientation=): a copy of an array of shape "
      "(height, width) or (height, width, channels), uint8, uint16 or float32, or of another "
      "Picture, and "
      "metadata for it.");
  type.def_static("__new__", made_picture);
  set_slots(type);
  type.def_property_readonly("__array_interface__", interface_of)
      .def_property_readonly(
          "width", [](const SharedPicture& picture) { return picture.width(); }, "Pixels in a row.")
      .def_property_readonly(
          "height", [](const SharedPicture& picture) { return picture.height(); }, "Rows.")
      .def_property_readonly(
          "channels", [](const SharedPicture& picture) { return picture.channels(); },
          "Samples of a pixel: 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA).")
      .def_property_readonly(
          "depth", [](const SharedPicture& picture) { return picture.depth(); },
          "Bits of a sample: 8, 16, or 32 for floats.")
      .def_property_readonly(
          "shape", [](const SharedPicture& picture) { return array_shape(picture.shape()); },
          "As an array: (height, width, channels), or (height, width) if it is grey.")
      .def_property_readonly(
          "file_format", &SharedPicture::file_format,
          "The format of the file that it comes from, \"PNG\"; empty if there is none.")
      .def_property("orientation", &SharedPicture::orientation, set_orientation,
                    "Its EXIF orientation, 1 (upright) to 8.")
      .def_property(
          "exif", [](const SharedPicture& picture) { return as_bytes(picture.exif()); },
          setting_bytes(&SharedPicture::set_exif),
          "Its EXIF, a TIFF structure; empty if there is none.")
      .def_property(
          "icc", [](const SharedPicture& picture) { return as_bytes(picture.icc()); },
          setting_bytes(&SharedPicture::set_icc), "Its colour profile; empty if there is none.")
      .def_property(
          "xmp", [](const SharedPicture& picture) { return as_bytes(picture.xmp()); },
          setting_bytes(&SharedPicture::set_xmp), "Its XMP packet; empty if there is none.")
      .def_property("density", density_of, set_density,
                    "Pixels per inch, across and down; None if it is not known.")
      .def("copy", copy_of, "A copy of the pixels and metadata.")
      .def("tobytes", bytes_of, "The samples, row by row.")
      .def("__copy__", copy_of)
      .def("__deepcopy__",
           [](const SharedPicture& picture, const py::dict&) { return copy_of(picture); })
      .def("__reduce__", reduced)
      .def("_repr_png_", png_of)
      .def("__repr__", description_of);
  module.def("restored_picture", restored_picture, "width"_a, "height"_a, "channels"_a, "depth"_a,
             "pixels"_a, "metadata"_a);
}

}  // namespace gpufilter::python
