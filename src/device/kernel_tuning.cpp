#include "device/kernel_tuning.hpp"

#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
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

// Calls `read` with the function's entry in candidates.json or else in `others`, if there is one.
template <typename Read>
void read_grid(const std::string& function, std::string_view others, const Read& read) {
  for (const std::string& text : {kernel_file("candidates.json"), std::string(others)}) {
    const auto json = Json::parse(text);
    if (!json || !json->is_object()) throw DeviceError("candidates.json: it is damaged");
    const Json* grid = json->find(function);
    if (grid == nullptr) continue;
    try {
      return read(*grid);
    } catch (const JsonError& error) {
      throw DeviceError(formatted("candidates.json: {}: {}", function, error.what()));
    }
  }
}

}  // namespace

std::string to_string(const WorkShape& shape) {
  return formatted("{}x{} pixel{} per work-item, groups of {}x{}", shape.pixels, shape.lines,
                   shape.pixels * shape.lines == 1 ? "" : "s", shape.group_width,
                   shape.group_height);
}

std::string to_string(const KernelCandidate& candidate) {
  if (candidate.constants.empty())
    return formatted("{}, {}", candidate.algorithm, to_string(candidate.shape));
  std::string text = candidate.algorithm;
  for (const auto& [name, value] : candidate.constants)
    text += formatted(", {} {}", name, value);
  return text;
}

std::string KernelSite::key() const {
  if (source.channels == 0) return name;
  return formatted("{} {}x{} to {}x{}", name, source.channels, source.depth, target.channels,
                   target.depth);
}

KernelConstants constants_from(const Json& json) {
  KernelConstants constants;
  for (const auto& [name, value] : json.members())
    constants[name] = value.count();
  return constants;
}

std::vector<WorkShape> candidate_shapes(const std::string& function) {
  std::vector<WorkShape> shapes;
  read_grid(function, "{}", [&](const Json& grid) {
    for (const Json& group : grid.at("groups").items()) {
      const auto [width, height] = parse_group(group.text());
      if (width == 0 || height == 0) throw DeviceError("candidates.json: a group is WIDTHxHEIGHT");
      for (const Json& lines : grid.at("lines").items()) {
        for (const Json& pixels : grid.at("pixels").items())
          shapes.push_back({pixels.count(), lines.count(), width, height});
      }
    }
  });
  return shapes;
}

std::vector<KernelConstants> candidate_constants(const std::string& function,
                                                 std::string_view others) {
  std::vector<KernelConstants> all;
  read_grid(function, others, [&](const Json& grid) {
    all.emplace_back();
    for (const auto& [name, values] : grid.at("constants").members()) {
      std::vector<KernelConstants> more;
      for (const KernelConstants& constants : all) {
        for (const Json& value : values.items()) {
          more.push_back(constants);
          more.back()[name] = value.count();
        }
      }
      all = std::move(more);
    }
  });
  return all;
}

}  // namespace gpufilter
