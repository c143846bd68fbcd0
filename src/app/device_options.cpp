#include "app/device_options.hpp"

namespace gpufilter {

void add_device_choice(CLI::App& app, std::string& device, bool& require_device,
                       const std::string& more) {
  app.add_option("--device", device,
                 "auto, gpu, cpu, reference (plain C++), " + more +
                     "an index or a part of a name from 'gpufilter devices'")
      ->envname("GPUFILTER_DEVICE")
      ->option_text("DEVICE [" + device + "]");
  app.add_flag("--require-device", require_device,
               "Fail (exit 3) rather than fall back to the C++ reference")
      ->option_text(" ");
}

}  // namespace gpufilter
