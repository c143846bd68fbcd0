#include "picture.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include <gpufilter/files.hpp>

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
  const bool is_deep = picture.depth() == 16;
  static char byte_format[] = "B";
  static char word_format[] = "H";
  view->obj = Py_NewRef(object);
  view->buf = picture.data();
  view->len = bytes_in(picture);
  view->itemsize = is_deep ? 2 : 1;
  view->readonly = 0;
  view->format = (flags & PyBUF_FORMAT) == 0 ? nullptr : is_deep ? word_format : byte_format;
  view->ndim = (flags & PyBUF_ND) == 0 ? 1 : dimensions_of(picture.shape());
  view->shape = (flags & PyBUF_ND) == 0 ? nullptr : picture.sizes.data();
  view->strides = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ? nullptr : picture.strides.data();
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void set_buffer_protocol(const py::object& type) {
  PyBufferProcs& functions = reinterpret_cast<PyHeapTypeObject*>(type.ptr())->as_buffer;
  functions.bf_getbuffer = get_buffer;
  functions.bf_releasebuffer = nullptr;
}

py::dict interface_of(SharedPicture& picture) {
  const char* deep = std::endian::native == std::endian::little ? "<u2" : ">u2";
  const auto address = reinterpret_cast<std::uintptr_t>(picture.data());
  return py::dict("version"_a = 3, "typestr"_a = picture.depth() == 16 ? deep : "|u1",
                  "shape"_a = array_shape(picture.shape()), "strides"_a = py::none(),
                  "data"_a = py::make_tuple(address, false));
}

py::bytes bytes_of(const SharedPicture& picture) {
  return {static_cast<const char*>(picture.data()), static_cast<std::size_t>(bytes_in(picture))};
}

// What pickle keeps: the pixels.
using State = std::tuple<int, int, int, int, py::bytes>;

State state_of(const SharedPicture& picture) {
  return {picture.width(), picture.height(), picture.channels(), picture.depth(),
          bytes_of(picture)};
}

Picture picture_of(const State& state) {
  const auto& [width, height, channels, depth, bytes] = state;
  Picture picture(Shape{width, height, channels, depth});
  if (PyBytes_GET_SIZE(bytes.ptr()) != bytes_in(picture))
    throw py::value_error("the state of a Picture is damaged");
  std::memcpy(picture.data(), PyBytes_AS_STRING(bytes.ptr()),
              static_cast<std::size_t>(bytes_in(picture)));
  return picture;
}

SharedPicture copy_of(const SharedPicture& picture) {
  return picture.copy();
}

// Notebooks show this.
py::bytes png_of(const SharedPicture& picture) {
  std::vector<std::uint8_t> png;
  {
    const py::gil_scoped_release others_may_run;
    png = encode("png", picture);
  }
  return {reinterpret_cast<const char*>(png.data()), png.size()};
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
      module, "Picture", py::buffer_protocol(),
      "A picture in memory, which NumPy, Pillow and others use without a copy.\n\n"
      "numpy.asarray(picture), PIL.Image.fromarray(picture). One that was read from a file "
      "carries the file's metadata.");
  set_buffer_protocol(type);
  type.def(
          py::init([](py::handle pixels) { return SharedPicture(Picture(Source(pixels).view())); }),
          "pixels"_a,
          "A copy of an array of shape (height, width) or (height, width, channels), uint8 or "
          "uint16.")
      .def_property_readonly("__array_interface__", interface_of)
      .def_property_readonly(
          "width", [](const SharedPicture& picture) { return picture.width(); }, "Pixels in a row.")
      .def_property_readonly(
          "height", [](const SharedPicture& picture) { return picture.height(); }, "Rows.")
      .def_property_readonly(
          "channels", [](const SharedPicture& picture) { return picture.channels(); },
          "Samples of a pixel: 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA).")
      .def_property_readonly(
          "depth", [](const SharedPicture& picture) { return picture.depth(); },
          "Bits of a sample: 8 or 16.")
      .def_property_readonly(
          "shape", [](const SharedPicture& picture) { return array_shape(picture.shape()); },
          "As of an array: (height, width, channels), or (height, width) if it is grey.")
      .def_property_readonly(
          "file_format", &SharedPicture::file_format,
          "The format of the file that it comes from, \"PNG\"; empty if there is none.")
      .def_property_readonly("orientation", &SharedPicture::orientation,
                             "Its EXIF orientation, 1 (upright) to 8.")
      .def("copy", copy_of, "The same pixels and metadata in memory of its own.")
      .def("tobytes", bytes_of, "The samples, row by row.")
      .def("__copy__", copy_of)
      .def("__deepcopy__",
           [](const SharedPicture& picture, const py::dict&) { return copy_of(picture); })
      .def(py::pickle([](const SharedPicture& picture) { return state_of(picture); },
                      [](const State& state) { return SharedPicture(picture_of(state)); }))
      .def("_repr_png_", png_of)
      .def("__repr__", description_of);
}

}  // namespace gpufilter::python
