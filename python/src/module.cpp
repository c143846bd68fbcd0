// gpufilter._native, the extension that python/gpufilter/*.py wrap. It is private, apart from
// Picture.
#include <string>
#include <string_view>

#include <gpufilter/log.hpp>
#include <pybind11/pybind11.h>

#include "calls.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "filter.hpp"
#include "measure.hpp"
#include "picture.hpp"

namespace py = pybind11;

namespace {

// The library's lines go to the logger "gpufilter" of Python.
void log_to_python() {
  gpufilter::set_log([](gpufilter::LogLevel level, std::string_view line) {
    static constexpr const char* methods[] = {"debug", "info", "warning", "error"};
    const py::gil_scoped_acquire gil;
    const py::object logger = py::module_::import("logging").attr("getLogger")("gpufilter");
    logger.attr(methods[static_cast<int>(level)])("%s", std::string(line));
  });
  // Afterwards neither a thread of the library may ask for the GIL, nor one of Python, a daemon, be
  // inside the library.
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    const gpufilter::python::WithoutGil others_may_run;
    gpufilter::set_log({});
    gpufilter::python::end_native_work();
  }));
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.attr("__version__") = gpufilter::version();
  gpufilter::python::use_errors();
  gpufilter::python::define_picture(module);
  gpufilter::python::define_filter(module);
  gpufilter::python::define_files(module);
  gpufilter::python::define_measure(module);
  log_to_python();
}
