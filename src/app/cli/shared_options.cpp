#include "app/cli/shared_options.hpp"

#include <filesystem>

#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/session.hpp"

namespace gpufilter {

void add_device_choice(Arguments& app, std::string& device, bool& require_device,
                       const DeviceHelp& help) {
  std::vector<std::string> words{"auto", "cpu", "gpu", "opencl"};
  if (help.has_all) words.emplace_back("all");
  const std::string all = help.has_all ? "\nall: the processor and every GPU" : "";
  app.add_option("--device", device,
                 formatted("The device that does the work. The default is GPUFILTER_DEVICE's "
                           "value, if it is set.\nauto: {}\ncpu: the processor, without OpenCL\n"
                           "gpu: the best GPU\nopencl: the best OpenCL device{}\n"
                           "NAME: an index or part of a name from 'gpufilter devices'",
                           help.automatic, all))
      ->envname("GPUFILTER_DEVICE")
      ->option_text(formatted("{}|NAME [{}]", fmt::join(words, "|"), device))
      ->suggests({.words = words, .devices = true});
  app.add_flag("--require-device", require_device,
               "Fail with exit code 3 if the device does not work. Otherwise the processor does "
               "the work.");
  app.add_option_function(
         "--device-timeout",
         [](const std::string& seconds) {
           set_device_timeout(std::chrono::seconds(std::stoi(seconds)));
         },
         "Time limit for work on an OpenCL device. A device that exceeds it is given up, and the "
         "processor does the work. By default only the probe of a driver has a limit.")
      ->check(whole_number(1, 86400))
      ->option_text("SECONDS");
}

void add_report(Arguments& app, std::string& path, const std::string& help) {
  app.add_option("--report", path, help)
      ->option_text("DIR")
      ->suggests({.files = Suggestions::Files::folders});
}

void add_plot(Arguments& app, std::string& path, const std::string& help) {
  app.add_option("--plot", path, help)
      ->option_text("FILE.svg")
      ->suggests({.files = Suggestions::Files::all, .extensions = {".svg"}});
}

std::unique_ptr<ByteSink> open_drawing(const std::string& path, std::string_view option,
                                       std::string_view format) {
  if (path.empty()) return nullptr;
  if (path == "-") {
    throw UsageError(formatted("{} -: standard output has the results; name a file", option));
  }
  if (is_folder(path)) {
    throw UsageError(
        formatted("{}: is a folder; {} takes the name of a file", printable(path), option));
  }
  const std::string extension = "." + lower_case(format);
  if (std::filesystem::path(path).extension() != extension) {
    throw UsageError(formatted("{}: {} draws {}; give it a name that ends in {}", printable(path),
                               option, format, extension));
  }
  return open_sink(path);
}

void write_plot(ByteSink& sink, std::string_view svg) {
  sink.write(as_bytes(svg));
  sink.commit();
}

}  // namespace gpufilter
