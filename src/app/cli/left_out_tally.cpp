#include "app/cli/left_out_tally.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_listed = 8;
constexpr std::size_t max_counted = 1000;  // names: memory does not grow with the folder

}  // namespace

std::string left_out_warning(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::size_t listed = std::min(names.size(), max_listed);
  std::string text = "not carried over: ";
  for (std::size_t i = 0; i < listed; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (listed < names.size()) text += formatted(", {} more", names.size() - listed);
  return text;
}

void LeftOutTally::add(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (pictures_.size() < max_counted || pictures_.contains(name)) ++pictures_[name];
  }
}

std::vector<std::string> LeftOutTally::names() const {
  std::vector<std::pair<std::string, std::size_t>> sorted(pictures_.begin(), pictures_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (const auto& [name, pictures] : sorted)
    names.push_back(formatted("{} ({})", name, counted(pictures, "picture")));
  return names;
}

}  // namespace gpufilter
