#include "app/cli/device_options.hpp"

#include "base/format.hpp"

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
               "Fail if the device does not work (exit code 3). Otherwise the processor does the "
               "work.");
}

}  // namespace gpufilter
