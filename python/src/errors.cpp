#include "errors.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

#include <gpufilter/control.hpp>
#include <gpufilter/error.hpp>
#include <gpufilter/files.hpp>
#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace gpufilter::python {
namespace {

// The classes of gpufilter._errors, kept for the life of the process.
struct Classes {
  PyObject* error = nullptr;
  PyObject* usage = nullptr;
  PyObject* device = nullptr;
  PyObject* stopped = nullptr;
  PyObject* picture_error = nullptr;  // the function that makes one
};
Classes classes;

// Messages may name files, whose names may hold any bytes.
py::object text_of(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<py::ssize_t>(text.size())));
}

void set_error(PyObject* type, const char* message) {
  if (const py::object text = text_of(message)) PyErr_SetObject(type, text.ptr());
}

void set_picture_error(const PictureError& error) {
  const std::string text = error.what();
  const auto system = system_error(error);
  const std::size_t begin = system ? std::min(system->path.size() + 2, text.size()) : 0;
  try {
    const py::object made = py::handle(classes.picture_error)(
        system ? py::object(py::int_(system->code)) : py::none(), text_of(text.substr(begin)),
        system ? text_of(system->path) : py::none(), text_of(text));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  } catch (py::error_already_set& failure) {
    failure.restore();
  }
}

void translate(std::exception_ptr exception) {
  try {
    if (exception) std::rethrow_exception(exception);
  } catch (const UsageError& error) {
    set_error(classes.usage, error.what());
  } catch (const PictureError& error) {
    set_picture_error(error);
  } catch (const DeviceError& error) {
    set_error(classes.device, error.what());
  } catch (const Stopped& error) {
    set_error(classes.stopped, error.what());
  } catch (const Error& error) {
    set_error(classes.error, error.what());
  } catch (const std::overflow_error& error) {
    set_error(classes.usage, error.what());
  } catch (const std::length_error&) {  // of a vector
    set_error(classes.usage, "no memory is as large as such a picture");
  }
}

}  // namespace

void use_errors() {
  const py::module_ errors = py::module_::import("gpufilter._errors");
  const auto known = [&](const char* name) {
    return errors.attr(name).cast<py::object>().release().ptr();
  };
  classes = {known("Error"), known("UsageError"), known("DeviceError"), known("Stopped"),
             known("picture_error")};
  py::register_exception_translator(translate);
}

}  // namespace gpufilter::python
