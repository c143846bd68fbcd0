#include "errors.hpp"

#include <exception>
#include <stdexcept>
#include <string>

#include <gpufilter/error.hpp>

namespace py = pybind11;

namespace gpufilter::python {
namespace {

// The classes, which live as long as the process.
struct Classes {
  PyObject* error = nullptr;
  PyObject* usage = nullptr;
  PyObject* picture = nullptr;
  PyObject* device = nullptr;
};
Classes classes;

PyObject* define(py::module_& module, const char* name, const char* meaning,
                 const py::tuple& bases) {
  PyObject* defined = PyErr_NewExceptionWithDoc(("gpufilter." + std::string(name)).c_str(), meaning,
                                                bases.ptr(), nullptr);
  if (defined == nullptr) throw py::error_already_set();
  module.attr(name) = py::reinterpret_borrow<py::object>(defined);
  return defined;
}

// Messages may name files, whose names may hold any bytes.
void set_error(PyObject* type, const char* message) {
  const auto text = py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(message));
  if (text) PyErr_SetObject(type, text.ptr());
}

void translate(std::exception_ptr exception) {
  try {
    if (exception) std::rethrow_exception(exception);
  } catch (const UsageError& error) {
    set_error(classes.usage, error.what());
  } catch (const PictureError& error) {
    set_error(classes.picture, error.what());
  } catch (const DeviceError& error) {
    set_error(classes.device, error.what());
  } catch (const Error& error) {
    set_error(classes.error, error.what());
  } catch (const std::overflow_error& error) {
    set_error(classes.usage, error.what());
  } catch (const std::length_error&) {  // of a vector
    set_error(classes.usage, "no memory is as large as such a picture");
  }
}

}  // namespace

void define_errors(py::module_& module) {
  const auto with_error = [](PyObject* other) {
    return py::make_tuple(py::handle(classes.error), py::handle(other));
  };
  classes.error = define(module, "Error", "Any failure of gpufilter.",
                         py::make_tuple(py::handle(PyExc_Exception)));
  classes.usage =
      define(module, "UsageError", "The request makes no sense; no picture was touched.",
             with_error(PyExc_ValueError));
  classes.picture = define(module, "PictureError", "A picture cannot be read, filtered or written.",
                           with_error(PyExc_OSError));
  classes.device =
      define(module, "DeviceError", "The requested device does not exist or does not work.",
             with_error(PyExc_RuntimeError));
  py::register_exception_translator(translate);
}

}  // namespace gpufilter::python
