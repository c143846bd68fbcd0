#include "device/json_cache.hpp"

#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "base/atomic_file.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

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

namespace {

constexpr const char* schema_name = "schema";
constexpr std::uint64_t largest_cache_file = std::uint64_t{64} << 20U;  // far more than any cache's

}  // namespace

JsonCache::JsonCache(std::optional<std::filesystem::path> file, std::string schema)
    : file_(std::move(file)), schema_(std::move(schema)) {}

std::optional<Json> JsonCache::read() const {
  if (!file_) return std::nullopt;
  std::string text;
  try {
    text = read_regular_file(*file_, largest_cache_file);
  } catch (const UnsuitableFile& error) {
    log::info(formatted("{}: {}; ignored", file_->string(), error.what()));
    return std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  std::optional<Json> json = Json::parse(text);
  const Json* schema = json ? json->find(schema_name) : nullptr;
  return schema != nullptr && *schema == Json(schema_) ? std::move(json) : Json();
}

std::string JsonCache::write(Json json) const {
  if (!file_) return "";
  json[schema_name] = schema_;
  const std::string text = json.indented(1) + "\n";
  try {
    std::filesystem::create_directories(file_->parent_path());
    AtomicFile file(*file_);
    file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    file.commit();
  } catch (const std::system_error& error) {
    return reason_of(error);
  }
  return "";
}

}  // namespace gpufilter
