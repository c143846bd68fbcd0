#include "device/gpu_share.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/format.hpp"
#include "base/whole_number.hpp"
#include "device/pocl_environment.hpp"

namespace gpufilter {
namespace {

// A variable that lists GPUs, and the texts that identify their vendor's name.
struct ListVariable {
  const char* name;
  std::array<std::string_view, 2> vendors;
};
constexpr std::array lists{
    ListVariable{"CUDA_VISIBLE_DEVICES", {"NVIDIA", "NVIDIA"}},
    ListVariable{"ROCR_VISIBLE_DEVICES", {"AMD", "Advanced Micro Devices"}},
};

// A variable that holds the number of a process on its node, and the number of the first process.
struct RankVariable {
  const char* name;
  std::size_t first;
};
constexpr std::array ranks{
    RankVariable{"OMPI_COMM_WORLD_LOCAL_RANK", 0},
    RankVariable{"MPI_LOCALRANKID", 0},
    RankVariable{"PMI_LOCAL_RANK", 0},
    RankVariable{"PARALLEL_JOBSLOT", 1},
    RankVariable{"SLURM_LOCALID", 0},
};

struct Listed {
  std::size_t count = 0;             // of the entries
  std::vector<std::size_t> indices;  // up to the first entry that is not an index
  bool by_name = false;              // names instead of indices
};

// Read as by the vendors' own libraries: the first invalid entry, such as -1, ends the list.
Listed read_list(std::string_view text) {
  Listed listed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t index = 0;
    const bool is_index = parse_whole(entry, index);
    const bool is_name = entry.starts_with("GPU-") || entry.starts_with("MIG-");
    if (!is_index && !is_name) break;
    ++listed.count;
    listed.by_name = listed.by_name || is_name;
    if (is_index) listed.indices.push_back(index);
  }
  return listed;
}

// PoCL lists GPUs of other vendors too; they come last, regardless of the lists.
bool is_by(const DeviceInfo& gpu, const ListVariable& list) {
  return gpu.platform != pocl_platform &&
         std::any_of(list.vendors.begin(), list.vendors.end(), [&](std::string_view vendor) {
           return gpu.vendor.find(vendor) != std::string::npos;
         });
}

// The GPUs of a vendor that its list contains.
std::vector<DeviceInfo> listed_of(const std::vector<DeviceInfo>& own, const Listed& listed) {
  if (own.size() <= listed.count || listed.by_name) return own;
  std::vector<DeviceInfo> given;
  for (const std::size_t index : listed.indices) {
    if (index < own.size()) given.push_back(own[index]);
  }
  return given;
}

// Moves the GPUs that satisfy `is_moved` from one vector to the end of another.
template <typename Predicate>
std::vector<DeviceInfo> taken_from(std::vector<DeviceInfo>& gpus, Predicate is_moved) {
  const auto first = std::stable_partition(gpus.begin(), gpus.end(),
                                           [&](const DeviceInfo& gpu) { return !is_moved(gpu); });
  std::vector<DeviceInfo> taken(first, gpus.end());
  gpus.erase(first, gpus.end());
  return taken;
}

// Moves the GPUs in the lists from `gpus` to `given`. Returns "CUDA_VISIBLE_DEVICES=2"; empty if
// there is no list.
std::string apply_lists(const NodeVariables& variables, std::vector<DeviceInfo>& gpus,
                        std::vector<DeviceInfo>& given) {
  std::string source;
  for (const ListVariable& list : lists) {
    const auto value = variables.find(list.name);
    if (value == variables.end()) continue;
    const auto own = taken_from(gpus, [&](const DeviceInfo& gpu) { return is_by(gpu, list); });
    const auto left = listed_of(own, read_list(value->second));
    if (left.empty()) continue;
    source += formatted("{}{}={}", source.empty() ? "" : " and ", list.name, value->second);
    given.insert(given.end(), left.begin(), left.end());
  }
  return source;
}

struct Rank {
  std::size_t number = 0;
  std::string source;  // "SLURM_LOCALID=2"
};

std::optional<Rank> rank_on_node(const NodeVariables& variables) {
  for (const RankVariable& rank : ranks) {
    const auto value = variables.find(rank.name);
    if (value == variables.end()) continue;
    std::size_t number = 0;
    if (parse_whole(value->second, number) && number >= rank.first)
      return Rank{number - rank.first, formatted("{}={}", rank.name, value->second)};
  }
  return std::nullopt;
}

// Rotates `gpus`, which come from `source`, so that the one at the process's number is first.
// Returns the reason; empty if there is none.
std::string rotate_to_rank(const NodeVariables& variables, const std::string& source,
                           std::vector<DeviceInfo>& gpus) {
  const auto rank = rank_on_node(variables);
  if (!rank || gpus.size() < 2) return source.empty() ? "" : "given by " + source;
  const std::size_t place = rank->number % gpus.size();
  std::rotate(gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(place), gpus.end());
  const std::string all = source.empty() ? formatted("{}", gpus.size())
                                         : formatted("the {} of {}", gpus.size(), source);
  return formatted("GPU {} of {}, by {}", place + 1, all, rank->source);
}

}  // namespace

NodeVariables node_variables() {
  NodeVariables found;
  const auto look_for = [&found](const char* name) {
    if (const char* value = std::getenv(name)) found.emplace(name, value);
  };
  for (const ListVariable& list : lists)
    look_for(list.name);
  for (const RankVariable& rank : ranks)
    look_for(rank.name);
  return found;
}

GpuShare share_gpus(std::vector<DeviceInfo> gpus, const NodeVariables& variables) {
  GpuShare share;
  const std::string source = apply_lists(variables, gpus, share.gpus);
  if (source.empty() && !gpus.empty()) {
    const std::string platform = gpus.front().platform;
    share.gpus = taken_from(gpus, [&](const DeviceInfo& gpu) { return gpu.platform == platform; });
  }
  share.reason = rotate_to_rank(variables, source, share.gpus);
  share.gpus.insert(share.gpus.end(), gpus.begin(), gpus.end());
  return share;
}

}  // namespace gpufilter
