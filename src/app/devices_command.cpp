#include "app/devices_command.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "app/brief_version.hpp"
#include "app/color_output.hpp"
#include "app/parse.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/device_catalog.hpp"
#include "stages/blur.hpp"

namespace gpufilter {
namespace {

constexpr std::array blur_tiles{8, 16, 32};

// The tiles that fit with pixels of the largest format, so with all of them.
std::vector<int> fitting_tiles(const DeviceInfo& device) {
  constexpr PixelFormat largest{4, 16};
  std::vector<int> tiles;
  for (const int tile : blur_tiles) {
    if (blur_tile_fits(device, tile, largest)) tiles.push_back(tile);
  }
  return tiles;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= std::uint64_t{1} << 30U) {
    return formatted("{:.1f} GiB", static_cast<double>(bytes) / (1U << 30U));
  }
  return formatted("{} KiB", bytes >> 10U);
}

std::string as_json(const std::vector<DeviceInfo>& devices) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  nlohmann::ordered_json unusable = nlohmann::ordered_json::array();
  for (const DeviceInfo& device : devices) {
    if (!device.unusable.empty()) {
      unusable.push_back(
          {{"index", device.index}, {"library", device.name}, {"reason", device.unusable}});
      continue;
    }
    list.push_back({{"index", device.index},
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
                    {"local_memory_bytes", device.local_memory},
                    {"global_memory_bytes", device.global_memory},
                    {"max_allocation_bytes", device.max_allocation},
                    {"unified_memory", device.unified_memory},
                    {"blur_tiles", fitting_tiles(device)}});
  }
  const nlohmann::ordered_json json{
      {"schema", "gpufilter-devices-1"}, {"devices", list}, {"unusable", unusable}};
  // Drivers' texts need not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string line(const char* label, const std::string& value) {
  return formatted("    {:<20}{}\n", label, printable(value));
}

std::string as_table(const std::vector<DeviceInfo>& devices) {
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
    table += line("compute units", formatted("{}", device.compute_units));
    table += line("work-group", formatted("at most {} work-items ({})", device.max_work_group_size,
                                          fmt::join(device.max_work_item_sizes, " x ")));
    table += line("preferred multiple", device.preferred_multiple == 0
                                            ? "unknown"
                                            : std::to_string(device.preferred_multiple));
    table += line("sub-groups", device.max_sub_groups == 0
                                    ? "none"
                                    : formatted("at most {} a work-group", device.max_sub_groups));
    table += line("local memory", bytes_text(device.local_memory));
    table +=
        line("global memory", formatted("{}{}, largest buffer {}", bytes_text(device.global_memory),
                                        device.unified_memory ? " shared with the host" : "",
                                        bytes_text(device.max_allocation)));
    const auto tiles = fitting_tiles(device);
    table += line("--tile", tiles.empty() ? "none fits" : formatted("{}", fmt::join(tiles, ", ")));
  }
  return table;
}

}  // namespace

int run_devices_command(int argc, const char* const* argv) {
  CLI::App app(
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
  DeviceCatalog catalog = device_catalog(PastAnswers::ignored);
  while (!catalog.complete())
    catalog.find_more();
  print_result(json ? as_json(catalog.devices()) : as_table(catalog.devices()));
  return 0;
}

}  // namespace gpufilter
