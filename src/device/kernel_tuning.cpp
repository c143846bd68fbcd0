#include "device/kernel_tuning.hpp"

#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {
namespace {

// "64x2".
std::pair<std::size_t, std::size_t> parse_group(const std::string& text) {
  const std::size_t cross = text.find('x');
  std::pair<std::size_t, std::size_t> group{0, 0};
  if (cross == std::string::npos) return group;
  std::from_chars(text.data(), text.data() + cross, group.first);
  std::from_chars(text.data() + cross + 1, text.data() + text.size(), group.second);
  return group;
}

}  // namespace

std::string to_string(const WorkShape& shape) {
  return formatted("{}x{} pixel{} per work-item, groups of {}x{}", shape.pixels, shape.lines,
                   shape.pixels * shape.lines == 1 ? "" : "s", shape.group_width,
                   shape.group_height);
}

std::string KernelSite::key() const {
  return formatted("{} {}x{} to {}x{}", name, source.channels, source.depth, target.channels,
                   target.depth);
}

std::vector<WorkShape> candidate_shapes(const std::string& function) {
  const auto json = nlohmann::json::parse(kernel_file("candidates.json"), nullptr, false);
  if (!json.is_object()) throw DeviceError("candidates.json: it is damaged");
  const auto grid = json.find(function);
  if (grid == json.end()) return {};
  std::vector<WorkShape> shapes;
  try {
    for (const auto& group : grid->at("groups")) {
      const auto [width, height] = parse_group(group.get<std::string>());
      if (width == 0 || height == 0) throw DeviceError("candidates.json: a group is WIDTHxHEIGHT");
      for (const auto& lines : grid->at("lines")) {
        for (const auto& pixels : grid->at("pixels"))
          shapes.push_back({pixels.get<std::size_t>(), lines.get<std::size_t>(), width, height});
      }
    }
  } catch (const nlohmann::json::exception& error) {
    throw DeviceError(formatted("candidates.json: {}: {}", function, error.what()));
  }
  return shapes;
}

}  // namespace gpufilter
