#include "memory.hpp"

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace py = pybind11;

namespace gpufilter::python {
namespace {

constexpr bool is_little_endian = std::endian::native == std::endian::little;

// `kind` by the letters of __array_interface__.
std::string type_name(char kind, std::size_t size, bool is_foreign_order) {
  const std::string bits = std::to_string(8 * size);
  const std::string order = is_foreign_order && size > 1 ? "foreign byte order, " : "";
  switch (kind) {
    case 'b':
      return "bool";
    case 'u':
      return order + "uint" + bits;
    case 'i':
      return order + "int" + bits;
    case 'f':
      return order + "float" + bits;
    case 'c':
      return order + "complex" + bits;
    default:
      return "neither integers nor floating-point numbers";
  }
}

bool is_foreign(char order) {
  return order == (is_little_endian ? '>' : '<') || (order == '!' && is_little_endian);
}

// The letter that __array_interface__ has for a letter of the module struct.
char kind_of(std::string_view format) {
  if (format.size() != 1) return '?';
  if (format == "?") return 'b';
  if (std::string_view("BHILQN").find(format) != std::string_view::npos) return 'u';
  if (std::string_view("bhilqn").find(format) != std::string_view::npos) return 'i';
  if (std::string_view("efdg").find(format) != std::string_view::npos) return 'f';
  return '?';
}

std::string type_of_buffer(const Py_buffer& buffer) {
  std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  bool is_foreign_order = false;
  if (!format.empty() && std::string_view("@=<>!").find(format.front()) != std::string_view::npos) {
    is_foreign_order = is_foreign(format.front());
    format.remove_prefix(1);
  }
  return type_name(kind_of(format), static_cast<std::size_t>(buffer.itemsize), is_foreign_order);
}

std::vector<py::ssize_t> numbers(const py::handle& tuple) {
  std::vector<py::ssize_t> all;
  for (const py::handle number : tuple)
    all.push_back(number.cast<py::ssize_t>());
  return all;
}

std::vector<py::ssize_t> packed_strides(const Layout& layout) {
  std::vector<py::ssize_t> strides(layout.shape.size());
  auto stride = static_cast<py::ssize_t>(layout.size);
  for (std::size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= layout.shape[i];
  }
  return strides;
}

// Checks that all elements lie within the `bytes` that __array_interface__ names as data.
void check_extent(const Layout& layout, py::ssize_t offset, py::ssize_t bytes) {
  auto begin = static_cast<double>(offset);  // exact for memory that exists
  double end = begin + static_cast<double>(layout.size);
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    const double reach =
        static_cast<double>(layout.shape[i] - 1) * static_cast<double>(layout.strides[i]);
    (reach < 0 ? begin : end) += reach;
  }
  if (begin < 0 || end > static_cast<double>(bytes)) {
    throw py::value_error("__array_interface__ describes more than its data of " +
                          std::to_string(bytes) + " bytes");
  }
}

// A mode of Pillow in which the samples are not grey, RGB or alpha.
bool is_foreign_mode(const std::string& mode) {
  for (const char* known : {"L", "LA", "RGB", "RGBA", "I;16", "1", "I", "F"}) {
    if (mode == known) return false;  // the type of the samples decides
  }
  return true;
}

// Pillow describes the indices of a palette, and CMYK, as if they were grey and RGBA.
void check_pillow_mode(py::handle object) {
  const auto module = py::str(py::type::of(object).attr("__module__")).cast<std::string>();
  if (!module.starts_with("PIL.")) return;
  const auto mode = py::str(object.attr("mode")).cast<std::string>();
  if (is_foreign_mode(mode))
    throw py::type_error("a Pillow image of mode " + mode +
                         ": convert it, as by image.convert('RGB')");
}

}  // namespace

std::string shape_text(const std::vector<py::ssize_t>& shape) {
  std::string text;
  for (const py::ssize_t side : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(side);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

Memory::Memory(py::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) {
    read_buffer(object);
    return;
  }
  check_pillow_mode(object);
  const py::object interface = py::getattr(object, "__array_interface__", py::none());
  if (!py::isinstance<py::dict>(interface)) {
    throw py::type_error(
        py::str(py::type::of(object).attr("__name__")).cast<std::string>() +
        " has neither a buffer nor __array_interface__; numpy.asarray() makes an array of most");
  }
  try {
    read_interface(interface, object);
  } catch (const py::cast_error&) {
    throw py::type_error("__array_interface__ holds other types than NumPy defines for it");
  } catch (const std::logic_error&) {  // of the number in typestr
    throw py::type_error("__array_interface__ has no such typestr");
  }
}

void Memory::read_buffer(py::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) {
    throw py::error_already_set();
  }
  layout_ = {.data = static_cast<std::byte*>(buffer_.buf),
             .type = type_of_buffer(buffer_),
             .size = static_cast<std::size_t>(buffer_.itemsize),
             .is_read_only = buffer_.readonly != 0,
             .shape = {buffer_.shape, buffer_.shape + buffer_.ndim},
             .strides = {}};
  if (buffer_.strides == nullptr) {  // as ctypes leaves it
    layout_.strides = packed_strides(layout_);
  } else {
    layout_.strides = {buffer_.strides, buffer_.strides + buffer_.ndim};
  }
}

void Memory::read_interface(const py::dict& interface, py::handle object) {
  owner_ = py::reinterpret_borrow<py::object>(object);
  for (const char* key : {"typestr", "shape"}) {
    if (!interface.contains(key))
      throw py::type_error("__array_interface__ has no " + std::string(key));
  }
  const auto type = interface["typestr"].cast<std::string>();
  if (type.size() < 3) throw py::type_error("__array_interface__ has the typestr '" + type + "'");
  layout_.size = std::stoul(type.substr(2));
  layout_.type = type_name(type[1], layout_.size, is_foreign(type[0]));
  layout_.shape = numbers(interface["shape"]);
  const py::object strides =
      interface.contains("strides") ? py::object(interface["strides"]) : py::none();
  layout_.strides = strides.is_none() ? packed_strides(layout_) : numbers(strides);
  if (layout_.strides.size() != layout_.shape.size())
    throw py::type_error("__array_interface__ has strides that do not fit its shape");
  const py::object data = interface.contains("data") ? py::object(interface["data"]) : py::none();
  if (py::isinstance<py::tuple>(data) && py::len(data) == 2) {
    const auto address = data[py::int_(0)].cast<std::uintptr_t>();
    layout_.data = reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
    layout_.is_read_only = data[py::int_(1)].cast<bool>();
  } else {
    if (PyObject_GetBuffer(data.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw py::error_already_set();
    const py::object offset =
        interface.contains("offset") ? py::object(interface["offset"]) : py::int_(0);
    check_extent(layout_, offset.cast<py::ssize_t>(), buffer_.len);
    layout_.data = static_cast<std::byte*>(buffer_.buf) + offset.cast<py::ssize_t>();
    layout_.is_read_only = buffer_.readonly != 0;
  }
}

PackedBytes::PackedBytes(py::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_FULL_RO) != 0) throw py::error_already_set();
  if (PyBuffer_IsContiguous(&buffer_, 'C') != 0) return;
  copy_.resize(size());
  if (PyBuffer_ToContiguous(copy_.data(), &buffer_, buffer_.len, 'C') != 0)
    throw py::error_already_set();
}

}  // namespace gpufilter::python
