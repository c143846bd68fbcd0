#include <optional>
#include <utility>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/terminal.hpp"
#include "base/words.hpp"
#include "device/device_choice.hpp"
#include "device/device_info.hpp"
#include "device/kernel_figures.hpp"
#include "device/stores.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/choose/machine_rates.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

// A parameter of a stage of which a device may not run every value.
struct DeviceLimit {
  std::string option;  // "--tile"
  std::string name;    // "blur_tiles"
  std::vector<int> fitting;
};

std::vector<DeviceLimit> device_limits(const DeviceInfo& device) {
  std::vector<DeviceLimit> limits;
  for (const StageKind& kind : stage_catalogue()) {
    for (const StageParameter& parameter : kind.parameters) {
      if (parameter.fits == nullptr) continue;
      limits.push_back({parameter.option,
                        formatted("{}_{}s", kind.option.substr(2), parameter.option.substr(2)),
                        {}});
      for (const Choice& choice : std::get<OneOf>(parameter.type).choices) {
        if (parameter.fits(device, choice.meaning)) limits.back().fitting.push_back(choice.meaning);
      }
    }
  }
  return limits;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= std::uint64_t{1} << 30U) {
    return formatted("{:.1f} GiB", static_cast<double>(bytes) / (1U << 30U));
  }
  return formatted("{} KiB", bytes >> 10U);
}

// "1520 GB/s" from seconds per byte.
std::string bandwidth_text(double seconds_a_byte) {
  return formatted("{:.3g} GB/s", 1e-9 / seconds_a_byte);
}

std::string group_text(const DeviceInfo& device) {
  return formatted("{} at the same time, each on work-groups of at most {} work-items ({})",
                   counted(device.compute_units, "compute unit"), device.max_work_group_size,
                   fmt::join(device.max_work_item_sizes, " x "));
}

std::string multiple_text(const DeviceInfo& device) {
  if (device.preferred_multiple == 0) return "unknown";
  if (device.preferred_multiple == 1) return "1: any group size is suitable";
  return formatted("{}: work-items that run in lockstep; group sizes should be multiples of it",
                   device.preferred_multiple);
}

std::string local_memory_text(const DeviceInfo& device) {
  return bytes_text(device.local_memory) +
         (device.local_memory_is_real ? " per group, on the chip: faster than global memory"
                                      : " per group, a part of global memory, and no faster");
}

std::string copy_text(const RateStore& rates, const std::string& place) {
  const auto copy = rates.find(place, copy_rate.kind);
  const auto transfer = rates.find(place, transfer_rate.kind);
  if (!copy && !transfer) return "not measured yet: run 'gpufilter tune'";
  std::string text;
  if (copy) text += bandwidth_text(*copy) + " in its memory, read and written";
  if (transfer) {
    text +=
        formatted("{}{} to and from the host", text.empty() ? "" : "; ", bandwidth_text(*transfer));
  }
  return text + ", as measured";
}

std::string start_text(const RateStore& rates, const std::string& place) {
  const auto start = rates.find(place, start_rate.kind);
  return start ? formatted("{:.2f} s, as measured in earlier runs", *start)
               : "not known yet: runs on a GPU measure it";
}

// null if it was not measured.
Json rate_json(const std::optional<double>& seconds, double scale) {
  return seconds ? Json(scale / *seconds) : Json();
}

// null if the driver does not tell.
Json registers_json(const DeviceInfo& device) {
  const std::uint64_t registers = registers_of(device);
  return registers == 0 ? Json() : Json(registers);
}

std::string as_json(const std::vector<DeviceInfo>& devices, const RateStore& rates) {
  Json list = Json::array();
  Json unusable = Json::array();
  for (const DeviceInfo& device : devices) {
    if (!device.unusable.empty()) {
      unusable.push_back(
          {{"index", device.index}, {"library", device.name}, {"reason", device.unusable}});
      continue;
    }
    const std::string place = tuning_place(device);
    const auto start = rates.find(place, start_rate.kind);
    Json entry{{"index", device.index},
               {"kind", to_string(device.kind)},
               {"name", device.name},
               {"vendor", device.vendor},
               {"platform", device.platform},
               {"platform_version", device.platform_version},
               {"device_version", device.device_version},
               {"driver_version", device.driver_version},
               {"language_version", device.language_version},
               {"compute_units", device.compute_units},
               {"max_work_group_size", device.max_work_group_size},
               {"max_work_item_sizes", device.max_work_item_sizes},
               {"preferred_multiple", device.preferred_multiple},
               {"max_sub_groups", device.max_sub_groups},
               {"registers", registers_json(device)},
               {"local_memory_bytes", device.local_memory},
               {"local_memory_is_real", device.local_memory_is_real},
               {"global_memory_bytes", device.global_memory},
               {"max_allocation_bytes", device.max_allocation},
               {"unified_memory", device.unified_memory}};
    for (const DeviceLimit& limit : device_limits(device))
      entry[limit.name] = limit.fitting;
    entry.append(
        {{"copy_gigabytes_per_second", rate_json(rates.find(place, copy_rate.kind), 1e-9)},
         {"transfer_gigabytes_per_second", rate_json(rates.find(place, transfer_rate.kind), 1e-9)},
         {"start_seconds", start ? Json(*start) : Json()}});
    list.push_back(std::move(entry));
  }
  const Json json{{"schema", "gpufilter-devices-1"}, {"devices", list}, {"unusable", unusable}};
  return json.indented(2) + "\n";
}

std::string line(const char* label, const std::string& value) {
  constexpr std::size_t widest = 80;
  return folded(formatted("    {:<20}{}", label, printable(value)), widest) + "\n";
}

std::string as_table(const std::vector<DeviceInfo>& devices, const RateStore& rates) {
  if (devices.empty()) {
    return "No OpenCL device: pictures are filtered by the processor. For a GPU, install its "
           "driver.\n";
  }
  std::string table;
  for (const DeviceInfo& device : devices) {
    if (!device.unusable.empty()) {
      table += formatted("{}  {} (not usable)\n", device.index, printable(device.name));
      table += line("reason", device.unusable);
      continue;
    }
    table +=
        formatted("{}  {} ({})\n", device.index, printable(device.name), to_string(device.kind));
    table += line("platform",
                  formatted("{}, {}", device.platform, brief_version(device.platform_version)));
    table += line("driver", formatted("{}, {}", device.driver_version, device.language_version));
    table += line("work at once", group_text(device));
    table += line("preferred multiple", multiple_text(device));
    table += line("sub-groups", device.max_sub_groups == 0 ? "none"
                                                           : formatted("at most {} per work-group",
                                                                       device.max_sub_groups));
    if (const auto registers = registers_of(device); registers > 0) {
      table +=
          line("registers",
               formatted("{} of 32 bits per compute unit, for all work-groups on it", registers));
    }
    table += line("local memory", local_memory_text(device));
    table +=
        line("global memory", formatted("{}{}, largest buffer {}", bytes_text(device.global_memory),
                                        device.unified_memory ? " shared with the host" : "",
                                        bytes_text(device.max_allocation)));
    for (const DeviceLimit& limit : device_limits(device)) {
      table += line(limit.option.c_str(), limit.fitting.empty()
                                              ? "none fits the group size and local memory"
                                              : formatted("{} fit the group size and local memory",
                                                          fmt::join(limit.fitting, ", ")));
    }
    const std::string place = tuning_place(device);
    table += line("copies", copy_text(rates, place));
    table += line("start", start_text(rates, place));
  }
  return table;
}

}  // namespace

int run_devices_command(int argc, const char* const* argv) {
  Arguments app(
      "Lists the OpenCL devices of this machine. --device takes an index or a part of a name from "
      "this list. The processor needs no OpenCL and is not listed.",
      "gpufilter devices");
  bool json = false;
  app.add_flag("--json", json, "Print one JSON object.");
  add_color_output(app);
  app.footer(
      "Examples:\n"
      "  gpufilter devices\n"
      "  gpufilter in.png out.png --blur auto --device 0\n"
      "  gpufilter devices --json | jq '.devices[].name'\n");
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  const std::vector<DeviceInfo> devices = device_catalog(PastAnswers::ignored).find_all();
  const auto rates = make_rate_store();
  json ? print_document(as_json(devices, *rates)) : print_result(as_table(devices, *rates));
  return 0;
}

}  // namespace gpufilter
