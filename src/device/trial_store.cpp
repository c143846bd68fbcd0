#include "device/trial_store.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/regular_file.hpp"
#include "device/surroundings.hpp"

namespace gpufilter {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::time_t failure_lasts = std::time_t{24} * 60 * 60;  // seconds
constexpr std::size_t lines_allowed = 64;
constexpr std::size_t lines_left = 32;  // if there were more
constexpr std::uint64_t largest_file = std::uint64_t{16} << 20U;

// A line: the hash of the key; a hash of key, body and the current state of the files that the body
// names; the body.
constexpr std::size_t hash_size = 32;
constexpr std::size_t header_size = 2 * (hash_size + 1);

std::string mark(const std::string& key, std::string_view body,
                 const std::vector<std::string>& files) {
  std::string all = key;
  all += '\0';
  all += body;
  for (const std::string& file : files)
    all += file_identity(file);
  return to_string(content_hash(all));
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool is_too_large(const std::filesystem::path& file) {
  std::error_code absent;
  const std::uintmax_t bytes = std::filesystem::file_size(file, absent);
  return !absent && bytes > largest_file;
}

// Nothing if the line is not valid, or no longer. The hash of the key matches.
std::optional<TrialAnswer> parse(const std::string& line, const std::string& key, std::time_t now) {
  const std::string_view body = std::string_view(line).substr(header_size);
  const Json json = Json::parse(body, nullptr, false);
  try {
    TrialAnswer answer{json.at("failure"), json.at("files")};
    const std::time_t age = now - json.at("time").get<std::time_t>();
    const bool expired = !answer.failure.empty() && (age < 0 || age >= failure_lasts);
    if (expired || line.substr(hash_size + 1, hash_size) != mark(key, body, answer.files))
      return std::nullopt;
    return answer;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

// No lines if the file cannot be read.
std::vector<std::string> TrialStore::lines() const {
  std::string text;
  try {
    text = read_regular_file(file_, largest_file);
  } catch (const std::system_error&) {
    return {};
  }
  std::vector<std::string> found;
  std::string_view rest = text;
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
    if (end > header_size) found.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return found;
}

std::optional<TrialAnswer> TrialStore::recall(const std::string& key, std::time_t now) const {
  const std::string key_hash = to_string(content_hash(key));
  const std::vector<std::string> all = lines();
  const auto latest = std::find_if(all.rbegin(), all.rend(), [&](const std::string& line) {
    return line.starts_with(key_hash);
  });
  return latest == all.rend() ? std::nullopt : parse(*latest, key, now);
}

bool TrialStore::keep(const std::string& key, const TrialAnswer& answer, std::time_t now) const {
  const Json json{{"time", now}, {"failure", answer.failure}, {"files", answer.files}};
  const std::string body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Begins with a line end, in case the last line is a torn one.
  const std::string line =
      formatted("\n{} {} {}\n", to_string(content_hash(key)), mark(key, body, answer.files), body);
  try {
    std::filesystem::create_directories(file_.parent_path());
    std::vector<std::string> all = lines();
    if (all.size() < lines_allowed && !is_too_large(file_)) {
      // In one write, since other processes may do the same at the same time.
      FileDescriptor file = open_regular_file(file_, O_WRONLY | O_CREAT | O_APPEND, 0600);
      write_fully(file.get(), bytes_of(line));
      file.close();
      return true;
    }
    if (all.size() > lines_left)
      all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(lines_left));
    AtomicFile file(file_);
    for (const std::string& old : all)
      file.write(bytes_of(old + '\n'));
    file.write(bytes_of(line));
    file.commit();
    return true;
  } catch (const std::system_error& error) {
    log::debug(formatted("an answer was not stored in {}: {}", file_.string(), error.what()));
    return false;
  }
}

}  // namespace gpufilter
