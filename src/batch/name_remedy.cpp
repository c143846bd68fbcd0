#include "batch/name_remedy.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/error.hpp"
#include "base/format.hpp"
#include "batch/name_template.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// The subfolder of OUTDIR in which an item's result has the name that a template gives.
fs::path subfolder_of(const BatchItem& item, const BatchRequest& request) {
  const std::string own = request.name ? request.name->text() : "";
  fs::path folder = fs::path(item.output).parent_path();
  for (auto slashes = std::count(own.begin(), own.end(), '/'); slashes > 0; --slashes)
    folder = folder.parent_path();
  return folder;
}

bool gives_each_a_name(const NameTemplate& name, const BatchRequest& request,
                       const BatchPlan& plan) {
  std::unordered_set<std::string> taken;
  return std::all_of(plan.items.begin(), plan.items.end(), [&](const BatchItem& item) {
    if (!item.problem.empty()) return true;
    return taken.insert(subfolder_of(item, request) / name.name_for(item.input, request.to)).second;
  });
}

}  // namespace

std::string collision_remedy(const BatchRequest& request, const BatchPlan& plan) {
  for (const char* text : {"{stem}-{ext}.{to}", "{parent}-{stem}.{to}", "{parent}-{name}.{to}"}) {
    if (!request.in_place && gives_each_a_name(NameTemplate(text), request, plan)) {
      return formatted("--name '{}' gives each a name of its own", text);
    }
  }
  return "rename one of them";
}

}  // namespace gpufilter
