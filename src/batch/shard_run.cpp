#include "batch/shard_run.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/process_token.hpp"
#include "base/regular_file.hpp"
#include "batch/journal_text.hpp"
#include "batch/output_folder.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view run_version = "run2";

std::string works_text(const std::vector<ContentHash>& works) {
  if (works.empty()) return "-";
  std::vector<std::string> texts;
  std::transform(works.begin(), works.end(), std::back_inserter(texts),
                 [](const ContentHash& work) { return to_string(work); });
  return formatted("{}", fmt::join(texts, ","));
}

// The inverse of works_text(); nothing if the text is malformed.
std::optional<std::vector<ContentHash>> parse_works(std::string_view text) {
  std::vector<ContentHash> works;
  if (text == "-") return works;
  for (const std::string_view part : split(text, ',')) {
    const auto work = parse_content_hash(part);
    if (!work) return std::nullopt;
    works.push_back(*work);
  }
  return works;
}

std::string path_in(const std::string& output, const std::string& name) {
  return fs::path(output) / shards_name / name;
}

std::string run_path(const std::string& output) {
  return path_in(output, "run");
}

std::string listing_path(const std::string& output, const ContentHash& hash) {
  return path_in(output, "listing-" + to_string(hash));
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

[[noreturn]] void throw_run_failure(const std::string& path, int error) {
  throw PictureError(path, describe_system_error(error));
}

std::string run_text(const ShardRun& run) {
  return sealed(formatted("{} {} {} {} {} {} {} {} {} {}", run_version, to_string(run.id),
                          to_string(run.listing), escaped(run.input), escaped(run.format),
                          escaped(run.working_folder), escaped(run.command), works_text(run.works),
                          run.keeps_existing ? "kept" : "made", escaped(run.name))) +
         "\n";
}

std::optional<ShardRun> parse_run(std::string_view text) {
  if (!text.ends_with('\n')) return std::nullopt;
  const auto line = unsealed(text.substr(0, text.size() - 1));
  const auto parts = line ? split(*line, ' ') : std::vector<std::string_view>{};
  if (parts.size() != 10 || parts[0] != run_version) return std::nullopt;
  const auto id = parse_content_hash(parts[1]);
  const auto listing = parse_content_hash(parts[2]);
  const auto input = unescaped(parts[3]);
  const auto format = unescaped(parts[4]);
  const auto folder = unescaped(parts[5]);
  const auto command = unescaped(parts[6]);
  const auto works = parse_works(parts[7]);
  const auto name = unescaped(parts[9]);
  if (!id || !listing || !input || !format || !folder || !command || !works || !name) {
    return std::nullopt;
  }
  return ShardRun{*id,    *listing,           *input, *format, *folder, *command,
                  *works, parts[8] == "kept", *name};
}

// The output folder, if the reason why a file of the run cannot be read is that the folder cannot
// be entered: the user named the folder, and knows nothing of the file.
std::optional<std::string> unreachable_folder_of(const std::string& path) {
  const fs::path shards = fs::path(path).parent_path();
  struct stat status {};
  if (::stat(shards.c_str(), &status) == 0 || errno == ENOENT) return std::nullopt;
  return shards.parent_path();
}

// The file's text; nothing if the file does not exist.
std::optional<std::string> text_of(const std::string& path) {
  try {
    return read_regular_file(path, largest_journal);
  } catch (const UnsuitableFile& error) {
    throw PictureError(path, formatted("{}; remove it to begin the run again", error.what()));
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_such_file_or_directory) return std::nullopt;
    throw_run_failure(unreachable_folder_of(path).value_or(path), error.code().value());
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Gives the finished file `from` the name `to` as well, unless a file of that name exists.
void take_name(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0 || errno == EEXIST) return;
  // On a network file system, link() can succeed although its answer is lost and the retry fails.
  if (is_same_file(from, to)) return;
  // Some file systems have no hard links. The file is then complete a moment after it appears;
  // read_shard_run() waits for that.
  const std::string text = read_regular_file(from, largest_journal);
  FileDescriptor file;
  try {
    file = open_file(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::file_exists) return;
    throw;
  }
  write_fully(file.get(), bytes_of(text));
  file.close();
}

void write_whole(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(bytes_of(text));
  file.commit();
}

}  // namespace

std::optional<ShardRun> read_shard_run(const std::string& output) {
  const std::string path = run_path(output);
  constexpr int max_tries = 50;
  for (int tries = 0; tries < max_tries; ++tries) {
    const auto text = text_of(path);
    if (!text) return std::nullopt;
    if (auto run = parse_run(*text)) return run;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw PictureError(path, "is damaged; remove it to begin the run again");
}

PictureList read_run_listing(const std::string& output, const ShardRun& run) {
  const std::string path = listing_path(output, run.listing);
  auto text = text_of(path);
  if (!text) throw_run_failure(path, ENOENT);
  if (content_hash(*text) != run.listing) throw PictureError(path, "is damaged");
  return {std::move(*text), path, run.input};
}

ShardRun publish_shard_run(const std::string& output, const ShardRun& run,
                           const PictureList& listing) {
  const std::string folder = fs::path(output) / shards_name;
  std::error_code refusal;
  fs::create_directories(folder, refusal);
  if (refusal) throw_run_failure(output, refusal.value());
  const std::string own = path_in(output, "run-" + process_token());
  try {
    std::error_code ignored;
    const std::string list = listing_path(output, run.listing);
    if (!fs::exists(list, ignored)) write_whole(list, listing.text());
    write_whole(own, run_text(run));
    take_name(own, run_path(output));
    ::unlink(own.c_str());
    sync_folder(folder);
  } catch (const std::system_error& error) {
    throw_run_failure(output, error.code().value());
  }
  const auto published = read_shard_run(output);
  if (!published) throw_run_failure(run_path(output), ENOENT);
  return *published;
}

}  // namespace gpufilter
