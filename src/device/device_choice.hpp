// The OpenCL devices of this machine, and which of them a run uses, and why.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_info.hpp"
#include "device/vendor_probes.hpp"

namespace gpufilter {

// Finds devices on request. Not thread-safe.
class DeviceCatalog {
 public:
  using Source = std::function<std::vector<DeviceInfo>()>;

  // Devices are numbered in the order of their sources, each of which is queried at most once.
  explicit DeviceCatalog(std::vector<Source> sources) : sources_(std::move(sources)) {}

  // The devices found so far. A device's index does not depend on how far the search went.
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const { return devices_; }
  // Whether these are all.
  [[nodiscard]] bool complete() const { return asked_ == sources_.size(); }
  // Queries the next source.
  void find_more();
  // Queries all of them.
  const std::vector<DeviceInfo>& find_all();

 private:
  std::vector<Source> sources_;
  std::size_t asked_ = 0;
  std::vector<DeviceInfo> devices_;
};

// The devices of this machine: first all platforms except PoCL, which takes long to load, then
// PoCL. A platform is loaded only on request, and only if it does not crash the process: see
// VendorProbes. A vendor whose library crashes has a single entry, which says why it must not be
// used. Changes environment variables: call this before other threads are started. A platform that
// fails with an error is skipped. Debug lines in the log name both.
[[nodiscard]] DeviceCatalog device_catalog(PastAnswers past = PastAnswers::used);

// All usable devices of this machine; empty if there is no OpenCL at all.
[[nodiscard]] std::vector<DeviceInfo> discover_devices();

// Environment variables by name.
using NodeVariables = std::map<std::string, std::string, std::less<>>;

// The variables of this process that share_gpus() uses.
[[nodiscard]] NodeVariables node_variables();

struct GpuShare {
  std::vector<DeviceInfo> gpus;  // in the order in which they are to be tried
  std::string reason;            // the reason for that order; empty: no variable selects a GPU
};

// The devices of `gpus` that this process may use, its own first:
// - CUDA_VISIBLE_DEVICES (for GPUs by NVIDIA) and ROCR_VISIBLE_DEVICES (by AMD) list what the
//   scheduler assigned. If the driver shows no more GPUs than the list has, it has applied the
//   list; otherwise the list's indices are applied here, and other GPUs are left out.
// - Of several GPUs (without a list, those of the first one's platform) it is the one at the
//   process's number on the node, modulo their number. The number is the first that is set of
//   OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, PMI_LOCAL_RANK, PARALLEL_JOBSLOT (which counts
//   from 1) and SLURM_LOCALID: mpirun and GNU parallel may themselves run within a Slurm task.
[[nodiscard]] GpuShare share_gpus(std::vector<DeviceInfo> gpus, const NodeVariables& variables);

struct DeviceCandidate {
  std::optional<DeviceInfo> device;  // nothing: the processor, by this program's own code
  std::string reason;                // "the first GPU", "requested by index", ...
  std::string share = {};  // GpuShare::reason, if this is the process's own GPU of several
};

[[nodiscard]] DeviceCandidate processor(std::string reason);

// The devices to try for `request`, best first: gpu | opencl | cpu | an index | part of a name (of
// the device, its platform or the platform's version, in any case). opencl: GPUs, then OpenCL's CPU
// devices, then others. cpu: the processor. GPUs are in the order of share_gpus() with `variables`.
// The last one is the processor unless `require_device`. If more devices may be found later (not
// `all_found`), only those that precede any of these; none if that cannot be known yet. Throws
// DeviceError, naming the available devices, if an index or a name matches nothing or a required
// device does not exist; UsageError if a device is required and the processor requested.
[[nodiscard]] std::vector<DeviceCandidate> choose_devices(std::string_view request,
                                                          bool require_device,
                                                          const std::vector<DeviceInfo>& devices,
                                                          const NodeVariables& variables = {},
                                                          bool all_found = true);

// Returns the candidate at a position in the order of preference; nothing if there is none. Not
// thread-safe.
using DeviceCandidates = std::function<std::optional<DeviceCandidate>(std::size_t place)>;

// The candidates of choose_devices() for all devices, found on request: PoCL is not loaded if a GPU
// does the work. A call throws the errors of choose_devices() as soon as they are known.
[[nodiscard]] DeviceCandidates device_candidates(std::string request, bool require_device,
                                                 DeviceCatalog catalog,
                                                 NodeVariables variables = {});

}  // namespace gpufilter
