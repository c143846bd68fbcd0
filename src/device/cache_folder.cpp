#include "device/cache_folder.hpp"

#include <cstdlib>

namespace gpufilter {
namespace {

std::optional<std::filesystem::path> absolute_path_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || !std::filesystem::path(value).is_absolute()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::filesystem::path> cache_folder() {
  if (const auto cache = absolute_path_in("XDG_CACHE_HOME")) return *cache / "gpufilter";
  if (const auto home = absolute_path_in("HOME")) return *home / ".cache" / "gpufilter";
  return std::nullopt;
}

std::optional<std::filesystem::path> cache_path(const char* name) {
  const auto folder = cache_folder();
  return folder ? std::optional(*folder / name) : std::nullopt;
}

}  // namespace gpufilter
