// Which GPUs of a node belong to this process, if a scheduler runs several processes there.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "device/device_info.hpp"

namespace gpufilter {

// Environment variables by name.
using NodeVariables = std::map<std::string, std::string, std::less<>>;

// The variables of this process that share_gpus() uses.
[[nodiscard]] NodeVariables node_variables();

struct GpuShare {
  std::vector<DeviceInfo> gpus;  // in the order in which they are to be tried
  std::string reason;            // the reason for that order; empty: no variable selects a GPU
};

// Of `gpus`, those that this process may use, its own first:
// - CUDA_VISIBLE_DEVICES (for GPUs by NVIDIA) and ROCR_VISIBLE_DEVICES (by AMD) list what the
//   scheduler assigned. If the driver shows no more GPUs than the list has, it has applied the
//   list; otherwise the list's indices are applied here, and other GPUs are left out.
// - Of several GPUs (without a list, those of the first one's platform) it is the one at the
//   process's number on the node, modulo their number. The number is the first that is set of
//   OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, PMI_LOCAL_RANK, PARALLEL_JOBSLOT (which counts
//   from 1) and SLURM_LOCALID: mpirun and GNU parallel may themselves run within a Slurm task.
[[nodiscard]] GpuShare share_gpus(std::vector<DeviceInfo> gpus, const NodeVariables& variables);

}  // namespace gpufilter
