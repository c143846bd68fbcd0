#include "app/device_options.hpp"

namespace gpufilter {

void add_device_choice(CLI::App& app, std::string& device, bool& require_device,
                       const std::string& more) {
  app.add_option("--device", device,
                 "auto (whatever ends first), cpu (the processor), gpu, opencl (the best OpenCL "
                 "device), " +
                     more + "an index or part of a name from 'gpufilter devices'")
      ->envname("GPUFILTER_DEVICE")
      ->option_text("DEVICE [" + device + "]");
  app.add_flag("--require-device", require_device,
               "Fail (exit 3) where the device does not work, instead of using the processor")
      ->option_text(" ");
}

}  // namespace gpufilter
