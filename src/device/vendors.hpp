// The OpenCL implementations ("vendors") of this machine. The loader that the program is linked
// with would bring all of them in as soon as it is asked for anything, and PoCL brings LLVM, which
// takes longer to load than a small picture takes to filter. So they are found and loaded here, one
// by one; their objects carry their own functions, so everything else goes through the loader as
// usual. See docs/decisions/0005.
#pragma once

#include <string>
#include <vector>

#include "device/opencl.hpp"

namespace gpufilter {

struct Vendors {
  std::vector<std::string> libraries;  // as dlopen() takes them
  std::vector<std::string> late;       // those to be loaded only where these do not do: PoCL
};

// Those that the user's environment names (OCL_ICD_VENDORS, OCL_ICD_FILENAMES, OPENCL_VENDOR_PATH,
// as ocl-icd and the Khronos loader read them), else those of /etc/OpenCL/vendors, by the names of
// their .icd files. Nothing is loaded. Keeps the loader from loading vendors by itself, by changing
// the environment for a moment: to be called before other threads are started. Later calls give the
// same.
[[nodiscard]] const Vendors& installed_vendors();

// Loads a vendor's library, for good, and returns its platforms. None, with a line in the log,
// where it cannot be loaded or does not know how to be loaded.
[[nodiscard]] std::vector<cl_platform_id> platforms_of(const std::string& library);

}  // namespace gpufilter
