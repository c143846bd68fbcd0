#include "batch/shard_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <tuple>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "batch/folder_scan.hpp"
#include "batch/output_name.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view run_version = "run3";

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

[[noreturn]] void throw_run_failure(const std::string& path, int error) {
  throw PictureError(path, describe_system_error(error));
}

std::string run_text(const ShardRun& run) {
  return sealed(formatted("{} {} {} {} {} {} {} {} {} {} {}", run_version, to_string(run.id),
                          to_string(run.listing), escaped(run.input), escaped(run.format),
                          escaped(run.working_folder), escaped(run.command), works_text(run.works),
                          run.keeps_existing ? "kept" : "made", escaped(run.name),
                          escaped(run.sizes))) +
         "\n";
}

std::optional<ShardRun> parse_run(std::string_view text) {
  if (!text.ends_with('\n')) return std::nullopt;
  const auto line = unsealed(text.substr(0, text.size() - 1));
  const auto parts = line ? split(*line, ' ') : std::vector<std::string_view>{};
  if (parts.size() != 11 || parts[0] != run_version) return std::nullopt;
  const auto id = parse_content_hash(parts[1]);
  const auto listing = parse_content_hash(parts[2]);
  const auto input = unescaped(parts[3]);
  const auto format = unescaped(parts[4]);
  const auto folder = unescaped(parts[5]);
  const auto command = unescaped(parts[6]);
  const auto works = parse_works(parts[7]);
  const auto name = unescaped(parts[9]);
  const auto sizes = unescaped(parts[10]);
  if (!id || !listing || !input || !format || !folder || !command || !works || !name || !sizes) {
    return std::nullopt;
  }
  return ShardRun{*id,    *listing,           *input, *format, *folder, *command,
                  *works, parts[8] == "kept", *name,  *sizes};
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

// Gives the finished file `from` the name `to` as well, unless a file of that name exists.
void take_name(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0 || errno == EEXIST) return;
  // On a network file system, link() can succeed although its answer is lost and the retry fails.
  if (const auto own = identity_of(from); own && own == identity_of(to)) return;
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
  write_fully(file.get(), as_bytes(text));
  file.close();
}

void write_whole(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(as_bytes(text));
  file.commit();
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string file_name(const ShardProcess& process) {
  return formatted("{}-of-{}-{}", process.shard.index, process.shard.count, process.token);
}

// The shard in the name of a journal; nothing if the name is not a journal's.
std::optional<Shard> shard_of(const std::string& name) {
  const auto parts = split(name, '-');
  Shard shard;
  if (parts.size() != 4 || parts[1] != "of" || !parse_whole(parts[0], shard.index) ||
      !parse_whole(parts[2], shard.count) || parts[3].size() != process_token_digits) {
    return std::nullopt;
  }
  return shard;
}

std::string start_line(const ShardProcess& process) {
  return sealed(formatted("start1 {} {} {} {} {} {}", process.shard.index, process.shard.count,
                          process.token, escaped(process.host), process.process, process.began));
}

std::optional<ShardProcess> parse_start(std::string_view line) {
  const auto text = unsealed(line);
  const auto parts = text ? split(*text, ' ') : std::vector<std::string_view>{};
  ShardProcess process;
  if (parts.size() != 7 || parts[0] != "start1" || !parse_whole(parts[1], process.shard.index) ||
      !parse_whole(parts[2], process.shard.count) || !parse_whole(parts[5], process.process) ||
      !parse_whole(parts[6], process.began)) {
    return std::nullopt;
  }
  process.token = parts[3];
  process.host = unescaped(parts[4]).value_or("");
  return process;
}

void take_line(ShardJournal& journal, std::string_view line) {
  if (auto record = parse_journal_line(line)) {
    journal.failures.erase(record->first);
    journal.records.insert_or_assign(std::move(record->first), record->second);
    return;
  }
  const auto text = unsealed(line);
  if (!text) return;
  const auto parts = split(*text, ' ');
  journal.ended = parts[0] == "end1";
  if (parts[0] != "failed1" || parts.size() != 3) return;
  const auto output = unescaped(parts[1]);
  const auto failure = unescaped(parts[2]);
  if (output && failure) journal.failures[*output] = *failure;
}

std::optional<ShardJournal> read_one(const std::string& path) {
  try {
    const FileDescriptor file = open_regular_file(path, O_RDONLY | O_NOFOLLOW);
    ShardJournal journal;
    journal.at_work = ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const std::string whole = read_regular_file(file, largest_journal);
    const std::string_view text = whole;
    const std::size_t first = text.find('\n');
    const auto process = parse_start(text.substr(0, first));
    if (const Damage damage = damage_in(text); damage.damaged > 0) {
      log::warn(printable(formatted("{}: {}{}", path, damage.text(),
                                    process ? "" : "; without its first line it is ignored")));
    }
    if (!process || first == std::string_view::npos) return std::nullopt;
    journal.process = *process;
    for (const std::string_view line : split(text.substr(first + 1), '\n'))
      if (!line.empty()) take_line(journal, line);
    return journal;
  } catch (const UnsuitableFile& error) {
    throw PictureError(path, formatted("{}; remove it to go on without it", error.what()));
  } catch (const std::system_error& error) {
    throw SystemFailure(path, error.code().value());
  }
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

std::vector<ShardJournal> read_shard_journals(const std::string& output,
                                              const std::function<bool(const Shard&)>& wanted) {
  std::vector<ShardJournal> journals;
  visit_shard_journals(output, wanted,
                       [&](ShardJournal journal) { journals.push_back(std::move(journal)); });
  std::sort(journals.begin(), journals.end(), [](const ShardJournal& a, const ShardJournal& b) {
    return std::tie(a.process.began, a.process.token) < std::tie(b.process.began, b.process.token);
  });
  return journals;
}

void visit_shard_journals(const std::string& output,
                          const std::function<bool(const Shard&)>& wanted,
                          const std::function<void(ShardJournal)>& visit) {
  const std::string folder = fs::path(output) / shards_name;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const auto shard = shard_of(entry->path().filename());
    if (!shard || !wanted(*shard)) continue;
    if (auto journal = read_one(entry->path())) visit(std::move(*journal));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw SystemFailure(folder, error.value());
  }
}

std::unique_ptr<Journal> begin_shard_journal(const std::string& output, const Shard& shard) {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const ShardProcess process{
      shard, process_token(), host_name(), ::getpid(),
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count()};
  return std::make_unique<Journal>(output, fs::path(output) / shards_name / file_name(process),
                                   start_line(process));
}

void note_failure(Journal& journal, const std::string& output, const std::string& failure) {
  journal.write_line(sealed(formatted("failed1 {} {}", escaped(output), escaped(failure))));
}

void note_end(Journal& journal) {
  journal.write_line(sealed("end1"));
}

}  // namespace gpufilter
